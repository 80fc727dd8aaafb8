package crew

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// What a coordinator of somebody else says is shown on a terminal: it cannot control it.
func TestAHostileViewIsHarmless(t *testing.T) {
	const bad, good = "\x1b]0;mine\x07\u202eeman", " ]0;mine  eman"
	v := &View{
		ID: bad, Store: bad, Progress: Progress{Step: bad, Note: bad}, Came: &Came{Err: bad, Run: []byte(bad)},
		Snapshot: &measure.Snapshot{Phases: []string{bad}, Errors: []measure.ErrorCount{{Class: bad}}, Segments: []measure.Segment{{Settings: map[string]float64{bad: 2}}}},
		Verdict:  rundir.Verdict{Reasons: []string{bad}},
		Settings: []workload.Settings{{Threads: 3}},
	}
	got, err := ReadView(v.Pack())
	require.NoError(t, err)
	assert.Equal(t, []string{good, good, good, good, good}, []string{got.ID, got.Store, got.Progress.Step, got.Progress.Note, got.Came.Err})
	assert.Equal(t, good, got.Snapshot.Phases[0])
	assert.Equal(t, good, got.Snapshot.Errors[0].Class)
	assert.Equal(t, []string{good}, got.Verdict.Reasons)
	assert.Equal(t, map[string]float64{good: 2}, got.Snapshot.Segments[0].Settings)
	assert.Equal(t, bad, string(got.Came.Run), "it is a document, and made harmless where it is read")
	assert.Equal(t, 3, got.Settings[0].Threads)
}
