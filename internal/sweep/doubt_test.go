package sweep

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A knee is not stated where the runs at its threads vary so much that chance may have made it.
func TestAKneeThatItsRunsDoNotCarryIsNotStated(t *testing.T) {
	of := func(scatter float64) Line {
		r := Result{Axes: []Axis{{Name: "threads", Values: []string{"1", "2", "4", "8", "16"}}}, Rounds: 3}
		for point, x := range []float64{1000, 1900, 3500, 3600, 3650} {
			for round, off := range []float64{-1, 0, 1} {
				done := x * (1 + scatter*off)
				r.Runs = append(r.Runs, Run{Round: round, Point: point, Threads: []float64{1, 2, 4, 8, 16}[point], Done: &done})
			}
		}
		if assert.NoError(t, r.Settle()) && assert.Len(t, r.Lines, 1) {
			return r.Lines[0]
		}
		return Line{}
	}
	steady := of(0.01)
	assert.InDelta(t, 4, steady.Knee, 0)
	assert.Empty(t, steady.Doubt)
	wild := of(0.9)
	assert.Zero(t, wild.Knee)
	assert.Regexp(t, `^the margin of error at \d+ threads? is more than ± 100 %$`, wild.Doubt)
}

// A knee is stated where comparisons of the runs tell its throughput from that of the numbers around it, and else between
// which numbers it may be.
func TestTheKneeIsAsSureAsComparisonsOfItsRuns(t *testing.T) {
	of := func(means []float64, scatter float64, rounds int) (Line, string) {
		r := Result{Axes: []Axis{{Name: "threads"}}, Rounds: rounds}
		for point, x := range means {
			r.Axes[0].Values = append(r.Axes[0].Values, strconv.Itoa(1<<point))
			for round := range rounds {
				done := x * (1 + scatter*float64(1-round%2*2))
				r.Runs = append(r.Runs, Run{Round: round, Point: point, Threads: float64(int(1) << point), Done: &done})
			}
		}
		require.NoError(t, r.Settle())
		require.Len(t, r.Lines, 1)
		return r.Lines[0], r.Lines[0].MayBe(&r)
	}
	scales := []float64{1000, 1900, 3500, 3600, 3650}
	for _, c := range []struct {
		means   []float64
		scatter float64
		rounds  int
		knee    float64
		may     string
		doubt   string
	}{
		{scales, 0.01, 2, 4, "4 threads", ""},
		{scales, 0.08, 2, 0, "2 threads or more", "the margin of error at 1 thread is more than ± 100 %"},
		{scales, 0.15, 4, 0, "4 to 8 threads", "the runs vary too much to tell which"},
		{scales, 0.15, 40, 4, "4 threads", ""},
		{[]float64{1000, 1300, 2000, 2100, 2900}, 0.3, 4, 0, "", "by chance it may be anywhere from 1 thread on"},
		{scales, 0.3, 1, 4, "", ""},
	} {
		l, may := of(c.means, c.scatter, c.rounds)
		assert.Equal(t, []any{c.knee, c.may, c.doubt}, []any{l.Knee, may, l.Doubt}, "± %g in %d rounds", c.scatter, c.rounds)
	}
}

// A stored sweep that an earlier version read more from than its runs show is read anew.
func TestTheKneeOfAStoredSweepIsReadAnew(t *testing.T) {
	r := Result{Schema: Schema, Axes: []Axis{{Name: "threads", Values: []string{"1", "2", "4", "8"}}}, Rounds: 2}
	for point, x := range []float64{1000, 1900, 3500, 3600} {
		for round, off := range []float64{-0.08, 0.08} {
			done := x * (1 + off)
			r.Runs = append(r.Runs, Run{Round: round, Point: point, Threads: float64(int(1) << point), Done: &done})
		}
	}
	require.NoError(t, r.Settle())
	now := r.Lines[0]
	require.NotEmpty(t, now.Doubt)
	r.Lines[0].Knee, r.Lines[0].Doubt = 4, ""
	data, err := r.Encode()
	require.NoError(t, err)
	whole, dir := data, t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, File), data, 0o600))
	back, err := Load(dir)
	require.NoError(t, err)
	assert.Equal(t, now.Doubt, back.Lines[0].Doubt)
	assert.Zero(t, back.Lines[0].Knee)
	for what, change := range map[string]func(){"run": func() { r.Runs[0].Point = 9 }, "point": func() { r.Points[0].Values = []string{"3"} }, "values": func() { r.Points[0].Values = nil }} {
		change()
		data, err = r.Encode()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, File), data, 0o600))
		back, err = Load(dir)
		require.NoError(t, err, what)
		assert.InDelta(t, 4, back.Lines[0].Knee, 0, "as it is stored, where a %s has no place", what)
		require.NoError(t, json.Unmarshal(whole, &r))
	}
}
