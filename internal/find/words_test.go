package find

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/verdict"
)

// Several tries of a level are told together, and a condition that all know is not said again.
func TestTriesOfALevelAreToldTogether(t *testing.T) {
	no := Step{Level: 20, Why: "p99<5ms did not hold: 6.36 % took longer"}
	doubt := Step{Level: 40, Doubtful: true, Why: "p99<5ms is in doubt: 3 of 95 took longer"}
	r := Result{Under: []string{"p99<5ms"}, Found: 20, Steps: []Step{
		{Level: 10, Held: true}, no, {Level: 20, Held: true}, {Level: 20, Held: true}, doubt, {Level: 30, Why: "the backlog grew"}, {Level: 30, Why: "the backlog grew"}, {Level: 50, Held: true}, {Level: 50, Held: true},
	}}
	for level, want := range map[float64]struct {
		words          string
		held, doubtful bool
	}{
		10: {"holds", true, false},
		20: {"unclear · held 2 of 3 tries · once 6.36 % took longer", true, true},
		30: {"too much · held 0 of 2 tries · the backlog grew", false, false},
		40: {"unclear · 3 of 95 took longer", false, true},
		50: {"holds · held 2 of 2 tries", true, false},
	} {
		words, held, doubtful := r.Told(level)
		assert.Equal(t, want.words, words)
		assert.Equal(t, want.held, held, words)
		assert.Equal(t, want.doubtful, doubtful, words)
	}
	r.Under = append(r.Under, "errors<1%")
	words, _, _ := r.Told(40)
	assert.Equal(t, "unclear · p99<5ms: 3 of 95 took longer", words)
	r.Steps = append(r.Steps, doubt)
	words, _, _ = r.Told(40)
	assert.Equal(t, "unclear · held 0 of 2 tries · p99<5ms: 3 of 95 took longer", words)
	r.Under = r.Under[:1]
	words, _, _ = r.Told(40)
	assert.Equal(t, "unclear · held 0 of 2 tries · 3 of 95 took longer", words)
	r.Under, r.Steps = []string{"mean<5ms"}, []Step{{Level: 10, Held: true}, {Level: 10, Why: "mean<5ms did not hold"}, {Level: 20, Why: "mean<5ms is unclear"}, {Level: 20, Why: "mean<5ms is in doubt"}}
	words, _, _ = r.Told(10)
	assert.Equal(t, "unclear · held 1 of 2 tries", words)
	words, _, _ = r.Told(20)
	assert.Equal(t, "too much · held 0 of 2 tries", words)
}

// What came of a level with other numbers of threads is told apart, and the row of the level has one try of those that
// decided: that of the threads with which the answer held, or of the fewest, if it did not hold.
func TestTriesWithOtherThreadsAreToldApart(t *testing.T) {
	step := func(level float64, threads int, held bool, p99 int64) Step {
		s := Step{Level: level, Threads: threads, Held: held, Response: Times{P50: 100 - p99, P99: p99}}
		if !held {
			s.Why = fmt.Sprintf("p99<5ms did not hold: %d %% took longer", p99)
		}
		return s
	}
	r := Result{Over: OverRate, Under: []string{"p99<5ms"}, Found: 20, TooMuch: 40, Steps: []Step{
		step(10, 8, true, 3), step(20, 8, false, 40), step(20, 32, true, 6), step(40, 32, false, 70), step(40, 64, false, 60), step(30, 32, false, 50),
		step(40, 16, false, 95), step(40, 32, false, 90), step(40, 128, false, 65), step(40, 32, true, 2), step(40, 32, false, 80), step(20, 32, true, 7), step(20, 32, false, 41), step(20, 32, true, 5),
	}}
	for level, want := range map[float64]struct {
		words, short string
		p99          int64
		threads      int
	}{
		10: {"holds", "holds", 3, 8},
		20: {"unclear · held 3 of 4 tries · once 41 % took longer · too much with 8 threads", "unclear: 3 of 4 held", 6, 32},
		30: {"too much · 50 % took longer", "too much", 50, 32},
		40: {"unclear · held 1 of 4 tries · 80 % took longer · too much with 16, 64 or 128 threads", "unclear: 1 of 4 held", 80, 32},
	} {
		words, held, _ := r.Told(level)
		assert.Equal(t, want.words, words)
		assert.Equal(t, level <= 20, held, words)
		assert.Equal(t, want.short, r.Rows(level)[0].Short)
		shown := r.Outcome(r.Of(level)).Shown
		assert.Equal(t, []int64{want.p99, 100 - want.p99, int64(want.threads)}, []int64{shown.Response.P99, shown.Response.P50, int64(shown.Threads)}, "one try")
	}
	assert.Zero(t, r.Outcome(r.Of(50)), "without a try")
	r.Found = 10
	assert.Equal(t, 16, r.Outcome(r.Of(40)).Shown.Threads, "none with as many as the answer")
	r.Found = 30
	assert.False(t, r.Outcome(r.Of(30)).Held, "a file that somebody changed")
	r.Steps = r.Steps[:2]
	r.Found, r.TooMuch = 0, 0
	r.Steps = append(r.Steps, step(20, 32, true, 6))
	held, tooMuch := r.Bracket()
	assert.Equal(t, []float64{20, 0}, []float64{held, tooMuch}, "it held with more")
}

// What a table has of a level is what the search makes of it: a last try that held outvotes those that failed in doubt,
// and a level that failed in nothing else is unclear.
func TestALevelIsToldAsTheSearchTakesIt(t *testing.T) {
	no, unsure := Step{Level: 32, Why: "p99<5ms did not hold: 9 % took longer"}, Step{Level: 32, Doubtful: true, Why: "p99<5ms is in doubt: 3 % took longer"}
	yes, maybe := Step{Level: 32, Held: true}, Step{Level: 32, Held: true, Doubtful: true}
	for name, c := range map[string]struct {
		tries          []Step
		short          string
		held, doubtful bool
		tooMuch        float64
	}{
		"failed in doubt":        {[]Step{unsure}, "unclear", false, true, 43},
		"failed in doubt, twice": {[]Step{unsure, unsure}, "unclear", false, true, 32},
		"failed once for sure":   {[]Step{unsure, no}, "too much", false, false, 32},
		"held at last":           {[]Step{unsure, unsure, yes}, "unclear: 1 of 3 held", true, true, 43},
		"held at last in doubt":  {[]Step{unsure, unsure, maybe}, "unclear: 1 of 3 held", false, true, 32},
		"and once more":          {[]Step{unsure, unsure, maybe, yes}, "unclear: 2 of 4 held", true, true, 43},
		"held after it failed":   {[]Step{unsure, no, yes}, "unclear: 1 of 3 held", false, true, 32},
		"held as often":          {[]Step{unsure, yes}, "unclear: 1 of 2 held", false, true, 32},
		"held in doubt":          {[]Step{maybe}, "unclear", true, true, 43},
	} {
		r := Result{Over: OverRate, Under: []string{"p99<5ms"}, Steps: append(c.tries, Step{Level: 43, Why: "p99<5ms did not hold"}, Step{Level: 20, Held: true})}
		_, held, doubtful := r.Told(32)
		assert.Equal(t, []any{c.short, c.held, c.doubtful}, []any{r.Rows(32)[0].Short, held, doubtful}, name)
		_, tooMuch := r.Bracket()
		assert.InDelta(t, c.tooMuch, tooMuch, 0, name)
	}
}

// A level that held under the time of calls in the store alone is not told as fine where users waited for
// their calls to begin: what perfbench itself was late is no such wait, and none goes unseen by other conditions.
func TestALevelThatHeldSaysThatUsersWaited(t *testing.T) {
	ms := func(n int64) int64 { return n * int64(time.Millisecond) }
	step := Step{Level: 10, Held: true, Response: Times{P50: ms(700), P99: ms(806)}, Service: Times{P50: ms(2), P99: ms(5)}, LateP99: ms(1)}
	late := Step{Level: 20, Held: true, Response: Times{P50: ms(3), P99: ms(30)}, Service: Times{P50: ms(2), P99: ms(5)}, LateP99: ms(24)}
	few := Step{Level: 30, Held: true, Doubtful: true, Response: Times{P50: ms(702), P99: measure.Hidden}, Service: Times{P50: ms(2), P99: measure.Hidden}}
	r := Result{Under: []string{"p99.service<10ms", "errors<1%"}, Steps: []Step{step, late, few, {Level: 40, Why: "p99.service<10ms did not hold", Response: step.Response, Service: step.Service}}}
	told := func(level float64) string {
		words, held, _ := r.Told(level)
		assert.Equal(t, level < 40, held)
		return words + "; " + r.Rows(level)[0].Short
	}
	assert.Equal(t, "holds · users wait 800 ms; holds in store only", told(10))
	assert.Equal(t, "holds; holds", told(20))
	assert.Equal(t, "unclear · users wait 700 ms; unclear", told(30))
	assert.Equal(t, "too much · p99.service<10ms; too much", told(40))
	r.Steps = append(r.Steps, Step{Level: 10, Why: "p99.service<10ms did not hold"}, step)
	assert.Equal(t, "unclear · held 2 of 3 tries · users wait 800 ms · once p99.service<10ms; unclear: 2 of 3 held", told(10))
	r.Steps = append(r.Steps, Step{Level: 10}, Step{Level: 10})
	assert.Equal(t, "unclear: 2 of 5 held", r.Rows(10)[0].Short, "one that does not hold has nothing that is to be read as fine")
	for _, under := range [][]string{{"p99<1s"}, {"p99.service<10ms", "p99<1s"}, {"p99.service<1s"}, {"errors<1%"}} {
		r.Under = under
		assert.Zero(t, r.Waited(10), under)
	}
}

// A result says what was asked for, so that it can be asked again.
func TestAResultCanBeAskedAgain(t *testing.T) {
	r := Result{Over: OverRate, Under: []string{"p99<5ms"}, From: 1500, To: 80000}
	assert.Equal(t, Asked{Under: []string{"p99<5ms"}, Over: OverRate, From: "1500", To: "80000"}, r.Asked())
	r = Result{Over: OverRate, Under: []string{Recovers}, Recovery: &RecoverySought{PulseS: 1, WithinS: 30}}
	a := r.Asked()
	assert.Equal(t, []string{"recovers<30s after 1s"}, a.Under)
	_, ok, err := readRecovery(a.Under[0])
	assert.True(t, ok)
	assert.NoError(t, err)
}

// A try in which perfbench or its machine was measured says so, and two in a row with nothing that held advise another
// search.
func TestATryThatSaysNothingOfTheStoreSaysSo(t *testing.T) {
	try := func(level float64, causes ...string) Step {
		return Step{Level: level, FromS: level, Why: "p99<1ms did not hold: 41 % took longer", Ours: causes}
	}
	late := try(2000, "lateness")
	for want, s := range map[string]Step{
		"": try(1), "perfbench was late": late, "the machine was crowded": try(1, "crowded"), "the hypervisor took processors": try(1, "stolen"), "perfbench was the limit (memory)": try(1, "memory"),
	} {
		assert.Equal(t, want, s.Measured())
	}
	r := Result{Over: OverRate, Under: []string{"p99<1ms"}, Steps: []Step{late}}
	words, _, _ := r.Told(2000)
	assert.Equal(t, "too much · 41 % took longer, as perfbench was late", words)
	for name, c := range map[string]struct {
		steps []Step
		want  string
	}{
		"one":                    {[]Step{late}, ""},
		"two":                    {[]Step{try(8000), try(4000, "crowded"), late}, "perfbench was late"},
		"the store as well":      {[]Step{try(4000, "lateness"), try(2000)}, ""},
		"something holds":        {[]Step{{Level: 500, Held: true}, try(4000, "lateness"), late}, ""},
		"more than one is alike": {[]Step{try(4000, "lateness"), try(4000, "lateness"), try(1000, "crowded")}, "the machine was crowded"},
	} {
		r.Steps = c.steps
		under, why := r.Instead()
		assert.Equal(t, c.want, why, name)
		assert.Equal(t, c.want != "", len(under) > 0, name)
	}
	r.Steps, r.Under = []Step{late, late}, []string{"p99<1ms", "errors<1%"}
	under, _ := r.Instead()
	assert.Equal(t, []string{"p99.service<1ms", "errors<1%"}, under)
	r.Under = []string{"p99.service<1ms"}
	under, _ = r.Instead()
	assert.Empty(t, under, "that is what is sought")
}

// A level that failed with fewer threads than a lower one holds with is not too much, neither while a search goes on nor
// at its end, nor in the file of one that called it so; one that failed with as many is.
func TestALevelThatFailedWithFewerThreadsIsNotTooMuch(t *testing.T) {
	r := &Result{Over: OverRate, Under: []string{"p99<5ms"}, Found: 20, TooMuch: 30, Limit: Limit{By: ByStore}, Steps: []Step{
		{Level: 10, Threads: 8, Held: true}, {Level: 30, Threads: 8}, {Level: 20, Threads: 8}, {Level: 20, Threads: 32, Held: true},
	}}
	held, tooMuch := r.Bracket()
	assert.Equal(t, []float64{20, 0}, []float64{held, tooMuch})
	holds, from, _, tooMuch := r.Known()
	assert.Equal(t, []float64{20, 0, 0}, []float64{holds, from, tooMuch})
	data, err := r.Encode()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, File), data, 0o600))
	read, err := Load(dir)
	require.NoError(t, err)
	assert.Zero(t, read.TooMuch)
	assert.Equal(t, Limit{By: ByThreads, Text: "threads: no higher rate was tried with 32"}, read.Limit)
	assert.Equal(t, r.Steps[1].Level, read.Narrow().Level)

	r.Steps = append(r.Steps, Step{Level: 30, Threads: 32})
	_, tooMuch = r.Bracket()
	assert.InDelta(t, 30, tooMuch, 0)
	_, _, _, tooMuch = r.Known()
	assert.InDelta(t, 30, tooMuch, 0)
	assert.Nil(t, r.Narrow())
	r.leaveOpen()
	assert.InDelta(t, 30, r.TooMuch, 0)

	r.Steps[len(r.Steps)-1].Level, r.TooMuch = 40, 40
	r.leaveOpen()
	assert.InDelta(t, 40, r.TooMuch, 0)
	assert.InDelta(t, 30, r.Narrow().Level, 0)
}

// Tries in which the machine was measured do not count below a rate that held without doubt, and the row of a level with
// no others says so; above it they do, and so do those of the store.
func TestALevelOfWhichNoTryCounts(t *testing.T) {
	crowded := func(level float64) Step {
		return Step{Level: level, Why: "p99<5ms did not hold: 9 % took longer", Ours: []string{string(verdict.Crowded)}}
	}
	r := Result{Over: OverRate, Under: []string{"p99<5ms"}, Steps: []Step{
		{Level: 10, Held: true}, crowded(10), crowded(20), crowded(20), {Level: 30, Held: true}, crowded(30), crowded(30), crowded(40), crowded(40),
	}}
	known := func() []float64 {
		held, tooMuch := r.Bracket()
		return []float64{held, tooMuch}
	}
	for range 2 { // while it is under way, and with its answer
		words, _, _ := r.Told(20)
		assert.Equal(t, "unclear · held 0 of 2 tries · 9 % took longer, as the machine was crowded · does not count, since 30 held", words)
		words, _, _ = r.Told(30)
		assert.Equal(t, "unclear · held 1 of 3 tries · once 9 % took longer, as the machine was crowded", words)
		words, _, _ = r.Told(40)
		assert.Equal(t, "too much · held 0 of 2 tries · 9 % took longer, as the machine was crowded", words)
		assert.Equal(t, []float64{30, 40}, known())
		words, _, _ = r.Told(10)
		assert.Equal(t, "holds · held 1 of 2 tries · once 9 % took longer, as the machine was crowded", words)
		r.Found, r.TooMuch = 30, 40
	}
	r.Steps = append(r.Steps, r.Steps[4])
	words, _, _ := r.Told(30)
	assert.Equal(t, "holds · held 2 of 4 tries · once 9 % took longer, as the machine was crowded", words)
	r.Steps = r.Steps[:len(r.Steps)-1]
	r.Found, r.TooMuch = 10, 20
	assert.Equal(t, []float64{10, 20}, known(), "an earlier version had it so")
	r.Found, r.TooMuch = 0, 0
	r.Steps = append(r.Steps, Step{Level: 30, Why: "p99<5ms did not hold"})
	assert.Equal(t, []float64{10, 30}, known(), "the store failed as often")
	r.Steps = append(r.Steps, Step{Level: 30, Why: "p99<5ms did not hold"})
	assert.Equal(t, []float64{10, 20}, known(), "and more often")
	r.Steps[4].Doubtful, r.Steps = true, r.Steps[:5]
	assert.Equal(t, []float64{10, 20}, known(), "it held in doubt")
}

// Tries with another number of threads that do not count leave it unclear in the row of that number, in what is said of
// the level and in charts, however surely they did not hold.
func TestThreadsOfWhichNoTryCountsAreUnclear(t *testing.T) {
	r := Result{Over: OverRate, Under: []string{"p99<2ms"}, Found: 40, TooMuch: 44, Steps: []Step{
		{Level: 34, Threads: 8, Why: "p99<2ms did not hold: 2 % took longer", Ours: []string{string(verdict.Lateness)}},
		{Level: 34, Threads: 32, Held: true}, {Level: 40, Threads: 32, Held: true}, {Level: 44, Threads: 32}, {Level: 44, Threads: 64},
	}}
	rows := r.Rows(34)
	require.Len(t, rows, 2)
	assert.Equal(t, []string{"holds", "unclear"}, []string{rows[0].Short, rows[1].Short})
	assert.True(t, rows[1].Doubtful)
	assert.Contains(t, rows[1].Words, "does not count, since 40 held")
	assert.Equal(t, "unclear · 2 % took longer, as perfbench was late", r.Words(r.Steps[0]))
	words, _, _ := r.Told(34)
	assert.Equal(t, "holds · unclear with 8 threads", words)
	words, _, _ = r.Told(44)
	assert.Equal(t, "too much · too much with 64 threads", words, "the store was measured")
}
