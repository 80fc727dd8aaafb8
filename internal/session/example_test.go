package session_test

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/memory"
	"github.com/perfbench/perfbench/internal/workload"
)

// counters is a whole profile: each operation writes a number under its own key, and at the
// end as many keys are there as were acknowledged.
var counters = workload.Profile{
	Name: "counters", Title: "Counters", Summary: "an application that keeps numbers", Unit: "numbers", Thread: "a client",
	Params: []workload.Param{{Name: "digits", Kind: workload.Integer, Default: "4", Min: 1, Max: 18, Help: "length of a number"}},
	Stores: []workload.Binding{{Driver: "memory"}, {Driver: "redis"}, {Driver: "null", Refuse: "it keeps nothing that could be counted"}},
	Design: design,
}

// counts is the plan's way to a store: what it works with is known, and no connection yet.
type counts struct{ digits int64 }

// Connector implements workload.Binder: the stores differ in nothing here.
func (c counts) Connector(string) workload.Connector { return workload.On(c.connect) }

// design works the plan out from values alone.
func design(in workload.Inputs) (*workload.Plan, error) {
	digits, err := in.Values["digits"].Int(1, 18)
	if err != nil {
		return nil, err
	}
	track := workload.Track{Name: "numbers", Ops: []string{"set"}, Start: workload.Settings{Threads: 1, Batch: 1}, Iterations: in.Count, Total: in.Count}
	return &workload.Plan{
		Unit: "numbers", Knobs: []workload.Knob{workload.Threads(), workload.Rate("numbers")}, Binder: counts{digits},
		Phases: []workload.Phase{{Name: "all", Duration: in.Duration, Tracks: []workload.Track{track}}},
		Spaces: []store.Space{{Namespace: in.Namespace, Name: "numbers", Shape: store.Map}},
	}, nil
}

// keeps is what the profile needs of a store.
type keeps interface {
	store.Setter
	store.Counter
}

// connect says what the tasks of the plan do on an open store.
func (c counts) connect(_ context.Context, db keeps, b *workload.Bound) error {
	space, track := b.Plan.Spaces[0], b.Plan.Tracks()[0]
	b.Plan.Claims = []ownership.Space{{Space: space}}
	n := &numbers{db: db, space: space}
	b.Plan.Parts = workload.Parts{n}
	track.NewTask = func(int) (workload.Task, error) {
		return workload.TaskFunc(func(ctx context.Context, it *workload.Iteration) error {
			key := fmt.Appendf(nil, "%0*d", c.digits, it.Seq)
			m := it.Begin(0)
			err := it.End(m, 1, db.Set(ctx, space, key, strconv.AppendInt(nil, it.Seq, 10)))
			if err == nil {
				n.stored.Add(1)
			}
			return err
		}), nil
	}
	return nil
}

// numbers are what is stored, a part of the plan: its methods say that it verifies, see
// workload.Parts.
type numbers struct {
	db     keeps
	space  store.Space
	stored atomic.Int64
}

// Verify compares what is there with what was acknowledged.
func (n *numbers) Verify(ctx context.Context) workload.Verification {
	there, err := n.db.Count(ctx, n.space)
	switch stored := n.stored.Load(); {
	case err != nil:
		return workload.Verification{State: workload.Incomplete, Summary: err.Error()}
	case there < stored:
		return workload.Verification{State: workload.Failed, Summary: fmt.Sprintf("%d numbers are there, and %d were stored", there, stored)}
	}
	return workload.Verification{State: workload.Passed, Summary: fmt.Sprintf("%d numbers are there", there)}
}

// The example of docs/internals.md runs.
func TestTheExampleProfileRuns(t *testing.T) {
	prepared, err := session.Prepare(t.Context(), session.Env{Profiles: []workload.Profile{counters}, Formats: report.All(), Drivers: store.Drivers{memory.Driver}}, session.Request{
		Profile: "counters", Target: "memory:", Out: t.TempDir(), Values: workload.Values{"count": {Name: "count", Text: "50", Origin: workload.OriginFlag}},
	})
	require.NoError(t, err)
	live, err := prepared.Start(t.Context(), nil)
	require.NoError(t, err)
	o := live.Conclude(t.Context())
	require.NoError(t, o.Err)
	assert.Equal(t, workload.Passed, o.Run.Verification.State)
	assert.Equal(t, "50 numbers are there", o.Run.Verification.Summary)
}
