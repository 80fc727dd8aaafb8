package pbm

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// onCassandra connects a plan to Cassandra, which has look-ups only.
func (s *Spec) onCassandra(_ context.Context, b *workload.Bound) error {
	if s.tx() {
		return fault.Input(fmt.Errorf("%s.testCase=%s does not run on Cassandra: it cannot read a group's members and write its summary in one step", padogrid.Eligibility, caseTx),
			"--set testCase=getall, or use redis://, postgres: or embedded:")
	}
	h, err := newShapes(b.Conn, s)
	if err != nil {
		return fault.Store(fmt.Errorf("tx: %w", err), "use redis:// or embedded:")
	}
	return bind(b.Conn, b.Plan, s, lookups{h})
}

// lookups has no transactions.
type lookups struct{ *shapes }

// Summarize says that there are none.
func (lookups) Summarize(context.Context, []byte, []byte) (summary, bool, error) {
	return summary{}, false, store.ErrUnsupported
}

// Summary says that there is none.
func (lookups) Summary(context.Context, []byte) (kept, bool, error) {
	return kept{}, false, store.ErrUnsupported
}
