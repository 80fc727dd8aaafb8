package tx

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// bindCassandra connects a plan to Cassandra, which has look-ups only.
func bindCassandra(_ context.Context, c store.Conn, p *workload.Plan) error {
	sp, ok := p.Private.(*pbmSpec)
	if !ok {
		return fault.Input(fmt.Errorf("mode=%s does not run on Cassandra: it has no transactions over several rows", p.Mode),
			"use --set mode=pbm with get and getall, or redis://, postgres: or embedded:")
	}
	if sp.tx() {
		return fault.Input(fmt.Errorf("%s.testCase=%s does not run on Cassandra: it cannot read a group's members and write its summary in one step", mapElig, caseTx),
			"--set testCase=getall, or use redis://, postgres: or embedded:")
	}
	h, err := newShapeStore(c, sp)
	if err != nil {
		return fault.Store(fmt.Errorf("tx: %w", err), "use redis:// or embedded:")
	}
	return bindPBM(c, p, sp, lookupPBM{h})
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
