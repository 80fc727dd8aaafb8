package labtest

import (
	"testing"

	"github.com/perfbench/perfbench/internal/lab"
)

// Coherence returns a running Coherence CE member with its gRPC proxy. Without args
// all tests of a package share one, which starts with the first of them and ends
// with Run: each test keeps to names of its own. With args, system properties of
// the member ("--coherence.log.level", "9"), the test gets a private one; a start
// takes 5 to 15 seconds.
func Coherence(t testing.TB, args ...string) *Server {
	t.Helper()
	if len(args) > 0 {
		return start(t, "coherence", lab.Options{Args: args})
	}
	return shared(t, "coherence", nil)
}

// CoherencePrivate starts a member of the test's own, to be killed.
func CoherencePrivate(t testing.TB) *Server {
	t.Helper()
	return start(t, "coherence", lab.Options{})
}

// CoherenceTLS starts a private member whose gRPC proxy speaks TLS only.
func CoherenceTLS(t testing.TB, o TLSOptions) *TLSServer {
	t.Helper()
	return startTLS(t, "coherence", o)
}
