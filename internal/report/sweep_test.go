package report

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/sweep"
)

// swept is a sweep over threads on two stores, twice each: one by the law, one with four
// servers.
func swept(t *testing.T) *sweep.Result {
	t.Helper()
	r := &sweep.Result{
		Schema: sweep.Schema, Asked: "digest", Profile: "ingestion", Unit: "entries", Rounds: 2, Runs: []sweep.Run{},
		Axes: []sweep.Axis{{Name: "threads", Values: []string{"1", "2", "4", "8", "16"}}, {Name: "target", Values: []string{"redis://a", "memory:"}}},
	}
	for round := range r.Rounds {
		for i, n := range []float64{1, 2, 4, 8, 16} {
			off := 1 + 0.01*float64((round*7+i*3)%5-2)
			for at, x := range []float64{1000 * n / (1 + 0.1*(n-1) + 0.005*n*(n-1)) * off, min(n, 4) * 500 * off} {
				p := 2*i + at
				r.Runs = append(r.Runs, sweep.Run{Round: round, Point: p, ID: "run-" + strconv.Itoa(len(r.Runs)), Done: &x, P50: int64(1e9 * n / x), P99: measure.Hidden, Verdict: "VALID"})
			}
		}
	}
	r.Runs[3].Verdict, r.Runs[3].P99, r.Runs[3].Errors = "DEGRADED", 5e6, 2
	require.NoError(t, r.Settle())
	return r
}

func TestSweepDocuments(t *testing.T) {
	r := swept(t)
	files, err := Sweep(r)
	require.NoError(t, err)
	require.Len(t, files, 5)
	expected(t, files)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, sweep.File), files[0].Data, 0o600))
	back, err := sweep.Load(dir)
	require.NoError(t, err)
	assert.Equal(t, r, back)
}

// That the knee cannot be told matters more than which point was highest, perhaps by chance.
func TestThatTheKneeCannotBeToldComesFirst(t *testing.T) {
	r := swept(t)
	first := func() string {
		lead, _ := SweepAnswer(r)
		return lead[0]
	}
	assert.Equal(t, "knee (redis): unsure, 4 to 8 threads · the runs vary too much to tell which · more runs (--repeat 5), longer ones or a quieter machine would tell", first())
	r.Rounds++
	lead, _ := SweepAnswer(r)
	assert.Contains(t, lead, "knee (redis): unsure so far, 4 to 8 threads · the runs vary too much to tell which")
	r.Rounds--
	r.Lines[0].Doubt, r.Lines[0].KneeLow = "the margin of error at 16 threads is more than ± 100 %", r.Lines[0].KneeHigh
	assert.Regexp(t, "^knee.*: unsure, perhaps 8 threads · the margin of error at 16 threads is more than ± 100 %", first())
	r.Lines[0].Knee, r.Lines[0].Doubt = 8, ""
	assert.Regexp(t, "^most: ", first())
}

func TestASweepOfWordsHasNoCurve(t *testing.T) {
	x := 5.0
	r := &sweep.Result{
		Profile: "tx", Unit: "transactions", Rounds: 1, Axes: []sweep.Axis{{Name: "mode", Values: []string{"pbm", "saga"}}},
		Runs: []sweep.Run{{Point: 1, Done: &x, Verdict: "VALID"}},
	}
	require.NoError(t, r.Settle())
	files, err := Sweep(r)
	require.NoError(t, err)
	assert.Len(t, files, 4)
	text := SweepText(r)
	assert.Contains(t, text, "1 of 2 runs are done; the same command does the rest.\nmost so far: 5 transactions/s with mode=saga\n")
	assert.NotContains(t, text, "over mode, ")
}

// The point with the highest throughput says with how many threads it ran, if not as many as asked.
func TestTheBestPointSaysItsThreads(t *testing.T) {
	x := 134e3
	for ran, want := range map[float64]string{2: " with threads=1, which ran with 2 threads\n", 1: " with threads=1\n"} {
		r := &sweep.Result{
			Profile: "ingestion", Unit: "entries", Rounds: 1, Axes: []sweep.Axis{{Name: "threads", Values: []string{"1", "4"}}},
			Runs: []sweep.Run{{Point: 0, Threads: ran, Done: &x, Verdict: "VALID"}},
		}
		require.NoError(t, r.Settle())
		assert.Contains(t, SweepText(r), "most so far: 134k entries/s"+want)
	}
}

func TestTextCountsThreadsInWholeNumbers(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		want     int
	}{{1, 9, 5}, {2, 8, 4}, {1, 16, 4}, {1, 6, 6}, {1, 3, 3}, {1, 8, 2}, {0.5, 8, 5}, {1000, 30001, 5}} {
		assert.Equal(t, c.want, evenly(c.from, c.to), "%g to %g", c.from, c.to)
	}
}

// A sweep draws no point where none ran: threads=1 of two maps is two threads.
func TestASweepDrawsThreadsThatRan(t *testing.T) {
	r := &sweep.Result{
		Profile: "ingestion", Unit: "entries", Rounds: 1, Axes: []sweep.Axis{{Name: "threads", Values: []string{"1", "4", "8"}}},
		Runs: []sweep.Run{{Threads: 2, Done: new(10.0), Verdict: "VALID"}, {Point: 1, Threads: 4, Done: new(20.0), Verdict: "VALID"}, {Point: 2, Threads: 8, Done: new(30.0), Verdict: "VALID"}},
	}
	require.NoError(t, r.Settle())
	c := sweepCurve(r)
	assert.Equal(t, []float64{2, 4, 8}, c.At)
	assert.InDelta(t, 2, c.From, 0)
	assert.Equal(t, []float64{10, 20, 30}, c.Lines[0].Values)
	assert.Contains(t, SweepText(r), "threads=1 ran with 2: every track has at least one thread")
	r.Axes[0].Values, r.Runs = []string{"1", "2"}, r.Runs[:1]
	r.Runs = append(r.Runs, sweep.Run{Point: 1, Threads: 2, Done: new(11.0), Verdict: "VALID"})
	require.NoError(t, r.Settle())
	assert.True(t, func() bool { c := sweepCurve(r); return c.Empty() }(), "one number of threads makes no curve")
	_, err := Sweep(r)
	require.NoError(t, err)
}

// Two points with a run each show no knee for certain, nor do three with one: what would is said.
func TestAKneeOfFewRunsOnlySeems(t *testing.T) {
	r := &sweep.Result{Unit: "entries", Axes: []sweep.Axis{{Name: "threads", Values: []string{"1", "2", "4"}}}, Rounds: 3, Runs: []sweep.Run{
		{Point: 1, Threads: 2, Done: new(100.0)}, {Point: 2, Threads: 4, Done: new(101.0)},
	}}
	said := func() string {
		require.NoError(t, r.Settle())
		lead, _ := SweepAnswer(r)
		return strings.Join(lead, " ")
	}
	assert.Contains(t, said(), "knee: named once 3 numbers of threads have figures, so far 2")
	assert.NotContains(t, said(), "seems")
	assert.Zero(t, r.Lines[0].Knee)
	r.Axes[0].Values = []string{"1", "2", "4", "8", "16"}
	r.Runs = append(r.Runs, sweep.Run{Point: 3, Threads: 8, Done: new(101.0)})
	assert.Contains(t, said(), "knee: named once 4 numbers of threads have figures, so far 3")
	r.Runs = append(r.Runs, sweep.Run{Point: 0, Threads: 1, Done: new(50.0)})
	assert.Contains(t, said(), "knee: seems to be at 2 threads")
	assert.Contains(t, said(), "points with a single run cannot show it for certain yet", "not all is done")
	r.Rounds, r.Axes[0].Values, r.Runs = 0, []string{"1", "2", "4"}, r.Runs[:2]
	assert.Contains(t, said(), "knee: seems to be at 2 threads · two points with so few runs cannot show it for certain: more points and three runs of each (--repeat 3) would")
	r.Runs = append(r.Runs, r.Runs...)
	assert.Contains(t, said(), "two points cannot show it for certain: more points would")
	r.Runs = append(r.Runs, sweep.Run{Point: 0, Threads: 1, Done: new(50.0)})
	assert.Contains(t, said(), "points with a single run cannot show it for certain: three runs of each (--repeat 3) would")
	r.Runs = append(r.Runs, sweep.Run{Point: 0, Threads: 1, Done: new(50.0)})
	assert.Contains(t, said(), "knee: 2 threads")
	for i := range r.Runs { // as each of two maps has a thread at least
		r.Runs[i].Threads = max(r.Runs[i].Threads, 2)
	}
	said()
	assert.Contains(t, SweepText(r), "\n1 (2 ran)  ", "a row says what ran")
	assert.Contains(t, SweepText(r), "\n2          ")
	r.Axes[0].Values = []string{"1", "2"}
	r.Runs = slices.DeleteFunc(r.Runs, func(run sweep.Run) bool { return run.Point == 2 })
	assert.NotContains(t, said(), "knee", "all of them ran alike")
	files, err := Sweep(r)
	require.NoError(t, err, "a sweep without a curve has its documents")
	assert.Contains(t, string(files[len(files)-1].Data)+SweepText(r), "1 (2 ran)")
}

func TestLabelsOfAnAxisStandApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ values, want []float64 }{
		{nil, nil}, {[]float64{5}, []float64{5}}, {[]float64{5, 6}, []float64{5, 6}},
		{[]float64{0, 1, 50, 99, 100}, []float64{0, 50, 100}},
	} {
		assert.Equal(t, c.want, apart(c.values, false))
	}
}

// A peak whose upper end is open is near one number, and anywhere from another on.
func TestAPeakThatIsNotCertainSaysSo(t *testing.T) {
	t.Parallel()
	known := func(v float64) sweep.FitKnown { return sweep.FitKnown{Value: v, Low: v, High: new(v)} }
	_, law := kneeOf(&sweep.Result{Axes: []sweep.Axis{{Name: "threads", Values: []string{"1", "2", "4"}}}}, sweep.Line{Law: &sweep.Fit{Lambda: known(1), Sigma: known(0), Kappa: known(0), Peak: &sweep.FitKnown{Value: 17.7, Low: 4.69}}})
	assert.Contains(t, law[0], "a peak near 18 threads, not certain: anywhere from 5 on")
}
