package tx

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/profiles/tx/sqltx"
)

// phasedTexts are the statements of transactions that are prepared first.
func (s *sqlSagas) phasedTexts() {
	s.t.recall = s.Dialect.Text("SELECT id, status FROM " + s.global + " WHERE gid = ?")
	s.t.recallRows = s.Dialect.Text("SELECT id, op, status FROM " + s.branch + " WHERE gid = ? ORDER BY id")
	s.t.carry = s.Dialect.Text("INSERT INTO " + s.barrier + " (gid,branch_id,op,reason,account,delta,create_time,frozen) VALUES (?,?,?,?,?,?,?,?){keep gid}")
	s.t.adjust = s.Dialect.Text("UPDATE " + s.account + " SET balance = balance + ?, frozen = frozen + ? WHERE id = ? AND balance >= ?")
	s.t.there = s.Dialect.Text("SELECT id FROM " + s.account + " WHERE id = ?")
}

// guarded runs f in a transaction that has locked a global transaction of a status.
func (s *sqlClient) guarded(ctx context.Context, g *saga, f func(tx *sql.Tx) error) error {
	return s.Within(ctx, &s.lost, func(tx *sql.Tx) error {
		var id int64
		err := tx.QueryRowContext(ctx, s.t.state, g.gid, g.status).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return errMoved
		}
		if err != nil {
			return err
		}
		return f(tx)
	})
}

// Register inserts the rows of a step.
func (s *sqlClient) Register(ctx context.Context, g *saga, step int) error {
	from := len(g.rows)
	for from > 0 && g.rows[from-1].step == step {
		from--
	}
	text, args := s.insertRows(g, g.rows[from:])
	return s.guarded(ctx, g, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, text, args...)
		return err
	})
}

// Recall selects the transaction or its rows.
func (s *sqlClient) Recall(ctx context.Context, g *saga, rows bool) error {
	var id int64
	var op, status string
	if !rows {
		err := s.DB.QueryRowContext(ctx, s.t.recall, g.gid).Scan(&id, &status)
		if errors.Is(err, sql.ErrNoRows) {
			err = errNone
		}
		return err
	}
	n := 0
	err := s.Each(ctx, s.t.recallRows, []any{g.gid}, func(scan func(...any) error) error {
		n++
		return scan(&id, &op, &status)
	})
	if err == nil && n != len(g.rows) {
		err = fmt.Errorf("%d rows are stored instead of %d", n, len(g.rows))
	}
	return err
}

// Carry carries out an operation: the barrier's rows and the account in one
// transaction. A row that is there already says that it was, or that it comes too
// late.
func (s *sqlClient) Carry(ctx context.Context, g *saga, step int, op string) (got reply, err error) {
	t, id := g.steps[step], string(appendBranch(nil, g.branch(step)))
	now := time.Now().UnixMilli()
	if g.kind == kindXA {
		return s.carryXA(ctx, g, step, op)
	}
	if op == opQuery {
		return s.query(ctx, g, id, now)
	}
	balance, frozen := effect(op, t.Amount)
	err = s.Within(ctx, &s.lost, func(tx *sql.Tx) error {
		got = replyDone
		if op == opCancel {
			n, err := sqltx.Affected(ctx, tx, s.t.void, g.gid, id, opTry, op, nil, nil, now)
			if err != nil {
				return err
			}
			if n > 0 {
				got = replyNothing
				_, err := tx.ExecContext(ctx, s.t.void, g.gid, id, op, op, nil, nil, now)
				return err
			}
		}
		n, err := sqltx.Affected(ctx, tx, s.t.carry, g.gid, id, op, op, t.Account, balance+frozen, now, frozen)
		if err != nil {
			return err
		}
		if n == 0 {
			got, err = s.twice(ctx, tx, g.gid, id, op)
			return err
		}
		done, err := s.adjust(ctx, tx, op, t.Account, balance, frozen)
		if err == nil && !done {
			got = replyRefused
			return sqlstore.ErrUndo
		}
		return err
	})
	return got, err
}

// twice says what a call is that the barrier stopped.
func (s *sqlSagas) twice(ctx context.Context, tx *sql.Tx, gid, id, op string) (reply, error) {
	if op == opCancel {
		return replyDuplicate, nil
	}
	var reason string
	if err := tx.QueryRowContext(ctx, s.t.reason, gid, id, op).Scan(&reason); err != nil {
		return 0, err
	}
	if reason != op {
		return replyTooLate, nil
	}
	return replyDuplicate, nil
}

// adjust changes an account; false: there is none, or it has too little.
func (s *sqlSagas) adjust(ctx context.Context, tx *sql.Tx, op string, account, balance, frozen int64) (bool, error) {
	if balance != 0 || frozen != 0 {
		least := int64(math.MinInt64)
		if balance < 0 {
			least = -balance
		}
		n, err := sqltx.Affected(ctx, tx, s.t.adjust, balance, frozen, account, least)
		return n > 0, err
	}
	if op == opCancel {
		return true, nil
	}
	var id int64
	err := tx.QueryRowContext(ctx, s.t.there, account).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// query asks the barrier about a message's local transaction, and keeps one that was
// not carried out from being so later.
func (s *sqlClient) query(ctx context.Context, g *saga, id string, now int64) (got reply, err error) {
	err = s.Within(ctx, &s.lost, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, s.t.void, g.gid, id, opMsg, opRollback, nil, nil, now); err != nil {
			return err
		}
		var reason string
		if err := tx.QueryRowContext(ctx, s.t.reason, g.gid, id, opMsg).Scan(&reason); err != nil {
			return err
		}
		got = replyDone
		if reason != opMsg {
			got = replyRefused
		}
		return nil
	})
	return got, err
}
