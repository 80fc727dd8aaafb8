package datagen

import (
	"math"
	"math/rand/v2"
)

// Zipf draws numbers 0..n-1, where number k has a weight of (k+1)^-s, for any s ≥ 0 (0
// makes all equally likely). It inverts the integral of the weights and rejects what
// lies above them (Hörmann and Derflinger, "Rejection-inversion to generate variates
// from monotone discrete distributions"). It belongs to one goroutine.
type Zipf struct {
	rnd        *rand.Rand
	n, s       float64
	low, high  float64
	shortcut   float64
	everyAlike bool
}

// New returns a Zipf over n numbers, at least one, that draws from rnd.
func New(rnd *rand.Rand, s float64, n int64) *Zipf {
	z := &Zipf{rnd: rnd, n: float64(n), s: s, everyAlike: s == 0}
	z.high = z.integral(z.n + 0.5)
	z.low = z.integral(1.5) - 1
	z.shortcut = 2 - z.inverse(z.integral(2.5)-math.Pow(2, -s))
	return z
}

func (z *Zipf) integral(x float64) float64 {
	if z.s == 1 {
		return math.Log(x)
	}
	return (math.Pow(x, 1-z.s) - 1) / (1 - z.s)
}

func (z *Zipf) inverse(v float64) float64 {
	if z.s == 1 {
		return math.Exp(v)
	}
	return math.Pow(max(1+v*(1-z.s), math.SmallestNonzeroFloat64), 1/(1-z.s))
}

// Next draws a number. It allocates nothing.
func (z *Zipf) Next() int64 {
	if z.everyAlike {
		return z.rnd.Int64N(int64(z.n))
	}
	for {
		u := z.high + z.rnd.Float64()*(z.low-z.high)
		x := z.inverse(u)
		k := math.Round(min(max(x, 1), z.n))
		if k-x <= z.shortcut || u >= z.integral(k+0.5)-math.Pow(k, -z.s) {
			return int64(k) - 1
		}
	}
}
