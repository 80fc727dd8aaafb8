package tx

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// onCassandra connects a plan to Cassandra, which has look-ups only.
func (s *pbmSpec) onCassandra(_ context.Context, b *workload.Bound) error {
	if s.tx() {
		return fault.Input(fmt.Errorf("%s.testCase=%s does not run on Cassandra: it cannot read a group's members and write its summary in one step", mapElig, caseTx),
			"--set testCase=getall, or use redis://, postgres: or embedded:")
	}
	h, err := newShapeStore(b.Conn, s)
	if err != nil {
		return fault.Store(fmt.Errorf("tx: %w", err), "use redis:// or embedded:")
	}
	return bindPBM(b.Conn, b.Plan, s, lookupPBM{h})
}

// lookupPBM has no transactions.
type lookupPBM struct{ *shapeStore }

// Summarize says that there are none.
func (lookupPBM) Summarize(context.Context, []byte, []byte) (summary, bool, error) {
	return summary{}, false, store.ErrUnsupported
}

// Summary says that there is none.
func (lookupPBM) Summary(context.Context, []byte) (kept, bool, error) {
	return kept{}, false, store.ErrUnsupported
}
