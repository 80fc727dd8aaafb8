package sqlstore

import "context"

// Answer has the server answer the smallest of statements.
func (c *Conn) Answer(ctx context.Context) error {
	var one int
	return c.sql.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}
