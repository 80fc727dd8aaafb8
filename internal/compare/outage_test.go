package compare

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/rundirtest"
	"github.com/perfbench/perfbench/internal/verdict"
)

// troubled is a run of 25 s whose store did not answer for some seconds, in which so many calls failed.
func troubled(t *testing.T, seconds float64, failed int64) *Run {
	t.Helper()
	f := rundirtest.NewFolder(day, "redis", 16, 1)
	if seconds > 0 {
		f.Run.Outages = []verdict.Outage{{From: 2, To: 2 + seconds}}
	} else {
		f.Run.Outages = []verdict.Outage{}
	}
	r := read(t, f)
	m := &r.Parts[0]
	m.Errors, m.TimedOut = failed, 0
	m.Figures[Errors] = Estimate{Value: float64(failed) / float64(m.Calls+failed), SE: 1, DF: 1} // as scattered as those of an outage are
	return r
}

// The errors of an outage are in few seconds, and scatter so much that nothing could be said of them; those
// of a side that has none do not.
func TestAnOutageOfOneSideIsToldFirst(t *testing.T) {
	fine, dead := one(troubled(t, 0, 0)), one(troubled(t, 7.12, 1548))
	c := Sets(fine, dead, Options{})
	assert.Regexp(t, `^B did not answer for 7\.12 s \(1.548 errors\); A had none\. `, c.Answer(c.Parts[0]))
	assert.Equal(t, []string{"worse", "worse"}, []string{verdicts(c.Parts[0])[Outage], verdicts(c.Parts[0])[Errors]})
	assert.Contains(t, c.Notes, "Throughput includes the time without answers; response times are those of the calls that were answered.")
	require.Error(t, c.Err())
	assert.Equal(t, fault.CodeThreshold, fault.CodeOf(c.Err()))
	assert.ErrorContains(t, c.Err(), "outage: worse, +7.12 s, from 0 s to 7.12 s")

	back := Sets(dead, fine, Options{})
	assert.Regexp(t, `^A did not answer for 7\.12 s \(1.548 errors\); B had none\. `, back.Answer(back.Parts[0]))
	for _, f := range back.Worse() {
		assert.NotContains(t, []Figure{Outage, Errors}, f.Figure)
	}
	assert.NotContains(t, Sets(fine, fine, Options{}).Answer(c.Parts[1]), "answer")
	for want, pair := range map[string][2]Set{
		`^A did not answer for 2 s; B did not answer for 7\.12 s\. `:         {one(troubled(t, 2, 0)), one(troubled(t, 7.12, 0))},
		`^B had 600 errors \([0-9.]+ % of its calls\); A had none\. `:        {fine, one(troubled(t, 0, 600))},
		`^B did not answer for 3 s in 1 of its 2 runs; A always answered\. `: {fine, {Runs: []*Run{troubled(t, 3, 0), troubled(t, 0, 0)}}},
	} {
		c := Sets(pair[0], pair[1], Options{})
		assert.Regexp(t, want, c.Answer(c.Parts[0]))
	}
	old := troubled(t, 0, 0)
	delete(old.Parts[0].Figures, Outage)
	unknown := Sets(one(old), dead, Options{})
	assert.Regexp(t, `^B did not answer for 7\.12 s \(1.548 errors\); whether A always answered is not known\. `, unknown.Answer(unknown.Parts[0]))
	assert.Empty(t, verdicts(unknown.Parts[0])[Outage])
	few := Sets(one(troubled(t, 2, 0)), one(troubled(t, 7.12, 0)), Options{})
	assert.Empty(t, verdicts(few.Parts[0])[Outage], "chance makes one longer than another")
}

// A share of errors has one range, by the seconds, in the results of its run and in comparisons, also in those
// that the number of errors decides. That of the change is what the sides allow.
func TestErrorsHaveTheSameRangeEverywhere(t *testing.T) {
	fine, dead := one(troubled(t, 0, 0)), one(troubled(t, 7.12, 1548))
	of := func(s Set, seconds []float64) {
		m := &s.Runs[0].Parts[0]
		m.Figures[Errors] = errorShare(m.Calls, m.Errors, seconds)
	}
	of(fine, make([]float64, 25))
	of(dead, append(make([]float64, 18), 221, 221, 221, 221, 221, 221, 222))
	var alone Range
	for _, s := range Repeats(dead) {
		if s.Figure == Errors {
			alone = s.Range
		}
	}
	assert.Positive(t, alone.Lo, "a call failed")
	assert.Less(t, alone.Lo, 0.4*alone.Value, "by their number it was 95 % of it")
	for name, c := range map[string]*Comparison{"worse": Sets(fine, dead, Options{}), "better": Sets(dead, fine, Options{})} {
		for _, f := range c.Parts[0].Findings {
			if f.Figure != Errors {
				continue
			}
			assert.EqualValues(t, name, f.Verdict)
			if name == "worse" {
				assert.Equal(t, alone, f.B)
				assert.Equal(t, []float64{alone.Lo, alone.Hi}, []float64{f.Lo, f.Hi})
				assert.Regexp(t, `^\([0-9.]+ to [0-9.]+ %\)$`, f.RangeOf(f.B))
			} else {
				assert.Equal(t, alone, f.A)
				assert.Equal(t, []float64{-alone.Hi, -alone.Lo}, []float64{f.Lo, f.Hi})
			}
		}
	}
	often := failing(1000, 1e5)
	for _, f := range findings("", often, failing(12000, 1e5), nil, nil, DefaultTolerance) {
		if f.Figure == Errors {
			assert.Equal(t, Worse, f.Verdict)
			assert.Positive(t, f.Lo, "the end near no change does not take the verdict back")
			assert.InDelta(t, f.B.Hi-f.A.Lo, f.Hi, 1e-9)
		}
	}
}

// Response times are of what was answered, and of what timed out where anything did.
func TestWhatTimedOutHasATime(t *testing.T) {
	a, b := one(troubled(t, 0, 0)), one(troubled(t, 7.12, 1548))
	for want, n := range map[string]int64{"Throughput includes the time without answers; response times are those of the calls that were answered.": 0,
		"Throughput includes the time without answers; response times are those of the calls that were answered or timed out.": 8} {
		b.Runs[0].Parts[0].TimedOut = n
		assert.Contains(t, Sets(a, b, Options{}).Notes, want)
	}
}

// A change of error rates by number whose range, that of the sides, reaches beyond close to no change is not the same.
func TestErrorsThatMayBeManyAreNotTheSame(t *testing.T) {
	f := Finding{Figure: Errors, A: Range{Value: 0.00002, Lo: 0, Hi: 0.0001}, B: Range{Value: 0.00087, Lo: 0.0002, Hi: 0.0049}, counted: true}
	f.change = stat.Estimate{Value: 0.00085, SE: 0.00003, DF: math.Inf(1)}
	require.Equal(t, Same, f.judge(certainty, DefaultTolerance), "by number alone")
	f.asRanges()
	assert.InDelta(t, 0.0049, f.Hi, 1e-9)
	assert.Equal(t, "worse", f.Words())
	f.B.Hi = 0.001
	f.judge(certainty, DefaultTolerance)
	f.asRanges()
	assert.Equal(t, "same within 0.1 points", f.Words())
}

func TestRepeatsTellTheirOutages(t *testing.T) {
	of := func(runs ...*Run) (out [][]string) {
		for _, s := range Repeats(Set{Runs: runs}) {
			if s.Figure == Outage {
				out = append(out, s.Texts("entries"))
			}
		}
		return out
	}
	assert.Empty(t, of(troubled(t, 0, 0), troubled(t, 0, 0)))
	assert.Equal(t, [][]string{{"outage", "2 s", "0 s", "4 s", "–"}}, of(troubled(t, 0, 0), troubled(t, 4, 0)))
}

// failing is a run of which so many calls failed, in few seconds.
func failing(failed, all int64) []Measured {
	return []Measured{{Calls: all - failed, Errors: failed, Figures: map[Figure]Estimate{Errors: {Value: float64(failed) / float64(all), SE: float64(failed), DF: 1}}}}
}

func TestErrorsOfOneSideAreDecidedByCount(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []Measured
		want Verdict
	}{
		{"none and many", failing(0, 1e6), failing(1548, 1e6), Worse},
		{"none and a few of very many", failing(0, 1e8), failing(30, 1e8), Worse},
		{"many and none", failing(1548, 1e6), failing(0, 1e6), Better},
		{"none and two", failing(0, 1e6), failing(2, 1e6), Same},
		{"ten times as many", failing(1000, 1e5), failing(12000, 1e5), Worse},
		{"three times as many, all in few seconds", failing(1000, 1e5), failing(3000, 1e5), Unsure},
	} {
		for _, f := range findings("", c.a, c.b, nil, nil, DefaultTolerance) {
			if f.Figure == Errors {
				assert.Equal(t, c.want, f.Verdict, c.name)
			}
		}
	}
	assert.Equal(t, "0.0000312 %", percent(3.12e-7))
	assert.Equal(t, "120 points", Finding{Figure: Errors}.sized(1.2))
}

// What perfbench itself did not run for is no time in which the store did not answer.
func TestOwnPausesAreNoOutageOfTheStore(t *testing.T) {
	of := func(pauses ...verdict.Pause) float64 {
		f := rundirtest.NewFolder(day, "redis", 16, 1)
		f.Run.Outages = []verdict.Outage{{From: 2, To: 4}, {From: 8, To: 9.25}}
		f.Run.Observed = &verdict.Observed{PausesAt: pauses}
		return read(t, f).Parts[0].Figures[Outage].Value
	}
	assert.InDelta(t, 3.25e9, of(), 1)
	assert.InDelta(t, 1.5e9, of(verdict.Pause{AtS: 2.5, ForS: 0.5}, verdict.Pause{AtS: 8.1, ForS: 1}), 1)
}
