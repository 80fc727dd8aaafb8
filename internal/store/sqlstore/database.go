package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// EnsureDatabase makes sure that a database is selected: the one in the target or else
// the named one, which it creates if necessary. SQLite always has one. It is meant to
// be called before the workers start, because connections in use at the time stay where
// they are. Errors have the code of an unfit store.
func (c *Conn) EnsureDatabase(ctx context.Context, name string) error {
	_, err := c.choose(ctx, name, true)
	return err
}

// choose is EnsureDatabase. If create is false it only looks; it reports whether a
// database is selected now.
func (c *Conn) choose(ctx context.Context, name string, create bool) (bool, error) {
	c.choosing.Lock()
	defer c.choosing.Unlock()
	if c.Database() != "" {
		return true, nil
	}
	if name == "" || len(name) > c.d.nameLimit || strings.ContainsRune(name, 0) {
		return false, fault.Input(fmt.Errorf("%s: the target names no database, and %q cannot be the name of one", c.d.Dialect, name),
			fmt.Sprintf("name one in the target: %s://%s/perfbench", c.d.Dialect, c.where()))
	}
	question := "SELECT COUNT(*) FROM pg_catalog.pg_database WHERE datname = $1"
	if c.d.Dialect == sqltext.MySQL {
		question = "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?"
	}
	var n int
	if err := c.sql.QueryRowContext(ctx, question, name).Scan(&n); err != nil {
		return false, c.explain(ctx, fmt.Errorf("look for the database %s: %w", name, err))
	}
	if n == 0 {
		if !create {
			return false, nil
		}
		if err := c.createDatabase(ctx, name); err != nil {
			return false, err
		}
	}
	return true, c.enter(ctx, name)
}

func (c *Conn) createDatabase(ctx context.Context, name string) error {
	text := "CREATE DATABASE " + c.d.Quote(name)
	if c.d.Dialect == sqltext.MySQL {
		text += " DEFAULT CHARACTER SET utf8mb4"
	}
	for try := 1; ; try++ {
		_, err := c.sql.ExecContext(ctx, text)
		switch {
		case err == nil, Exists(err):
			return nil
		case TemplateBusy(err) && try < 50: // another database is being created at the same time
			if err := settle(ctx); err != nil {
				return err
			}
			continue
		case refused(err):
			return fault.Store(fault.Sentence(fmt.Sprintf("%s: %s: the user %q may not create the database %q", c.d.Dialect, c.where(), c.user(), name), err),
				fmt.Sprintf("create it, or name one that exists in the target: %s://%s/NAME", c.d.Dialect, c.where()))
		}
		return c.explain(ctx, fmt.Errorf("create the database %s: %w", name, err))
	}
}

// enter makes the pool open its connections in a database from now on.
func (c *Conn) enter(ctx context.Context, name string) error {
	if err := c.connector.Use(name); err != nil {
		return c.explain(ctx, err)
	}
	c.forget(nil)
	c.sql.SetMaxIdleConns(-1) // closes those that are in another one
	c.sql.SetMaxIdleConns(c.size)
	c.database.Store(&name)
	if err := c.sql.PingContext(ctx); err != nil {
		return c.explain(ctx, err)
	}
	return nil
}
