package mix

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/run"
)

func TestChild(t *testing.T) { profiletest.Child(t, Profile()) }

// shared is a case whose file outlives processes.
func shared(t *testing.T, set ...string) profiletest.Case {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "own.yaml")
	require.NoError(t, os.WriteFile(path, []byte(plain), 0o600))
	return profiletest.Case{
		Profile: Profile(), Target: labtest.Redis(t).URL(), Files: []string{path}, Out: dir,
		Set: append([]string{"threads=6", "count=3000", "seed=7"}, set...),
	}
}

// whole is how many operations a run has carried out.
func whole(r *rundir.Run) (n int64) {
	for _, op := range r.Operations {
		if r.Counts(op) {
			n += op.Count
		}
	}
	return n
}

// Three workers do together what one does.
func TestSeveralWorkers(t *testing.T) {
	t.Parallel()
	o := shared(t).Together(t, 3)
	assert.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
	assert.Equal(t, int64(3000), whole(&o.Run))
	f := profiletest.Facts[run.Facts](t, o)
	assert.Positive(t, f.Hits)
	assert.Positive(t, f.ReadBack)
}

// The account of a fault has the connections that workers open once it has ended.
func TestConnectionsOfWorkersAreCounted(t *testing.T) {
	t.Parallel()
	c := shared(t, "rate=400", "count=600", "client=retries=100,backoff=10ms")
	c.Timetable, c.Errors = []string{"300ms..500ms:fault=refused"}, true
	o := c.Together(t, 3)
	require.Len(t, o.Run.Faults, 1)
	assert.GreaterOrEqual(t, o.Run.Faults[0].Connections, int64(3), "each worker has to come back")
}

// What a killed worker has left is done by another.
func TestAKilledWorker(t *testing.T) {
	t.Parallel()
	o := shared(t, "rate=100").Losing(t, 3, 300)
	assert.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
	assert.Positive(t, o.Run.Verification.Unread, "what it had stored, nobody reads back")
	assert.Contains(t, o.Run.Verification.Summary, "records of workers that were lost could not be checked")
	assert.Equal(t, int64(3000), whole(&o.Run))
}

// A run whose coordinator dies comes to its end.
func TestAResumedRun(t *testing.T) {
	t.Parallel()
	o := shared(t, "rate=400").Resumed(t, 3, profiletest.AtWork, 300)
	assert.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
	assert.Equal(t, int64(3000), whole(&o.Run))
}

// A worker that sends what no worker does is named.
func TestAWorkerThatSendsGarbage(t *testing.T) {
	t.Parallel()
	tier.Full(t, "ingestion's")
	c := shared(t)
	c.Out = ""
	c.Hostile(t)
}

// A store that goes away ends a run by count, and not one by time.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	c := shared(t)
	c.Set, c.Out, c.Target = []string{"threads=4", "seed=7"}, "", ""
	c.Gone(t, "calls=20000000")
}
