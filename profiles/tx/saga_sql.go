package tx

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltable"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/internal/store/sqlstore/twophase"
	"github.com/perfbench/perfbench/profiles/tx/sqltx"
)

const sagaTimes = "create_time BIGINT, update_time BIGINT, finish_time BIGINT, rollback_time BIGINT"

// sagaTables are the tables, which are spaces of their own.
var sagaTables = []sqltable.Table{
	{
		Name: "global", Key: "id", Unique: "gid", Index: sqltable.Index{Name: "due", Columns: "status, next_cron_time"},
		Columns: "id {serial}, gid VARCHAR(128) NOT NULL, trans_type VARCHAR(45) NOT NULL, status VARCHAR(45) NOT NULL, query_prepared VARCHAR(1024) NOT NULL, " +
			"protocol VARCHAR(45) NOT NULL, " + sagaTimes + ", options VARCHAR(1024), custom_data VARCHAR(1024), next_cron_interval BIGINT, next_cron_time BIGINT, " +
			"owner VARCHAR(128) NOT NULL, ext_data TEXT, result VARCHAR(1024), rollback_reason VARCHAR(1024)",
	},
	{
		Name: "branch", Key: "id", Unique: "gid, branch_id, op",
		Columns: "id {serial}, gid VARCHAR(128) NOT NULL, url VARCHAR(1024) NOT NULL, bin_data {blob}, branch_id VARCHAR(128) NOT NULL, " +
			"op VARCHAR(45) NOT NULL, status VARCHAR(45) NOT NULL, " + sagaTimes,
	},
	{
		Name: "barrier", Key: "id", Unique: "gid, branch_id, op", Later: []string{"frozen"},
		Columns: "id {serial}, gid VARCHAR(128) NOT NULL, branch_id VARCHAR(128) NOT NULL, op VARCHAR(45) NOT NULL, reason VARCHAR(45) NOT NULL, " +
			"account BIGINT, delta BIGINT, create_time BIGINT, frozen BIGINT NOT NULL DEFAULT 0",
	},
	{Name: "account", Key: "id", Later: []string{"frozen"}, Columns: "id BIGINT, balance BIGINT NOT NULL, frozen BIGINT NOT NULL DEFAULT 0"},
}

// sqlSagas keeps transactions in four tables: global transactions, branch rows,
// the participants' barrier with what each call moved, and accounts. Times are Unix
// milliseconds. There is one index of unfinished transactions, so one prefix.
type sqlSagas struct {
	*sqltx.Database
	spec   *sagaSpec
	tables *sqltable.Set

	global, branch, barrier, account string
	t                                sagaTexts
	// phases are for transactions that are prepared in the database itself, waited how
	// many of their branches were refused since they had waited too long.
	phases *twophase.Transactions
	waited atomic.Int64
}

// sagaTexts are the statements that every saga needs.
type sagaTexts struct {
	save, state, row, change, touch, due, lease, call, void, move, take, reason string
	// rows, recall and recallRows are for transactions that are prepared first, carry,
	// adjust and there for their participants.
	rows, recall, recallRows, carry, adjust, there string
}

func newSQLSagas(d *sqltx.Database, sp *sagaSpec) *sqlSagas {
	s := &sqlSagas{Database: d, spec: sp, tables: sqltable.New(d.Conn, sp.namespace, "saga_", sagaTables)}
	for i, to := range []*string{&s.global, &s.branch, &s.barrier, &s.account} {
		*to = s.tables.Quoted(sagaTables[i].Name)
	}
	s.t = sagaTexts{
		save: d.Dialect.Text("INSERT INTO " + s.global + " (gid,trans_type,status,query_prepared,protocol,create_time,update_time,options,custom_data,next_cron_interval,next_cron_time,owner,ext_data,result,rollback_reason)" +
			" VALUES (?,?,?,?,'http',?,?,?,'',?,?,'','','',''){keep gid}"),
		state:  d.Dialect.Text("SELECT id FROM " + s.global + " WHERE gid = ? AND status = ? LIMIT 1{lock}"),
		row:    d.Dialect.Text("UPDATE " + s.branch + " SET status = ?, update_time = ?, finish_time = ?, rollback_time = ? WHERE gid = ? AND branch_id = ? AND op = ?"),
		change: d.Dialect.Text("UPDATE " + s.global + " SET status = ?, update_time = ?, finish_time = ?, rollback_time = ?, rollback_reason = ? WHERE gid = ? AND status = ?"),
		touch:  d.Dialect.Text("UPDATE " + s.global + " SET next_cron_time = ?, next_cron_interval = ?, update_time = ? WHERE gid = ? AND status = ?"),
		due:    d.Dialect.Text("SELECT gid, next_cron_time FROM " + s.global + " WHERE status IN ('prepared','submitted','aborting') AND next_cron_time <= ? ORDER BY next_cron_time LIMIT 1"),
		lease:  d.Dialect.Text("UPDATE " + s.global + " SET next_cron_time = ? WHERE gid = ? AND next_cron_time = ?"),
		call:   d.Dialect.Text("INSERT INTO " + s.barrier + " (gid,branch_id,op,reason,account,delta,create_time) VALUES (?,?,?,?,?,?,?){keep gid}"),
		move:   d.Dialect.Text("UPDATE " + s.account + " SET balance = balance + ? WHERE id = ?"),
		take:   d.Dialect.Text("UPDATE " + s.account + " SET balance = balance + ? WHERE id = ? AND balance >= ?"),
	}
	s.t.void = s.t.call
	s.phasedTexts()
	s.t.reason = d.Dialect.Text("SELECT reason FROM " + s.barrier + " WHERE gid = ? AND branch_id = ? AND op = ?")
	return s
}

// sqlPrice is in statements; those of looking after sagas are counted as they are made.
var sqlPrice = price{save: 2, branch: 2, change: 1, touch: 1, actions: 2, undos: 3, twice: 2, undosTwice: 2, nothing: 2, register: 2, bare: 1, recall: 1, query: 2, look: 1}

// sqlClient is one client of the database. It belongs to one goroutine.
type sqlClient struct {
	*sqlSagas
	// lost is what the database undid for the sake of others since it was last asked,
	// held the connections of branches that are prepared.
	lost sqltx.Lost
	held branches
}

// Undone tells how long each attempt took that the database undid.
func (s *sqlClient) Undone() []time.Duration {
	l := s.lost
	s.lost = s.lost[:0]
	return l
}

// layer is the transactions as a run sees them.
func (s *sqlSagas) layer() *sagaLayer {
	open := func() sagaStore {
		c := &sqlClient{sqlSagas: s}
		return sagaStore{Records: c, Phases: c, Participants: c, Index: s, Audit: s, Upkeep: s, Session: c}
	}
	saw := func() noticed { return noticed{s.Extra.Load(), s.Conflicts.Load(), s.waited.Load(), true} }
	return &sagaLayer{open: open, price: sqlPrice, places: s, noticed: saw}
}

// spaces lists the tables.
func (s *sqlSagas) spaces(params map[string]string) []place.Space { return s.tables.Spaces(params) }

// look makes sure that the tables that are there will do.
func (s *sqlSagas) look(ctx context.Context, c *place.Claim) error { return s.tables.Look(ctx, c) }

// create makes the tables that are missing.
func (s *sqlSagas) create(ctx context.Context) error {
	if err := s.tables.Create(ctx); err != nil || s.Dialect == sqltext.SQLite {
		return err
	}
	phases, err := twophase.New(ctx, s.DB, s.Dialect, s.spec.namespace)
	s.phases = phases
	return err
}

// unix is a time as the tables have it; NULL for none.
func unix(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// insertRows is the statement that inserts some rows of a transaction.
func (s *sqlSagas) insertRows(g *saga, rows []row) (text string, args []any) {
	args = make([]any, 0, 8*len(rows))
	for i := range rows {
		r := &rows[i]
		url := ""
		if !g.empty {
			url = participant
		}
		args = append(args, g.gid, url, g.appendPayload(nil, r.step, `"`), string(appendBranch(nil, g.branch(r.step))), r.op, r.status, r.created.UnixMilli(), r.created.UnixMilli())
	}
	return "INSERT INTO " + s.branch + " (gid,url,bin_data,branch_id,op,status,create_time,update_time) VALUES " + s.Dialect.Rows(len(rows), 8), args
}

// Save inserts the transaction and its rows.
func (s *sqlClient) Save(ctx context.Context, g *saga) error {
	now := g.created.UnixMilli()
	rows, args := s.insertRows(g, g.rows)
	options := fmt.Sprintf(`{"concurrent":false,"wait_result":true,"timeout_ms":%d}`, g.timeout.Milliseconds())
	return s.Within(ctx, &s.lost, func(tx *sql.Tx) error {
		n, err := sqltx.Affected(ctx, tx, s.t.save, g.gid, g.of().name, g.status, string(g.appendQuery(nil)), now, now, options, g.interval.Milliseconds(), g.next.UnixMilli())
		if err != nil {
			return err
		}
		if n == 0 {
			return errTaken
		}
		if len(args) == 0 {
			return nil
		}
		_, err = tx.ExecContext(ctx, rows, args...)
		return err
	})
}

// Branch updates a row under the lock of its transaction.
func (s *sqlClient) Branch(ctx context.Context, g *saga, pos int) error {
	r := &g.rows[pos]
	return s.guarded(ctx, g, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.t.row, r.status, unix(r.updated), unix(r.ended), unix(r.rolledBack), g.gid, string(appendBranch(nil, g.branch(r.step))), r.op)
		return err
	})
}

// guard runs a single statement that changes a transaction if it has the status
// that is expected.
func (s *sqlClient) guard(ctx context.Context, g *saga, text string, args ...any) error {
	return sqlstore.Retry(ctx, s.Conn, func(took time.Duration) { s.CountUndone(&s.lost, took) }, func() error {
		n, err := sqltx.Affected(ctx, s.DB, text, args...)
		if err == nil && n == 0 {
			return errMoved
		}
		return err
	})
}

// Change updates the status.
func (s *sqlClient) Change(ctx context.Context, g *saga, from string) error {
	return s.guard(ctx, g, s.t.change, g.status, unix(g.updated), unix(g.ended), unix(g.rolledBack), g.reason, g.gid, from)
}

// Touch updates when to look again. MySQL counts only rows that the update changed,
// and all may stand as it was before the millisecond was over.
func (s *sqlClient) Touch(ctx context.Context, g *saga) error {
	err := s.guard(ctx, g, s.t.touch, g.next.UnixMilli(), g.interval.Milliseconds(), unix(g.updated), g.gid, g.status)
	if errors.Is(err, errMoved) && s.Dialect == sqltext.MySQL {
		var n int
		s.Extra.Add(1)
		err = s.DB.QueryRowContext(ctx, s.Dialect.Text("SELECT COUNT(*) FROM "+s.global+" WHERE gid = ? AND status = ?"), g.gid, g.status).Scan(&n)
		if err == nil && n == 0 {
			err = errMoved
		}
	}
	return err
}

// Lock leases what is due longest, unless somebody else does at the same time.
func (s *sqlSagas) Lock(ctx context.Context, _ int, now, until time.Time) (string, error) {
	var gid string
	var due int64
	s.Extra.Add(1)
	err := s.DB.QueryRowContext(ctx, s.t.due, now.UnixMilli()).Scan(&gid, &due)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errNone
	}
	if err != nil {
		return "", err
	}
	s.Extra.Add(1)
	n, err := sqltx.Affected(ctx, s.DB, s.t.lease, until.UnixMilli(), gid, due)
	if err == nil && n == 0 {
		err = errNone
	}
	return gid, err
}

// Load reads a transaction and its rows.
func (s *sqlSagas) Load(ctx context.Context, shard int, gid string) (*saga, error) {
	g := &saga{gid: gid, shard: shard, loaded: true}
	var options, trans, query string
	var created, interval, next int64
	s.Extra.Add(2)
	err := s.DB.QueryRowContext(ctx, s.Dialect.Text("SELECT trans_type, query_prepared, status, options, create_time, next_cron_interval, next_cron_time, rollback_reason FROM "+s.global+" WHERE gid = ?"), gid).
		Scan(&trans, &query, &g.status, &options, &created, &interval, &next, &g.reason)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errNone
	}
	if err != nil {
		return nil, err
	}
	var o recordJSON
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		return nil, fmt.Errorf("options of %s: %w", gid, err)
	}
	if g.kind = kindOf(trans); g.kind == kindMsg {
		g.steps = append(g.steps, parseQuery(query))
	}
	g.created, g.next = time.UnixMilli(created), time.UnixMilli(next)
	g.interval, g.timeout = time.Duration(interval)*time.Millisecond, time.Duration(o.TimeoutMS)*time.Millisecond
	err = s.Each(ctx, s.Dialect.Text("SELECT url, bin_data, op, status FROM "+s.branch+" WHERE gid = ? ORDER BY id"), []any{gid}, func(scan func(...any) error) error {
		var url string
		var data []byte
		step, first := g.kind.place(len(g.rows))
		r := row{step: step, created: g.created}
		if err := scan(&url, &data, &r.op, &r.status); err != nil {
			return err
		}
		g.empty = g.empty || url == ""
		p, err := parsePayload(gid, data)
		if err != nil {
			return err
		}
		if first {
			g.steps = append(g.steps, p.transfer)
		}
		r.filling = p.Filling
		g.rows = append(g.rows, r)
		return nil
	})
	return g, err
}

// Move carries out a branch call: the barrier's rows and the account in one
// transaction. A row that is there already says that the call was.
func (s *sqlClient) Move(ctx context.Context, g *saga, pos int) (got reply, err error) {
	r := &g.rows[pos]
	t := g.steps[r.step]
	id, now := string(appendBranch(nil, r.step)), time.Now().UnixMilli()
	undo := r.op == opCompensate
	if undo {
		t.Amount = -t.Amount
	}
	err = s.Within(ctx, &s.lost, func(tx *sql.Tx) error {
		got = replyDone
		if undo {
			n, err := sqltx.Affected(ctx, tx, s.t.void, g.gid, id, opAction, opCompensate, nil, nil, now)
			if err != nil {
				return err
			}
			if n > 0 {
				got = replyNothing
				_, err := tx.ExecContext(ctx, s.t.void, g.gid, id, r.op, r.op, nil, nil, now)
				return err
			}
		}
		n, err := sqltx.Affected(ctx, tx, s.t.call, g.gid, id, r.op, r.op, t.Account, t.Amount, now)
		if err != nil {
			return err
		}
		if n == 0 {
			got = replyDuplicate
			if undo {
				return nil
			}
			var reason string
			if err := tx.QueryRowContext(ctx, s.t.reason, g.gid, id, r.op).Scan(&reason); err != nil {
				return err
			}
			if reason == opCompensate {
				got = replyTooLate
			}
			return nil
		}
		text, args := s.t.move, []any{t.Amount, t.Account}
		if !undo && t.Amount < 0 {
			text, args = s.t.take, append(args, -t.Amount)
		}
		n, err = sqltx.Affected(ctx, tx, text, args...)
		if err == nil && n == 0 {
			got = replyRefused
			return sqlstore.ErrUndo
		}
		return err
	})
	return got, err
}
