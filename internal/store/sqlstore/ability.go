package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// mysqlAbilities are what servers are asked that speak the protocol of MySQL. Nothing is
// written.
var mysqlAbilities = []store.Question[*Conn]{
	{
		Trait: store.Trait{Ability: store.TwoPhase, Title: "XA transactions", Without: "transType=xa refuses"},
		Ask:   answers("XA RECOVER"),
	},
	{
		Trait: store.Trait{Ability: "status", Title: "rows in its status", Without: "the server's own figures are missing, and with them much of what held a run back"},
		Ask: func(ctx context.Context, c *Conn) error {
			n, err := connected(ctx, c.pool.db, threadsConnected)
			if err == nil && n == 0 {
				return errors.New("SHOW GLOBAL STATUS has no " + threadsConnected)
			}
			return c.withholds(err)
		},
	},
	{
		Trait: store.Trait{Ability: "process list", Title: "the threads of its process list", Without: "threads that wait for a commit are not told"},
		Ask:   answers(mysqlCommitting),
	},
	{
		Trait: store.Trait{Ability: "performance schema", Title: "a performance schema", Without: "what threads wait for is not told"},
		Ask:   answers("SELECT event_name FROM performance_schema.events_waits_summary_global_by_event_name LIMIT 1"),
	},
}

// postgresAbilities are those of the protocol of PostgreSQL.
var postgresAbilities = []store.Question[*Conn]{
	{
		Trait: store.Trait{
			Ability: "sessions", Title: "sessions of one's own",
			Without: "a pooler gives each transaction another connection: statements are not prepared, and isolation= must be set on the server",
		},
		Ask: func(_ context.Context, c *Conn) error {
			if c.pool.connector.Shared() {
				return errors.New("a pooler stands in front of it")
			}
			return nil
		},
	},
	{
		Trait: store.Trait{Ability: store.TwoPhase, Title: "transactions that can be prepared", Without: "transType=xa refuses"},
		Ask:   answers("SELECT count(*) FROM pg_prepared_xacts WHERE current_setting('max_prepared_transactions') IS NOT NULL"),
	},
	{
		Trait: store.Trait{Ability: "connection limits", Title: "max_connections", Without: "it is not known how many connections there may be"},
		Ask:   answers("SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"),
	},
	{
		Trait: store.Trait{Ability: "pg_stat_database", Title: "statistics of the database", Without: "commits, reads and deadlocks are not told"},
		Ask:   answers("SELECT xact_commit FROM pg_stat_database LIMIT 1"),
	},
	{
		Trait: store.Trait{Ability: "pg_stat_activity", Title: "statistics of sessions", Without: "what sessions wait for is not told, nor in what held a run back"},
		Ask:   answers("SELECT count(wait_event) FROM pg_stat_activity WHERE backend_type = 'client backend'"),
	},
	{
		Trait: store.Trait{Ability: "pg_stat_wal", Title: "statistics of the log", Without: "how much is written to the log, and how often it is synced, is not told"},
		Ask: func(ctx context.Context, c *Conn) error {
			err := answers("SELECT wal_bytes FROM pg_stat_wal")(ctx, c)
			if err != nil && c.product == "postgresql" {
				return store.ErrPointless // before 14, no server has them
			}
			return err
		},
	},
}

// answers returns the question whether a statement can be carried out.
func answers(statement string) func(context.Context, *Conn) error {
	return func(ctx context.Context, c *Conn) error {
		rows, err := c.tables.beside.QueryContext(ctx, statement)
		if err == nil {
			err = walk(rows, func(*sql.Rows) error { return nil })
		}
		return c.withholds(err)
	}
}

// withholds returns the answer by which a server withholds something; an error that says
// nothing about that is store.ErrUnknown.
func (c *Conn) withholds(err error) error {
	switch Classify(err) {
	case store.Worked:
		return nil
	case store.Unreachable, store.Timeout, store.Canceled, store.Overloaded:
		return fmt.Errorf("%w: %w", store.ErrUnknown, err)
	}
	return errors.New(err.Error()) // whose class is that of the question, and of nothing else
}

// Facts returns what the server can do, as it answers.
func (c *Conn) Facts(ctx context.Context) (store.Facts, error) {
	table := map[sqltext.Dialect][]store.Question[*Conn]{sqltext.MySQL: mysqlAbilities, sqltext.Postgres: postgresAbilities}[c.server.d.Dialect]
	all, err := store.Ask(ctx, &c.asked, table, c)
	if err != nil {
		return store.Facts{}, c.server.explain(ctx, err)
	}
	return store.Facts{Where: string(c.server.d.Dialect) + ": " + c.server.where(), All: all}, nil
}
