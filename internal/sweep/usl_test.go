package sweep

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// law has points of the law at doubling numbers of threads, three each, that are off by
// chance by so large a share.
func law(lambda, sigma, kappa, noise float64, rnd *rand.Rand) (out []Sample) {
	for n := 1.0; n <= 64; n *= 2 {
		for range 3 {
			x := lambda * n / (1 + sigma*(n-1) + kappa*n*(n-1))
			out = append(out, Sample{n, x * math.Exp(noise*rnd.NormFloat64())})
		}
	}
	return out
}

func (k FitKnown) holds(v float64) bool { return k.Low <= v && (k.High == nil || v <= *k.High) }

func TestTheLawIsFoundAgain(t *testing.T) {
	for _, c := range []struct{ lambda, sigma, kappa float64 }{{1000, 0.05, 0.001}, {3, 0.5, 0.01}, {2e5, 0, 0.0005}, {1000, 0.1, 0}, {1000, 0, 0}} {
		f := FitLaw(law(c.lambda, c.sigma, c.kappa, 0, rand.New(rand.NewPCG(1, 1))))
		require.NotNil(t, f)
		assert.InEpsilon(t, c.lambda, f.Lambda.Value, 1e-4)
		assert.InDelta(t, c.sigma, f.Sigma.Value, 1e-5)
		assert.InDelta(t, c.kappa, f.Kappa.Value, 1e-6)
		assert.InDelta(t, 0, f.Off, 1e-6)
		assert.InEpsilon(t, c.lambda, f.At(1), 1e-4)
	}
}

// Of 400 fits of points with 3 % of noise 95 % hold each parameter, give or take three
// standard deviations of such a count. The numbers are the same each time.
func TestIntervalsHoldAsOftenAsTheySay(t *testing.T) {
	const fits, lambda, sigma, kappa = 400, 1000.0, 0.05, 0.001
	rnd := rand.New(rand.NewPCG(7, 7))
	var held [4]int
	for range fits {
		f := FitLaw(law(lambda, sigma, kappa, 0.03, rnd))
		require.NotNil(t, f)
		require.NotNil(t, f.Peak)
		for i, ok := range []bool{f.Lambda.holds(lambda), f.Sigma.holds(sigma), f.Kappa.holds(kappa), f.Peak.holds(math.Sqrt((1 - sigma) / kappa))} {
			if ok {
				held[i]++
			}
		}
	}
	for i, n := range held {
		assert.InDelta(t, 0.95*fits, n, 3*math.Sqrt(0.95*0.05*fits), "parameter %d", i)
	}
}

func TestAStoreThatScalesHasNoPeak(t *testing.T) {
	without := 0
	rnd := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		f := FitLaw(law(1000, 0.1, 0, 0.03, rnd))
		require.NotNil(t, f)
		assert.GreaterOrEqual(t, f.Kappa.Value, 0.0)
		if f.Peak == nil || f.Peak.High == nil {
			without++
		}
	}
	assert.GreaterOrEqual(t, without, 90, "nothing bounds the peak")
}

func TestTooFewLevelsAreNotFitted(t *testing.T) {
	assert.Nil(t, FitLaw(nil))
	assert.Nil(t, FitLaw([]Sample{{1, 10}, {2, 19}, {4, 35}, {4, 36}, {4, 37}, {8, 0}, {16, math.NaN()}}))
}
