package compare

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/rundirtest"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestJudge(t *testing.T) {
	about := func(v, by float64) Estimate { return Estimate{Value: v, Lo: v - by, Hi: v + by} }
	for _, c := range []struct {
		name string
		a, b Estimate
		more bool
		want Verdict
	}{
		{"clearly more throughput is better", about(100, 2), about(120, 2), true, Better},
		{"clearly less throughput is worse", about(120, 2), about(100, 2), true, Worse},
		{"clearly less time is better", about(10, 1), about(5, 1), false, Better},
		{"clearly more time is worse", about(5, 1), about(10, 1), false, Worse},
		{"ranges that overlap are unsure", about(100, 15), about(120, 15), true, Unsure},
		{"less than one per cent is the same", about(100, 0.01), about(100.5, 0.01), true, Same},
		{"equal is the same however wide", about(0, 0), about(0, 0), false, Same},
		{"what cannot be said is not judged", about(math.NaN(), 0), about(1, 0), true, Noted},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, Judge(c.a, c.b, c.more)) })
	}
}

func TestTheSameStoreTwiceIsNeitherBetterNorWorse(t *testing.T) {
	a, b := rundirtest.NewFolder(day, "redis", 16, 100), rundirtest.NewFolder(day, "redis", 16, 200)
	for _, f := range Sides(SideOf(a, nil), SideOf(b, nil)) {
		assert.NotContains(t, []Verdict{Better, Worse}, f.Verdict, "%s: %v and %v", f.Figure, f.A, f.B)
	}
}

func TestAMeanOfOneSecondIsUnsure(t *testing.T) {
	s := Side{rate: 100, rates: []float64{100}}
	o := Side{rate: 200, rates: []float64{200}}
	assert.Equal(t, Unsure, Judge(s.Throughput(), o.Throughput(), true))
}

func TestAPercentileOfFewCallsIsUnsure(t *testing.T) {
	few := func(from int64) Side {
		h := measure.NewHistogram()
		for i := range int64(20) {
			_ = h.RecordValue(from + i)
		}
		return Side{Response: h}
	}
	assert.Equal(t, Unsure, Judge(few(1000).Percentile(99), few(5000).Percentile(99), false), "20 calls have no p99")
	assert.True(t, math.IsNaN(Side{}.Percentile(50).Value))
}

func TestErrorsAreJudgedAsShares(t *testing.T) {
	s := func(calls, errs int64) Estimate { return Side{Calls: calls, Errors: errs}.ErrorShare() }
	assert.Equal(t, Same, Judge(s(1000, 0), s(2000, 0), false))
	assert.Equal(t, Worse, Judge(s(1000, 0), s(1000, 100), false))
	assert.Equal(t, Unsure, Judge(s(1000, 3), s(1000, 4), false))
	assert.Equal(t, Better, Judge(s(1000, 500), s(1000, 100), false))
}

func TestEveryDifferenceIsNamed(t *testing.T) {
	a := rundir.Run{
		Profile: "ingestion", Store: rundir.Store{Name: "redis", Version: "7.2"}, Unit: "entries", Verdict: rundir.Verdict{State: "VALID"},
		Settings: map[string]float64{"threads": 16, "payload": 1024}, Parameters: map[string]string{"testCase": "put"}, Environment: map[string]any{"cpus": 8, "pool_waits": 3},
	}
	b := a
	assert.Empty(t, Differences(&a, &b))
	b.Settings = map[string]float64{"threads": 32, "payload": 1024, "batch": 10}
	b.Parameters = map[string]string{"testCase": "get"}
	b.Store.Version = "8.0"
	b.Environment = map[string]any{"cpus": 4, "pool_waits": 9}
	assert.Equal(t, []Difference{{"version", "7.2", "8.0"}, {"batch", "–", "10"}, {"threads", "16", "32"}, {"testCase", "put", "get"}, {"cpus", "8", "4"}}, Differences(&a, &b))
	assert.Equal(t, "A and B differ in version, batch, threads, testCase and cpus: the change has more than one cause", Caution(&a, &b, Differences(&a, &b)))
	assert.Empty(t, Caution(&a, &b, Differences(&a, &b)[:1]), "one difference is what was asked about")
	b.Unit = "checks"
	b.Verification.State = workload.Failed
	assert.Equal(t, "B failed its verification · A counts entries and B checks", Caution(&a, &b, nil))
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
	got := Differences(&a, &b)
	assert.Equal(t, []Difference{{"feed.threads", "2", "4"}, {"profile.threads", "2", "4"}}, got, "neither the total nor the file's words tell more")
	assert.Empty(t, Caution(&a, &b, got))
	b.Settings["feed.payload"] = 2048
	b.Parameters["feed.payloadSize"], b.Parameters["testCount"] = "2KiB", "61"
	got = Differences(&a, &b)
	assert.Equal(t, []Difference{{"feed.payload", "1 KiB", "2 KiB"}, {"feed.threads", "2", "4"}, {"profile.threads", "2", "4"}, {"testCount", "60", "61"}}, got)
	assert.Equal(t, "A and B differ in feed.payload, threads and testCount: the change has more than one cause", Caution(&a, &b, got))
}

func TestWhatDoesNotCountIsComparedByItself(t *testing.T) {
	v := 10.0
	f := &rundir.Folder{Run: rundir.Run{MeasuredS: 10, Parts: []string{"g1.put"}, Operations: []rundir.Operation{
		{Track: "g1", Op: "invocation", Count: 100, Throughput: &v}, {Track: "g1", Op: "put", Count: 100, Throughput: &v},
	}}}
	assert.InDelta(t, 10, SideOf(f, nil).rate, 1e-9)
	assert.InDelta(t, 10, SideOf(f, &measure.Operation{Track: "g1", Op: "put"}).rate, 1e-9, "of itself it has a rate")
}

var day = time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC)

// verdicts are those on each figure of a part.
func verdicts(p Part) map[Figure]Verdict {
	out := map[Figure]Verdict{}
	for _, f := range p.Findings {
		out[f.Figure] = f.Verdict
	}
	return out
}

func TestARunComparedWithItselfIsTheSameThroughout(t *testing.T) {
	f := rundirtest.NewFolder(day, "redis", 16, 1)
	c := Runs(f, f)
	require.Len(t, c.Parts, 3)
	assert.Nil(t, c.Parts[0].Operation, "all calls come first")
	assert.Equal(t, []string{"putall", "verify"}, []string{c.Parts[1].Operation.Op, c.Parts[2].Operation.Op})
	for _, p := range c.Parts {
		assert.Equal(t, map[Figure]Verdict{Throughput: Same, P50: Same, P90: Same, P99: Same, P999: Same, Max: Noted, Errors: Same}, verdicts(p))
	}
	assert.Empty(t, c.Differences)
	assert.Empty(t, c.Caution)
}

func TestFourTimesTheThreadsIsMoreThroughputAndMoreTime(t *testing.T) {
	a, b := rundirtest.NewFolder(day, "redis", 4, 1), rundirtest.NewFolder(day, "redis", 32, 2)
	c := Runs(a, b)
	got := verdicts(c.Parts[1])
	assert.Equal(t, Better, got[Throughput])
	assert.Equal(t, Worse, got[P50])
	assert.Equal(t, Noted, got[Max], "the largest value is chance")
	back := verdicts(Runs(b, a).Parts[1])
	assert.Equal(t, Worse, back[Throughput], "the other way round it is the other way round")
	assert.Equal(t, Better, back[P50])
	assert.Contains(t, c.Differences, Difference{"threads", "4", "32"})
}

func TestOperationsOfOneRunAloneAreNotCompared(t *testing.T) {
	a, b := rundirtest.NewFolder(day, "redis", 16, 1), rundirtest.NewFolder(day, "redis", 16, 2)
	other := *b
	other.Run.Operations = slices.Clone(b.Run.Operations)
	other.Run.Operations[1].Op = "count"
	c := Runs(a, &other)
	require.Len(t, c.Parts, 2)
	assert.Equal(t, &measure.Operation{Track: "feed", Op: "putall"}, c.Parts[1].Operation)
}

func TestRunsWithoutAnythingMeasuredAreNotJudged(t *testing.T) {
	c := Runs(&rundir.Folder{}, &rundir.Folder{})
	require.Len(t, c.Parts, 1)
	for figure, v := range verdicts(c.Parts[0]) {
		if figure != Max {
			assert.Equal(t, Noted, v, "%s", figure)
		}
	}
	for _, f := range c.Parts[0].Findings[1:5] {
		assert.True(t, f.A.Vague, "%s", f.Figure)
	}
}

func TestARangeIsAsWideAsTheSecondsScatter(t *testing.T) {
	steady, rough := Side{rate: 100}, Side{rate: 100}
	for i := range 60 {
		steady.rates = append(steady.rates, 100+float64(i%2))
		rough.rates = append(rough.rates, 100+40*float64(i%2))
	}
	steady.rates = append(steady.rates, math.NaN()) // a gap tells nothing
	assert.Less(t, steady.Throughput().StandardError(), 0.1)
	assert.InDelta(t, 40*steady.Throughput().StandardError(), rough.Throughput().StandardError(), 0.2)
	assert.True(t, math.IsInf(Side{rate: 100, rates: []float64{100}}.Throughput().Hi, 1), "one second has no scatter")
	assert.True(t, math.IsInf(Side{rate: 100}.Throughput().Lo, -1))

	calm, wild := calls(1000), calls(1000)
	calm.p99, wild.p99 = []float64{990, 991, 992}, []float64{500, 900, 1500}
	assert.Less(t, wild.Percentile(99).Lo, calm.Percentile(99).Lo, "seconds that differ widen a percentile")
	assert.Greater(t, wild.Percentile(99).Hi, calm.Percentile(99).Hi)
}

// calls is a side of n calls of 1, 2, 3 … nanoseconds.
func calls(n int64) Side {
	h := measure.NewHistogram()
	for i := range n {
		_ = h.RecordValue(i + 1)
	}
	return Side{Response: h, Calls: n}
}

func TestAPercentileNeedsCallsBehindIt(t *testing.T) {
	assert.True(t, calls(20).Percentile(99).Vague)
	assert.True(t, math.IsInf(calls(20).Percentile(99).Hi, 1))
	few, many := calls(1000).Percentile(50), calls(100_000).Percentile(50)
	assert.False(t, few.Vague)
	assert.Greater(t, (few.Hi-few.Lo)/few.Value, 5*(many.Hi-many.Lo)/many.Value, "a hundred times the calls, a tenth of the width")
	assert.InDelta(t, 500, few.Value, 2)
}
