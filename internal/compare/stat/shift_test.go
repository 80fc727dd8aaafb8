package stat

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// history makes up 90 runs that differ by 1 % from one to the next, with none to three
// shifts of this size up or down, a drift of up to 3 % over all of them, and outliers of 10
// to 40 % among one in thirty.
func history(rnd *rand.Rand, size float64) (vals []float64, shifts []int) {
	const runs = 90
	level, drift := 7.0, 0.06*(rnd.Float64()-0.5)
	want := rnd.IntN(4)
	for i := range want {
		shifts = append(shifts, runs*(i+1)/(want+1)-5+rnd.IntN(10))
	}
	for i := range runs {
		for _, at := range shifts {
			if i == at {
				level += size * float64(2*rnd.IntN(2)-1)
			}
		}
		v := level + drift*float64(i)/runs + 0.01*rnd.NormFloat64()
		if rnd.IntN(30) == 0 {
			v += (0.1 + 0.3*rnd.Float64()) * float64(2*rnd.IntN(2)-1)
		}
		vals = append(vals, v)
	}
	return vals, shifts
}

// score returns the F1 of what is found in many histories; a point is right within two runs.
func score(size float64, trials int) float64 {
	rnd := rand.New(rand.NewPCG(32, 5))
	hit, found, there := 0, 0, 0
	for range trials {
		vals, want := history(rnd, size)
		got := Shifts(vals, 0.025, 0.999)
		found, there = found+len(got), there+len(want)
		for _, at := range want {
			for _, s := range got {
				if s.At >= at-2 && s.At <= at+2 {
					hit++
					break
				}
			}
		}
	}
	precision, recall := float64(hit)/float64(found), float64(hit)/float64(there)
	return 2 * precision * recall / (precision + recall)
}

func TestShiftsAreFoundAmongDriftsAndOutliers(t *testing.T) {
	for _, c := range []struct{ size, least float64 }{{0.05, 0.9}, {0.1, 0.95}} {
		f1 := score(c.size, 200)
		t.Logf("shifts of %g: F1 %.3f", c.size, f1)
		assert.GreaterOrEqual(t, f1, c.least, "shifts of %g", c.size)
	}
}

func TestNothingShiftsWhereNothingDoes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(32, 6))
	alarms := 0
	for i := range 400 {
		vals := make([]float64, 5+rnd.IntN(120))
		for k := range vals {
			vals[k] = 0.01*rnd.NormFloat64() + 0.06*float64(k*(i%2))/float64(len(vals))
		}
		if len(vals) > 40 && len(Shifts(vals, 0.025, 0.999)) > 0 || len(vals) <= 40 && i%2 == 0 && len(Shifts(vals, 0.025, 0.999)) > 0 {
			alarms++
		}
	}
	assert.LessOrEqual(t, alarms, 4)
	assert.Empty(t, Shifts(nil, 0.025, 0.999))
	assert.Empty(t, Shifts([]float64{1, 1, 9, 9}, 0.025, 0.999), "three values on each side are the least")
	assert.Equal(t, []Shift{{At: 3, By: 1, Certainty: 1}}, Shifts([]float64{1, 1, 1, 2, 2, 2}, 0.025, 0.999))
	assert.InDelta(t, 1, Shifts([]float64{1, 1.01, 0.99, 1, 3, 1.01, 2, 2.01, 1.99, 2}, 0.025, 0.999)[0].By, 0.01, "one that is far off does not count")
	assert.Empty(t, Shifts([]float64{2}, 0.025, 0.999))
}
