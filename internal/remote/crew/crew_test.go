package crew

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// fakeRun keeps what a crew does with its run.
type fakeRun struct {
	stopped error
	notes   []string
}

func (*fakeRun) Merge(measure.Increment) error { return nil }
func (r *fakeRun) Stop(cause error)            { r.stopped = cause }
func (r *fakeRun) Mark(note string)            { r.notes = append(r.notes, note) }

// The loss of a worker is noted, and ends the run only where that was asked for.
func TestWhatComesOfALostWorker(t *testing.T) {
	for what, ends := range map[string]bool{"": false, Degrade: false, End: true} {
		run := &fakeRun{}
		c := &Crew{Coordinator: new(remote.Coordinator), begun: newAwaited(), ask: Ask{OnLoss: what}, shares: newShares(&workload.Plan{}, 2, false)}
		c.Attach(run)
		c.noticed(1, "there", remote.Gone)
		require.NoError(t, run.stopped, "it may come back")
		c.noticed(1, "there", remote.GivenUp)
		assert.Equal(t, []string{"worker 2 (there) was lost", "worker 2 (there) is not waited for any longer, after 15 s of silence"}, run.notes)
		assert.Equal(t, ends, run.stopped != nil)
		assert.NoError(t, c.ask.onLoss(&workload.Plan{}, workload.Inputs{}))
	}
}

// What is lost is dealt to the others only where they can take it on.
func TestWhatCanBeDealtAnew(t *testing.T) {
	lasts, endless := workload.Inputs{Duration: time.Minute}, workload.Inputs{Endless: true}
	work := []workload.Track{{Name: "work"}}
	plan := func(phases ...workload.Phase) *workload.Plan { return &workload.Plan{Phases: phases} }
	load, test := workload.Phase{Name: "load", Tracks: work}, workload.Phase{Name: "test", After: []string{"load"}, Tracks: work}
	timed := workload.Phase{Name: "timed", Duration: time.Minute, Tracks: work}
	beside := workload.Phase{Name: "drain", After: []string{"timed"}, Tracks: []workload.Track{{Name: "drain", Apart: true}}}
	ask := Ask{OnLoss: Redeal}
	require.NoError(t, ask.onLoss(plan(timed, beside), lasts))
	require.NoError(t, ask.onLoss(plan(load, beside), endless))
	counted := timed
	counted.Tracks = []workload.Track{{Name: "work", Total: 7}}
	for _, bad := range []struct {
		why string
		err error
	}{
		{"no other can take on", ask.onLoss(plan(timed), workload.Inputs{Duration: time.Minute, Count: 5})},
		{"no other can take on", ask.onLoss(plan(counted), lasts)},
		{"no other can take on", ask.onLoss(plan(load, timed), lasts)},
		{"no other can take on", ask.onLoss(plan(load, test), endless)},
		{"use degrade, redeal or end", Ask{OnLoss: "x"}.onLoss(plan(), lasts)},
	} {
		assert.Contains(t, bad.err.Error()+fault.HintOf(bad.err), bad.why)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(bad.err))
	}
	passing := plan(load, test)
	passing.Binder = heritable{}
	require.NoError(t, ask.onLoss(passing, lasts), "another does what is left of a part")
	require.NoError(t, ask.onLoss(passing, workload.Inputs{Count: 5}))
	assert.Equal(t, "worker 2", named([]string{"2"}))
	assert.Equal(t, "workers 1, 2 and 4", named([]string{"1", "2", "4"}))
}

// Another coordinator does not know what came of a part that was dealt to another.
func TestARunWhosePartWasDealtIsNotResumed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "stream"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "stream", keptFile), []byte("{}"), 0o600))
	notes := filepath.Join(dir, "stream", notesFile)
	require.NoError(t, os.WriteFile(notes, []byte(`{"at_ns":5}`+"\n"), 0o600))
	_, lines, err := ReadKept(dir)
	require.NoError(t, err)
	assert.Len(t, lines, 1)
	require.NoError(t, os.WriteFile(notes, []byte(`{"at_ns":5}`+"\n"+`{"dealt":2}`+"\n"), 0o600))
	_, _, err = ReadKept(dir)
	assert.ErrorContains(t, err, "what worker 2 had left to do was dealt to another")
}

// heritable is a plan whose parts another can go on with.
type heritable struct{ workload.Binder }

func (heritable) Passes() error { return nil }

// Each second has the processors of the workers that have told of it.
func TestProcessorsOfWorkers(t *testing.T) {
	c := &Crew{n: 3, begun: newAwaited()}
	c.Attach(&fakeRun{})
	for i, second := range []int{3, 4, 2} {
		require.NoError(t, c.deliver(i, &remote.Report{Part: &measure.Increment{T: second}, Cores: float64(i)}))
	}
	assert.Equal(t, []rundir.Sample{
		{T: 3, Source: "worker", Node: "1", Name: "cpu_cores", Value: 0}, {T: 3, Source: "worker", Node: "2", Name: "cpu_cores", Value: 1},
	}, c.Samples(3))
	assert.Nil(t, (*Crew)(nil).Samples(3))
}

// ending is a part of what is shared that cannot be taken in.
type ending struct{}

func (ending) Delta() int                           { return 2 }
func (ending) Merge(_ workload.Process, n int) bool { return []bool{true}[n] }

// A ledger that would end the process that reads it is the worker's error.
func TestALedgerThatEndsItsReaderIsRefused(t *testing.T) {
	t.Parallel()
	c := &Crew{begun: newAwaited(), plan: &workload.Plan{Shared: &workload.Shared{}}}
	workload.Share(c.plan.Shared, ending{})
	c.Attach(&fakeRun{})
	err := c.deliver(1, &remote.Report{Ledger: c.plan.Shared.Delta()})
	assert.ErrorContains(t, err, "take in what worker 2 has done: it is the record of another run")
}
