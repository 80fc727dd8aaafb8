package stat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// within is the probability that a value with a whole number of degrees of freedom lies
// within t of 0: the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4.
func within(t float64, df int) float64 {
	angle := math.Atan(t / math.Sqrt(float64(df)))
	sin, cos := math.Sincos(angle)
	if df == 1 {
		return 2 * angle / math.Pi
	}
	sum, term, from := 0.0, 1.0, 2
	if df%2 == 1 {
		term, from = cos, 3
	}
	for k := from; ; k += 2 {
		sum += term
		if k > df-2 {
			break
		}
		term *= cos * cos * float64(k-1) / float64(k)
	}
	if df%2 == 1 {
		return 2 / math.Pi * (angle + sin*sum)
	}
	return sin * sum
}

func TestTailsAreThoseOfFiniteSums(t *testing.T) {
	for df := 1; df <= 400; df++ {
		for _, at := range []float64{0, 1e-9, 0.01, 0.3, 1, 1.7, 2.5, 4, 9, 40, 1e6, math.Inf(1)} {
			assert.InDelta(t, 1-within(at, df), tail(at, float64(df)), 1e-12, "%d, %g", df, at)
		}
	}
}

// Of degrees of freedom in between, the integral of the density.
func TestTailsAreIntegrals(t *testing.T) {
	for _, df := range []float64{1.25, 2.5, 7.75, 37.3, 150.5} {
		density := func(x float64) float64 { return math.Pow(1+x*x/df, -(df+1)/2) }
		const at, steps = 2.2, 2000
		sum := density(0) + density(at)
		for i := 1; i < steps; i++ {
			sum += density(at*float64(i)/steps) * float64(2+2*(i%2))
		}
		area := sum * at / steps / 3
		large, _ := math.Lgamma((df + 1) / 2)
		small, _ := math.Lgamma(df / 2)
		assert.InDelta(t, 1-2*area*math.Exp(large-small)/math.Sqrt(df*math.Pi), tail(at, df), 1e-12, "%g", df)
	}
}

// The tables of the NIST handbook, 1.3.6.7.2, with more digits.
func TestQuantilesAreThoseOfTables(t *testing.T) {
	for _, c := range []struct{ confidence, df, want float64 }{
		{0.95, 1, 12.7062047364}, {0.95, 2, 4.30265272991}, {0.95, 3, 3.18244630528}, {0.95, 4, 2.77644510520},
		{0.95, 5, 2.57058183564}, {0.95, 10, 2.22813885196}, {0.95, 20, 2.08596344727}, {0.95, 30, 2.04227245630},
		{0.95, 100, 1.98397151845}, {0.95, math.Inf(1), 1.95996398454},
		{0.99, 1, 63.6567411629}, {0.99, 10, 3.16927267262}, {0.999, 1, 636.619248769}, {0.8, 1, 3.07768353718},
	} {
		assert.InEpsilon(t, c.want, T(c.confidence, c.df), 1e-10, "%g, %g", c.confidence, c.df)
	}
}

func TestQuantilesAreTheInverseOfTails(t *testing.T) {
	for _, df := range []float64{1, 1.3, 2, 5.5, 30, 199.9, 200.1, 1e4, 1e6} {
		for _, confidence := range []float64{1e-6, 0.1, 0.5, 0.8, 0.95, 0.999, 1 - 1e-9} {
			assert.InEpsilon(t, 1-confidence, tail(T(confidence, df), df), 1e-10, "%g, %g", confidence, df)
		}
	}
	assert.Zero(t, T(0, 3))
	assert.True(t, math.IsInf(T(1, 3), 1))
}

// Of many degrees of freedom, the expansion by Fisher and Cornish: Abramowitz and Stegun,
// 26.7.5.
func TestQuantilesOfManyDegreesOfFreedom(t *testing.T) {
	for _, df := range []float64{1e4, 123456.7, 1e6} {
		for _, confidence := range []float64{0.5, 0.95, 0.999} {
			z := normalQuantile(confidence)
			want := z + (z*z*z+z)/(4*df) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*df*df)
			assert.InEpsilon(t, want, T(confidence, df), 1e-10, "%g, %g", confidence, df)
		}
	}
}

// The upper tenth of the F distribution, from the NIST handbook, 1.3.6.7.3.
func TestRatiosOfVariances(t *testing.T) {
	for df, want := range map[float64]float64{1: 39.863, 2: 9.000, 3: 5.391, 5: 3.453, 10: 2.323, 20: 1.794} {
		assert.InDelta(t, want, variances(0.9, df), 0.0006, "%g", df)
	}
	assert.InEpsilon(t, 9, variances(0.9, 2), 1e-12)
	assert.InEpsilon(t, 1, variances(0.5, 7), 1e-12)
}
