package onsql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// phasedTexts prepares the statements of transactions that are prepared first.
func (s *Tables) phasedTexts() {
	s.Texts.recall = s.Dialect.Text("SELECT id, status FROM " + s.Global + " WHERE gid = ?")
	s.Texts.recallRows = s.Dialect.Text("SELECT id, op, status FROM " + s.Branch + " WHERE gid = ? ORDER BY id")
	s.Texts.carry = s.Dialect.Text("INSERT INTO " + s.Barrier + " (gid,branch_id,op,reason,account,delta,create_time,frozen) VALUES (?,?,?,?,?,?,?,?){keep gid}")
	s.Texts.adjust = s.Dialect.Text("UPDATE " + s.Account + " SET balance = balance + ?, frozen = frozen + ? WHERE id = ? AND balance >= ?")
	s.Texts.there = s.Dialect.Text("SELECT id FROM " + s.Account + " WHERE id = ?")
}

// guarded runs f in a database transaction that has locked a global transaction with
// the expected status.
func (s *client) guarded(ctx context.Context, g *model.Saga, f func(tx *sql.Tx) error) error {
	return s.Within(ctx, &s.lost, func(tx *sql.Tx) error {
		var id int64
		err := tx.QueryRowContext(ctx, s.Texts.state, g.Gid, g.Status).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return model.ErrMoved
		}
		if err != nil {
			return err
		}
		return f(tx)
	})
}

// Register inserts the rows of a step.
func (s *client) Register(ctx context.Context, g *model.Saga, step int) error {
	from := len(g.Rows)
	for from > 0 && g.Rows[from-1].Step == step {
		from--
	}
	text, args := s.insertRows(g, g.Rows[from:])
	return s.guarded(ctx, g, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, text, args...)
		return err
	})
}

// Recall selects the transaction or its rows.
func (s *client) Recall(ctx context.Context, g *model.Saga, rows bool) error {
	var id int64
	var op, status string
	if !rows {
		err := s.DB.QueryRowContext(ctx, s.Texts.recall, g.Gid).Scan(&id, &status)
		if errors.Is(err, sql.ErrNoRows) {
			err = model.ErrNone
		}
		return err
	}
	n := 0
	err := s.Each(ctx, s.Texts.recallRows, []any{g.Gid}, func(scan func(...any) error) error {
		n++
		return scan(&id, &op, &status)
	})
	if err == nil && n != len(g.Rows) {
		err = fmt.Errorf("%d rows are stored instead of %d", n, len(g.Rows))
	}
	return err
}

// Carry carries out an operation: the barrier's rows and the account in one
// transaction. If a row exists already, the call has been made before, or comes too
// late.
func (s *client) Carry(ctx context.Context, g *model.Saga, step int, op string) (got model.Reply, err error) {
	t, id := g.Steps[step], string(model.AppendBranch(nil, g.Branch(step)))
	now := time.Now().UnixMilli()
	if g.Kind == model.KindXA {
		return s.xa.carry(ctx, g, step, op)
	}
	if op == model.BranchQuery {
		return s.query(ctx, g, id, now)
	}
	balance, frozen := model.Effect(op, t.Amount)
	err = s.Within(ctx, &s.lost, func(tx *sql.Tx) error {
		got = model.ReplyDone
		if op == model.BranchCancel {
			n, err := common.Affected(ctx, tx, s.Texts.void, g.Gid, id, model.BranchTry, op, nil, nil, now)
			if err != nil {
				return err
			}
			if n > 0 {
				got = model.ReplyNothing
				_, err := tx.ExecContext(ctx, s.Texts.void, g.Gid, id, op, op, nil, nil, now)
				return err
			}
		}
		n, err := common.Affected(ctx, tx, s.Texts.carry, g.Gid, id, op, op, t.Account, balance+frozen, now, frozen)
		if err != nil {
			return err
		}
		if n == 0 {
			got, err = s.twice(ctx, tx, g.Gid, id, op)
			return err
		}
		done, err := s.adjust(ctx, tx, op, t.Account, balance, frozen)
		if err == nil && !done {
			got = model.ReplyRefused
			return sqlstore.ErrUndo
		}
		return err
	})
	return got, err
}

// twice says what a call stopped by the barrier is.
func (s *Tables) twice(ctx context.Context, tx *sql.Tx, gid, id, op string) (model.Reply, error) {
	if op == model.BranchCancel {
		return model.ReplyDuplicate, nil
	}
	var reason string
	if err := tx.QueryRowContext(ctx, s.Texts.reason, gid, id, op).Scan(&reason); err != nil {
		return 0, err
	}
	if reason != op {
		return model.ReplyTooLate, nil
	}
	return model.ReplyDuplicate, nil
}

// adjust changes an account; false if there is none, or it has too little.
func (s *Tables) adjust(ctx context.Context, tx *sql.Tx, op string, account, balance, frozen int64) (bool, error) {
	if balance != 0 || frozen != 0 {
		least := int64(math.MinInt64)
		if balance < 0 {
			least = -balance
		}
		n, err := common.Affected(ctx, tx, s.Texts.adjust, balance, frozen, account, least)
		return n > 0, err
	}
	if op == model.BranchCancel {
		return true, nil
	}
	var id int64
	err := tx.QueryRowContext(ctx, s.Texts.there, account).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// query asks the barrier about a message's local transaction, and keeps one that was
// not carried out from being carried out later.
func (s *client) query(ctx context.Context, g *model.Saga, id string, now int64) (got model.Reply, err error) {
	err = s.Within(ctx, &s.lost, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, s.Texts.void, g.Gid, id, model.BranchMsg, model.BranchRollback, nil, nil, now); err != nil {
			return err
		}
		var reason string
		if err := tx.QueryRowContext(ctx, s.Texts.reason, g.Gid, id, model.BranchMsg).Scan(&reason); err != nil {
			return err
		}
		got = model.ReplyDone
		if reason != model.BranchMsg {
			got = model.ReplyRefused
		}
		return nil
	})
	return got, err
}
