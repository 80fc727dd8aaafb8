package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/compare/stat"
)

// What is said to be found in eight and in nine of ten comparisons is found as often.
func TestRunsShowWhatTheyAreSaidToShow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(32, 1))
	const trials, scatter = 4000, 0.03
	for _, runs := range []int{3, 5, 10, 30} {
		known := Finding{Figure: Throughput, change: stat.Estimate{SE: scatter * math.Sqrt(2/float64(runs)), DF: float64(2*runs - 2)}}
		for _, power := range []float64{usually, nearlyAlways} {
			by, found := math.Log1p(known.shows(certainty, power)), 0
			for range trials {
				a, b := make([]float64, runs), make([]float64, runs)
				for i := range runs {
					a[i], b[i] = scatter*rnd.NormFloat64(), by+scatter*rnd.NormFloat64()
				}
				if lo, _ := stat.Between(a, b).Interval(certainty); lo > 0 {
					found++
				}
			}
			assert.InDelta(t, power, float64(found)/trials, 0.05, "%d runs a side", runs)
		}
	}
}

// Whoever does as many runs as are asked for finds the change in nine of ten comparisons, however few
// runs it was asked after; and hardly more runs are asked for than it takes.
func TestRunsThatAreAskedForShowTheChange(t *testing.T) {
	rnd := rand.New(rand.NewPCG(32, 2))
	const trials, scatter = 2000, 0.05
	for _, first := range []int{3, 5, 10} {
		found, runs := 0, 0
		for range trials {
			var a, b []float64
			more := func(n int) {
				for len(a) < n {
					a, b = append(a, scatter*rnd.NormFloat64()), append(b, math.Log1p(0.05)+scatter*rnd.NormFloat64())
				}
			}
			more(first)
			n := needed(stat.Between(a, b), certainty, math.Log1p(0.05), float64(first), false)
			require.NotZero(t, n)
			more(n)
			runs += n
			if lo, _ := stat.Between(a, b).Interval(certainty); lo > 0 {
				found++
			}
		}
		t.Logf("after %d runs a side: %.0f are asked for, and %.1f %% are found", first, float64(runs)/trials, 100*float64(found)/trials)
		assert.GreaterOrEqual(t, found, trials*88/100)
		assert.Less(t, runs/trials, 24*(first+4)/first, "24 runs a side show it if the scatter is known")
	}
}

// Whoever is unsure says what would tell; whoever is not says nothing.
func TestUnsureSaysWhatWouldTell(t *testing.T) {
	side := func(name int64, values ...float64) Set {
		s := Set{Name: "side"}
		for i, v := range values {
			s.Runs = append(s.Runs, short(30, 10*name+int64(i), map[Figure]Estimate{Throughput: {Value: v, SE: math.NaN()}}))
		}
		return s
	}
	f := Sets(side(1, 100, 106, 95), side(2, 98, 104, 99), Options{}).Parts[0].Findings[0]
	require.Equal(t, Unsure, f.Verdict)
	assert.Equal(t, "29 more runs a side would show 5 %", f.PowerText())
	f = Sets(side(1, 100), side(2, 98), Options{}).Parts[0].Findings[0]
	require.Equal(t, Unsure, f.Verdict)
	assert.Equal(t, "one run a side; two more runs of each (--repeat 3), or longer ones, would tell more", f.PowerText())
	f = Sets(side(1, 100, 100.1, 99.9), side(2, 200, 200.1, 199.9), Options{}).Parts[0].Findings[0]
	require.Equal(t, Better, f.Verdict)
	assert.Empty(t, f.PowerText())
}

// What is true of several figures is said once, with their names.
func TestUnsureSaysOnceWhatIsTrueOfSeveralFigures(t *testing.T) {
	one := func(id int64, p50, p99, done float64) Set {
		return Set{Name: "side", Runs: []*Run{short(30, id, map[Figure]Estimate{
			Throughput: {Value: done, SE: 0.0305 * done, DF: math.Inf(1)}, P50: {Value: p50, SE: 0.0293 * p50, DF: math.Inf(1)}, P99: {Value: p99, SE: math.NaN()},
		})}}
	}
	p := Sets(one(1, 1e6, 2e6, 100), one(2, 1.01e6, 2.1e6, 100.1), Options{}).Parts[0]
	assert.Equal(t, "Unsure: entries/s (+0.1 %) may be chance; p99 (+5.0 %) not judged: one run a side; 9 more runs a side would show 5 %.", p.Answer("entries"))
	assert.Equal(t, "p50: 8 more runs a side would show 5 %.", p.Powers("entries"), "the answer has the other")
	assert.Equal(t, "Two more runs of each (--repeat 3), or longer ones, would tell more.", p.Advice("entries"), "once for all that it is true of")
	p.Findings = append(p.Findings, p.Findings[1])
	p.Findings[3].Figure = P90
	assert.Equal(t, "p50, p90: 8 more runs a side would show 5 %; p99: not judged, one run a side.", p.Powers("entries"))
	p.Findings[3].A.Vague = true
	assert.Equal(t, "p50: 8 more runs a side would show 5 %; p90: it takes 100 calls in each run.", p.Powers("entries"))
}

// How many runs would tell is how many tell of all figures that the sentence names.
func TestTheAnswerSaysHowManyRunsTellOfAllFiguresInIt(t *testing.T) {
	p := Pair{Findings: []Finding{
		{Figure: Throughput, A: Range{Value: 100}, B: Range{Value: 99}, Change: -0.01, Verdict: Unsure, Power: &Power{More: 2, Of: 0.05}},
		{Figure: P99, A: Range{Value: 1e6}, B: Range{Value: 0.95e6}, Change: -0.05, Verdict: Unsure, Power: &Power{More: 35, Of: 0.05}},
	}}
	assert.Equal(t, "Unsure: entries/s (−1.0 %) and p99 (−5.0 %) may be chance; 35 more runs a side would show 5 %.", p.Answer("entries"))
	assert.Equal(t, "entries/s: 2 more runs a side would show 5 %.", p.Powers("entries"))
	p.Findings[1].Power.More = 60
	assert.Regexp(t, "these runs vary too much to show 5 %", p.Answer("entries"))
}

// What the method has not tested is not called chance: the answer, the figure and its sentence say why it is not judged.
func TestWhatIsNotTestedIsNotCalledChance(t *testing.T) {
	of := func(seconds float64, id int64, done float64) Set {
		return Set{Name: "side", Runs: []*Run{short(seconds, id, map[Figure]Estimate{Throughput: {Value: done, SE: math.NaN()}, P99: {Value: 1e6, SE: math.NaN()}})}}
	}
	a, b := of(4, 1, 100), of(4, 2, 830)
	a.Runs[0].Conditions.Unit, b.Runs[0].Conditions.Unit = "entries", "entries"
	c := Sets(a, b, Options{Unsure: Warn})
	p := c.Parts[0]
	assert.Equal(t, "Not judged, one run of 4 s a side: entries/s (×8.3) and p99; two more runs of each (--repeat 3), or runs of 30 s, would tell more.", c.Answer(p))
	assert.True(t, c.Short())
	assert.Equal(t, "not judged", p.Findings[0].Words())
	assert.Equal(t, "entries/s: not judged, ×8.3, from 100 to 830; one run of 4 s a side; two more runs of each (--repeat 3), or runs of 30 s, would tell more", c.Warnings()[0])
	assert.Empty(t, p.Powers("entries"), "the answer has it")
	assert.Regexp(t, "^Not judged, one run of 3 s a side: ", Sets(of(3, 1, 100), of(30, 2, 830), Options{}).Parts[0].Answer("entries"))
	sure := Pair{Findings: []Finding{
		{Figure: Throughput, A: Range{Value: 100}, B: Range{Value: 120}, Change: 0.2, Lo: 0.1, Hi: 0.3, Verdict: Better},
		{Figure: P99, A: Range{Value: 1e6}, B: Range{Value: 9e6}, Change: 8, Lo: math.Inf(-1), Hi: math.Inf(1), Verdict: Unsure, ours: 0.6, of: "B"},
	}}
	assert.Equal(t, "B is better in entries/s (+20.0 %), with 95 % confidence; p99 (×9) not judged: 60 % of it is perfbench's own lateness in B.", sure.Answer("entries"))
	sure.Findings = sure.Findings[1:]
	assert.Equal(t, "Not judged, 60 % of it is perfbench's own lateness in B: p99 (×9).", sure.Answer("entries"))
}

// A comparison begins with its answer: slower, faster, as fast, or what it would take to know.
func TestAComparisonBeginsWithItsAnswer(t *testing.T) {
	side := func(name int64, p50, p99 []float64) Set {
		s := Set{Name: "side"}
		for i := range p50 {
			s.Runs = append(s.Runs, short(30, 10*name+int64(i), map[Figure]Estimate{P50: {Value: p50[i], SE: math.NaN()}, P99: {Value: p99[i], SE: math.NaN()}}))
		}
		return s
	}
	few := []float64{math.NaN(), math.NaN(), math.NaN()}
	steady, twice, wild := []float64{1e6, 1.001e6, 0.999e6}, []float64{2e6, 2.001e6, 1.999e6}, []float64{1e6, 1.6e6, 0.5e6}
	for want, c := range map[string]*Comparison{
		`^B is worse in p99 \(×2\), with 95 % confidence\.$`:                                                 Sets(side(1, steady, steady), side(2, steady, twice), Options{}),
		`^B is better in p99 \(−50.* %\), with 95 % confidence\.$`:                                           Sets(side(1, steady, twice), side(2, steady, steady), Options{}),
		`^B is the same in p99 \(within 1 %\), with 95 % confidence\.$`:                                      Sets(side(1, steady, steady), side(2, steady, steady), Options{}),
		`^Unsure: p99 may be chance; these runs vary too much to show 5 %: make them longer, or the machine`: Sets(side(1, wild, wild), side(2, wild, wild), Options{}),
		`^B is worse in p50 \(×2\), with 95 % confidence; p99 may be chance\.$`:                              Sets(side(1, steady, wild), side(2, twice, wild), Options{}),
		`^B is worse in p50 \(×2\), with 95 % confidence\.$`:                                                 Sets(side(1, steady, few), side(2, twice, few), Options{}),
		`^Unsure: p50 may be chance; these runs vary too much to show 5 %: make them longer, or the machine`: Sets(side(1, wild, few), side(2, wild, steady), Options{}),
	} {
		assert.Regexp(t, want, c.Answer(c.Parts[0]))
	}
	vague := Pair{Findings: []Finding{{Figure: P99, A: Range{Vague: true}, B: Range{Value: 1e6}, Verdict: Unsure}}}
	assert.Equal(t, "Not judged: too few calls were timed; longer runs would tell.", vague.Answer("entries"))
	both := Pair{Findings: []Finding{
		{Figure: Throughput, A: Range{Value: 100}, B: Range{Value: 120}, Change: 0.2, Lo: 0.1, Hi: 0.3, Verdict: Better}, {Figure: P99, A: Range{Value: 1e6}, B: Range{Value: 9e6}, Change: 8, Lo: 3, Hi: 20, Verdict: Worse},
	}}
	assert.Equal(t, "B is better in entries/s (+20.0 %) and worse in p99 (×9), with 95 % confidence.", both.Answer("entries"))
	change := func(f Figure, v Verdict, by, lo, hi float64) Finding {
		return Finding{Figure: f, A: Range{Value: 1e6}, B: Range{Value: 1e6 * (1 + by)}, Change: by, Lo: lo, Hi: hi, Verdict: v}
	}
	surest := Pair{Findings: []Finding{change(P50, Worse, 2.9, 2.3, 3.6), change(P90, Worse, 3.1, 0.01, 16)}}
	assert.Equal(t, "B is worse in p50 (×3.9) and p90 (×4.1), with 95 % confidence.", surest.Answer("entries"))
	surest.Findings[1] = change(P90, Better, -0.3, -0.5, -0.1)
	assert.Equal(t, "B is better in p90 (−30.0 %) and worse in p50 (×3.9), with 95 % confidence.", surest.Answer("entries"))
	surest.Findings = []Finding{change(P50, Better, -0.5, -0.6, -0.4), change(P99, Better, -0.7, -0.8, -0.6)}
	assert.Equal(t, "B is better in p50 (−50.0 %) and p99 (−70.0 %), with 95 % confidence.", surest.Answer("entries"))
	all := Pair{Findings: []Finding{
		change(Throughput, Unsure, 0.004, -0.1, 0.1), change(P50, Worse, 3.6, 3, 4), change(P90, Worse, 2.8, 2, 3), change(P99, Worse, 2.7, 2, 3), change(ClientCPU, Worse, 0.2, 0.1, 0.3),
	}}
	assert.Equal(t, "B is worse in p50 (×4.6), p90 (×3.8) and p99 (×3.7), with 95 % confidence; entries/s (+0.4 %) may be chance.", all.Answer("entries"), "one that is left out would read as if it had not changed")
	all.Findings = []Finding{
		change(Throughput, Better, 0.126, 0.1, 0.2), change(P50, Worse, 0.955, 0.9, 1), change(P90, Worse, 0.816, 0.8, 1), change(P99, Worse, 0.712, 0.6, 1), change(P999, Worse, 0.623, 0.6, 1),
	}
	all.Findings[1].alone = true
	assert.Equal(t, "B is better in statements/s (+12.6 %) and worse in p50 (+95.5 %), p90 (+81.6 %), p99 (+71.2 %) and 1 more, with 95 % confidence for these two runs.", all.Answer("statements"), "no more than two lines")
	other := side(2, steady, twice)
	other.Runs[0].Conditions.Store.Name = "other"
	c := Sets(side(1, steady, steady), other, Options{})
	assert.Regexp(t, `^Compared although A ran on .* and B on other.*\. B is worse`, c.Answer(c.Parts[0]))
}
