package labtest

import (
	"testing"

	"github.com/perfbench/perfbench/internal/lab"
)

// durable makes a Cassandra write to disk before it acknowledges, so that a kill loses
// nothing; by default it may lose the last ten seconds.
var durable = []string{"--commitlog_sync", "group", "--commitlog_sync_group_window", "1ms"}

// common are the settings of the Cassandra shared by all tests: a schema change takes a
// quarter of the time, but is lost in a crash.
var common = []string{"-Dcassandra.test.flush_local_schema_changes=false"}

// Cassandra returns a running Cassandra. Without args it is the [Common] one: each test
// must use its own keyspace. With args, settings of its configuration
// ("--authenticator", "PasswordAuthenticator"), the test gets a private one; a start
// takes 5 to 15 seconds.
func Cassandra(t testing.TB, args ...string) *Server {
	t.Helper()
	if len(args) > 0 {
		return start(t, "cassandra", lab.Options{Args: args})
	}
	return Common(t, "cassandra")
}

// CassandraTLS starts a private Cassandra that accepts TLS connections only.
func CassandraTLS(t testing.TB, o TLSOptions) *TLSServer {
	t.Helper()
	return startTLS(t, "cassandra", o)
}
