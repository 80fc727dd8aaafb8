package labtest

import (
	"testing"

	"github.com/perfbench/perfbench/internal/lab"
)

// durable makes a Cassandra write to its disk before it acknowledges, so that a
// kill loses nothing; by default it may lose the last ten seconds.
var durable = []string{"--commitlog_sync", "group", "--commitlog_sync_group_window", "1ms"}

// common is how the Cassandra of all tests is set: a change of the schema costs a
// quarter of the time, and is lost in a crash.
var common = []string{"-Dcassandra.test.flush_local_schema_changes=false"}

// Cassandra returns a running Cassandra. Without args it is [Common]: each test keeps
// to a keyspace of its own. With args, settings of its configuration
// ("--authenticator", "PasswordAuthenticator"), the test gets a private one; a
// start takes 5 to 15 seconds.
func Cassandra(t testing.TB, args ...string) *Server {
	t.Helper()
	if len(args) > 0 {
		return start(t, "cassandra", lab.Options{Args: args})
	}
	return Common(t, "cassandra")
}

// CassandraTLS starts a private Cassandra that takes TLS connections only.
func CassandraTLS(t testing.TB, o TLSOptions) *TLSServer {
	t.Helper()
	return startTLS(t, "cassandra", o)
}
