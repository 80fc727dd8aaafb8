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
	"github.com/perfbench/perfbench/internal/workload"
)

// sqlPBM runs the transaction as one of the database, at the isolation level that
// the target names.
type sqlPBM struct {
	*shapeStore
	*database
	profile, sums, upsert, read string
	// wholeProfile and wholeSums read maps that are one table each.
	wholeProfile, wholeSums string
}

func newSQLPBM(c sqlstore.Typed, s *pbmSpec) (*sqlPBM, error) {
	h, err := newShapeStore(c, s)
	if err != nil {
		return nil, err
	}
	d := newDatabase(c)
	p := &sqlPBM{shapeStore: h, database: d}
	name := func(n string) string { return d.table(s.namespace, n+"_by_group") }
	p.profile = d.text("SELECT COUNT(*) FROM " + name(mapProfile) + " WHERE g = ?")
	p.sums = d.text("SELECT COUNT(*), COALESCE(SUM(LENGTH(v)), 0) FROM " + name(mapElig) + " WHERE g = ?")
	whole := func(n string) string { return d.table(s.namespace, n) }
	p.wholeProfile = d.text("SELECT COUNT(*) FROM " + whole(mapProfile) + " WHERE k = ?")
	// A key is the group's name, a colon and the member; what follows a colon is a semicolon.
	p.wholeSums = d.text("SELECT COUNT(*), COALESCE(SUM(LENGTH(v)), 0) FROM " + whole(mapElig) + " WHERE k >= ? AND k < ?")
	p.read = d.text("SELECT v FROM " + name(mapSummary) + " WHERE g = ? AND k = ?")
	p.upsert = "INSERT INTO " + name(mapSummary) + " (g, k, v) VALUES (?,?,?)"
	if d.dialect == sqlstore.DialectMySQL {
		p.upsert += " ON DUPLICATE KEY UPDATE v = VALUES(v)"
	} else {
		p.upsert += " ON CONFLICT (g, k) DO UPDATE SET v = excluded.v"
	}
	p.upsert = d.text(p.upsert)
	return p, nil
}

// groupSummary is a summary as it is stored.
type groupSummary struct {
	GroupNumber    string `json:"groupNumber"`
	CarrierNumber  string `json:"carrierNumber"`
	ContractNumber string `json:"contractNumber"`
	MemberCount    int64  `json:"memberCount"`
	TotalBlobSize  int64  `json:"totalBlobSize"`
	WrittenTime    int64  `json:"writtenTime"`
}

// Summarize tries the transaction once. A database that undid it for the sake of
// another one makes it a conflict.
func (p *sqlPBM) Summarize(ctx context.Context, group []byte) (sum summary, found bool, err error) {
	profile, sums, span := p.profile, p.sums, []any{group}
	if !p.s.grouped() {
		profile, sums, span = p.wholeProfile, p.wholeSums, []any{[]byte(string(group) + ":"), []byte(string(group) + ";")}
	}
	err = p.once(ctx, func(tx *sql.Tx) error {
		var n int64
		if err := tx.QueryRowContext(ctx, profile, group).Scan(&n); err != nil {
			return err
		}
		if found = n > 0; !found {
			return errUndo
		}
		if err := tx.QueryRowContext(ctx, sums, span...).Scan(&sum.Members, &sum.Bytes); err != nil {
			return err
		}
		g := string(group)
		val, err := json.Marshal(groupSummary{g, g, g, sum.Members, sum.Bytes, time.Now().UnixMilli()})
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, p.upsert, group, group, val)
		return err
	})
	if err != nil && p.conn.Classify(err) == store.Conflict {
		err = errConflict
	}
	return sum, found, err
}

// Summary reads what was written.
func (p *sqlPBM) Summary(ctx context.Context, group []byte) (summary, bool, error) {
	var val []byte
	err := p.db.QueryRowContext(ctx, p.read, group, group).Scan(&val)
	if errors.Is(err, sql.ErrNoRows) {
		return summary{}, false, nil
	}
	if err != nil {
		return summary{}, false, err
	}
	var g groupSummary
	if err := json.Unmarshal(val, &g); err != nil {
		return summary{}, false, fmt.Errorf("summary of %s: %w", group, err)
	}
	return summary{g.MemberCount, g.TotalBlobSize}, true, nil
}

// sqlPrimitives makes the calls of the suite as a SQL store has them: statements
// for commands, transactions for scripts.
type sqlPrimitives struct {
	*database
	s *baselineSpec
	// clients counts those that were made.
	clients *atomic.Int64
}

func (p sqlPrimitives) name() string { return p.table(p.s.namespace, baselineSpace) }

// spaces is the one table that the calls write.
func (p sqlPrimitives) spaces(map[string]string) []place.Space {
	return []place.Space{{Space: store.Space{Namespace: p.s.namespace, Name: baselineSpace, Shape: store.Keys}}}
}

func (p sqlPrimitives) create(ctx context.Context) error {
	if err := p.conn.EnsureDatabase(ctx, p.s.namespace); err != nil {
		return err
	}
	_, err := p.db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+p.name()+" (k VARCHAR(64) NOT NULL PRIMARY KEY, v VARCHAR(255) NOT NULL)")
	return err
}

func (p sqlPrimitives) title(row string) string {
	return map[string]string{
		"set": "one row, one statement", "set-remote": "one row, one statement", "eval-literal": "one row, its values in the text",
		"eval-args": "one row in a transaction", "set-p50": "50 rows, one statement", "eval-loop10": "ten statements in a transaction",
		"eval-args-p50": "50 statements in a transaction", "cjson10": "ten reads in a transaction",
	}[row]
}

func (p sqlPrimitives) note(row string) string {
	if row == "set" {
		return "a SQL store has statements for commands and transactions for scripts; 50 calls sent together are 50 rows of one statement, or 50 statements of one transaction; each client has a key of its own, so that none waits for another's row"
	}
	return ""
}

func (p sqlPrimitives) put(rows int, values string) string {
	text := "INSERT INTO " + p.name() + " (k, v) VALUES " + values
	text += strings.Repeat(","+values, rows-1)
	if p.dialect == sqlstore.DialectMySQL {
		return p.text(text + " ON DUPLICATE KEY UPDATE v = VALUES(v)")
	}
	return p.text(text + " ON CONFLICT (k) DO UPDATE SET v = excluded.v")
}

func (p sqlPrimitives) caller(r primitive) (func(ctx context.Context, it *workload.Iteration) (int, error), error) {
	// A key of its own for each client: else they would wait for each other's row.
	key := fmt.Sprintf("a%08d", p.clients.Add(1))
	one, literal := p.put(1, "(?,?)"), p.put(1, "('"+key+"','dddddd')")
	get := p.text("SELECT v FROM " + p.name() + " WHERE k = ?")
	val := "bbbbbbbbbb"
	many, args := p.put(50, "(?,?)"), []any{}
	for i := range 50 {
		args = append(args, fmt.Sprintf("%s%02d", key, i), "ddddddd")
	}
	exec := func(text string, args ...any) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			_, err := p.db.ExecContext(ctx, text, args...)
			return err
		}
	}
	times := func(n int, text string, args ...any) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			return p.once(ctx, func(tx *sql.Tx) error {
				for range n {
					if _, err := tx.ExecContext(ctx, text, args...); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	do := map[string]func(ctx context.Context) error{
		"set": exec(one, key, "ddddddd"), "set-remote": exec(one, key, "dddddddd"), "eval-literal": exec(literal),
		"eval-args": times(1, one, key, val), "set-p50": exec(many, args...), "eval-loop10": times(10, one, key, val),
		"eval-args-p50": times(50, one, key, val), "cjson10": times(10, get, key),
	}[r.name]
	return func(ctx context.Context, _ *workload.Iteration) (int, error) { return r.depth, do(ctx) }, nil
}
