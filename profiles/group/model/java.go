package model

import (
	"math/bits"
	"slices"
	"sync"
)

// Random is java.util.Random: a generator that the original shares between all threads
// of an operation. It is safe for use by several goroutines.
type Random struct {
	mu    sync.Mutex
	state uint64
}

const javaMask = 1<<48 - 1

// NewRandom returns a generator with the same start as Java's for that seed.
func NewRandom(seed int64) *Random {
	return &Random{state: (uint64(seed) ^ 0x5DEECE66D) & javaMask}
}

func (r *Random) next(n int) int32 {
	r.state = (r.state*0x5DEECE66D + 11) & javaMask
	return int32(r.state >> (48 - n))
}

// Intn returns a number in [0, n); n is above 0 and at most 2^31-1.
func (r *Random) Intn(n int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := int32(n)
	if m&-m == m {
		return n * int64(r.next(31)) >> 31
	}
	for {
		v := r.next(31)
		rest := v % m
		if v-rest+(m-1) >= 0 { // otherwise it overflowed: a value of the incomplete last round
			return int64(rest)
		}
	}
}

// HashOrder returns names without repetition, in the order in which PadoGrid 1.0.2 for
// Redis runs the operations of a group: that of a Java HashSet.
func HashOrder(names []string) []string {
	var distinct []string
	for _, n := range names {
		if !slices.Contains(distinct, n) {
			distinct = append(distinct, n)
		}
	}
	buckets := 1
	if n := len(names); n > 1 {
		buckets = 1 << bits.Len(uint(n-1))
	}
	for 4*len(distinct) > 3*buckets {
		buckets *= 2
	}
	out := slices.Clone(distinct)
	slices.SortStableFunc(out, func(a, b string) int { return int(bucketOf(a, buckets)) - int(bucketOf(b, buckets)) })
	return out
}

func bucketOf(name string, buckets int) uint32 {
	h := uint32(31)
	var s uint32
	for _, r := range name {
		s = 31*s + uint32(r)
	}
	h += s
	return (h ^ h>>16) & uint32(buckets-1)
}
