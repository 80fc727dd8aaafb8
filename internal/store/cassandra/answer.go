package cassandra

import (
	"context"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// Answer reads a row that exists on every node.
func (c *Conn) Answer(ctx context.Context) error {
	var version string
	return c.session.Query("SELECT release_version FROM system.local").Consistency(gocql.One).ScanContext(ctx, &version)
}
