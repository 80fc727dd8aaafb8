package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqldial"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// spare is how many connections the pool may open beyond one per worker, so that our
// own queries during a run take none from a worker.
const spare = 2

// Open connects to the server of t, or opens its file, and makes sure that it answers
// and accepts us. Errors have the code of an unfit store, or of bad input if the target
// itself is wrong, and a hint; none contains a password.
func Open(ctx context.Context, t store.Target, o store.OpenOptions) (*Conn, error) {
	c, err := newConn(t, o)
	if err != nil {
		return nil, err
	}
	if err := c.start(ctx, o); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// newConn makes the pool described by t. It does not connect.
func newConn(t store.Target, o store.OpenOptions) (*Conn, error) {
	d := dialectOf(t.Scheme)
	if d == nil {
		return nil, fault.Input(fmt.Errorf("%s: not a scheme of an SQL store", t.Scheme), "mysql:, postgres: and sqlite: are")
	}
	size, err := store.Connections(t)
	if err != nil {
		return nil, err
	}
	v, p := &server{d: d, target: t}, &pool{size: size}
	if p.size == 0 {
		p.size = max(o.Threads, 1) + spare
	}
	database, scratch := t.Path, ""
	if d.Dialect == sqltext.SQLite {
		if size == 0 || strings.Contains(t.Path, ":memory:") {
			p.size = 1
		}
		if o.Existing {
			if err := there(t); err != nil {
				return nil, err
			}
		}
		var dsn string
		if dsn, database, scratch, err = sqldial.SQLite(t); err != nil {
			return nil, err
		}
		if p.db, err = sql.Open("sqlite", dsn); err != nil {
			return nil, fault.Store(fmt.Errorf("sqlite: %w", err), "")
		}
	} else if v.network, p.connector, err = dial(t, d.Dialect, o); err != nil {
		return nil, err
	} else {
		p.db = sql.OpenDB(p.connector)
	}
	v.database.Store(&database)
	p.resize()
	aside := beside{p.db, store.Beside(t)}
	ts := &tables{server: v, d: d, db: p.db, beside: aside}
	ch := &choice{server: v, pool: p, tables: ts}
	return &Conn{
		Maps: &Maps{ts, 256 << 20}, Records: &Records{ts, ch}, Leases: &Leases{tables: ts, choice: ch},
		Meter: &Meter{server: v, pool: p, beside: aside}, Prober: &Prober{ts, ch},
		server: v, pool: p, tables: ts, choice: ch, scratch: scratch,
	}, nil
}

// there returns an error if the file of a target is missing.
func there(t store.Target) error {
	if t.Path == "" || strings.Contains(t.Path, ":memory:") || t.Params.Get("mode") == "memory" {
		return nil
	}
	if _, err := os.Stat(t.Path); errors.Is(err, fs.ErrNotExist) {
		return fault.Input(fmt.Errorf("sqlite: there is no file %s: %w", t.Path, fs.ErrNotExist), "check its path; a run creates it")
	}
	return nil // whatever else is wrong, opening it tells
}

// dial returns what opens connections to a server.
func dial(t store.Target, d sqltext.Dialect, o store.OpenOptions) (*sqldial.Network, *sqldial.Connector, error) {
	n, err := sqldial.NewNetwork(t, o)
	if err != nil {
		return nil, nil, err
	}
	open := sqldial.Postgres
	if d == sqltext.MySQL {
		open = sqldial.MySQL
	}
	c, err := open(t, n)
	return n, c, err
}

func (p *pool) resize() {
	p.db.SetMaxOpenConns(p.size)
	p.db.SetMaxIdleConns(p.size)
	p.db.SetConnMaxLifetime(0)
	p.db.SetConnMaxIdleTime(0)
}

// start connects, asks what must be known first, and hands the pool to gorm.
func (c *Conn) start(ctx context.Context, o store.OpenOptions) error {
	if err := c.greet(ctx); err != nil {
		return c.server.explain(ctx, err)
	}
	if err := c.limits(ctx); err != nil {
		return c.server.explain(ctx, err)
	}
	if c.limited != "" && o.Log != nil {
		o.Log.Warn(c.limited) //nolint:sloglint // a sentence for the user
	}
	c.pool.resize()
	db, err := gorm.Open(c.server.d.dialector(c.pool.db), &gorm.Config{
		SkipDefaultTransaction: true,
		PrepareStmt:            true,
		DisableAutomaticPing:   true,
		Logger:                 logger.Discard,
	})
	if err != nil {
		return c.server.explain(ctx, err)
	}
	c.gorm, c.tables.gorm = db, db
	return nil
}

// greet opens the first connection, within the dial timeout, because a server of
// another kind may never say anything.
func (c *Conn) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.server.network.DialTimeout())
	defer cancel()
	question := map[sqltext.Dialect]string{
		sqltext.MySQL:    "SELECT CONCAT(VERSION(), ' ', @@version_comment)",
		sqltext.Postgres: "SELECT version()",
		sqltext.SQLite:   "SELECT 'sqlite ' || sqlite_version()",
	}[c.server.d.Dialect]
	if c.server.d.Dialect == sqltext.Postgres && c.pool.size > 1 {
		if err := c.behindPooler(ctx); err != nil {
			return err
		}
	}
	var answer string
	if err := c.pool.db.QueryRowContext(ctx, question).Scan(&answer); err != nil {
		return err
	}
	c.product, c.version = identify(c.server.d.Dialect, answer)
	c.disguised(ctx)
	return nil
}

// disguised asks for products that give the version of another as theirs.
func (c *Conn) disguised(ctx context.Context) {
	var product, version string
	switch {
	case c.product == "mysql" && c.tables.beside.QueryRowContext(ctx, "SHOW VARIABLES LIKE 'aurora_version'").Scan(&product, &version) == nil:
		c.product, c.version = "aurora mysql", version
	case c.product == "postgresql":
		const question = "SELECT CASE WHEN EXISTS (SELECT 1 FROM pg_proc WHERE proname = 'aurora_version') THEN 'aurora postgresql'" +
			" WHEN EXISTS (SELECT 1 FROM pg_settings WHERE name LIKE 'neon.%') THEN 'neon' ELSE 'postgresql' END"
		if c.tables.beside.QueryRowContext(ctx, question).Scan(&product) == nil {
			c.product = product
		}
	}
}

// limits asks how many connections and how large a statement the server allows, and
// stays within those limits.
func (c *Conn) limits(ctx context.Context) error {
	if c.server.d.Dialect == sqltext.SQLite {
		return nil
	}
	var allowed, used int
	if c.server.d.Dialect == sqltext.MySQL {
		if err := c.pool.db.QueryRowContext(ctx, "SELECT @@max_connections, @@max_allowed_packet").Scan(&allowed, &c.Maps.largest); err != nil {
			return err
		}
		c.Maps.largest = c.Maps.largest / 4 * 3
		var err error
		if used, err = connected(ctx, c.pool.db, threadsConnected); err != nil {
			return err
		}
	} else {
		const question = `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
			(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')`
		if err := c.pool.db.QueryRowContext(ctx, question).Scan(&allowed, &used); err != nil {
			return ctx.Err() // servers that only speak the protocol need not have such settings
		}
	}
	if free := max(room(allowed, used-1), 1); c.pool.size > free { // one of those in use is ours
		c.limited = fmt.Sprintf("%s: the server has room for %d connections, and %d were wanted: workers will wait for each other",
			c.server.d.Dialect, free, c.pool.size)
		c.pool.size = free
	}
	return nil
}

// room returns how many connections a server that allows so many has left. TiDB and CockroachDB
// say 0 for as many as there is memory for.
func room(allowed, used int) int {
	if allowed <= 0 {
		return math.MaxInt
	}
	return allowed - used
}

// connected returns how many connections a MySQL has by a row of its status, 0 if there is no
// such row, as in TiDB and Vitess.
func connected(ctx context.Context, db *sql.DB, row string) (n int, err error) {
	var name string
	err = db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE '"+row+"'").Scan(&name, &n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}

const threadsConnected = "Threads_connected"

// settle gives a server a moment to release what it is busy with.
func settle(ctx context.Context) error {
	if store.Pause(ctx, 100*time.Millisecond) != nil {
		return context.Cause(ctx)
	}
	return nil
}
