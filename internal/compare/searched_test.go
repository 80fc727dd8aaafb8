package compare

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
)

// search is a run that searched for a rate: up to low it held, and at high no more.
func search(t *testing.T, low, high float64) *Run {
	t.Helper()
	r := &Run{Conditions: Conditions{Profile: "tx", Unit: "sagas", Changes: int(low)}, Parts: []Measured{{Figures: map[Figure]Estimate{
		Throughput: {Value: low, SE: 1}, P99: {Value: 1e6, SE: 1e3},
	}}}}
	s := &rundir.Sought{Over: "rate", Under: []string{"p99<10ms"}, Found: low, TooMuch: high}
	r.Conditions.Sought, r.Conditions.Under, r.Parts[0].Figures[HighestRate] = HighestRate, s.Under, estimate(s)
	return r
}

func searches(t *testing.T, step float64, levels ...float64) (s Set) {
	t.Helper()
	for _, v := range levels {
		s.Runs = append(s.Runs, search(t, v, v*(1+step)))
	}
	return s
}

// Of searches, what they found is compared, with the scatter between them, and nothing else.
func TestSearchesAreComparedByWhatTheyFound(t *testing.T) {
	a, b := searches(t, .03, 1000, 1020, 990, 1010), searches(t, .03, 880, 905, 890, 900)
	c := Sets(a, b, Options{Tolerance: .05})
	assert.Empty(t, c.Refusals, "each makes as many changes as it needs")
	require.Len(t, c.Parts, 1)
	require.Len(t, c.Parts[0].Findings, 1)
	f := c.Parts[0].Findings[0]
	assert.Equal(t, HighestRate, f.Figure)
	assert.Equal(t, Worse, f.Verdict, "less is worse")
	assert.InDelta(t, -.11, f.Change, .005)
	assert.Less(t, f.Lo, f.Change)
	assert.Less(t, f.Change, f.Hi)
	assert.ErrorContains(t, c.Err(), "highest rate, sagas/s: worse, −11.1 %, from 1k to 894")
	assert.Equal(t, Better, Sets(b, a, Options{}).Parts[0].Findings[0].Verdict)

	more := a
	more.Runs = append(more.Runs, &Run{Parts: []Measured{{Figures: map[Figure]Estimate{Throughput: {Value: 1}}}}})
	assert.Equal(t, Throughput, Sets(more, b, Options{}).Parts[0].Findings[0].Figure, "not all of them were searches")
	assert.Equal(t, []Difference{{"searched under", "p99<10ms", "p99<1ms"}}, Differences(&a.Runs[0].Conditions, &Conditions{Profile: "tx", Sought: HighestRate, Under: []string{"p99<1ms"}}))
}

// Nobody knows how much one search differs from the next, and none is finer than its last step.
func TestASearchIsAsFineAsItsLastStep(t *testing.T) {
	f := Sets(searches(t, .03, 1000), searches(t, .03, 500), Options{}).Parts[0].Findings[0]
	assert.Equal(t, Unsure, f.Verdict)
	assert.True(t, math.IsInf(f.Hi, 1))
	assert.Equal(t, "It cannot be told whether B holds a higher or a lower rate than A under p99<10ms and errors<1%: the highest was 1k sagas/s in A and 500 sagas/s in B; several searches a side (--repeat 5) would tell.", f.holds("sagas", []string{"p99<10ms", "errors<1%"}))
	f.Figure = HighestBase
	assert.Contains(t, f.holds("sagas", []string{"recovers<30s"}), "whether B recovers by itself from a higher or a lower base load than A: the highest was 1k sagas/s in A")
	f.Figure = MostThreads
	assert.Contains(t, f.holds("sagas", nil), "whether B holds a higher or a lower number of threads than A: the highest was 1k threads in A and 500 threads in B")
	same := searches(t, .1, 1000, 1000, 1000, 1000)
	f = Sets(same, same, Options{}).Parts[0].Findings[0]
	assert.Greater(t, f.Hi, .03, "although all found the same")
	f = Sets(searches(t, .03, 1000, 1010, 1005), searches(t, .03, 0, 0, 0), Options{}).Parts[0].Findings[0]
	assert.Equal(t, Noted, f.Verdict, "nothing held")
	assert.Equal(t, "–", f.Text(f.B, false))
}

// A side that held at the highest level may hold any more: only what that cannot change is certain.
func TestASearchThatEndedAtItsHighestLevelHoldsAtLeastThat(t *testing.T) {
	closed, open := searches(t, .03, 1000, 1010, 1005), searches(t, 0, 1500, 1500, 1500)
	of := func(a, b Set) Finding { return Sets(a, b, Options{}).Parts[0].Findings[0] }
	both := of(open, open)
	assert.Equal(t, Unsure, both.Verdict, "the same figure twice, and nobody knows what they hold")
	assert.Equal(t, "both sides held at the highest level that was tried, so --to has to be higher", both.PowerText())
	assert.Equal(t, "≥ 1.5k", both.Text(both.A, false))
	more := of(closed, open)
	assert.Equal(t, Better, more.Verdict, "B may only be better still")
	assert.Regexp(t, `^Under p99<10ms B holds a higher rate than A: \+49\..*, from 1k to ≥ 1\.5k sagas/s\.$`, Sets(closed, open, Options{}).Parts[0].Answer("sagas"))
	assert.Equal(t, Worse, of(open, closed).Verdict)
	low := searches(t, 0, 900, 900, 900)
	f := of(closed, low)
	assert.Equal(t, Unsure, f.Verdict, "B may hold more than A")
	assert.Equal(t, "B held at the highest level that was tried, so --to has to be higher", f.takes())
}

// What a search found is read from its folder.
func TestTheResultOfASearchIsRead(t *testing.T) {
	dir := t.TempDir()
	at := func(text string) (*Run, error) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, rundir.FoundFile), []byte(text), 0o600))
		r := &Run{Parts: []Measured{{Figures: map[Figure]Estimate{}}}}
		return r, r.search(dir)
	}
	for text, want := range map[string]Figure{
		`{"over": "rate", "under": ["p99<10ms"], "found": 90, "too_much": 96}`: HighestRate,
		`{"over": "threads", "found": 90}`:                                     MostThreads,
		`{"over": "rate", "found": 90, "recovery": {"pulse_s": 1}}`:            HighestBase,
	} {
		r, err := at(text)
		require.NoError(t, err)
		assert.Equal(t, want, r.Conditions.Sought)
		assert.InDelta(t, 90, r.Parts[0].Figures[want].Value, 0)
	}
	r, err := at(`{"over": "rate", "found": 0, "too_much": 96}`)
	require.NoError(t, err)
	assert.Equal(t, HighestRate, r.Conditions.Sought)
	assert.Empty(t, r.Parts[0].Figures)
	_, err = at(`{"over": `)
	assert.ErrorContains(t, err, "read what the search found: ")
	require.NoError(t, os.Remove(filepath.Join(dir, rundir.FoundFile)))
	assert.NoError(t, r.search(dir), "most runs are none")
}
