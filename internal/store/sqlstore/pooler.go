package sqlstore

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"

	"github.com/perfbench/perfbench/internal/store"
)

// behindPooler prepares nothing that outlives a transaction if a pooler gives each transaction
// another connection to the server.
func (c *Conn) behindPooler(ctx context.Context) error {
	shared, err := c.sharesSessions(ctx)
	if err != nil || !shared {
		return err
	}
	c.pool.connector.Share()
	if err := c.pool.connector.Use(c.server.name()); err != nil {
		return err
	}
	c.pool.db.SetMaxIdleConns(-1) // closes those that are there
	c.pool.resize()
	return nil
}

// sharesSessions reports whether two connections see each other's session, because a pooler
// serves both by the same connection to the server. The questions prepare nothing; where they
// fail, nothing is found.
func (c *Conn) sharesSessions(ctx context.Context) (bool, error) {
	one, err := c.pool.db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = one.Close() }() // returns it to the pool
	other, err := c.pool.db.Conn(ctx)
	if err != nil {
		return false, nil //nolint:nilerr // there is room for one alone, which limits finds out
	}
	defer func() { _ = other.Close() }() // as above
	ask := func(on *sql.Conn, question string) string {
		var answer sql.NullString
		c.tables.beside.n.Add(1)
		_ = on.QueryRowContext(ctx, question, pgx.QueryExecModeSimpleProtocol).Scan(&answer)
		return answer.String
	}
	mark := store.Unlikely()
	ask(one, "SELECT set_config('perfbench.asked', '"+mark+"', false)")
	if ask(other, "SELECT current_setting('perfbench.asked', true)") != mark {
		return false, nil
	}
	ask(other, "SELECT set_config('perfbench.asked', '', false)")
	return true, nil
}
