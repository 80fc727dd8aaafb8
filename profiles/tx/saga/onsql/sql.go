// Package onsql keeps transactions and accounts in the tables of an SQL store.
package onsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store/sqlstore"

	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

const sagaTimes = "create_time BIGINT, update_time BIGINT, finish_time BIGINT, rollback_time BIGINT"

// sagaTables are the tables, each of which is a space.
var sagaTables = []sqlstore.Table{
	{
		Name: "global", Key: "id", Unique: "gid", Index: sqlstore.Index{Name: "due", Columns: "status, next_cron_time"},
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

// Tables keeps transactions in four tables: global transactions, branch rows, the
// participants' barrier with what each call moved, and accounts. Times are in Unix
// milliseconds. There is only one index of unfinished transactions, so there is only
// one prefix.
type Tables struct {
	*common.Database
	spec   *model.Spec
	tables *sqlstore.Tables

	Global, Branch, Barrier, Account string
	Texts                            sagaTexts
	// phases are for transactions that are prepared in the database itself; waited
	// counts those of their branches that were refused because they had waited too
	// long.
	phases *sqlstore.Transactions
	waited atomic.Int64
}

// sagaTexts are the statements that every saga needs.
type sagaTexts struct {
	save, state, row, stands, change, touch, due, lease, call, void, Pay, take, reason string
	// rows, recall and recallRows are for transactions that are prepared first; carry,
	// adjust and there for their participants.
	rows, recall, recallRows, carry, adjust, there string
}

// New returns the transactions of a database. It sends no statements.
func New(d *common.Database, sp *model.Spec) *Tables {
	s := &Tables{Database: d, spec: sp, tables: sqlstore.NewTables(d.Conn, sp.Namespace, "saga_", sagaTables)}
	for i, to := range []*string{&s.Global, &s.Branch, &s.Barrier, &s.Account} {
		*to = s.tables.Quoted(sagaTables[i].Name)
	}
	s.Texts = sagaTexts{
		save: d.Dialect.Text("INSERT INTO " + s.Global + " (gid,trans_type,status,query_prepared,protocol,create_time,update_time,options,custom_data,next_cron_interval,next_cron_time,owner,ext_data,result,rollback_reason)" +
			" VALUES (?,?,?,?,'http',?,?,?,'',?,?,'','','',''){keep gid}"),
		state:  d.Dialect.Text("SELECT id FROM " + s.Global + " WHERE gid = ? AND status = ? LIMIT 1{lock}"),
		row:    d.Dialect.Text("UPDATE " + s.Branch + " SET status = ?, update_time = ?, finish_time = ?, rollback_time = ? WHERE gid = ? AND branch_id = ? AND op = ? AND status = 'prepared'"),
		stands: d.Dialect.Text("SELECT status FROM " + s.Branch + " WHERE gid = ? AND branch_id = ? AND op = ?{lock}"),
		change: d.Dialect.Text("UPDATE " + s.Global + " SET status = ?, update_time = ?, finish_time = ?, rollback_time = ?, rollback_reason = ? WHERE gid = ? AND status = ?"),
		touch:  d.Dialect.Text("UPDATE " + s.Global + " SET next_cron_time = ?, next_cron_interval = ?, update_time = ? WHERE gid = ? AND status = ?"),
		due:    d.Dialect.Text("SELECT gid, next_cron_time FROM " + s.Global + " WHERE status IN ('prepared','submitted','aborting') AND next_cron_time <= ? ORDER BY next_cron_time LIMIT 1"),
		lease:  d.Dialect.Text("UPDATE " + s.Global + " SET next_cron_time = ? WHERE gid = ? AND next_cron_time = ?"),
		call:   d.Dialect.Text("INSERT INTO " + s.Barrier + " (gid,branch_id,op,reason,account,delta,create_time) VALUES (?,?,?,?,?,?,?){keep gid}"),
		Pay:    d.Dialect.Text("UPDATE " + s.Account + " SET balance = balance + ? WHERE id = ?"),
		take:   d.Dialect.Text("UPDATE " + s.Account + " SET balance = balance + ? WHERE id = ? AND balance >= ?"),
	}
	s.Texts.void = s.Texts.call
	s.phasedTexts()
	s.Texts.reason = d.Dialect.Text("SELECT reason FROM " + s.Barrier + " WHERE gid = ? AND branch_id = ? AND op = ?")
	return s
}

// sqlPrice is in statements; those for taking care of sagas are counted as they are
// made.
var sqlPrice = model.Price{Save: 2, Branch: 2, Change: 1, Touch: 1, Actions: 2, Undos: 3, Twice: 2, UndosTwice: 2, Nothing: 2, Register: 2, Bare: 1, Recall: 1, Query: 2, Look: 1}

// client is one client of the database. It belongs to one goroutine.
type client struct {
	*Tables
	// lost are the attempts that the database has rolled back because of others since
	// the last call of Undone.
	lost common.Lost
	xa   xa
}

// newClient returns a client of the database.
func (s *Tables) newClient() *client {
	c := &client{Tables: s}
	c.xa = xa{Tables: s, lost: &c.lost}
	return c
}

// Detach leaves what is still prepared to whoever takes up the transaction.
func (s *client) Detach() { s.xa.detach() }

// Undone returns how long each attempt took that the database rolled back.
func (s *client) Undone() []time.Duration {
	l := s.lost
	s.lost = s.lost[:0]
	return l
}

// Layer returns the transactions as a run sees them.
func (s *Tables) Layer() *model.Adapter {
	open := func() model.Store {
		c := s.newClient()
		return model.Store{Records: c, Phases: c, Participants: c, Index: s, Audit: s, Upkeep: s, Session: c}
	}
	saw := func() model.Noticed {
		return model.Noticed{Beside: s.Extra.Load(), Conflicts: s.Conflicts.Load(), Waited: s.waited.Load(), Repeats: true}
	}
	return &model.Adapter{Open: open, Price: sqlPrice, Places: s, Noticed: saw}
}

// Spaces lists the tables.
func (s *Tables) Spaces(params map[string]string) []ownership.Space { return s.tables.Spaces(params) }

// Check checks whether existing tables are suitable.
func (s *Tables) Check(ctx context.Context, c *ownership.Claim) error { return s.tables.Check(ctx, c) }

// Create creates missing tables.
func (s *Tables) Create(ctx context.Context) error { return s.tables.Create(ctx) }

// unix returns a time in the form used by the tables; NULL for none.
func unix(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// insertRows returns the statement that inserts some rows of a transaction.
func (s *Tables) insertRows(g *model.Saga, rows []model.Row) (text string, args []any) {
	args = make([]any, 0, 8*len(rows))
	for i := range rows {
		r := &rows[i]
		url := ""
		if !g.Empty {
			url = model.Participant
		}
		args = append(args, g.Gid, url, g.AppendPayload(nil, r.Step, `"`), string(model.AppendBranch(nil, g.Branch(r.Step))), r.Op, r.Status, r.Created.UnixMilli(), r.Created.UnixMilli())
	}
	return "INSERT INTO " + s.Branch + " (gid,url,bin_data,branch_id,op,status,create_time,update_time) VALUES " + s.Dialect.Rows(len(rows), 8), args
}

// Save inserts the transaction and its rows.
func (s *client) Save(ctx context.Context, g *model.Saga) error {
	now := g.Created.UnixMilli()
	rows, args := s.insertRows(g, g.Rows)
	options := fmt.Sprintf(`{"concurrent":false,"wait_result":true,"timeout_ms":%d}`, g.Timeout.Milliseconds())
	return s.Within(ctx, &s.lost, func(tx *sql.Tx) error {
		n, err := common.Affected(ctx, tx, s.Texts.save, g.Gid, g.Of().Name, g.Status, string(g.AppendQuery(nil)), now, now, options, g.Interval.Milliseconds(), g.Next.UnixMilli())
		if err != nil {
			return err
		}
		if n == 0 {
			return model.ErrTaken
		}
		if len(args) == 0 {
			return nil
		}
		_, err = tx.ExecContext(ctx, rows, args...)
		return err
	})
}

// Branch updates a row that has no outcome yet, under the lock of its transaction.
func (s *client) Branch(ctx context.Context, g *model.Saga, pos int) error {
	r := &g.Rows[pos]
	stands, id := r.Status, string(model.AppendBranch(nil, g.Branch(r.Step)))
	err := s.guarded(ctx, g, func(tx *sql.Tx) error {
		n, err := common.Affected(ctx, tx, s.Texts.row, r.Status, unix(r.Updated), unix(r.Ended), unix(r.RolledBack), g.Gid, id, r.Op)
		if err != nil || n > 0 {
			return err
		}
		s.Extra.Add(1)
		return tx.QueryRowContext(ctx, s.Texts.stands, g.Gid, id, r.Op).Scan(&stands)
	})
	if err == nil && stands != r.Status {
		r.Decide(stands, r.Updated)
	}
	return err
}

// guard runs a single statement that changes a transaction if it has the expected
// status.
func (s *client) guard(ctx context.Context, g *model.Saga, text string, args ...any) error {
	return sqlstore.Retry(ctx, s.Conn, func(took time.Duration) { s.CountUndone(&s.lost, took) }, func() error {
		n, err := common.Affected(ctx, s.DB, text, args...)
		if err == nil && n == 0 {
			return model.ErrMoved
		}
		return err
	})
}

// Change updates the status.
func (s *client) Change(ctx context.Context, g *model.Saga, from string) error {
	return s.guard(ctx, g, s.Texts.change, g.Status, unix(g.Updated), unix(g.Ended), unix(g.RolledBack), g.Reason, g.Gid, from)
}

// Touch updates when to look at it next. MySQL counts only rows that the update
// changed, and nothing changes if it is made twice within a millisecond.
func (s *client) Touch(ctx context.Context, g *model.Saga) error {
	err := s.guard(ctx, g, s.Texts.touch, g.Next.UnixMilli(), g.Interval.Milliseconds(), unix(g.Updated), g.Gid, g.Status)
	if errors.Is(err, model.ErrMoved) && s.Dialect == sqltext.MySQL {
		var n int
		s.Extra.Add(1)
		err = s.DB.QueryRowContext(ctx, s.Dialect.Text("SELECT COUNT(*) FROM "+s.Global+" WHERE gid = ? AND status = ?"), g.Gid, g.Status).Scan(&n)
		if err == nil && n == 0 {
			err = model.ErrMoved
		}
	}
	return err
}

// Lock leases what has been due longest, unless somebody else does so at the same time.
func (s *Tables) Lock(ctx context.Context, _ int, now, until time.Time) (string, error) {
	var gid string
	var due int64
	s.Extra.Add(1)
	err := s.DB.QueryRowContext(ctx, s.Texts.due, now.UnixMilli()).Scan(&gid, &due)
	if errors.Is(err, sql.ErrNoRows) {
		return "", model.ErrNone
	}
	if err != nil {
		return "", err
	}
	s.Extra.Add(1)
	n, err := common.Affected(ctx, s.DB, s.Texts.lease, until.UnixMilli(), gid, due)
	if err == nil && n == 0 {
		err = model.ErrNone
	}
	return gid, err
}

// Load reads a transaction and its rows.
func (s *Tables) Load(ctx context.Context, shard int, gid string) (*model.Saga, error) {
	g := &model.Saga{Gid: gid, Shard: shard, Loaded: true}
	var options, trans, query string
	var created, interval, next int64
	s.Extra.Add(2)
	err := s.DB.QueryRowContext(ctx, s.Dialect.Text("SELECT trans_type, query_prepared, status, options, create_time, next_cron_interval, next_cron_time, rollback_reason FROM "+s.Global+" WHERE gid = ?"), gid).
		Scan(&trans, &query, &g.Status, &options, &created, &interval, &next, &g.Reason)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, model.ErrNone
	}
	if err != nil {
		return nil, err
	}
	var o model.RecordJSON
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		return nil, fmt.Errorf("options of %s: %w", gid, err)
	}
	if g.Kind = model.KindOf(trans); g.Kind == model.KindMsg {
		g.Steps = append(g.Steps, model.ParseQuery(query))
	}
	g.Created, g.Next = time.UnixMilli(created), time.UnixMilli(next)
	g.Interval, g.Timeout = time.Duration(interval)*time.Millisecond, time.Duration(o.TimeoutMS)*time.Millisecond
	err = s.Each(ctx, s.Dialect.Text("SELECT url, bin_data, op, status FROM "+s.Branch+" WHERE gid = ? ORDER BY id"), []any{gid}, func(scan func(...any) error) error {
		var url string
		var data []byte
		step, first := g.Kind.Place(len(g.Rows))
		r := model.Row{Step: step, Created: g.Created}
		if err := scan(&url, &data, &r.Op, &r.Status); err != nil {
			return err
		}
		g.Empty = g.Empty || url == ""
		p, err := model.ParsePayload(gid, data)
		if err != nil {
			return err
		}
		if first {
			g.Steps = append(g.Steps, p.Transfer)
		}
		r.Filling = p.Filling
		g.Rows = append(g.Rows, r)
		return nil
	})
	return g, err
}

// Move carries out a branch call: the barrier's rows and the account in one
// transaction. If a row exists already, the call has been made before.
func (s *client) Move(ctx context.Context, g *model.Saga, pos int) (got model.Reply, err error) {
	r := &g.Rows[pos]
	t := g.Steps[r.Step]
	id, now := string(model.AppendBranch(nil, r.Step)), time.Now().UnixMilli()
	undo := r.Op == model.BranchCompensate
	if undo {
		t.Amount = -t.Amount
	}
	err = s.Within(ctx, &s.lost, func(tx *sql.Tx) error {
		got = model.ReplyDone
		if undo {
			n, err := common.Affected(ctx, tx, s.Texts.void, g.Gid, id, model.BranchAction, model.BranchCompensate, nil, nil, now)
			if err != nil {
				return err
			}
			if n > 0 {
				got = model.ReplyNothing
				_, err := tx.ExecContext(ctx, s.Texts.void, g.Gid, id, r.Op, r.Op, nil, nil, now)
				return err
			}
		}
		n, err := common.Affected(ctx, tx, s.Texts.call, g.Gid, id, r.Op, r.Op, t.Account, t.Amount, now)
		if err != nil {
			return err
		}
		if n == 0 {
			got = model.ReplyDuplicate
			if undo {
				return nil
			}
			var reason string
			if err := tx.QueryRowContext(ctx, s.Texts.reason, g.Gid, id, r.Op).Scan(&reason); err != nil {
				return err
			}
			if reason == model.BranchCompensate {
				got = model.ReplyTooLate
			}
			return nil
		}
		text, args := s.Texts.Pay, []any{t.Amount, t.Account}
		if !undo && t.Amount < 0 {
			text, args = s.Texts.take, append(args, -t.Amount)
		}
		n, err = common.Affected(ctx, tx, text, args...)
		if err == nil && n == 0 {
			got = model.ReplyRefused
			return sqlstore.ErrUndo
		}
		return err
	})
	return got, err
}
