package eventstore

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/profiletest/steps"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/inmemory"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// bound binds the plan of one of two processes that share a layer; part -1: of the one that has the whole.
func bound(t *testing.T, l model.Adapter, part int) (*binding, *workload.Plan) {
	t.Helper()
	in := workload.Inputs{Namespace: "shared", Driver: "memory", Seed: 7, Values: profiletest.Given(Profile().Params,
		"threads=4", "events=2003", "batch=20", "payload=64", "treeDepth=2", "childCount=2", "queries=90", "queryThreads=2", "query=both")}
	p, err := Design(in)
	require.NoError(t, err)
	if part >= 0 {
		require.NoError(t, p.Divide(part, 2))
	}
	p.Shared = &workload.Shared{}
	b := p.Binder.(*spec).bind(l)
	b.s.begin("shared", time.Now())
	b.reopen = func() {}
	b.connect(p)
	return b, p
}

// did is how many units each operation did, and how many calls of it were timed.
func did(results ...*measure.Result) (out []workload.Did) {
	for i := range results[0].Ops {
		var d workload.Did
		for _, r := range results {
			d.Units, d.Timed, d.Failed = d.Units+r.Ops[i].Count, d.Timed+r.Ops[i].Calls, d.Failed+r.Ops[i].Errors
		}
		out = append(out, d)
	}
	return out
}

// What a lost process had measured and not stored is made anew, and it all comes to the count, even if
// whoever goes on with its part is lost, too.
func TestWhatALostWorkerLeftIsDoneByAnother(t *testing.T) {
	t.Parallel()
	v, f := twoLost(t, false)
	assert.EqualValues(t, 2003+trees, f.Once, "%+v", f)
	assert.Contains(t, v.Summary, "240 events that it had not stored went with it")
	v, f = twoLost(t, true)
	assert.EqualValues(t, 2003+trees+100+140, f.Once, "%+v", f)
	assert.NotContains(t, v.Summary, "went with it")
}

// trees is how many events the generators of twoLost make as trees: one of each that is lost, and two
// of each that is not.
const trees = 7 * (1 + 1 + 2 + 2)

// twoLost carries out a run one of whose two processes is lost, as is the one that goes on with its
// part, each with as much under way as it has stored. If they were only thought to be lost, they store
// that in the end.
func twoLost(t *testing.T, back bool) (workload.Verification, *report.Ledger) {
	t.Helper()
	layer := inmemory.New(false, func(ctx context.Context) error { return ctx.Err() })
	whole, plan := bound(t, layer, -1)
	require.NoError(t, plan.Setup(t.Context(), nil))
	begin := func(part int, rest []byte) (*binding, *workload.Plan) {
		b, p := bound(t, layer, part)
		require.NoError(t, p.Shared.Adopt(plan.Shared.Findings()))
		require.NoError(t, p.Join(t.Context()))
		if rest != nil {
			require.NoError(t, p.Shared.TakeOver(rest))
		}
		return b, p
	}
	tells := func(p *workload.Plan, as workload.Process) {
		require.NoError(t, plan.Shared.Merge(as, p.Shared.Delta()))
	}
	stored := func(b *binding) {
		require.Eventually(t, func() bool { return b.ledger.Left() == 0 }, time.Minute, time.Millisecond)
	}
	// lose has a process make batches, tell, and be lost with as many under way, which it stores later on.
	lose := func(as workload.Process, rest []byte, batches int) (measured int64, late func()) {
		b, p := begin(as.Part, rest)
		w := steps.Of(t, p.Tracks()[0], p.Tracks()[0].First)
		w.BindStages(len(p.Stages))
		for range batches {
			require.NoError(t, w.Do(t.Context()))
		}
		stored(b)
		b.way.stage.Crash()
		for range batches {
			require.NoError(t, w.Do(t.Context()))
		}
		for _, c := range w.Samples {
			if c.Op == uint16(opPublish) {
				measured += int64(c.Units)
			}
		}
		tells(p, as)
		return measured, func() {
			require.NoError(t, b.way.begin())
			stored(b)
			b.way.end(t.Context())
		}
	}
	part := workload.Process{Part: 0, Of: 2}
	first, late := lose(part, nil, 5)
	require.EqualValues(t, 200, first)
	part.Number, part.Again = 2, 1
	second, later := lose(part, plan.Left(part, []workload.Did{{Units: first}}), 7)
	require.EqualValues(t, 2*7*20-100, second, "what the first had not stored is not measured again")
	part.Number, part.Again = 3, 2
	heir, p := begin(0, plan.Left(part, []workload.Did{{Units: first + second}}))
	other, q := begin(1, nil)
	results := []*measure.Result{profiletest.Work(t, p), profiletest.Work(t, q)}
	heir.Settle(t.Context())
	other.Settle(t.Context())
	tells(p, part)
	tells(q, workload.Process{Number: 1, Part: 1, Of: 2})
	all := did(results...)
	assert.EqualValues(t, 2003, all[opPublish].Units+first+second)
	queried := all[len(all)-1].Timed + all[len(all)-2].Timed + all[len(all)-3].Timed
	assert.EqualValues(t, 90, queried)
	if back {
		late()
		later()
	}
	plan.Shared.Lose(workload.Process{Number: 0, Part: 0, Of: 2})
	plan.Shared.Lose(workload.Process{Number: 2, Part: 0, Of: 2, Again: 1})
	v := plan.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	var f report.Ledger
	whole.account.sums(&f)
	return v, &f
}

// A process that takes over when there are only queries to be made has rows to ask for.
func TestQueriesThatALostWorkerLeft(t *testing.T) {
	t.Parallel()
	layer := inmemory.New(false, func(ctx context.Context) error { return ctx.Err() })
	_, plan := bound(t, layer, -1)
	require.NoError(t, plan.Setup(t.Context(), nil))
	run := func(rest []byte) *measure.Result {
		b, p := bound(t, layer, 0)
		require.NoError(t, p.Shared.Adopt(plan.Shared.Findings()))
		require.NoError(t, p.Join(t.Context()))
		if rest != nil {
			require.NoError(t, p.Shared.TakeOver(rest))
		}
		r := profiletest.Work(t, p)
		b.Settle(t.Context())
		require.NoError(t, plan.Shared.Merge(workload.Process{Of: 2}, p.Shared.Delta()))
		return r
	}
	once := did(run(nil))
	require.EqualValues(t, 1001, once[opPublish].Units)
	n := len(once)
	once[n-1].Timed, once[n-2].Timed, once[n-3].Timed = 10, 0, 0
	again := did(run(plan.Left(workload.Process{Part: 0, Of: 2}, once)))
	assert.Zero(t, again[opPublish])
	assert.Zero(t, again[opTree])
	assert.EqualValues(t, 45-10, again[n-1].Timed+again[n-2].Timed+again[n-3].Timed)
	assert.Zero(t, again[n-1].Failed+again[n-2].Failed+again[n-3].Failed)
}
