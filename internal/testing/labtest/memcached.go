package labtest

import (
	"testing"

	"github.com/perfbench/perfbench/internal/lab"
)

// Memcached starts a private Memcached. The args are its long options ("--max-item-size",
// "8m").
func Memcached(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, "memcached", lab.Options{Args: args})
}
