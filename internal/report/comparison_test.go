package report

import (
	"encoding/json"
	"encoding/xml"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/rundirtest"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// sides compares three made-up runs a side, of so many threads.
func sides(t *testing.T, a, b int) *compare.Comparison {
	t.Helper()
	set := func(name string, threads int, seed int64) compare.Set {
		s := compare.Set{Name: name}
		for i := range int64(3) {
			f := rundirtest.NewFolder(time.Date(2026, 5, 3, 12, int(seed+i), 0, 0, time.UTC), "redis", threads, seed+i)
			r, err := compare.Of(f)
			require.NoError(t, err)
			s.Runs = append(s.Runs, r)
		}
		return s
	}
	return compare.Sets(set("before-*", a, 1), set("after-*", b, 11), compare.Options{})
}

func TestComparisonDocuments(t *testing.T) {
	c := sides(t, 16, 24)
	for _, id := range ComparisonFormats() {
		t.Run(id, func(t *testing.T) {
			f, err := Comparison(c, Searches{}, id)
			require.NoError(t, err)
			expect(t, f.Name, string(f.Data))
		})
	}
	_, err := Comparison(c, Searches{}, "markdwn")
	require.ErrorContains(t, err, `unknown format "markdwn" of a comparison`)
	assert.Contains(t, fault.HintOf(err), "markdown")
}

// An operation of which nothing can be told is named, and has no table; all calls keep theirs.
func TestOperationsThatAreUnsureInEverythingAreNamedOnce(t *testing.T) {
	c := sides(t, 16, 24)
	require.Greater(t, len(c.Parts), 2, "all calls, and two operations or more")
	first := c.Parts[1].Operation
	heading := first.Track + " " + first.Op
	text := func() string {
		f, err := Comparison(c, Searches{}, "text")
		require.NoError(t, err)
		return string(f.Data)
	}
	assert.NotContains(t, text(), "Unsure in every figure")
	tables := strings.Count(text(), "verdict\n")
	for i := range c.Parts[1].Findings {
		if f := &c.Parts[1].Findings[i]; f.Verdict != compare.Noted {
			f.Verdict = compare.Unsure
		}
	}
	assert.Contains(t, text(), "Unsure in every figure")
	assert.Contains(t, text(), "Nothing can be told of "+heading+".")
	assert.Equal(t, tables-1, strings.Count(text(), "verdict\n"))
	c.Parts[1].Findings[0].Verdict = compare.Worse
	assert.NotContains(t, text(), "Unsure in every figure", "what is worse is shown")
}

func TestThroughputIsInTheUnitOfTheOperation(t *testing.T) {
	f := rundirtest.NewFolder(time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC), "redis", 16, 1)
	last := f.Run.Operations[len(f.Run.Operations)-1]
	f.Run.Units = map[string]string{last.Track + "." + last.Op: "checks"}
	r, err := compare.Of(f)
	require.NoError(t, err)
	kept, err := compare.Baseline([]*compare.Run{r})
	require.NoError(t, err)
	again, err := compare.ReadBaseline(kept)
	require.NoError(t, err)
	for _, a := range []*compare.Run{r, again[0]} {
		text, err := Comparison(compare.Sets(compare.Set{Runs: []*compare.Run{a}}, compare.Set{Runs: []*compare.Run{r}}, compare.Options{}), Searches{}, "text")
		require.NoError(t, err)
		assert.Regexp(t, `(?s)The counted operations?\n.*entries/s.*`+last.Track+" "+last.Op+`.*checks/s`, string(text.Data))
		assert.Equal(t, 1, strings.Count(string(text.Data), "checks/s"))
	}
}

func TestOutcome(t *testing.T) {
	assert.Regexp(t, `^B is worse in p50 \(\+.*; better in entries/s \(\+.*; `, Outcome(sides(t, 16, 24)))
	assert.Regexp(t, `^B is the same in entries/s; unsure about p50, `, Outcome(sides(t, 16, 16)))
}

func TestAFigureThatIsWorseFailsItsCase(t *testing.T) {
	f, err := Comparison(sides(t, 24, 16), Searches{}, "junit")
	require.NoError(t, err)
	var got testSuites
	require.NoError(t, xml.Unmarshal(f.Data, &got))
	failed := map[string]bool{}
	for _, c := range got.Suites[0].Cases {
		failed[c.Name] = c.Failure != nil
	}
	assert.True(t, failed["throughput"])
	assert.False(t, failed["p50"])
	assert.Equal(t, 1, got.Failures)
}

// A run whose store did not answer for a while, or that lost data, must not be green.
func TestAnOutageAndAFailedVerificationFailTheirCases(t *testing.T) {
	of := func(change func(*rundir.Run)) compare.Set {
		f := rundirtest.NewFolder(time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC), "redis", 16, 1)
		f.Run.Outages = []verdict.Outage{}
		change(&f.Run)
		r, err := compare.Of(f)
		require.NoError(t, err)
		return compare.Set{Runs: []*compare.Run{r}}
	}
	fine := of(func(*rundir.Run) {})
	for name, b := range map[string]compare.Set{
		"outage":       of(func(r *rundir.Run) { r.Outages = []verdict.Outage{{From: 1, To: 3}} }),
		"verification": of(func(r *rundir.Run) { r.Verification.State = workload.Failed }),
	} {
		f, err := Comparison(compare.Sets(fine, b, compare.Options{}), Searches{}, "junit")
		require.NoError(t, err)
		var got testSuites
		require.NoError(t, xml.Unmarshal(f.Data, &got))
		assert.Equal(t, 1, got.Failures, name)
		for _, c := range got.Suites[0].Cases {
			assert.Equal(t, c.Name == name, c.Failure != nil, c.Name)
		}
	}
}

// Both sides are drawn by percentile, with a band where a side has several runs.
func TestSidesAreDrawnByPercentile(t *testing.T) {
	c := sides(t, 16, 24)
	g := sidesByPercentile("x", c.Parts[0].A, c.Parts[0].B[:1])
	require.Len(t, g.Lines, 2)
	a, b := g.Lines[0], g.Lines[1]
	assert.Equal(t, []string{"A", "B"}, []string{a.Name, b.Name})
	wide := 0
	for i, v := range a.Values {
		if math.IsNaN(a.Low[i]) {
			continue
		}
		assert.LessOrEqual(t, a.Low[i], 1.01*v) // up to the steps of histograms
		assert.GreaterOrEqual(t, 1.01*a.High[i], v)
		if a.High[i] > a.Low[i] {
			wide++
		}
	}
	assert.Positive(t, wide)
	for i, v := range b.Low {
		assert.True(t, math.IsNaN(v) || v == b.High[i], "one run has no band")
	}
	c.Parts[0].A[0].Response = nil
	assert.Len(t, sidesByPercentile("x", c.Parts[0].A[:1], c.Parts[0].B).Lines, 1, "a baseline has no histograms")
}

// Two sides that searched are compared by what they found, in one picture.
func TestSearchesOfTwoSidesAreCompared(t *testing.T) {
	c := sides(t, 16, 24)
	a, b := doubled(), doubled()
	b.Steps, b.Found, b.Done = b.Steps[:3], 3113, 3110
	text := func(s Searches) string {
		f, err := Comparison(c, s, "text")
		require.NoError(t, err)
		return string(f.Data)
	}
	got := text(Searches{A: []*find.Result{a}, B: []*find.Result{b}})
	assert.Contains(t, got, "Under p99<10ms and errors<1% A holds up to 2.83k entries/s, B holds up to 3.11k entries/s.\n")
	assert.Contains(t, got, "● p99 A  ○ p50 A  ■ p99 B  □ p50 B  ┊ the highest that holds: 2.83k A\n┊ the highest that holds: 3.11k B\n")
	assert.Regexp(t, `(?m) 100 % .* A$`, got)
	assert.Regexp(t, `(?m) 80 % .* B$`, got)
	behind := *b
	behind.Done, behind.Behind = 3000, 113
	assert.Contains(t, text(Searches{A: []*find.Result{a}, B: []*find.Result{&behind}}), ", B holds up to 3.11k entries/s (3k done).\n")
	more := doubled()
	more.Found, more.Under = 2530, []string{"p99<5ms"}
	got = text(Searches{A: []*find.Result{b}, B: []*find.Result{more, a}})
	assert.Contains(t, got, "A holds up to 3.11k entries/s, B holds up to 2.68k entries/s (2.53k to 2.83k in 2 searches).\n")
	assert.Contains(t, got, "A was searched under p99<10ms and errors<1%, and B under p99<5ms.\n")
	a.Found = 0
	open, ours := *b, *a
	open.TooMuch, ours.Limit.By = 0, find.ByPerfbench
	for want, of := range map[string]Searches{
		"A holds at no level that was tried (4k entries/s is already too much), B holds at least 3.11k entries/s.": {A: []*find.Result{a}, B: []*find.Result{&open}},
		"A holds at no level that is known: perfbench itself was the limit, B holds up to 3.11k entries/s.":        {A: []*find.Result{&ours}, B: []*find.Result{b}},
		"A tried no level to its end, B holds up to 3.11k entries/s.":                                              {A: []*find.Result{{Over: find.OverRate, Unit: "entries", Under: a.Under, Why: find.Interrupted}}, B: []*find.Result{b}},
		"A held at a level in only 1 of 3 searches, B ":                                                            {A: []*find.Result{a, b, a}, B: []*find.Result{b}},
	} {
		assert.Contains(t, strings.Join(of.Lead(), " "), want)
	}
	b.Over = find.OverThreads
	for _, s := range []Searches{{}, {A: []*find.Result{a}}, {A: []*find.Result{a}, B: []*find.Result{b}}} {
		assert.NotContains(t, text(s), "Latency over load")
	}
	f, err := Comparison(c, Searches{A: []*find.Result{more}, B: []*find.Result{more}}, "html")
	require.NoError(t, err)
	assert.Contains(t, string(f.Data), "response time over rate")
}

// comparison.json has each search of both sides.
func TestComparisonsInJSONHaveWhatSearchesFound(t *testing.T) {
	c, a, more := sides(t, 16, 24), doubled(), doubled()
	more.Run, more.Found, more.TooMuch = "another", 3000, 3090
	read := func(s Searches) *jsonSearches {
		f, err := Comparison(c, s, "json")
		require.NoError(t, err)
		var got jsonComparison
		require.NoError(t, json.Unmarshal(f.Data, &got))
		return got.Searches
	}
	got := read(Searches{A: []*find.Result{a}, B: []*find.Result{a, more}})
	require.NotNil(t, got)
	assert.Equal(t, "rate", got.Over)
	assert.Equal(t, []jsonSearch{{a.Run, a.Under, a.Found, a.TooMuch, a.Done, a.Complete}}, got.A)
	require.Len(t, got.B, 2)
	assert.Equal(t, "another", got.B[1].Run)
	assert.InDelta(t, 3000, got.B[1].Found, 0)
	assert.InDelta(t, 3090, got.B[1].TooMuch, 0)
	more.Over = find.OverThreads
	assert.Nil(t, read(Searches{A: []*find.Result{a}, B: []*find.Result{more}}), "they searched for different things")
	assert.Nil(t, read(Searches{}))
}

// Where searches cannot be compared, it is said which side holds nothing.
func TestASideThatHoldsNothingIsNamed(t *testing.T) {
	side := func(found float64) compare.Set {
		part := compare.Measured{Figures: map[compare.Figure]compare.Estimate{}}
		if found > 0 {
			part.Figures[compare.HighestRate] = compare.Estimate{Value: found}
		}
		return compare.Set{Runs: []*compare.Run{{Parts: []compare.Measured{part}, Conditions: compare.Conditions{Sought: compare.HighestRate}}}}
	}
	for want, c := range map[string]compare.Comparison{
		"neither search": {A: side(0), B: side(0)}, "no search of B": {A: side(9), B: side(0)}, "no search of A": {A: side(0), B: side(9)},
	} {
		assert.Equal(t, want, nothingHeld(&c))
	}
}
