package compare

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/rundirtest"
)

// A throughput that was asked for says nothing about the store, however sure the change is.
func TestAThroughputThatTheRateDecidesIsNotJudged(t *testing.T) {
	at := func(rate, done float64) *Run {
		r := *read(t, rundirtest.NewFolder(day, "redis", 16, 1))
		r.Conditions.Changes, r.Conditions.Settings = 0, maps.Clone(r.Conditions.Settings)
		r.Conditions.Settings["rate"] = rate
		r.Parts = append([]Measured(nil), r.Parts...)
		r.Parts[0].Figures = maps.Clone(r.Parts[0].Figures)
		r.Parts[0].Figures[Throughput] = Estimate{Value: done, SE: 1e-4, DF: 50}
		return &r
	}
	for _, c := range []struct {
		name string
		a, b *Run
		want string
	}{
		{"both kept up", at(2000, 2000), at(2000, 1965), "rate-limited"},
		{"one fell behind", at(2000, 2000), at(2000, 1900), "worse"},
		{"no limit", at(0, 2000), at(0, 1965), "worse"},
		{"two rates", at(2000, 2000), at(1200, 1200), "rate-limited"},
		{"two rates, of which one was not kept", at(2000, 2000), at(1200, 1100), "worse"},
	} {
		got := Sets(one(c.a), one(c.b), Options{})
		assert.Equal(t, c.want, verdicts(got.Parts[0])[Throughput], c.name)
		notes, two := strings.Join(got.Notes, " "), c.name == "two rates"
		assert.Equal(t, c.want == "rate-limited" && !two, strings.Contains(notes, "held at 2k entries/s and kept up"), c.name)
		assert.Equal(t, two, strings.Contains(notes, "A was asked for 2k entries/s and B for 1.2k entries/s, and both kept up"), c.name)
		assert.Equal(t, two, strings.Contains(got.Parts[0].Answer("entries"), "A was asked for 2k entries/s and B for 1.2k"), c.name)
		if c.want == "rate-limited" {
			assert.NotContains(t, got.Parts[0].Answer("entries"), "entries/s -", c.name)
		}
		assert.NotEqual(t, "rate-limited", verdicts(got.Parts[0])[P99], c.name)
	}
}

// Where the rate of one side alone was set, and it could have done more, throughput is no finding; where the
// other side did less, it is.
func TestAThroughputThatOneSideWasGivenIsNotJudged(t *testing.T) {
	side := func(change func(c *Conditions), done float64) *Run {
		r := *read(t, rundirtest.NewFolder(day, "redis", 16, 1))
		r.Conditions.Changes, r.Conditions.Settings = 0, maps.Clone(r.Conditions.Settings)
		r.Conditions.Settings["rate"], r.Conditions.Turned = 0, nil // as in a baseline of an earlier version
		change(&r.Conditions)
		r.Parts = append([]Measured(nil), r.Parts...)
		r.Parts[0].Figures = maps.Clone(r.Parts[0].Figures)
		r.Parts[0].Figures[Throughput] = Estimate{Value: done, SE: 1e-4, DF: 50}
		return &r
	}
	free := func(done float64) *Run { return side(func(*Conditions) {}, done) }
	for _, c := range []struct {
		name       string
		b          *Run
		said, word string
	}{
		{"more than was asked for", side(func(c *Conditions) { c.Settings["rate"] = 1000 }, 1000), "B was asked for only 1k entries/s and kept up, so throughput is not compared. ", "rate-limited"},
		{"less than the other was asked for", side(func(c *Conditions) { c.Settings["rate"] = 3000 }, 3000), "", "better"},
		{"a rate that was not kept", side(func(c *Conditions) { c.Settings["rate"] = 3000 }, 1500), "", "worse"},
		{"a timetable", side(func(c *Conditions) { c.Paced, c.Changes = true, 4 }, 1500), "The requested rate of B changed during the run, so throughput says how much was asked for, not how much the store can do, and is not judged. ", "rate-limited"},
	} {
		got := Sets(one(free(2000)), one(c.b), Options{})
		assert.Equal(t, c.word, verdicts(got.Parts[0])[Throughput], c.name)
		answer := got.Parts[0].Answer("entries")
		assert.True(t, strings.HasPrefix(answer, c.said), "%s: %s", c.name, answer)
		assert.Equal(t, c.said == "", strings.Contains(strings.TrimPrefix(answer, c.said), "entries/s "), "%s: %s", c.name, answer)
	}
	timetable := func(done float64) *Run {
		return side(func(c *Conditions) {
			c.Paced, c.Changes, c.Parameters = true, 4, map[string]string{"at": "5s:rate=9000"}
		}, done)
	}
	assert.Equal(t, "worse", verdicts(Sets(one(timetable(2000)), one(timetable(1500)), Options{}).Parts[0])[Throughput], "the same timetable")
}

// A search has the response times of many levels: against another run they are as little a finding as its
// throughput is.
func TestASearchAndAnotherRunAreNotJudged(t *testing.T) {
	run := func(name string, sought Figure) *Run {
		r := *read(t, rundirtest.NewFolder(day, name, 16, 1))
		r.Conditions.Sought = sought
		return &r
	}
	plain := run("redis", "")
	for _, c := range []struct {
		a, b *Run
		want string
	}{
		{plain, run("redis", HighestRate), "B is a search: its figures are of many levels, so none is judged. Compare two searches, or A with a run at a fixed rate."},
		{run("redis", MostThreads), plain, "A is a search: its figures are of many levels, so none is judged. Compare two searches, or B with a run at a fixed number of threads."},
		{run("redis", MostThreads), run("redis", HighestRate), "A and B did not search for the same: their figures are of many levels, so none is judged. Compare searches for the same."},
	} {
		slower := *c.b
		slower.Parts = slices.Clone(slower.Parts)
		for i := range slower.Parts {
			slower.Parts[i].Figures = maps.Clone(slower.Parts[i].Figures)
			for _, f := range []Figure{P50, P90, P99} {
				slower.Parts[i].Figures[f] = Estimate{Value: 1e9, SE: 1e3, DF: 50}
			}
		}
		got := Sets(one(c.a), one(&slower), Options{Unsure: Fail})
		require.NotEmpty(t, got.Parts)
		for _, p := range got.Parts {
			for _, f := range p.Findings {
				assert.Equal(t, Noted, f.Verdict, f.Figure)
				assert.Empty(t, f.Words(), f.Figure)
			}
			assert.Equal(t, c.want, p.Answer("entries"))
			assert.Empty(t, p.Powers("entries"))
		}
		assert.EqualError(t, got.Err(), c.want, "whoever has a doubt fail is told that nothing was judged")
		got.Unsure = Pass
		assert.NoError(t, got.Err())
	}
}
