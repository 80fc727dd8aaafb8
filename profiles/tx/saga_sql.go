package tx

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
)

// Names of the tables, which are spaces of their own.
var sagaTables = []string{"saga_global", "saga_branch", "saga_barrier", "saga_account"}

// sagaColumns are the columns of each table that a run writes, or goes by.
var sagaColumns = map[string]string{
	"saga_global": "id, gid, trans_type, status, query_prepared, protocol, create_time, update_time, finish_time, rollback_time, options, custom_data, " +
		"next_cron_interval, next_cron_time, owner, ext_data, result, rollback_reason",
	"saga_branch":  "id, gid, url, bin_data, branch_id, op, status, create_time, update_time, finish_time, rollback_time",
	"saga_barrier": "id, gid, branch_id, op, reason, account, delta, create_time, frozen",
	"saga_account": "id, balance, frozen",
}

// sqlSagas keeps transactions in four tables: global transactions, branch rows,
// the participants' barrier with what each call moved, and accounts. Times are Unix
// milliseconds. There is one index of unfinished transactions, so one prefix.
type sqlSagas struct {
	*database
	spec *sagaSpec

	global, branch, barrier, account string
	t                                sagaTexts
	// phases are for transactions that are prepared in the database itself, waited how
	// many of their branches were refused since they had waited too long.
	phases *sqlstore.TwoPhase
	waited atomic.Int64
	claim  *place.Claim // since look
}

// sagaTexts are the statements that every saga needs.
type sagaTexts struct {
	save, state, row, change, touch, due, lease, call, void, move, reason string
	// rows, recall and recallRows are for transactions that are prepared first, carry,
	// adjust and there for their participants.
	rows, recall, recallRows, carry, adjust, there string
}

func newSQLSagas(d *database, sp *sagaSpec) *sqlSagas {
	s := &sqlSagas{database: d, spec: sp}
	for i, to := range []*string{&s.global, &s.branch, &s.barrier, &s.account} {
		*to = d.table(sp.namespace, sagaTables[i])
	}
	s.t = sagaTexts{
		save: d.text("INSERT INTO " + s.global + " (gid,trans_type,status,query_prepared,protocol,create_time,update_time,options,custom_data,next_cron_interval,next_cron_time,owner,ext_data,result,rollback_reason)" +
			" VALUES (?,?,?,?,'http',?,?,?,'',?,?,'','','',''){ignore gid}"),
		state:  d.text("SELECT id FROM " + s.global + " WHERE gid = ? AND status = ? LIMIT 1{lock}"),
		row:    d.text("UPDATE " + s.branch + " SET status = ?, update_time = ?, finish_time = ?, rollback_time = ? WHERE gid = ? AND branch_id = ? AND op = ?"),
		change: d.text("UPDATE " + s.global + " SET status = ?, update_time = ?, finish_time = ?, rollback_time = ?, rollback_reason = ? WHERE gid = ? AND status = ?"),
		touch:  d.text("UPDATE " + s.global + " SET next_cron_time = ?, next_cron_interval = ?, update_time = ? WHERE gid = ? AND status = ?"),
		due:    d.text("SELECT gid, next_cron_time FROM " + s.global + " WHERE status IN ('prepared','submitted','aborting') AND next_cron_time <= ? ORDER BY next_cron_time LIMIT 1"),
		lease:  d.text("UPDATE " + s.global + " SET next_cron_time = ? WHERE gid = ? AND next_cron_time = ?"),
		call:   d.text("INSERT INTO " + s.barrier + " (gid,branch_id,op,reason,account,delta,create_time) VALUES (?,?,?,?,?,?,?){ignore gid}"),
		move:   d.text("UPDATE " + s.account + " SET balance = balance + ? WHERE id = ?"),
	}
	s.t.void = s.t.call
	s.phasedTexts()
	s.t.reason = d.text("SELECT reason FROM " + s.barrier + " WHERE gid = ? AND branch_id = ? AND op = ?")
	return s
}

// price is in statements; those of looking after sagas are counted as they are made.
func (s *sqlSagas) price() price {
	return price{save: 2, branch: 2, change: 1, touch: 1, actions: 2, undos: 3, twice: 2, undosTwice: 2, nothing: 2, register: 2, bare: 1, recall: 1, query: 2, look: 1}
}

// spaces lists the tables.
func (s *sqlSagas) spaces(params map[string]string) []place.Space {
	out := make([]place.Space, 0, len(sagaTables))
	for _, name := range sagaTables {
		out = append(out, place.Space{Space: s.space(name), Tables: map[string]store.Table{
			"": {Columns: store.Columns(sagaColumns[name]), Key: []string{"id"}},
		}, Params: params})
	}
	return out
}

func (s *sqlSagas) space(table string) store.Space {
	return store.Space{Namespace: s.spec.namespace, Name: table, Shape: store.Keys}
}

// look notes which tables others have made.
func (s *sqlSagas) look(c *place.Claim) { s.claim = c }

// create makes the tables that are missing.
func (s *sqlSagas) create(ctx context.Context) error {
	if err := s.conn.EnsureDatabase(ctx, s.spec.namespace); err != nil {
		return err
	}
	id, long := "BIGINT AUTO_INCREMENT PRIMARY KEY", "LONGBLOB"
	switch s.dialect {
	case sqlstore.DialectPostgres:
		id, long = "BIGSERIAL PRIMARY KEY", "BYTEA"
	case sqlstore.DialectSQLite:
		id, long = "INTEGER PRIMARY KEY", "BLOB"
	}
	times := "create_time BIGINT, update_time BIGINT, finish_time BIGINT, rollback_time BIGINT"
	texts := []string{
		"CREATE TABLE IF NOT EXISTS " + s.global + " (id " + id + ", gid VARCHAR(128) NOT NULL UNIQUE, trans_type VARCHAR(45) NOT NULL, status VARCHAR(45) NOT NULL," +
			" query_prepared VARCHAR(1024) NOT NULL, protocol VARCHAR(45) NOT NULL, " + times + ", options VARCHAR(1024), custom_data VARCHAR(1024)," +
			" next_cron_interval BIGINT, next_cron_time BIGINT, owner VARCHAR(128) NOT NULL, ext_data TEXT, result VARCHAR(1024), rollback_reason VARCHAR(1024))",
		"CREATE TABLE IF NOT EXISTS " + s.branch + " (id " + id + ", gid VARCHAR(128) NOT NULL, url VARCHAR(1024) NOT NULL, bin_data " + long + ", branch_id VARCHAR(128) NOT NULL," +
			" op VARCHAR(45) NOT NULL, status VARCHAR(45) NOT NULL, " + times + ", UNIQUE (gid, branch_id, op))",
		"CREATE TABLE IF NOT EXISTS " + s.barrier + " (id " + id + ", gid VARCHAR(128) NOT NULL, branch_id VARCHAR(128) NOT NULL, op VARCHAR(45) NOT NULL, reason VARCHAR(45) NOT NULL," +
			" account BIGINT, delta BIGINT, create_time BIGINT, frozen BIGINT NOT NULL DEFAULT 0, UNIQUE (gid, branch_id, op))",
		"CREATE TABLE IF NOT EXISTS " + s.account + " (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL, frozen BIGINT NOT NULL DEFAULT 0)",
	}
	for _, t := range texts {
		if err := s.make(ctx, t); err != nil {
			return fmt.Errorf("create the tables of sagas: %w", err)
		}
	}
	if err := s.thaw(ctx); err != nil {
		return err
	}
	if s.dialect != sqlstore.DialectSQLite {
		phases, err := sqlstore.NewTwoPhase(ctx, s.conn, s.spec.namespace)
		if err != nil {
			return err
		}
		s.phases = phases
	}
	if s.claim != nil && s.claim.Theirs(s.space("saga_global"), "") {
		return nil // an index would alter it
	}
	name := s.quote + strings.Trim(s.global, s.quote) + "_due" + s.quote
	index := "CREATE INDEX IF NOT EXISTS " + name + " ON " + s.global + " (status, next_cron_time)"
	if s.dialect == sqlstore.DialectMySQL {
		// MySQL has no IF NOT EXISTS here; MariaDB would.
		index = "CREATE INDEX " + name + " ON " + s.global + " (status, next_cron_time)"
	}
	if err := s.make(ctx, index); err != nil && !strings.Contains(err.Error(), "Duplicate key name") {
		return fmt.Errorf("create the index of unfinished sagas: %w", err)
	}
	return nil
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
	return s.text("INSERT INTO " + s.branch + " (gid,url,bin_data,branch_id,op,status,create_time,update_time) VALUES " +
		strings.TrimSuffix(strings.Repeat("(?,?,?,?,?,?,?,?),", len(rows)), ",")), args
}

// Save inserts the transaction and its rows.
func (s *sqlSagas) Save(ctx context.Context, g *saga) error {
	now := g.created.UnixMilli()
	rows, args := s.insertRows(g, g.rows)
	options := fmt.Sprintf(`{"concurrent":false,"wait_result":true,"timeout_ms":%d}`, g.timeout.Milliseconds())
	return s.within(ctx, &g.lost, func(tx *sql.Tx) error {
		n, err := affected(ctx, tx, s.t.save, g.gid, g.of().name, g.status, string(g.appendQuery(nil)), now, now, options, g.interval.Milliseconds(), g.next.UnixMilli())
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
func (s *sqlSagas) Branch(ctx context.Context, g *saga, pos int) error {
	r := &g.rows[pos]
	return s.held(ctx, g, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.t.row, r.status, unix(r.updated), unix(r.ended), unix(r.rolledBack), g.gid, string(appendBranch(nil, g.branch(r.step))), r.op)
		return err
	})
}

// guard runs a single statement that changes a transaction if it has the status
// that is expected.
func (s *sqlSagas) guard(ctx context.Context, g *saga, text string, args ...any) error {
	for try := 1; ; try++ {
		began := time.Now()
		n, err := affected(ctx, s.db, text, args...)
		switch {
		case err == nil && n == 0:
			return errMoved
		case err == nil || try == tries || s.conn.Classify(err) != store.Conflict:
			return err
		}
		s.undone(&g.lost, time.Since(began))
	}
}

// Change updates the status.
func (s *sqlSagas) Change(ctx context.Context, g *saga, from string) error {
	return s.guard(ctx, g, s.t.change, g.status, unix(g.updated), unix(g.ended), unix(g.rolledBack), g.reason, g.gid, from)
}

// Touch updates when to look again. MySQL counts only rows that the update changed,
// and all may stand as it was before the millisecond was over.
func (s *sqlSagas) Touch(ctx context.Context, g *saga) error {
	err := s.guard(ctx, g, s.t.touch, g.next.UnixMilli(), g.interval.Milliseconds(), unix(g.updated), g.gid, g.status)
	if errors.Is(err, errMoved) && s.dialect == sqlstore.DialectMySQL {
		var n int
		s.extra.Add(1)
		err = s.db.QueryRowContext(ctx, s.text("SELECT COUNT(*) FROM "+s.global+" WHERE gid = ? AND status = ?"), g.gid, g.status).Scan(&n)
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
	s.extra.Add(1)
	err := s.db.QueryRowContext(ctx, s.t.due, now.UnixMilli()).Scan(&gid, &due)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errNone
	}
	if err != nil {
		return "", err
	}
	s.extra.Add(1)
	n, err := affected(ctx, s.db, s.t.lease, until.UnixMilli(), gid, due)
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
	s.extra.Add(2)
	err := s.db.QueryRowContext(ctx, s.text("SELECT trans_type, query_prepared, status, options, create_time, next_cron_interval, next_cron_time, rollback_reason FROM "+s.global+" WHERE gid = ?"), gid).
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
	err = s.each(ctx, s.text("SELECT url, bin_data, op, status FROM "+s.branch+" WHERE gid = ? ORDER BY id"), []any{gid}, func(scan func(...any) error) error {
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
func (s *sqlSagas) Move(ctx context.Context, g *saga, pos int) (got reply, err error) {
	r := &g.rows[pos]
	t := g.steps[r.step]
	id, now := string(appendBranch(nil, r.step)), time.Now().UnixMilli()
	undo := r.op == opCompensate
	if undo {
		t.Amount = -t.Amount
	}
	err = s.within(ctx, &g.lost, func(tx *sql.Tx) error {
		got = replyDone
		if undo {
			n, err := affected(ctx, tx, s.t.void, g.gid, id, opAction, opCompensate, nil, nil, now)
			if err != nil {
				return err
			}
			if n > 0 {
				got = replyNothing
				_, err := tx.ExecContext(ctx, s.t.void, g.gid, id, r.op, r.op, nil, nil, now)
				return err
			}
		}
		n, err := affected(ctx, tx, s.t.call, g.gid, id, r.op, r.op, t.Account, t.Amount, now)
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
			text, args = text+s.text(" AND balance >= ?"), append(args, -t.Amount)
			if s.dialect == sqlstore.DialectPostgres {
				text = strings.Replace(text, ">= $1", ">= $3", 1)
			}
		}
		n, err = affected(ctx, tx, text, args...)
		if err == nil && n == 0 {
			got = replyRefused
			return errUndo
		}
		return err
	})
	return got, err
}
