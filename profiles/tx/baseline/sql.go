package baseline

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// sqlPrimitives makes the calls of the suite in the form of an SQL store: statements
// instead of commands, and transactions instead of scripts.
type sqlPrimitives struct {
	*common.Database
	s *Spec
	// clients counts the clients that were made.
	clients *atomic.Int64
}

func (p sqlPrimitives) name() string { return p.tables().Quoted(baselineSpace) }

// tables returns the only table that the calls write.
func (p sqlPrimitives) tables() *sqlstore.Tables {
	return sqlstore.NewTables(p.Conn, p.s.namespace, "", []sqlstore.Table{{Name: baselineSpace, Key: "k", Columns: "k VARCHAR(64) NOT NULL, v VARCHAR(255) NOT NULL"}})
}

func (p sqlPrimitives) Spaces() []ownership.Space { return p.tables().Spaces(nil) }

func (p sqlPrimitives) Create(ctx context.Context) error { return p.tables().Create(ctx) }

// widest is the longest value that the table can hold.
const widest = 255

// bindSQL connects a plan to an SQL store.
func bindSQL(c store.Conn, p *workload.Plan, pr sqlPrimitives, sagas *model.Adapter) error {
	for i := range pr.s.Rows {
		if row := &pr.s.Rows[i]; row.value > widest {
			return fault.Input(fmt.Errorf("%s.valueLength: %d bytes are more than the %d of the table of a SQL store", row.Name, row.value, widest),
				fmt.Sprintf("--set %s.valueLength=%d or less", row.Name, widest))
		}
	}
	return bind(c, p, pr.s, pr, sagas, common.Of(pr.Database.Conn))
}

func (p sqlPrimitives) title(row *SuiteRow) string {
	return map[string]string{
		"set": "one row, one statement", "set-remote": "one row, one statement", "eval-literal": "one row, its values in the text",
		"eval-args": "one row in a transaction", "set-p50": "50 rows, one statement", "eval-loop10": "ten statements in a transaction",
		"eval-args-p50": "50 statements in a transaction", "cjson10": "ten reads in a transaction",
	}[row.Name]
}

func (p sqlPrimitives) note(row *SuiteRow) string {
	if row.Name == "set" {
		return "a SQL store has statements for commands and transactions for scripts; 50 calls sent together are 50 rows of one statement, or 50 statements of one transaction; each client has a key of its own, so that none waits for another's row"
	}
	return ""
}

func (p sqlPrimitives) put(rows int, values string) string {
	return p.Dialect.Text("INSERT INTO " + p.name() + " (k, v) VALUES " + values + strings.Repeat(","+values, rows-1) + "{replace k: v}")
}

func (p sqlPrimitives) caller(r *SuiteRow) (func(ctx context.Context, it *workload.Iteration) (int, error), error) {
	// Each client has its own key, as otherwise they would wait for each other's row
	// lock. It is as long as the row's key if that leaves room for the client's number.
	client := p.clients.Add(1)
	key, val := fmt.Sprintf("a%0*d", max(r.key-1, 6), client), r.text()
	one, literal := p.put(1, "(?,?)"), p.put(1, "('"+key+"','"+val+"')")
	get := p.Dialect.Text("SELECT v FROM " + p.name() + " WHERE k = ?")
	many, args := p.put(50, "(?,?)"), []any{}
	for i := range 50 {
		args = append(args, fmt.Sprintf("b%0*d", max(r.key-1, 6), 50*client+int64(i)), val)
	}
	exec := func(text string, args ...any) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			_, err := p.DB.ExecContext(ctx, text, args...)
			return err
		}
	}
	times := func(n int, text string, args ...any) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			return sqlstore.Transact(ctx, p.DB, func(tx *sql.Tx) error {
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
		"set": exec(one, key, val), "set-remote": exec(one, key, val), "eval-literal": exec(literal),
		"eval-args": times(1, one, key, val), "set-p50": exec(many, args...), "eval-loop10": times(10, one, key, val),
		"eval-args-p50": times(50, one, key, val), "cjson10": times(10, get, key),
	}[r.Name]
	return func(ctx context.Context, _ *workload.Iteration) (int, error) { return r.Depth, do(ctx) }, nil
}
