package datagen

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// KeyKind is a distribution of calls over records.
type KeyKind string

// The distributions. Empty is uniform.
const (
	// UniformKeys are all equally likely.
	UniformKeys KeyKind = "uniform"
	// SequentialKeys come one after the other, over and over again.
	SequentialKeys KeyKind = "sequential"
	// ZipfKeys are likely by their rank, in proportion to rank^-Exponent, and the ranks are
	// scattered over the records. Of OrderedZipfKeys, record 0 is the most frequent one, and
	// of LatestKeys, the newest.
	ZipfKeys        KeyKind = "zipf"
	OrderedZipfKeys KeyKind = "zipf-in-order"
	LatestKeys      KeyKind = "latest"
	// HotKeys are a part of the records, which a share of the calls go to.
	HotKeys KeyKind = "hot"
	// GaussianKeys lie around a mean.
	GaussianKeys KeyKind = "gaussian"
	// ExponentialKeys become less and less likely, from record 0 on; of
	// LatestExponentialKeys, from the newest.
	ExponentialKeys       KeyKind = "exponential"
	LatestExponentialKeys KeyKind = "latest-exponential"
)

// KeyKinds are all distributions.
var KeyKinds = []KeyKind{
	UniformKeys, SequentialKeys, ZipfKeys, OrderedZipfKeys, LatestKeys, HotKeys, GaussianKeys, ExponentialKeys, LatestExponentialKeys,
}

// Keys say which records calls are about. The zero value is uniform. Which record call
// number i is about follows from the seed, i and the number of records alone: it does not
// matter which thread of which process makes the call.
type Keys struct {
	Kind KeyKind
	// Exponent is that of the three kinds of Zipf, above 0.
	Exponent float64
	// Hot is a part of the records and HotCalls one of the calls, both between 0 and 1: so
	// many calls are about that part. Exponential distributions have them for a steepness.
	Hot, HotCalls float64
	// Drift is after how many calls hot records move on by one; 0: they stay.
	Drift int64
	// Mean and Deviation are those of GaussianKeys, as parts of the number of records.
	Mean, Deviation float64
}

// MostExponent is the largest exponent: the first record has all but one in a million calls.
const MostExponent = 20

// Err says what is wrong with a distribution; nil if choosing by it comes to an end.
func (k *Keys) Err() error {
	between := func(v, lo, hi float64) bool { return v > lo && v < hi }
	switch {
	case k.Kind != "" && !slices.Contains(KeyKinds, k.Kind):
		return fmt.Errorf("%q is not a distribution of keys", k.Kind)
	case k.zipf() && !(k.Exponent > 0 && k.Exponent <= MostExponent):
		return fmt.Errorf("the exponent %g is not above 0 and at most %d", k.Exponent, MostExponent)
	case (k.Kind == HotKeys || k.exponential()) && !(between(k.Hot, 0, 1) && between(k.HotCalls, 0, 1)):
		return fmt.Errorf("%g of the records and %g of the calls are not both between 0 and 1", k.Hot, k.HotCalls)
	case k.Kind == HotKeys && k.Drift < 0:
		return fmt.Errorf("hot records cannot move on after %d calls", k.Drift)
	case k.Kind == GaussianKeys && !(between(k.Mean, -1, 2) && k.Deviation > 0 && k.Deviation <= 1<<30):
		return fmt.Errorf("a mean at %g and a deviation of %g of the records are out of range", k.Mean, k.Deviation)
	}
	return nil
}

func (k *Keys) zipf() bool {
	return k.Kind == ZipfKeys || k.Kind == OrderedZipfKeys || k.Kind == LatestKeys
}

func (k *Keys) exponential() bool {
	return k.Kind == ExponentialKeys || k.Kind == LatestExponentialKeys
}

// Chooser chooses records by a distribution. It belongs to one goroutine, to remember what
// it worked out for the present number of records; all choosers of one seed agree.
type Chooser struct {
	keys    Keys
	seed    uint64
	law     law
	scatter scatter
	n       int64
	high    float64
	rate    float64 // how fast an exponential distribution falls over all records
}

// NewChooser returns a chooser. scattered is how many records there were when the run
// began: those that come later are behind them in rank, in the order in which they come, so
// that the most frequent ones stay where they are.
func NewChooser(k Keys, seed, scattered int64) *Chooser {
	c := &Chooser{keys: k, seed: mix(uint64(seed) ^ 0x6b6579732e676f00)}
	switch {
	case k.zipf():
		c.law = lawOf(k.Exponent)
	case k.exponential():
		c.rate = -math.Log1p(-k.HotCalls) / k.Hot
	}
	c.scatter = newScatter(c.seed, scattered)
	return c
}

// draws are the random numbers of one call.
type draws uint64

// next returns 64 random bits.
func (d *draws) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	x := uint64(*d)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unit returns a number in [0, 1).
func (d *draws) unit() float64 { return float64(d.next()>>11) / (1 << 53) }

// below returns a number in [0, n).
func (d *draws) below(n int64) int64 {
	hi, _ := bits.Mul64(d.next(), uint64(n)) // the bias is below n/2^64
	return int64(hi)
}

// Choose returns the record, of 0..n-1, that call number i is about. It may be another n
// from call to call; below 1 it counts as 1. It allocates nothing.
func (c *Chooser) Choose(i uint64, n int64) int64 {
	n = max(n, 1)
	d := draws(mix(i ^ c.seed))
	switch c.keys.Kind {
	case ZipfKeys, OrderedZipfKeys, LatestKeys:
		if n != c.n {
			c.n, c.high = n, c.law.high(float64(n))
		}
		for {
			if k, ok := c.law.try(d.unit(), float64(n), c.high); ok {
				return c.place(int64(k)-1, n)
			}
		}
	case HotKeys:
		return c.hot(&d, i, n)
	case GaussianKeys:
		return c.gaussian(&d, n)
	case ExponentialKeys, LatestExponentialKeys:
		// What lies behind the last record is cut off by scaling, so that there is nothing
		// to reject.
		u := d.unit() * -math.Expm1(-c.rate)
		return c.place(min(int64(-math.Log1p(-u)/c.rate*float64(n)), n-1), n)
	case SequentialKeys:
		return int64(i % uint64(n))
	default:
		return d.below(n)
	}
}

// place returns the record that has a rank.
func (c *Chooser) place(rank, n int64) int64 {
	switch c.keys.Kind {
	case LatestKeys, LatestExponentialKeys:
		return n - 1 - rank
	case ZipfKeys:
		return c.scatter.at(rank, n)
	default:
		return rank
	}
}

func (c *Chooser) hot(d *draws, i uint64, n int64) int64 {
	hot := min(max(int64(math.Round(c.keys.Hot*float64(n))), 1), n)
	at := int64(0)
	if d.unit() < c.keys.HotCalls || hot == n {
		at = d.below(hot)
	} else {
		at = hot + d.below(n-hot)
	}
	if c.keys.Drift > 0 {
		at = (at + int64(i/uint64(c.keys.Drift)%uint64(n))) % n
	}
	return at
}

// gaussianTries is how often a number may lie outside. A deviation of so many records that
// this happens makes all of them equally likely.
const gaussianTries = 64

func (c *Chooser) gaussian(d *draws, n int64) int64 {
	for range gaussianTries {
		// Box and Muller; 1-unit is never 0.
		z := math.Sqrt(-2*math.Log(1-d.unit())) * math.Cos(2*math.Pi*d.unit())
		if at := math.Floor((c.keys.Mean + c.keys.Deviation*z) * float64(n)); at >= 0 && at < float64(n) {
			return int64(at)
		}
	}
	return d.below(n)
}

// scatter maps ranks to records one to one, so that neighbours in rank lie anywhere.
type scatter struct {
	n        int64
	mul, add [3]uint64
}

func newScatter(seed uint64, n int64) scatter {
	s := scatter{n: n}
	d := draws(mix(seed))
	for i := range s.mul {
		s.mul[i], s.add[i] = d.next()|1, d.next()
	}
	return s
}

// at returns the record of a rank, of n records. Ranks behind the scattered records are
// their own.
func (s *scatter) at(rank, n int64) int64 {
	among := uint64(min(n, s.n))
	if uint64(rank) >= among {
		return rank
	}
	width := bits.Len64(among - 1)
	mask, shift := uint64(1)<<width-1, width/2+1
	// Each step is one to one among the numbers of so many bits. Whoever lands outside
	// walks on: it is on a cycle, which leads back among the records.
	for x := uint64(rank); ; {
		for i, mul := range s.mul {
			x = (x*mul + s.add[i]) & mask
			x ^= x >> shift
		}
		if x < among {
			return int64(x)
		}
	}
}
