package labtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/perfbench/perfbench/internal/lab"
)

// shared is the Cassandra that the tests of a package have in common.
var shared struct {
	sync.Mutex
	state lab.State
	dir   string
	err   error
}

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
	need(t, "cassandra")
	shared.Lock()
	defer shared.Unlock()
	if shared.dir == "" {
		shared.err = startShared()
	}
	if shared.err != nil {
		t.Fatalf("labtest: %v", shared.err)
	}
	return &Server{t: t, dir: shared.dir, state: shared.state}
}

// CassandraTLS starts a private Cassandra that takes TLS connections only.
func CassandraTLS(t testing.TB, o TLSOptions) *TLSServer {
	t.Helper()
	return startTLS(t, "cassandra", o)
}

func startShared() error {
	dir, err := os.MkdirTemp("", "perfbench-labtest-")
	if err != nil {
		return err
	}
	shared.dir = dir
	ctx, cancel := context.WithTimeout(context.Background(), 10*limit) // the first one ever fetches
	defer cancel()
	shared.state, err = lab.Up(ctx, dir, "cassandra", lab.Options{Tied: true, Environ: os.Environ(), Args: Durable})
	return err
}

// Run runs the tests of a package that share servers, ends these, and returns the
// code to exit with:
//
//	func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) }
func Run(m *testing.M) int {
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.dir == "" {
		return code
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := lab.Down(ctx, shared.dir, "cassandra", nil); err != nil && shared.err == nil {
		fmt.Fprintln(os.Stderr, "labtest:", err) //nolint:forbidigo // there is no test to tell
		code = max(code, 1)
	}
	if err := os.RemoveAll(shared.dir); err != nil {
		fmt.Fprintln(os.Stderr, "labtest:", err) //nolint:forbidigo // there is no test to tell
	}
	return code
}
