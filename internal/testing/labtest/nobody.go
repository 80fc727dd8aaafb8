package labtest

import (
	"testing"

	"github.com/perfbench/perfbench/internal/lab"
)

// Nobody returns an address on the loopback at which nobody listens, nor begins to while the test
// is under way: neither the servers of other tests, nor a client's outgoing connections get it.
func Nobody(t testing.TB) string {
	t.Helper()
	ports, err := lab.FreePorts(1, 0)
	if err != nil {
		t.Fatalf("labtest: %v", err)
	}
	return lab.Addr(ports[0])
}
