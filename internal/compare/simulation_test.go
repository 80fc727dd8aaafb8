package compare

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

const (
	simulated = 30  // seconds of a run
	perSecond = 400 // calls of it
)

// simulate makes up a run whose seconds resemble each other: the store's pace wanders by
// 2 %, each second with seven tenths of what it was in the second before.
func simulate(rnd *rand.Rand) Measured {
	const resemblance, wander = 0.7, 0.02
	f := &rundir.Folder{Run: rundir.Run{MeasuredS: simulated}}
	m := Measured{Figures: map[Figure]Estimate{}, Response: measure.NewHistogram(), Calls: simulated * perSecond}
	var times []counts
	pace, total := rnd.NormFloat64(), 0.0
	for t := range simulated {
		pace = resemblance*pace + math.Sqrt(1-resemblance*resemblance)*rnd.NormFloat64()
		slow := math.Exp(wander * pace)
		var c counts
		for range perSecond {
			v := int64(1e6 * slow * math.Exp(0.5*rnd.NormFloat64()))
			_ = m.Response.RecordValue(v)
			c = append(c, count{v, 1})
		}
		times = append(times, c)
		f.Series = append(f.Series, rundir.SeriesRow{T: t, Track: "a", Op: "b", Throughput: 1e4 / slow, Count: int64(1e4 / slow)})
		total += 1e4 / slow
	}
	rates, _ := seconds(f, nil)
	m.set(Throughput, relative(total/simulated, batched(rates)))
	m.percentiles(times, make([]int, len(times)))
	return m
}

// simulations are runs that are made up, the same for every test.
var simulations = sync.OnceValue(func() []Measured {
	rnd := rand.New(rand.NewPCG(4, 1))
	out := make([]Measured, 150)
	for i := range out {
		out[i] = simulate(rnd)
	}
	return out
})

// moved is a run on a store that is slower by so much.
func moved(m Measured, by float64) Measured {
	out := Measured{Figures: map[Figure]Estimate{}, Calls: m.Calls}
	for f, e := range m.Figures {
		k := 1 + by
		if f == Throughput {
			k = 1 / k
		}
		out.Figures[f] = Estimate{Value: e.Value * k, SE: e.SE * k, DF: e.DF, Vague: e.Vague}
	}
	return out
}

// recorded are stretches of runs that were recorded, as runs of their own: what their
// seconds did, scaled to a machine where a second is off by 2 %.
func recorded(t *testing.T, rnd *rand.Rand, n int) []Measured {
	t.Helper()
	data, err := os.ReadFile("testdata/recorded.txt")
	require.NoError(t, err)
	var seconds []float64
	for line := range strings.Lines(string(data)) {
		for _, word := range strings.Fields(line) {
			if v, err := strconv.ParseFloat(word, 64); err == nil && !strings.HasPrefix(line, "#") {
				seconds = append(seconds, math.Log(v))
			}
		}
	}
	require.Len(t, seconds, 240)
	all := stat.Independent(seconds)
	mean, dev := all.Value, all.SE*math.Sqrt(float64(len(seconds)))
	out := make([]Measured, n)
	for i := range out {
		from, rates := rnd.IntN(len(seconds)-simulated), make([]float64, simulated)
		for s := range rates {
			rates[s] = 1e4 * math.Exp((seconds[from+s]-mean)/dev*0.02)
		}
		out[i] = Measured{Figures: map[Figure]Estimate{}}
		out[i].set(Throughput, relative(stat.Independent(rates).Value, batched(rates)))
	}
	return out
}

// verdictsOf says whether any figure of B is called better or worse, and whether
// throughput, and p50 where it is known, are called worse.
func verdictsOf(a, b []Measured, pairs [][2]int) (alarm, seen bool) {
	words := map[Figure]Verdict{}
	for _, f := range findings("", a, b, pairs, nil, DefaultTolerance) {
		alarm = alarm || f.Verdict == Better || f.Verdict == Worse
		if !math.IsNaN(f.A.Value) {
			words[f.Figure] = f.Verdict
		}
	}
	p50, known := words[P50]
	return alarm, words[Throughput] == Worse && (p50 == Worse || !known)
}

// At most one comparison in twenty may find a change, in any figure, where there is none;
// and nine in ten find a shift of the store by 5 %.
func TestFalseAlarmsAreRareAndShiftsAreFound(t *testing.T) {
	tier.Slow(t, tier.Computes)
	rnd := rand.New(rand.NewPCG(4, 7))
	recordings := recorded(t, rnd, 150)
	for _, c := range []struct {
		name    string
		pool    []Measured
		runs    int
		between float64 // by how much runs differ; a single one cannot know
	}{
		{"made up, one run a side", simulations(), 1, 0},
		{"made up, two runs a side", simulations(), 2, 0.01},
		{"made up, five runs a side", simulations(), 5, 0.01},
		{"recorded, one run a side", recordings, 1, 0},
		{"recorded, five runs a side", recordings, 5, 0.01},
	} {
		t.Run(c.name, func(t *testing.T) {
			const trials = 600
			alarms, found := 0, 0
			for range trials {
				var a, b, slower []Measured
				order := rnd.Perm(len(c.pool))
				for i := range c.runs {
					x := moved(c.pool[order[2*i]], c.between*rnd.NormFloat64())
					y := moved(c.pool[order[2*i+1]], c.between*rnd.NormFloat64())
					a, b, slower = append(a, x), append(b, y), append(slower, moved(y, 0.05))
				}
				if alarm, _ := verdictsOf(a, b, nil); alarm {
					alarms++
				}
				if _, seen := verdictsOf(a, slower, nil); seen {
					found++
				}
			}
			t.Logf("%.1f %% false alarms, %.1f %% of shifts found", 100*float64(alarms)/trials, 100*float64(found)/trials)
			assert.LessOrEqual(t, alarms, trials*5/100)
			if c.runs == 5 {
				assert.GreaterOrEqual(t, found, trials*90/100)
			}
		})
	}
}

// Of runs that take turns on a machine that drifts, more shifts are found within rounds
// than between the sides, at no more false alarms; on one that does not drift, no fewer
// than are promised.
func TestRoundsFindMoreOnAMachineThatDrifts(t *testing.T) {
	tier.Slow(t, tier.Computes)
	rnd := rand.New(rand.NewPCG(15, 3))
	pool := simulations()
	const trials, sides, between = 600, 5, 0.01
	pairs := [][2]int{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}}
	for _, c := range []struct {
		name  string
		drift float64 // from round to round
		least int     // shifts found, in per cent
	}{{"still", 0, 90}, {"drifting", 0.02, 75}, {"drifting fast", 0.04, 60}} {
		t.Run(c.name, func(t *testing.T) {
			var alarms, found [2]int // without and with pairs
			for range trials {
				var a, b, slower []Measured
				order, at := rnd.Perm(len(pool)), 0.0
				for i := range sides {
					at += c.drift * rnd.NormFloat64()
					x := moved(pool[order[2*i]], at+between*rnd.NormFloat64())
					y := moved(pool[order[2*i+1]], at+between*rnd.NormFloat64())
					a, b, slower = append(a, x), append(b, y), append(slower, moved(y, 0.05))
				}
				for i, pairs := range [][][2]int{nil, pairs} {
					if alarm, _ := verdictsOf(a, b, pairs); alarm {
						alarms[i]++
					}
					if _, seen := verdictsOf(a, slower, pairs); seen {
						found[i]++
					}
				}
			}
			t.Logf("false alarms %d without and %d with pairs, shifts found %d and %d, of %d", alarms[0], alarms[1], found[0], found[1], trials)
			assert.LessOrEqual(t, alarms[1], trials*5/100)
			assert.GreaterOrEqual(t, found[1], trials*c.least/100)
			if c.drift > 0 {
				assert.Greater(t, found[1], found[0])
			}
		})
	}
}
