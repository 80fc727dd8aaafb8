package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// choice is the database that a pool works in, which is chosen once, before the first write,
// if the target names none.
type choice struct {
	server *server
	pool   *pool
	tables *tables
	mu     sync.Mutex // held while a database is being selected
}

// ensure makes sure that a database is selected; see Conn.EnsureDatabase.
func (ch *choice) ensure(ctx context.Context, name string) error {
	_, err := ch.choose(ctx, name, true)
	return err
}

// choose is ensure. If create is false it only looks; it reports whether a
// database is selected now.
func (ch *choice) choose(ctx context.Context, name string, create bool) (bool, error) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if ch.server.name() != "" {
		return true, nil
	}
	if name == "" || len(name) > ch.server.d.nameLimit || strings.ContainsRune(name, 0) {
		return false, fault.Input(fmt.Errorf("%s: the target names no database, and %q cannot be the name of one", ch.server.d.Dialect, name),
			fmt.Sprintf("name one in the target: %s://%s/perfbench", ch.server.d.Dialect, ch.server.where()))
	}
	question := "SELECT COUNT(*) FROM pg_catalog.pg_database WHERE datname = $1"
	if ch.server.d.Dialect == sqltext.MySQL {
		question = "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?"
	}
	var n int
	if err := ch.pool.db.QueryRowContext(ctx, question, name).Scan(&n); err != nil {
		return false, ch.server.explain(ctx, fmt.Errorf("look for the database %s: %w", name, err))
	}
	if n == 0 {
		if !create {
			return false, nil
		}
		if err := ch.createDatabase(ctx, name); err != nil {
			return false, err
		}
	}
	return true, ch.enter(ctx, name)
}

func (ch *choice) createDatabase(ctx context.Context, name string) error {
	text := "CREATE DATABASE " + ch.server.d.Quote(name)
	if ch.server.d.Dialect == sqltext.MySQL {
		text += " DEFAULT CHARACTER SET utf8mb4"
	}
	for try := 1; ; try++ {
		_, err := ch.pool.db.ExecContext(ctx, text)
		switch {
		case err == nil, Exists(err):
			return nil
		case TemplateBusy(err) && try < 50: // another database is being created at the same time
			if err := settle(ctx); err != nil {
				return err
			}
			continue
		case refused(err):
			return fault.Store(fault.Sentence(fmt.Sprintf("%s: %s: the user %q may not create the database %q", ch.server.d.Dialect, ch.server.where(), ch.server.user(), name), err),
				fmt.Sprintf("create it, or name one that exists in the target: %s://%s/NAME", ch.server.d.Dialect, ch.server.where()))
		}
		return ch.server.explain(ctx, fmt.Errorf("create the database %s: %w", name, err))
	}
}

// enter makes the pool open its connections in a database from now on.
func (ch *choice) enter(ctx context.Context, name string) error {
	if err := ch.pool.connector.Use(name); err != nil {
		return ch.server.explain(ctx, err)
	}
	ch.tables.forget(nil)
	ch.pool.db.SetMaxIdleConns(-1) // closes those that are in another one
	ch.pool.db.SetMaxIdleConns(ch.pool.size)
	ch.server.database.Store(&name)
	if err := ch.pool.db.PingContext(ctx); err != nil {
		return ch.server.explain(ctx, err)
	}
	return nil
}
