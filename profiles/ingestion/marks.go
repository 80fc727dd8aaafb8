package ingestion

import (
	"math/bits"
	"sync/atomic"
)

// maxMarks is the largest number of entries of a map that are tracked one by one, which
// takes 128 MiB. In larger maps every second, third … entry is.
const maxMarks = 1 << 30

// marks remembers which entries the store has acknowledged in the measured part, with
// one bit per entry. It is safe for use by several goroutines; usually each share's
// bits are set by one worker.
type marks struct {
	stride int64
	shares [][]atomic.Uint64
}

func newMarks(m *mapSpec) *marks {
	k := &marks{stride: (m.entries() + maxMarks - 1) / maxMarks, shares: make([][]atomic.Uint64, len(m.shares))}
	k.stride = max(k.stride, 1)
	for i, s := range m.shares {
		n := (s.Entries + k.stride - 1) / k.stride
		k.shares[i] = make([]atomic.Uint64, (n+63)/64)
	}
	return k
}

// set marks n entries of a share, starting at off.
func (k *marks) set(share int, off, n int64) {
	from, to := (off+k.stride-1)/k.stride, (off+n+k.stride-1)/k.stride
	words := k.shares[share]
	for from < to {
		word, bit := from/64, from%64
		count := min(64-bit, to-from)
		mask := ^uint64(0) >> (64 - count) << bit
		words[word].Or(mask)
		from += count
	}
}

// count returns the number of marks: of all distinct entries if stride is 1, otherwise
// of the tracked ones.
func (k *marks) count() int64 {
	var n int64
	for _, words := range k.shares {
		for i := range words {
			n += int64(bits.OnesCount64(words[i].Load()))
		}
	}
	return n
}

// spread calls f for up to n marked entries, spread evenly over all of them.
func (k *marks) spread(n int64, f func(share int, entry int64)) {
	total := k.count()
	n = min(n, total)
	var seen, given int64
	for share, words := range k.shares {
		for i := range words {
			w := words[i].Load()
			for w != 0 && given < n {
				bit := bits.TrailingZeros64(w)
				w &= w - 1
				// The i-th of n samples is the mark number i*total/n.
				if seen >= mulDiv(given, total, n) {
					f(share, (int64(i)*64+int64(bit))*k.stride)
					given++
				}
				seen++
			}
		}
	}
}

// mulDiv returns a*b/c without overflow for a < c.
func mulDiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(q)
}
