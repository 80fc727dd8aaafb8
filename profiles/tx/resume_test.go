package tx

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/pbm"
	"github.com/perfbench/perfbench/profiles/tx/saga"
)

// moments are when a coordinator dies, at work once it has done so many units.
var moments = map[profiletest.Moment]int64{profiletest.AtWork: 200, profiletest.Verifying: 0, profiletest.Removing: 0}

// caseOf is a run in a folder of its own, with what is set.
func caseOf(t *testing.T, target string, set ...string) profiletest.Case {
	return profiletest.Case{Profile: Profile(), Target: target, Out: t.TempDir(), Set: set}
}

// The coordinator of transactions on maps, which has loaded these, dies, and the run comes to
// what it would have come to.
func TestResumedTransactionsOnMaps(t *testing.T) {
	t.Parallel()
	tier.Full(t, "TestResumedSagas at work, and profiles/group for maps")
	set := []string{
		"mode=pbm", "mapNames=eligibility,profile", "memberSetSize=5", "eligibility.totalEntryCount=800", "eligibility.threadCount=3",
		"profile.totalEntryCount=100", "profile.threadCount=3", "payloadSize=100", "testCase=tx", "rate=250", "cleanup=on",
	}
	target := labtest.Redis(t).URL()
	one := caseOf(t, target, set...).With("rate=unlimited", "namespace=one").Run(t)
	require.NoError(t, one.Err)
	for at, units := range moments {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			if at == profiletest.AtWork {
				tier.Full(t, "the groups and the events, which are resumed at work")
			}
			o := caseOf(t, target, set...).With("namespace=n"+string(at[0])).Resumed(t, 3, at, units)
			assert.Equal(t, one.Run.Verification, o.Run.Verification)
			want, got := profiletest.Facts[pbm.Facts](t, one), profiletest.Facts[pbm.Facts](t, o)
			assert.Positive(t, got.Loaded.Seconds)
			for _, f := range []*pbm.Facts{&want, &got} {
				f.Loaded.Seconds = 0
				for i := range f.Maps {
					m := &f.Maps[i]
					m.Started, m.Stopped, m.ThreadMS, m.Conflicts = nil, nil, nil, 0
				}
			}
			assert.Equal(t, want, got)
		})
	}
}

// So it is with branches that are prepared in a database.
func TestResumedXA(t *testing.T) {
	tier.Full(t, "TestResumedSagas")
	t.Parallel()
	c := caseOf(t, labtest.Postgres(t, "--max_prepared_transactions=64").URL(), "mode=saga", "transType=xa", "threads=6", "branches=3", "accountCount=50", "transactions=400",
		"failRate=0.1", "timeout=2s", "rate=150")
	o := c.Resumed(t, 3, profiletest.AtWork, 50)
	v, f := o.Run.Verification, profiletest.Facts[saga.Facts](t, o)
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	assert.EqualValues(t, 400, f.Done+f.Undone+f.Undecided+f.Unknown)
	assert.EqualValues(t, 400, f.ReadBack)
}

// The coordinator of sagas dies: what it had found unfinished, and what the accounts held,
// count in the end.
func TestResumedSagas(t *testing.T) {
	t.Parallel()
	for at, units := range moments {
		if at == profiletest.Removing {
			continue // as of transactions on maps
		}
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			if at != profiletest.AtWork {
				tier.Full(t, "the case at work")
			}
			c := caseOf(t, labtest.Redis(t).URL(), "mode=saga", "threads=6", "branches=3", "accountCount=50", "retryInterval=3s", "payload=300")
			profiletest.Crash(t, c.With("transactions=1M"), 20) // leaves some, which are due after the next has begun
			o := c.With("transactions=800", "failRate=0.2", "rate=250", "cleanup=on").Resumed(t, 3, at, units)
			v, f := o.Run.Verification, profiletest.Facts[saga.Facts](t, o)
			assert.Equal(t, workload.Passed, v.State, "%+v", v)
			assert.EqualValues(t, 800, f.Done+f.Undone+f.Undecided+f.Unknown)
			assert.Positive(t, f.Undone)
			assert.Equal(t, saga.NotCompared, f.Cost.Calls.State, "%+v", f.Cost.Calls)
			ledgers := slices.IndexFunc(v.Checks, func(c workload.Check) bool { return c.Name == "balances are what the ledgers say" })
			require.GreaterOrEqual(t, ledgers, 0, "%+v", v)
			assert.Equal(t, "50", v.Checks[ledgers].Want, "each account")
		})
	}
}
