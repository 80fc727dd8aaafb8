package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The range of a rate of events holds what it really is in about as many runs as it says, whether they come one by
// one or in bursts of some seconds, many a run or few.
func TestEventsHoldTheirRate(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 8))
	for _, c := range []struct {
		name       string
		begins     float64 // bursts a second
		long, each int     // seconds, and events in each
		least      float64
	}{
		{"many bursts", 0.2, 3, 40, 0.95}, {"some bursts", 0.05, 4, 100, 0.95}, {"few long bursts", 0.02, 8, 200, 0.95},
	} {
		const runs, seconds = 2000, 120
		held := 0
		for range runs {
			vals, left := make([]float64, seconds), 0
			for i := range vals {
				if rnd.Float64() < c.begins {
					left = c.long
				}
				if left > 0 {
					left--
					vals[i] = float64(c.each)
				}
			}
			e := Successive(vals)
			lo, hi := Events(e, 0.95)
			// A second is in a burst unless none began in it or shortly before.
			really := float64(c.each) * (1 - math.Pow(1-c.begins, float64(c.long)))
			if lo <= really && really <= hi || e.Value == 0 {
				held++
			}
		}
		share := float64(held) / runs
		t.Logf("%s: %.3f", c.name, share)
		assert.GreaterOrEqual(t, share, c.least, c.name)
	}
	lo, hi := Events(Estimate{Value: 0.01, SE: 0.001, DF: math.Inf(1)}, 0.95) // 100 events
	assert.InDelta(t, 0.00814, lo, 5e-5)
	assert.InDelta(t, 0.01216, hi, 5e-5)
	lo, hi = Events(Estimate{Value: 2, SE: 200}, 0.95)
	assert.InDelta(t, 2*5.57, hi, 0.02, "it happened once, at least")
	assert.Positive(t, lo)
	lo, hi = Events(Estimate{DF: math.Inf(1)}, 0.95)
	assert.Equal(t, []float64{0, 0}, []float64{lo, hi})
	lo, hi = Events(Unknown(), 0.95)
	assert.True(t, math.IsInf(lo, -1) && math.IsInf(hi, 1))
}

func TestStudentsT(t *testing.T) {
	assert.InDelta(t, 2.306, T(0.95, 8), 1e-3)
	assert.InDelta(t, 12.706, T(0.95, 1), 1e-3)
	assert.InDelta(t, 1.960, T(0.95, math.Inf(1)), 1e-3)
	assert.True(t, math.IsInf(T(0.95, 0.5), 1))
	assert.True(t, math.IsInf(T(0.95, math.NaN()), 1))
}

func TestCertaintyIsTheConfidenceOfTheIntervalThatReachesZero(t *testing.T) {
	for _, e := range []Estimate{{Value: -3, SE: 1, DF: 8}, {Value: 2, SE: 1, DF: math.Inf(1)}, {Value: 1, SE: 2, DF: 1}} {
		lo, hi := e.Interval(e.Certainty())
		assert.InDelta(t, 0, min(math.Abs(lo), math.Abs(hi)), 1e-6)
	}
	assert.Zero(t, Estimate{Value: 0, SE: 0, DF: 3}.Certainty())
	assert.True(t, math.IsNaN(Unknown().Certainty()))
}

func TestMeansOfFewValues(t *testing.T) {
	gap := math.NaN()
	assert.True(t, math.IsNaN(Independent([]float64{gap}).Value))
	one := Independent([]float64{gap, 7})
	assert.InDelta(t, 7, one.Value, 0)
	lo, hi := one.Interval(0.95)
	assert.True(t, math.IsInf(lo, -1) && math.IsInf(hi, 1), "one value has no scatter")
	e := Independent([]float64{1, gap, 2, 3})
	assert.InDelta(t, 2, e.Value, 1e-12)
	assert.InDelta(t, 1/math.Sqrt(3), e.SE, 1e-12)
	assert.InDelta(t, 2, e.DF, 0)
	assert.Equal(t, Estimate{Value: 4, DF: 3}, Successive([]float64{4, 4, 4, 4}))
}

func TestPairs(t *testing.T) {
	d, drifts := Paired([]float64{1, 20, 7}, []float64{2, 22, 10})
	assert.True(t, drifts)
	assert.InDelta(t, 2, d.Value, 1e-12)
	assert.InDelta(t, 1/math.Sqrt(3), d.SE, 1e-12)
	assert.InDelta(t, 2, d.DF, 0)
	_, drifts = Paired([]float64{1, 2, 3}, []float64{6, 5, 4})
	assert.False(t, drifts, "the two of a pair are no closer than others")
	d, drifts = Paired([]float64{1, 1, 1}, []float64{1, 1, 1})
	assert.False(t, drifts)
	assert.Zero(t, d.SE)
	for _, gap := range [][2][]float64{{{1, math.NaN()}, {1, 2}}, {{1, 2}, {math.NaN(), 2}}, {{1}, {2}}, {nil, nil}} {
		d, drifts = Paired(gap[0], gap[1])
		assert.False(t, drifts)
		assert.True(t, math.IsNaN(d.Value))
	}
}

func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		name   string
		a, b   []float64
		se, df float64
	}{
		{"as many on both sides", []float64{1, 2, 3}, []float64{4, 5, 6}, math.Sqrt(2. / 3), 4},
		{"one against several", []float64{2}, []float64{4, 5, 6}, math.Sqrt(4. / 3), 2},
		{"more on one side", []float64{1, 3}, []float64{4, 5, 6}, math.Sqrt(1 + 1./3), 16. / 9 / (1 + 1./18)},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Between(c.a, c.b)
			assert.InDelta(t, 3, d.Value, 1e-12)
			assert.InDelta(t, c.se, d.SE, 1e-12)
			assert.InDelta(t, c.df, d.DF, 1e-9)
		})
	}
	assert.True(t, math.IsNaN(Between([]float64{1}, []float64{2}).SE), "nothing tells how runs scatter")
	assert.True(t, math.IsNaN(Between(nil, []float64{2}).Value))
	assert.InDelta(t, 0, Difference(Estimate{Value: 1, DF: 3}, Estimate{Value: 1, DF: 3}).SE, 0)
}

// Values that resemble their neighbours tell less. Nine intervals in ten and more have
// to hold the true mean all the same, where the plain formula misses it every third time.
func TestResemblanceWidensTheError(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const trials, n, r = 2000, 30, 0.7
	held, plain := 0, 0
	for range trials {
		vals, x := make([]float64, n), rnd.NormFloat64()
		for i := range vals {
			x = r*x + math.Sqrt(1-r*r)*rnd.NormFloat64()
			vals[i] = x
		}
		for e, count := range map[Estimate]*int{Successive(vals): &held, Independent(vals): &plain} {
			if lo, hi := e.Interval(0.95); lo < 0 && 0 < hi {
				*count++
			}
		}
	}
	assert.Greater(t, held, trials*93/100)
	assert.Less(t, plain, trials*70/100)
}

// A lasting change is one difference among many, and not a scatter of all values.
func TestNeighboursTellHowValuesScatter(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 8))
	still, moved := make([]float64, 400), make([]float64, 400)
	for i := range still {
		still[i] = 7 + 0.1*rnd.NormFloat64()
		if moved[i] = still[i]; i >= 200 {
			moved[i]++
		}
	}
	for _, vals := range [][]float64{still, moved} {
		assert.InDelta(t, 0.1, FromOneToTheNext(vals).SE, 0.02)
	}
	assert.InDelta(t, 266, FromOneToTheNext(still).DF, 1)
	e := FromOneToTheNext([]float64{1, math.NaN(), 3})
	assert.InDelta(t, math.Sqrt2, e.SE, 1e-12)
	assert.InDelta(t, 1, e.DF, 1e-12)
	assert.True(t, math.IsNaN(FromOneToTheNext([]float64{1}).SE))
}

// Where neither sides nor pairs differ, choosing the estimate that pairs give raises hardly more false
// alarms than confidence allows.
func TestChoosingPairsRaisesNoFalseAlarms(t *testing.T) {
	rnd := rand.New(rand.NewPCG(32, 3))
	const trials = 30000
	for _, n := range []int{3, 4, 5, 7, 8, 12} {
		for _, figures := range []float64{1, 7} {
			allowed, limit := 0.05/figures, map[float64]float64{}
			a, b, alarms := make([]float64, n), make([]float64, n), 0
			for range trials {
				for i := range n {
					a[i], b[i] = rnd.NormFloat64(), rnd.NormFloat64()
				}
				d, paired := Paired(a, b)
				if d = Chosen(d); !paired {
					d = Between(a, b)
				}
				if limit[d.DF] == 0 {
					limit[d.DF] = T(1-allowed, d.DF)
				}
				if math.Abs(d.Value) > limit[d.DF]*d.SE {
					alarms++
				}
			}
			t.Logf("%d pairs, %v figures: %.1f in 100", n, figures, 100*figures*float64(alarms)/trials)
			assert.Less(t, float64(alarms)/trials, 1.25*allowed, "%d pairs, %v figures", n, figures)
		}
	}
}

func TestAFigureOfSeveralRunsIsTheirGeometricMean(t *testing.T) {
	v, lo, hi := OfSeveral([]float64{50, 200, math.NaN()}, 0.95)
	assert.InDelta(t, 100, v, 1e-9)
	assert.InDelta(t, v*v, lo*hi, 1e-6, "as far on either side, as a factor")
	assert.Greater(t, hi, 1e5, "two runs tell next to nothing")
	v, _, hi = OfSeveral([]float64{30}, 0.95)
	assert.InDelta(t, 30, v, 0)
	assert.True(t, math.IsInf(hi, 1))
	v, lo, _ = OfSeveral([]float64{0, 10}, 0.95)
	assert.Equal(t, []float64{5, 0}, []float64{v, lo})
	v, _, _ = OfSeveral(nil, 0.95)
	assert.True(t, math.IsNaN(v))
}
