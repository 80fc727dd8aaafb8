package plot_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/plot"
)

var nan = math.NaN()

// The labels of a logarithmic scale are all as many rows apart, and it leaves few rows empty.
func TestALogarithmicScaleFitsItsRows(t *testing.T) {
	for _, c := range [][4]float64{{12, 950, 10, 1000}, {10, 1000, 10, 1000}, {5, 5, 1, 10}, {0, 7, 1, 10}, {nan, 7, 1, 10}, {math.Inf(1), 0, 1, 10}} {
		s := plot.LogIn(c[0], c[1], 2)
		assert.InEpsilonSlice(t, c[2:], []float64{s.Low, s.High}, 1e-9, "%v", c)
	}
	random := rand.New(rand.NewPCG(7, 8))
	for range 10_000 {
		lo, rows := math.Pow(10, 9*random.Float64()-3), 2+random.IntN(40)
		hi := lo * math.Pow(10, 5*random.Float64())
		s := plot.LogIn(lo, hi, rows)
		require.LessOrEqual(t, s.Low, lo*(1+1e-9))
		require.GreaterOrEqual(t, s.High, hi*(1-1e-9))
		require.Greater(t, math.Log10(s.Low), math.Floor(math.Log10(lo))-1e-9, "%v to %v in %d rows", lo, hi, rows)
		whole := math.Ceil(math.Log10(hi)) - math.Floor(math.Log10(lo))
		if float64(rows-1) >= whole {
			require.LessOrEqual(t, math.Log10(s.High/s.Low), whole*4/3+1e-9, "%v to %v in %d rows", lo, hi, rows)
		}
		for i, ticks := 1, s.Ticks(rows); i < len(ticks); i++ {
			require.Equal(t, i*(ticks[0].Row-ticks[1].Row), ticks[0].Row-ticks[i].Row, "%v in %d rows: %v", s, rows, ticks)
		}
	}
}

// One time far above the others does not make the upper half of a scale empty.
func TestALogarithmicScaleEndsJustAboveWhatIsDrawn(t *testing.T) {
	for rows := 9; rows < 24; rows++ {
		for _, lo := range []float64{70e-6, 100e-6, 230e-6, 0.9e-3} {
			s := plot.LogIn(lo, 5.004, rows)
			assert.LessOrEqual(t, s.High, 48.0, "%v to 5 s in %d rows", lo, rows)
			assert.GreaterOrEqual(t, len(s.Ticks(rows)), 2)
		}
	}
}

func TestNiceIsOneTwoOrFive(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, -3: 1, 1: 1, 1.01: 2, 43_900: 50_000, 0.0021: 0.005, 5: 5, 9.99: 10, 100: 100} {
		assert.InEpsilon(t, want, plot.Nice(v), 1e-9, "%v", v)
	}
	assert.InDelta(t, 1, plot.Nice(nan), 0)
	assert.InDelta(t, 1, plot.Nice(math.Inf(1)), 0)
}

// Whatever the highest value is, it takes three quarters of the height, and what is labelled is a multiple of
// a round value that lies on the scale.
func TestAScaleEndsJustAboveItsHighestValue(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		v := math.Pow(10, 12*random.Float64()-3)
		top := plot.Top(v, false)
		assert.GreaterOrEqual(t, top, v*(1-1e-9))
		assert.LessOrEqual(t, top, v/0.75*(1+1e-9), "%v", v)
		rows := 2 + random.IntN(60)
		if top = plot.TopIn(v, rows); rows > 4 {
			assert.GreaterOrEqual(t, top, v*(1-1e-9))
			assert.LessOrEqual(t, top, v/0.75*(1+1e-9), "%v in %d rows leaves more than a quarter empty", v, rows)
		}
		ticks := plot.Scale{High: top}.Ticks(rows)
		assert.GreaterOrEqual(t, len(ticks), 2, "%v in %d rows", v, rows)
		step := ticks[1].Value
		lead := step / math.Pow(10, math.Floor(math.Log10(step*(1+1e-9))))
		if len(ticks) > 2 || rows > 4 {
			assert.Contains(t, []int{10, 15, 20, 25, 30, 40, 50, 60, 80}, int(math.Round(10*lead)), "%v", step)
		}
		for i, tick := range ticks {
			assert.InDelta(t, float64(i)*step, tick.Value, step*1e-6)
			assert.LessOrEqual(t, tick.Value, top*(1+1e-9))
			assert.Equal(t, i*(ticks[0].Row-ticks[1].Row), rows-1-tick.Row, "%v in %d rows: %v", top, rows, ticks)
		}
	}
	for v, want := range map[float64]float64{11_700: 12_000, 2000: 2000, 2001: 2500, 0: 1, 0.0021: 0.0025, 5: 5, 9.99: 10} {
		assert.InEpsilon(t, want, plot.Top(v, false), 1e-9, "%v", v)
	}
	for v, want := range map[float64]float64{2.1: 2.4, 2.5: 3, 3.5: 4, 7: 8, 11: 12, 13: 15} {
		assert.InEpsilon(t, want, plot.TopIn(v, 13), 1e-9, "%v", v)
	}
	assert.Equal(t, []plot.Tick{{5, 0}, {3, 200}, {1, 400}}, plot.Scale{High: plot.TopIn(500, 6)}.Ticks(6))
	assert.InDelta(t, 1, plot.Top(nan, false), 0)
	for v, want := range map[float64]float64{1: 1, 1.4 * (1 << 30): 1.5 * (1 << 30), 500 << 20: 512 << 20} {
		assert.InEpsilon(t, want, plot.Top(v, true), 1e-9, "%v", v)
	}
	assert.InDelta(t, 512<<20, plot.Step(1.5*(1<<30)/4, true), 1)
}

// The labels of a logarithmic axis are 1, 2 and 5 in each decade, or one in so many decades: none is left out
// between others.
func TestALogarithmicAxisHasEvenSteps(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 10_000 {
		lo := math.Pow(10, 9*random.Float64()-3)
		scale, rows := plot.Around(lo, lo*math.Pow(10, 5*random.Float64())), 2+random.IntN(30)
		ticks := scale.Ticks(rows)
		require.GreaterOrEqual(t, len(ticks), 2, "%v in %d rows", scale, rows)
		by := ticks[1].Value / ticks[0].Value
		fine := by < 9
		for i := range ticks[1:] {
			a, b := ticks[i], ticks[i+1]
			assert.Less(t, b.Row, a.Row)
			if len(ticks) == 2 {
				break
			}
			if fine {
				assert.Len(t, plot.Round(a.Value, b.Value, true), 2, "%v in %d rows: %v", scale, rows, ticks)
			} else {
				assert.InEpsilon(t, by, b.Value/a.Value, 1e-9, "%v in %d rows: %v", scale, rows, ticks)
			}
		}
	}
	values := func(s plot.Scale, rows int) (out []float64) {
		for _, tick := range s.Ticks(rows) {
			out = append(out, tick.Value)
		}
		return out
	}
	assert.InEpsilonSlice(t, []float64{1, 2, 5, 10, 20, 50, 100}, values(plot.Scale{Low: 1, High: 100, Log: true}, 7), 1e-9, "a row each")
	assert.InEpsilonSlice(t, []float64{1, 10}, values(plot.Scale{Low: 1, High: 50, Log: true}, 12), 1e-9, "2 and 5 are not equally far apart in rows")
	assert.InEpsilonSlice(t, []float64{1, 10}, values(plot.Scale{Low: 1, High: 50, Log: true}, 5), 1e-9, "too few rows for what is between")
	assert.InEpsilonSlice(t, []float64{2, 50}, values(plot.Scale{Low: 2, High: 50, Log: true}, 3), 1e-9, "both ends where there is one power of ten")
	assert.InEpsilonSlice(t, []float64{1, 1000, 1e6}, values(plot.LogIn(1, 1e5, 5), 5), 1e-9)
	assert.InEpsilonSlice(t, []float64{1, 3, 10, 30, 100}, values(plot.LogIn(1, 100, 17), 17), 1e-9, "half a decade")
}

func TestLog(t *testing.T) {
	assert.InDelta(t, 0.5, plot.Scale{Low: 1, High: 100, Log: true}.Part(10), 1e-9)
	assert.InDelta(t, 0, plot.Scale{Low: 1, High: 100, Log: true}.Part(0), 0)
	assert.InDelta(t, 1, plot.Scale{Low: 1, High: 100, Log: true}.Part(1e9), 0)
	assert.True(t, math.IsNaN(plot.Scale{Low: 1, High: 100, Log: true}.Part(nan)))
	assert.True(t, math.IsNaN(plot.Scale{Low: 0, High: 0, Log: true}.Part(5)))
}

func TestRoundValuesOfAScale(t *testing.T) {
	assert.InEpsilonSlice(t, []float64{10, 100, 1000}, plot.Round(7, 1000, false), 1e-9)
	assert.InEpsilonSlice(t, []float64{10, 20, 50, 100}, plot.Round(10, 100, true), 1e-9)
	assert.Equal(t, plot.Scale{Low: 5, High: 200, Log: true}, plot.Around(6, 180))
	assert.Equal(t, plot.Scale{Low: 2, High: 20, Log: true}, plot.Around(2, 2), "at least a decade if there is one value")
	assert.InDelta(t, 5, plot.Step(2.1, false), 1e-9, "1, 2 or 5")
	assert.InDelta(t, 2048, plot.Step(1500, true), 1e-9)
}

func TestAnAxisIsLabelledInNaturalSteps(t *testing.T) {
	assert.Equal(t, []float64{0, 15, 30, 45, 60}, plot.Seconds(0, 70, 1, 6))
	assert.Equal(t, []float64{-10, 0, 10}, plot.Seconds(-14, 19, 1, 4))
	assert.Equal(t, []float64{0, 1, 2}, plot.Seconds(0, 2, 1, 20), "no part of a second where those are not wanted")
	assert.Len(t, plot.Seconds(0, 183*86400, 0, 8), 6)
}

func TestAMomentIsWrittenInOneWay(t *testing.T) {
	for second, want := range map[float64]string{
		0: "00:00", 47: "00:47", 47.34: "00:47.3", 59.97: "01:00", 94: "01:34", 3599: "59:59", 3723: "1:02:03", -5: "−00:05", -0.01: "00:00",
	} {
		assert.Equal(t, want, plot.Clock(second))
	}
}
