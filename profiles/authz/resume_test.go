package authz_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// The coordinator dies while workers load, ask or are done, and the run comes to what it would
// have come to: each decision is counted, and right.
func TestResumedAuthorization(t *testing.T) {
	t.Parallel()
	target := labtest.Redis(t).URL()
	set := []string{"tests=valid,sweep", "threads=4", "users=60", "groups=9", "sweepLimit=100", "runs=4", "concurrent=2", "loadBatch=7", "seed=3", "rate=300", "cleanup=on"}
	one := caseOf(target, append(set, "namespace=one", "rate=unlimited")...).Run(t)
	require.NoError(t, one.Err)
	// profiles/tx's TestResumedTransactionsOnMaps has the moments after the work.
	for name, dies := range map[string]struct {
		at    profiletest.Moment
		units int64
	}{
		"loading": {profiletest.AtWork, 30},
		"asking":  {profiletest.AtWork, 300},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "asking" {
				tier.Full(t, "the case asking, and TestResumedAfterALoadThatWasCutShort")
			}
			c := caseOf(target, append(set, "namespace="+name)...)
			c.Out = t.TempDir()
			o := c.Resumed(t, 3, dies.at, dies.units)
			assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
			assert.Equal(t, one.Run.Verification.Summary, o.Run.Verification.Summary)
			assert.Equal(t, counts(&one.Run), counts(&o.Run))
			same(t, one, o)
		})
	}
}

// What an earlier run had loaded is not what workers have loaded since: after a load that was
// cut short the coordinator that goes on knows which is which.
func TestResumedAfterALoadThatWasCutShort(t *testing.T) {
	t.Parallel()
	tier.Full(t, "TestKilledLoadGoesOn")
	c := caseOf(labtest.Redis(t).URL(), "variant=v1", "tests=valid", "threads=4", "users=300", "groups=50", "loadBatch=20", "seed=5")
	c.Out = t.TempDir()
	before := profiletest.Crash(t, c.With("rate=300"), 150) // or all is loaded before a busy machine looks
	o := c.With("rate=400").Resumed(t, 3, profiletest.AtWork, 100)
	assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
	f := profiletest.Facts[report.Facts](t, o)
	again := sum(&o.Run, "user", "group", "membership")
	assert.Positive(t, again)
	assert.LessOrEqual(t, again, int64(f.Dataset.Users+f.Dataset.Groups+f.Dataset.Memberships)-before+4*20, "at most a batch a thread is written again")
	assert.EqualValues(t, f.Dataset.Memberships, sum(&o.Run, "valid"))
}
