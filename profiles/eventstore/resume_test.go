package eventstore_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// TestChild is no test of its own: it is what TestResumedEvents starts, and what dies.
func TestChild(t *testing.T) { profiletest.Child(t, eventstore.Profile()) }

// The coordinator dies while events are made, before drain and queries, or when all is done:
// every event is accounted for in the end.
func TestResumedEvents(t *testing.T) {
	t.Parallel()
	set := []string{"threads=3", "events=3000", "batch=20", "treeDepth=2", "childCount=2", "payload=300", "queryThreads=3", "queries=60", "queryRate=30", "seed=3", "rate=900", "cleanup=on"}
	redis := labtest.Redis(t).URL()
	one := caseOf(redis, set...).With("rate=unlimited", "queryRate=0", "namespace=one").Run(t)
	require.NoError(t, one.Err)
	// profiles/tx's TestResumedTransactionsOnMaps has the moments after the work.
	for name, dies := range map[string]struct {
		target string
		at     profiletest.Moment
		units  int64
	}{
		"making":    {redis, profiletest.AtWork, 600},
		"late":      {redis, profiletest.AtWork, 2900},
		"cassandra": {labtest.Cassandra(t).Patient(), profiletest.AtWork, 600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "making" {
				tier.Full(t, "the case making")
			}
			c := caseOf(dies.target, append(set, "namespace=resumed"+name)...)
			c.Out = t.TempDir()
			o := c.Resumed(t, 3, dies.at, dies.units)
			assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
			assert.Equal(t, one.Run.Verification, o.Run.Verification)
			for _, op := range []string{"publish", "tree"} {
				want, _ := operation(&one.Run, "events", op)
				got, errs := operation(&o.Run, "events", op)
				assert.Equal(t, want, got, op)
				assert.Zero(t, errs, op)
			}
			for _, op := range report.QueryOps {
				got, errs := operation(&o.Run, "query", op)
				assert.Positive(t, got, op)
				assert.Zero(t, errs, op)
			}
			want, got := profiletest.Facts[report.Facts](t, one), profiletest.Facts[report.Facts](t, o)
			assert.NotNil(t, got.Drain)
			for _, p := range got.Processes {
				sorted := slices.IsSortedFunc(p.Points, func(a, b report.ResourcePoint) int { return cmp.Compare(a.AtNs, b.AtNs) })
				assert.True(t, sorted, "samples of %s, before and after", p.Role)
			}
			_, stages := whole(&want)
			_, same := whole(&got)
			for stage, n := range stages { // those during which the process stood still for a moment are not timed
				assert.Positive(t, same[stage], stage)
				assert.LessOrEqual(t, same[stage], n, stage)
			}
			assert.Len(t, same, len(stages))
			for _, f := range []*report.Facts{&want, &got} {
				f.Ledger.ReadNs, f.Ledger.OutOfOrder = 0, 0
			}
			assert.Equal(t, want.Ledger, got.Ledger)
		})
	}
}
