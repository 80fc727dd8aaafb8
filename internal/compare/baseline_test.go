package compare

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/internal/testing/rundirtest"
)

// A baseline must give the verdicts that the runs themselves give.
func TestABaselineStandsForItsRuns(t *testing.T) {
	a, b := Set{}, Set{}
	for i := range int64(3) {
		a.Runs = append(a.Runs, read(t, rundirtest.NewFolder(day, "redis", 16, i)))
		b.Runs = append(b.Runs, read(t, rundirtest.NewFolder(day, "redis", 24, 9+i)))
	}
	data, err := Baseline(a.Runs)
	require.NoError(t, err)
	again, err := Baseline(a.Runs)
	require.NoError(t, err)
	assert.Equal(t, data, again)
	runs, err := ReadBaseline(data)
	require.NoError(t, err)
	for _, sides := range [][2]int{{1, 1}, {3, 3}} {
		x, y := sides[0], sides[1]
		want := Sets(Set{Runs: a.Runs[:x]}, Set{Runs: b.Runs[:y]}, Options{})
		got := Sets(Set{Runs: runs[:x]}, Set{Runs: b.Runs[:y]}, Options{})
		require.Len(t, got.Parts, len(want.Parts))
		for i := range want.Parts {
			for j, f := range want.Parts[i].Findings {
				g := got.Parts[i].Findings[j]
				assert.Equal(t, []string{f.Words(), f.Text(f.A, false), f.ChangeText(), f.RangeText()}, []string{g.Words(), g.Text(g.A, false), g.ChangeText(), g.RangeText()})
			}
		}
		assert.Equal(t, want.Differences, got.Differences)
		assert.Equal(t, want.Cautions, got.Cautions)
	}
}

func TestRunsOfEveryProfileCanBeKept(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/runs/*")
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, dir := range dirs {
		f, err := rundir.Load(dir)
		require.NoError(t, err)
		r := read(t, f)
		assert.Len(t, r.Parts, 1+len(f.Run.Operations), dir)
		if rate := f.Run.Headline().Rate; !math.IsNaN(rate) { // most are too short for one
			assert.InDelta(t, rate, r.Parts[0].Figures[Throughput].Value, 0, dir)
		}
		data, err := Baseline([]*Run{r})
		require.NoError(t, err, dir)
		kept, err := ReadBaseline(data)
		require.NoError(t, err, dir)
		c := Sets(one(r), Set{Runs: kept}, Options{})
		for _, f := range c.Parts[0].Findings {
			assert.NotContains(t, []Verdict{Better, Worse}, f.Verdict, "%s: %s", dir, f.Figure)
		}
	}
}

func TestWhatIsNoBaselineIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"t_s,track":     "it is not a baseline",
		`{"schema": 1}`: "it is not a baseline",
		`{"perfbench_baseline": 9, "runs": [{}]}`:       "it has layout 9, and this perfbench reads 1",
		`{"perfbench_baseline": 1, "runs": []}`:         "it has no runs",
		`{"perfbench_baseline": 1, "runs": [{}, null]}`: "one of its runs has no figures",
	} {
		_, err := ReadBaseline([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}

// The seconds of a log must add up to what the run knows of its percentiles.
func TestBatchesAddUpToTheRun(t *testing.T) {
	f, err := rundir.Load("../../testdata/runs/open-loop")
	require.NoError(t, err)
	times, err := readBatches(f)
	require.NoError(t, err)
	assert.Equal(t, int(f.Run.MeasuredS), times.n, "ten seconds are ten batches")
	for tag, h := range f.Histograms {
		if !strings.HasSuffix(tag, "."+hlog.Response) {
			continue
		}
		var all counts
		for _, c := range times.of([]string{tag}) {
			all = append(all, c...)
		}
		one := batches{n: 1, byTag: map[string][]counts{tag: {all}}}.of([]string{tag})[0]
		for _, p := range percentiles {
			assert.InEpsilon(t, h.ValueAtPercentile(p.q), one.at(p.q), 1e-9, "%s %s", tag, p.figure)
		}
	}
}

// A log that cannot be read is an error, not a run without scatter.
func TestADamagedLogIsToldOf(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../testdata/runs/open-loop")))
	f, err := rundir.Load(dir)
	require.NoError(t, err)
	path := filepath.Join(dir, rundir.HlogFile)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	at := strings.LastIndex(string(data), ".response,")
	require.NoError(t, os.WriteFile(path, append(data[:at+40], []byte("\n")...), 0o644))
	_, err = Of(f)
	assert.ErrorContains(t, err, f.Run.ID)
}
