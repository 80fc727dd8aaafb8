// Package sqlstore connects to MariaDB and MySQL, to PostgreSQL, and to SQLite, all
// through gorm. It implements the shapes of package store with one table per space;
// profiles with data layers of their own get the handles of gorm and of database/sql.
// It contains no profile's schema.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"github.com/go-sql-driver/mysql"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqldial"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// MySQL opens connections to MariaDB and MySQL.
var MySQL = store.Driver{
	Name:    string(sqltext.MySQL),
	Title:   "MariaDB and MySQL",
	Schemes: []string{"mysql", "mariadb"},
	Breaks:  store.BreaksConnections,
	Example: "mysql://root@localhost:3306/perfbench",
	Port:    3306,
	Params:  append(append([]string{"isolation"}, store.NetworkParams...), sqldial.MySQLParams...),
	Traits:  store.TraitsOf(mysqlAbilities),
	Open:    store.Opens(Open),
}

// Postgres opens connections to PostgreSQL.
var Postgres = store.Driver{
	Name:    string(sqltext.Postgres),
	Title:   "PostgreSQL",
	Schemes: []string{"postgres", "postgresql"},
	Breaks:  store.BreaksConnections,
	Example: "postgres://postgres@localhost:5432/perfbench",
	Port:    5432,
	Params:  append(append([]string{"isolation"}, store.NetworkParams...), sqldial.PostgresParams...),
	Traits:  store.TraitsOf(postgresAbilities),
	Open:    store.Opens(Open),
}

// SQLite opens SQLite files, in this process.
var SQLite = store.Driver{
	Name:    string(sqltext.SQLite),
	Title:   "SQLite",
	Schemes: []string{"sqlite"},
	Example: "sqlite:perfbench.db",
	Params:  append([]string{"connections"}, sqldial.SQLiteParams...),
	Open:    store.Opens(Open),
}

// Typed is a connection whose handles a profile may use directly. They belong to
// the connection: do not close them.
type Typed interface {
	store.Conn
	// DB is gorm's handle: prepared statements, no default transaction, no log.
	DB() *gorm.DB
	// SQL is the pool behind it.
	SQL() *sql.DB
	// Dialect is the SQL dialect of the server.
	Dialect() sqltext.Dialect
	// EnsureDatabase makes sure that a database is selected; see Conn.
	EnsureDatabase(ctx context.Context, name string) error
}

var (
	_ interface {
		Typed
		store.Composite
		store.Pooled
		store.Warmer
		store.Answerer
		store.Factual
	} = (*Conn)(nil)
	_ store.Maps = (*Maps)(nil)
	_ interface {
		store.Keeper
		store.Peeker
		store.Tabular
	} = (*Records)(nil)
	_ interface {
		store.Leaser
		store.Neighbours
	} = (*Leases)(nil)
	_ store.Metered = (*Meter)(nil)
	_ store.Prober  = (*Prober)(nil)
)

// Conn owns a pool of connections to one database. It is safe for use by several
// goroutines, and so are its components.
//
// With SQLite the pool has one connection unless the target says connections=, since a
// file has one writer at a time: within a transaction use only its own handle, and
// close rows before the next query, as otherwise the caller deadlocks with itself.
type Conn struct {
	Maps    *Maps
	Records *Records
	Leases  *Leases
	Meter   *Meter
	Prober  *Prober

	server *server
	pool   *pool
	tables *tables
	choice *choice
	gorm   *gorm.DB

	product, version string
	// limited is a warning that the server allows fewer connections than requested, or
	// "".
	limited string
	asked   store.Asked
	// scratch is a folder to delete on Close, or "".
	scratch string
}

// pool is the connections themselves, and how many there may be.
type pool struct {
	db        *sql.DB
	connector *sqldial.Connector // opens them; nil for SQLite
	size      int
}

// Components returns the parts that the connection is made of.
func (c *Conn) Components() []any { return []any{c.Maps, c.Records, c.Leases, c.Meter, c.Prober} }

// DB returns gorm's handle: prepared statements are cached, single writes are not
// wrapped in a transaction, and nothing is logged. Do not close it.
func (c *Conn) DB() *gorm.DB { return c.gorm }

// SQL returns the pool of connections. Do not close it.
func (c *Conn) SQL() *sql.DB { return c.pool.db }

// Dialect returns the SQL dialect of the server.
func (c *Conn) Dialect() sqltext.Dialect { return c.server.d.Dialect }

// Database returns the current database, or the file of SQLite; "" if none is selected
// yet.
func (c *Conn) Database() string { return c.server.name() }

// EnsureDatabase makes sure that a database is selected: the one in the target or else
// the named one, which it creates if necessary. SQLite always has one. It is meant to
// be called before the workers start, because connections in use at the time stay where
// they are. Errors have the code of an unfit store.
func (c *Conn) EnsureDatabase(ctx context.Context, name string) error {
	return c.choice.ensure(ctx, name)
}

// Pool returns statistics of the connection pool.
func (c *Conn) Pool() store.PoolStats {
	s := c.pool.db.Stats()
	return store.PoolStats{
		Size: s.MaxOpenConnections, Open: s.OpenConnections, Idle: s.Idle,
		Waits: s.WaitCount, WaitNs: int64(s.WaitDuration),
	}
}

// dials is how many connections Warm opens at a time.
const dials = 16

// Warm opens n connections, or as many as the pool may hold, and returns them to the
// pool.
func (c *Conn) Warm(ctx context.Context, n int) error {
	var all errgroup.Group
	all.SetLimit(dials)
	held := make([]*sql.Conn, min(n, c.pool.size))
	for i := range held {
		all.Go(func() (err error) {
			held[i], err = c.pool.db.Conn(ctx)
			return err
		})
	}
	err := all.Wait()
	for _, h := range held {
		if h != nil {
			err = errors.Join(err, h.Close())
		}
	}
	if err != nil {
		return c.server.explain(ctx, err)
	}
	return nil
}

// closePatience is how long Close waits for calls in progress.
const closePatience = 500 * time.Millisecond

// Close closes all connections, and deletes a SQLite file that was created for this
// connection alone.
func (c *Conn) Close() error {
	// A statement is closed on its connection, where it must wait for a call that may
	// hang.
	late := time.AfterFunc(closePatience, c.server.network.Sever)
	c.tables.forget(nil)
	err := errors.Join(c.pool.db.Close(), c.Meter.close())
	if !late.Stop() && c.server.network != nil {
		err = nil // a connection that was cut off cannot be closed properly
	}
	c.server.network.Sever()
	if c.scratch != "" {
		if e := os.RemoveAll(c.scratch); e != nil {
			err = errors.Join(err, fmt.Errorf("sqlite: delete the temporary file: %w", e))
		}
	}
	return err
}

// Classify returns the class of an operation's error, including those of gorm. It is
// safe for use by several goroutines.
func (c *Conn) Classify(err error) store.Class {
	if errors.Is(err, mysql.ErrInvalidConn) && c.server.network.TimedOut() {
		return store.Timeout // the driver only reports that the connection is gone
	}
	return Classify(err)
}
