package saga

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
	"github.com/perfbench/perfbench/profiles/tx/saga/onmemory"
)

// stale is a store that answers one read of a transaction that has ended as if it had not been there
// yet: the first from that read on.
type stale struct {
	model.Audit
	from  int64
	reads *atomic.Int64
	done  *atomic.Bool
}

func (s stale) Read(ctx context.Context, shard int, gids []string) ([]model.Stored, error) {
	got, err := s.Audit.Read(ctx, shard, gids)
	if s.reads.Add(1) >= s.from && err == nil && len(got) == 1 && model.Final(got[0].Status) && s.done.CompareAndSwap(false, true) {
		got[0] = model.Stored{Gid: got[0].Gid}
	}
	return got, err
}

// onStale connects a plan to such a store.
type onStale struct {
	Binding
	stale
}

func (b onStale) Connector(string) workload.Connector {
	return func(_ context.Context, to *workload.Bound) error {
		b.Begin("trial")
		layer := onmemory.New(to.Conn, b.Spec).Layer()
		opened := layer.Open
		layer.Open = func() model.Store {
			st, one := opened(), b.stale
			one.Audit = st.Audit
			st.Audit = one
			return st
		}
		return bindSaga(to.Conn, to.Plan, b.Binding, layer, common.Meter{})
	}
}

// One stale read of a saga is found in each of twenty runs.
func TestOneStaleReadOfASaga(t *testing.T) {
	staleAmong(t, 4_000)
}

func TestProofThatOneStaleReadOfASagaIsFoundAmong100000(t *testing.T) {
	tier.Proof(t, "TestOneStaleReadOfASaga finds it among 4,000")
	staleAmong(t, 100_000)
}

func staleAmong(t *testing.T, sagas int64) {
	t.Helper()
	for trial := range int64(20) {
		conn := open(t, "memory:")
		in := inputs(given("mode=saga", "threads=4", "accounts=off", "checkInterval=0s", "check=linearizable", fmt.Sprint("transactions=", sagas)))
		in.Driver = "memory"
		p, err := mode.Plan(in)
		require.NoError(t, err)
		var reads atomic.Int64
		var done atomic.Bool
		p.Binder = onStale{p.Binder.(Binding), stale{nil, sagas/lookEvery/4 + trial/2, &reads, &done}}
		p = profiletest.Bind(t, "tx", p, conn, in, "trial")
		require.NoError(t, p.Setup(t.Context(), nil))
		profiletest.Work(t, p)
		require.True(t, done.Load())
		v := p.Verify(t.Context())
		assert.Equal(t, workload.Failed, v.State, "trial %d", trial)
		l := p.Facts(nil).(*Facts).Linearizable
		require.NotNil(t, l)
		assert.Equal(t, histories.Violated, l.State, "trial %d", trial)
		assert.EqualValues(t, 1, l.Violated, "trial %d", trial)
	}
}

// Honest stores are linearizable, also where sagas fail and participants are late.
func TestSagasAreLinearizable(t *testing.T) {
	for _, name := range []string{"memory", "embedded", "redis", "postgres", "mariadb"} {
		t.Run(name, func(t *testing.T) {
			if name == "postgres" || name == "mariadb" {
				tier.Full(t, "the same on Redis")
			}
			// A client that is not let run for a whole interval may write that a branch was refused after
			// another has had it done: participants of a saga that is taken up again accept.
			p, _ := ready(t, sagaTargets[name](t), alone(given("mode=saga", "threads=4", "transactions=1600", "accountCount=100", "failRate=0.2", "errorRate=0.01",
				"retryInterval=500ms", "cronInterval=10ms", "check=linearizable", "countCalls=off")))
			profiletest.Work(t, p)
			v := p.Verify(t.Context())
			assert.Equal(t, workload.Passed, v.State, "%+v", v)
			l := p.Facts(nil).(*Facts).Linearizable
			assert.Equal(t, histories.OK, l.State, "%+v", l)
			assert.Positive(t, l.Records)
			assert.Contains(t, v.Summary, "are linearizable")
		})
	}
}

func TestHistoriesOfSeveralProcessesAreRefused(t *testing.T) {
	p, err := mode.Plan(inputs(given("mode=saga", "threads=4", "check=linearizable")))
	require.NoError(t, err)
	err = p.Binder.(Binding).Share(p, 0, 2)
	require.ErrorContains(t, err, "the clocks of several workers")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}
