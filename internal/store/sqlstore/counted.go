package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// Counted is how often a statement was carried out, and how many rows it answered with or changed.
type Counted struct {
	Text        string
	Calls, Rows int64
}

// StatementsCounted returns what PostgreSQL counts of the statements of a database in
// pg_stat_statements, by what tells them apart. The error says what is missing.
func (c *Conn) StatementsCounted(ctx context.Context) (map[string]Counted, error) {
	if c.Dialect() != sqltext.Postgres {
		return nil, fault.Input(fmt.Errorf("only PostgreSQL counts statements in pg_stat_statements, and %s is another store", c.server.where()), "use postgres://, or --from with a log")
	}
	const question = "SELECT concat_ws('/', queryid, userid), query, calls, rows FROM pg_stat_statements" +
		" WHERE dbid = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()) AND query NOT LIKE '%pg_stat_statements%'"
	rows, err := c.pool.db.QueryContext(ctx, question)
	if pg, is := errors.AsType[*pgconn.PgError](err); is && (pg.Code == "42P01" || pg.Code == "55000") {
		return nil, fault.Store(fmt.Errorf("%s has no pg_stat_statements in this database", c.server.where()),
			"set shared_preload_libraries = 'pg_stat_statements', start the server again, and CREATE EXTENSION pg_stat_statements in the database")
	}
	if err != nil {
		return nil, c.server.explain(ctx, err)
	}
	out := map[string]Counted{}
	err = walk(rows, func(rows *sql.Rows) error {
		var key string
		var one Counted
		if err := rows.Scan(&key, &one.Text, &one.Calls, &one.Rows); err != nil {
			return err
		}
		before := out[key] // within functions, it is counted apart
		out[key] = Counted{one.Text, before.Calls + one.Calls, before.Rows + one.Rows}
		return nil
	})
	return out, err
}

// CountedWithin returns what PostgreSQL counts of the statements of a target's database from now on for
// a time, which an interrupt ends early, and how long that was. begun is called once the counting has
// begun.
func CountedWithin(ctx context.Context, t store.Target, long time.Duration, begun func()) ([]Counted, time.Duration, error) {
	c, err := Open(ctx, t, store.OpenOptions{Threads: 1, Existing: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, 0, t.Scrub(err)
	}
	defer c.Close() //nolint:errcheck // it was only read
	before, err := c.StatementsCounted(ctx)
	if err != nil {
		return nil, 0, err
	}
	began := time.Now()
	begun()
	_ = store.Pause(ctx, long) // whoever interrupts it gets what there is
	after, err := c.StatementsCounted(context.WithoutCancel(ctx))
	return CountedSince(before, after), time.Since(began), err
}

// CountedSince returns what was counted between two readings; of what has been reset meanwhile, the
// later one.
func CountedSince(earlier, later map[string]Counted) (out []Counted) {
	for key, now := range later {
		if was := earlier[key]; was.Calls <= now.Calls {
			now.Calls, now.Rows = now.Calls-was.Calls, max(now.Rows-was.Rows, 0)
		}
		if now.Calls > 0 {
			out = append(out, now)
		}
	}
	return out
}
