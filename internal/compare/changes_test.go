package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
)

// nightly makes up a run a night; which gives its throughput, and what else it is like.
func nightly(n int, which func(i int, r *rundir.Run) float64) []*rundir.Run {
	rnd := rand.New(rand.NewPCG(32, 7))
	var out []*rundir.Run
	for i := range n {
		r := &rundir.Run{
			ID: "run-" + string(rune('A'+i)), Profile: "tx", Unit: "transactions", Target: "redis://here", MeasuredS: 30, Seed: int64(i), Started: day.AddDate(0, 0, i),
			EndedBy: "duration", Verdict: rundir.Verdict{State: verdict.Valid}, Settings: map[string]float64{"threads": 4}, Store: rundir.Store{Name: "redis", Version: "7.0"},
		}
		rate := which(i, r) * math.Exp(0.01*rnd.NormFloat64())
		r.Operations = []rundir.Operation{{Track: "a", Op: "b", Count: int64(30 * rate), Calls: 30_000, Throughput: &rate, Response: rundir.Latency{P50: 1e6, P99: int64(4e10 / rate)}}}
		out = append(out, r)
	}
	return out
}

func TestChangesNameTheFirstRunAndWhatDiffers(t *testing.T) {
	list := Changed(nightly(30, func(i int, r *rundir.Run) float64 {
		switch {
		case i == 7:
			return 5000 // one bad night
		case i < 18:
			return 10_000
		}
		r.Store.Version = "7.2"
		return 9400
	}))
	require.Len(t, list, 1)
	require.Len(t, list[0].Runs, 30)
	for _, f := range list[0].Figures {
		if f.Figure == P50 {
			assert.Empty(t, f.Changes)
			continue
		}
		require.Len(t, f.Changes, 1, "%s", f.Figure)
		c := f.Changes[0]
		assert.Equal(t, "run-S", list[0].Runs[c.At].ID)
		assert.Equal(t, Worse, c.Verdict)
		assert.InDelta(t, 0.06, math.Abs(c.Change), 0.01)
		assert.Equal(t, []Difference{{"version", "7.0", "7.2"}}, c.Differs)
	}
	err := WorseSince(list)
	assert.Equal(t, fault.CodeThreshold, fault.CodeOf(err))
	assert.ErrorContains(t, err, "transactions/s: worse, −")
	assert.ErrorContains(t, err, "from run run-S on")
	assert.NoError(t, WorseSince(Changed(nightly(30, func(i int, _ *rundir.Run) float64 { return 9000 + 1000*float64(i/15) }))), "better is no failure")
	assert.Empty(t, Changed(nightly(5, func(int, *rundir.Run) float64 { return 1 })))
}

// An edited plan goes on with the series; plans that are done by turns are two.
func TestPlansOfASeries(t *testing.T) {
	edited := Changed(nightly(20, func(i int, r *rundir.Run) float64 {
		if i >= 10 {
			r.Settings = map[string]float64{"threads": 8}
			return 15_000
		}
		return 10_000
	}))
	require.Len(t, edited, 1)
	assert.Equal(t, []Difference{{"threads", "4", "8"}}, edited[0].Figures[0].Changes[0].Differs)
	byTurns := Changed(nightly(20, func(i int, r *rundir.Run) float64 {
		r.Settings = map[string]float64{"threads": float64(4 + i%2)}
		return 10_000 + 5000*float64(i%2)
	}))
	require.Len(t, byTurns, 2)
	for _, s := range byTurns {
		assert.Len(t, s.Runs, 10)
		assert.Empty(t, s.Figures[0].Changes)
	}
	larger := Changed(nightly(20, func(i int, r *rundir.Run) float64 {
		r.Settings, r.Parameters = map[string]float64{"threads": 4, "rate": 20_000, "payload": 512}, map[string]string{"arrivals": "even"}
		if r.DataBytes = 1 << 20; i >= 10 {
			r.DataBytes, r.Settings["payload"], r.Parameters["arrivals"] = 16<<20, 8192, "poisson"
			return 7000
		}
		return 10_000
	}))
	require.Len(t, larger, 1, "the size of the data and arrivals may be what changed")
	assert.Equal(t, []Difference{{"payload", "512 B", "8 KiB"}, {"arrivals", "even", "poisson"}}, larger[0].Figures[0].Changes[0].Differs)
	without := nightly(20, func(i int, r *rundir.Run) float64 {
		if i%2 == 0 {
			r.Verdict.State = verdict.Invalid
		}
		return 10_000
	})
	assert.Len(t, Changed(without)[0].Runs, 10)
}
