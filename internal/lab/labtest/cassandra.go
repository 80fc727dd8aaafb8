package labtest

import (
	"testing"

	"github.com/perfbench/perfbench/internal/lab"
)

// Durable makes a Cassandra write to its disk before it acknowledges, so that a
// kill loses nothing; by default it may lose the last ten seconds.
var Durable = []string{"--commitlog_sync", "group", "--commitlog_sync_group_window", "1ms"}

// Cassandra returns a running Cassandra. Without args all tests of a package share
// one, which is Durable and starts with the first of them and ends with Run: each test keeps to
// a keyspace of its own. With args, settings of its configuration
// ("--authenticator", "PasswordAuthenticator"), the test gets a private one; a
// start takes 5 to 15 seconds.
func Cassandra(t testing.TB, args ...string) *Server {
	t.Helper()
	if len(args) > 0 {
		return start(t, "cassandra", lab.Options{Args: args})
	}
	return shared(t, "cassandra", Durable)
}

// CassandraOfTables returns a Cassandra that all tests of a package share as Cassandra's,
// for those that make and drop many tables: a change of the schema costs a quarter of
// the time, and is lost when the server is killed.
func CassandraOfTables(t testing.TB) *Server {
	t.Helper()
	return sharedAs(t, "cassandra of tables", "cassandra", []string{"-Dcassandra.test.flush_local_schema_changes=false"})
}

// CassandraTLS starts a private Cassandra that takes TLS connections only.
func CassandraTLS(t testing.TB, o TLSOptions) *TLSServer {
	t.Helper()
	return startTLS(t, "cassandra", o)
}
