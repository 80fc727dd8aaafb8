package runs

import (
	"math"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/tuitest"
)

// beside is the comparison of two runs of the demo on a stage.
func beside(t testing.TB, w, h int) (*tuitest.Stage, *Comparison) {
	t.Helper()
	b := tuitest.NewDemo()
	c := NewComparison(b, b.Past[1].ID, b.Past[0].ID)
	a := tuitest.NewStage(t, c, w, h)
	require.NotNil(t, c.made)
	return a, c
}

func TestComparePictures(t *testing.T) {
	for _, c := range []struct {
		name  string
		w, h  int
		ascii bool
		steps []any
	}{
		{name: "120x40", w: 120, h: 40},
		{name: "80x24 one operation", w: 80, h: 24, steps: []any{"tab"}},
		{name: "60x16", w: 60, h: 16},
		{name: "60x16 scrolled", w: 60, h: 16, steps: []any{tea.MouseWheelMsg{Button: tea.MouseWheelDown}, "down"}},
		{name: "120x40 ascii", w: 120, h: 40, ascii: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := beside(t, c.w, c.h)
			a.ASCII = c.ascii
			a.Send(t, c.steps...)
			tuitest.Golden(t, a.Picture(t))
		})
	}
}

func TestJudge(t *testing.T) {
	about := func(v, by float64) estimate { return estimate{v, v - by, v + by} }
	for _, c := range []struct {
		name string
		a, b estimate
		more bool
		want judgement
	}{
		{"clearly more throughput is better", about(100, 2), about(120, 2), true, better},
		{"clearly less throughput is worse", about(120, 2), about(100, 2), true, worse},
		{"clearly less time is better", about(10, 1), about(5, 1), false, better},
		{"clearly more time is worse", about(5, 1), about(10, 1), false, worse},
		{"ranges that overlap are unsure", about(100, 15), about(120, 15), true, unsure},
		{"less than one per cent is the same", about(100, 0.01), about(100.5, 0.01), true, same},
		{"equal is the same however wide", about(0, 0), about(0, 0), false, same},
		{"what cannot be said is not judged", about(math.NaN(), 0), about(1, 0), true, noted},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, judge(c.a, c.b, c.more)) })
	}
}

func TestTheSameStoreTwiceIsNeitherBetterNorWorse(t *testing.T) {
	a, b := tuitest.NewFolder(tuitest.Day, "redis", 16, 100), tuitest.NewFolder(tuitest.Day, "redis", 16, 200)
	for _, f := range compareSides("entries", sideOf(a, nil), sideOf(b, nil)) {
		assert.NotContains(t, []judgement{better, worse}, f.verdict, "%s %s: %s and %s", f.group, f.name, f.a, f.b)
	}
}

func TestAMeanOfOneSecondIsUnsure(t *testing.T) {
	s := runSide{rate: 100, rates: []float64{100}}
	o := runSide{rate: 200, rates: []float64{200}}
	assert.Equal(t, unsure, judge(s.throughput(), o.throughput(), true))
}

func TestAPercentileOfFewCallsIsUnsure(t *testing.T) {
	few := func(from int64) runSide {
		h := measure.NewHistogram()
		for i := range int64(20) {
			_ = h.RecordValue(from + i)
		}
		return runSide{hist: h}
	}
	assert.Equal(t, unsure, judge(few(1000).percentile(99), few(5000).percentile(99), false), "20 calls have no p99")
	assert.True(t, math.IsNaN(runSide{}.percentile(50).value))
}

func TestErrorsAreJudgedAsShares(t *testing.T) {
	s := func(calls, errs int64) estimate { return runSide{calls: calls, errors: errs}.errorShare() }
	assert.Equal(t, same, judge(s(1000, 0), s(2000, 0), false))
	assert.Equal(t, worse, judge(s(1000, 0), s(1000, 100), false))
	assert.Equal(t, unsure, judge(s(1000, 3), s(1000, 4), false))
	assert.Equal(t, better, judge(s(1000, 500), s(1000, 100), false))
}

func TestEveryDifferenceIsNamed(t *testing.T) {
	a := rundir.Run{
		Profile: "ingestion", Store: rundir.Store{Name: "redis", Version: "7.2"}, Unit: "entries", Verdict: rundir.Verdict{State: "VALID"},
		Settings: map[string]float64{"threads": 16, "payload": 1024}, Parameters: map[string]string{"testCase": "put"}, Environment: map[string]any{"cpus": 8, "pool_waits": 3},
	}
	b := a
	assert.Empty(t, differences(&a, &b))
	b.Settings = map[string]float64{"threads": 32, "payload": 1024, "batch": 10}
	b.Parameters = map[string]string{"testCase": "get"}
	b.Store.Version = "8.0"
	b.Environment = map[string]any{"cpus": 4, "pool_waits": 9}
	assert.Equal(t, []difference{{"version", "7.2", "8.0"}, {"batch", "–", "10"}, {"threads", "16", "32"}, {"testCase", "put", "get"}, {"cpus", "8", "4"}}, differences(&a, &b))
	assert.Equal(t, "A and B differ in version, batch, threads, testCase and cpus: the change has more than one cause", caution(&a, &b, differences(&a, &b)))
	assert.Empty(t, caution(&a, &b, differences(&a, &b)[:1]), "one difference is what was asked about")
	b.Unit = "checks"
	b.Verification.State = workload.Failed
	assert.Equal(t, "B failed its verification · A counts entries and B checks", caution(&a, &b, nil))
}

func TestOneKnobOfSeveralTracksIsOneCause(t *testing.T) {
	a := rundir.Run{
		Verdict:    rundir.Verdict{State: "VALID"},
		Settings:   map[string]float64{"threads": 4, "feed.threads": 2, "profile.threads": 2, "feed.payload": 1024},
		Parameters: map[string]string{"feed.threadCount": "2", "profile.threadCount": "2", "feed.payloadSize": "1KiB", "testCount": "60"},
	}
	b := a
	b.Settings = map[string]float64{"threads": 8, "feed.threads": 4, "profile.threads": 4, "feed.payload": 1024}
	b.Parameters = map[string]string{"feed.threadCount": "4", "profile.threadCount": "4", "feed.payloadSize": "1KiB", "testCount": "60"}
	got := differences(&a, &b)
	assert.Equal(t, []difference{{"feed.threads", "2", "4"}, {"profile.threads", "2", "4"}}, got, "neither the total nor the file's words tell more")
	assert.Empty(t, caution(&a, &b, got))
	b.Settings["feed.payload"] = 2048
	b.Parameters["feed.payloadSize"], b.Parameters["testCount"] = "2KiB", "61"
	got = differences(&a, &b)
	assert.Equal(t, []difference{{"feed.payload", "1 KiB", "2 KiB"}, {"feed.threads", "2", "4"}, {"profile.threads", "2", "4"}, {"testCount", "60", "61"}}, got)
	assert.Equal(t, "A and B differ in feed.payload, threads and testCount: the change has more than one cause", caution(&a, &b, got))
}

func TestMovement(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		want string
	}{{100, 137.8, "▲ 37.8 %"}, {100, 50, "▼ 50.0 %"}, {1, 1, "="}, {0, 5, ""}, {math.NaN(), 5, ""}, {1, 20, "▲ ×20"}} {
		assert.Equal(t, c.want, movement(c.a, c.b))
	}
}

func TestAComparisonIsCopiedAsText(t *testing.T) {
	a, c := beside(t, 120, 40)
	cmd := a.Update(tuitest.KeyPress("y"))
	require.NotNil(t, cmd)
	text := tuitest.Sprint(cmd())
	assert.Contains(t, text, "A 260503-114000-ingestion-redis")
	assert.Contains(t, text, "better")
	assert.NotContains(t, c.made.text(), "\x1b")
}

func TestRunsThatCannotBeReadAreNotCompared(t *testing.T) {
	a := tuitest.NewStage(t, NewComparison(tuitest.NewDemo(), "gone", "lost"), 80, 24)
	assert.Contains(t, a.Picture(t), "run gone: not found")
	a.Send(t, "tab", "down", "w", "y", "esc")
	assert.Equal(t, 1, a.Backs)
}

func BenchmarkCompareView(b *testing.B) {
	a, _ := beside(b, 120, 40)
	for b.Loop() {
		a.Top.View(a.Env)
	}
}

func TestWhatDoesNotCountIsComparedByItself(t *testing.T) {
	v := 10.0
	f := &rundir.Folder{Run: rundir.Run{MeasuredS: 10, Parts: []string{"g1.put"}, Operations: []rundir.Operation{
		{Track: "g1", Op: "invocation", Count: 100, Throughput: &v}, {Track: "g1", Op: "put", Count: 100, Throughput: &v},
	}}}
	assert.InDelta(t, 10, sideOf(f, nil).rate, 1e-9)
	assert.InDelta(t, 10, sideOf(f, &measure.Operation{Track: "g1", Op: "put"}).rate, 1e-9, "of itself it has a rate")
}
