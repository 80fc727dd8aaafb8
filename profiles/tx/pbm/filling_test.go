package pbm

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
)

// fillings checks that the summaries of a plan carry what they were last written with.
func fillings(t *testing.T, p *workload.Plan) {
	t.Helper()
	clientTask, err := p.Phases[0].Tracks[0].NewTask(0)
	require.NoError(t, err)
	w := clientTask.(*task).w
	for i, size := range []int{0, 300, 70_000, 300, 0} {
		group := []byte("x7")
		_, found, err := w.layer.Summarize(t.Context(), group, datagen.Append(nil, datagen.Of(group, 0), size))
		require.NoError(t, err)
		require.True(t, found)
		got, found, err := w.layer.Summary(t.Context(), group)
		require.NoError(t, err)
		require.True(t, found)
		assert.Equal(t, summary{5, 500}, got.summary)
		assert.Len(t, got.filling, size, "written %d times", i+1)
		assert.NoError(t, datagen.Check(got.filling, datagen.Of(group, 0)))
	}
}

// The size is turned while the run is going. What a summary carries is read back: a
// filling that is cut, of another group, or of a size that nobody set is found.
func TestSizeOfSummaries(t *testing.T) {
	words := []string{"mode=pbm", "memberSetSize=5", "eligibility.totalEntryCount=200", "eligibility.threadCount=1", "profile.totalEntryCount=200", "payloadSize=10", "payload=64"}
	p, _ := ready(t, "memory:", inputs(given(words...)))
	k, ok := p.Knob("payload")
	require.True(t, ok)
	track := &p.Phases[0].Tracks[0]
	clientTask, err := track.NewTask(0)
	require.NoError(t, err)
	w := clientTask.(*task).w
	all := track.Iterations
	track.Iterations = 100
	profiletest.Work(t, p)
	track.Iterations = all
	track.Start = k.Set(track.Start, 1000)
	profiletest.Work(t, p)
	require.Equal(t, workload.Passed, p.Verify(t.Context()).State, "%+v", p.Verify(t.Context()))
	for group, want := range map[string]int{"x1": 64, "x100": 64, "x101": 1000, "x200": 1000} {
		got, found, err := w.layer.Summary(t.Context(), []byte(group))
		require.NoError(t, err)
		assert.True(t, found, group)
		assert.Len(t, got.filling, want, group)
	}

	group := []byte("x2")
	right := datagen.Append(nil, datagen.Of(group, 0), 1000)
	for why, text := range map[string][]byte{
		"cut":                           right[:900],
		"of another group":              datagen.Append(nil, datagen.Of("x3", 0), 1000),
		"of a size that nobody has set": datagen.Append(nil, datagen.Of(group, 0), 500),
	} {
		_, _, err := w.layer.Summarize(t.Context(), group, text)
		require.NoError(t, err)
		v := p.Verify(t.Context())
		assert.Equal(t, workload.Failed, v.State, why)
		assert.Contains(t, v.Brief(), "x2: its filling", why)
	}
	_, _, err = w.layer.Summarize(t.Context(), group, right)
	require.NoError(t, err)
	assert.Equal(t, workload.Passed, p.Verify(t.Context()).State)
}
