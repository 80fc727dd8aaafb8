//go:build !linux

package bench

import (
	"testing"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// Apart would give this process and the servers of srv a processor each; it skips the benchmark,
// since that takes Linux.
func Apart(b *testing.B, _ *labtest.Server) {
	b.Helper()
	b.Skip("SKIPPED, NOTHING WAS MEASURED: processors are assigned on Linux only")
}

// Awake would keep processors from idling; it skips the benchmark, since that takes Linux.
func Awake(b *testing.B) {
	b.Helper()
	b.Skip("SKIPPED, NOTHING WAS MEASURED: processors are kept from idling on Linux only")
}
