package datagen

import (
	"math"
	"math/rand/v2"
)

// law is a Zipf distribution over numbers from 1 on, where number k has a weight of k^-s.
// It inverts the integral of the weights and rejects what lies above them (Hörmann and
// Derflinger, "Rejection-inversion to generate variates from monotone discrete
// distributions"). There is no table, and nothing in it depends on how many numbers there
// are: that is in high, which is one integral.
type law struct {
	s        float64
	low      float64
	shortcut float64
	inverted float64 // 1/(1-s); exponentials of logarithms are twice as fast as math.Pow
}

func lawOf(s float64) law {
	l := law{s: s, inverted: 1 / (1 - s)}
	l.low = l.integral(1.5) - 1
	l.shortcut = 2 - l.inverse(l.integral(2.5)-math.Pow(2, -s))
	return l
}

// high returns what try needs to know of n numbers.
func (l *law) high(n float64) float64 { return l.integral(n + 0.5) }

// integral is that of the weights. Beside 1 its value is a difference of almost equal
// numbers, of which nothing would be left closer than nearOne.
func (l *law) integral(x float64) float64 {
	if l.one() {
		return math.Log(x)
	}
	return (math.Exp(math.Log(x)*(1-l.s)) - 1) / (1 - l.s)
}

func (l *law) inverse(v float64) float64 {
	if l.one() {
		return math.Exp(v)
	}
	return math.Exp(math.Log(max(1+v*(1-l.s), math.SmallestNonzeroFloat64)) * l.inverted)
}

const nearOne = 1e-9

func (l *law) one() bool { return math.Abs(l.s-1) < nearOne }

// try makes a number in 1..n of a random one in [0, 1), and reports whether it may stay.
func (l *law) try(unit, n, high float64) (k float64, ok bool) {
	u := high + unit*(l.low-high)
	x := l.inverse(u)
	k = math.Round(min(max(x, 1), n))
	return k, k-x <= l.shortcut || u >= l.integral(k+0.5)-math.Exp(-l.s*math.Log(k))
}

// Zipf draws numbers 0..n-1, where number k has a weight of (k+1)^-s, for any s ≥ 0 (0
// makes all equally likely), from a source of random numbers. It belongs to one goroutine.
type Zipf struct {
	law  law
	rnd  *rand.Rand
	n    float64
	high float64
}

// New returns a Zipf over n numbers, at least one, that draws from rnd.
func New(rnd *rand.Rand, s float64, n int64) *Zipf {
	z := &Zipf{law: lawOf(s), rnd: rnd, n: float64(n)}
	z.high = z.law.high(z.n)
	return z
}

// Next draws a number. It allocates nothing.
func (z *Zipf) Next() int64 {
	if z.law.s == 0 {
		return z.rnd.Int64N(int64(z.n))
	}
	for {
		if k, ok := z.law.try(z.rnd.Float64(), z.n, z.high); ok {
			return int64(k) - 1
		}
	}
}
