package run

import (
	"math/bits"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// maxWatched is the largest number of keys of one structure that are tracked one by
// one, with two bits each. Of larger structures only samples are verified.
const maxWatched = 1 << 28

// ledger remembers which keys of one form were attempted and acknowledged in one
// structure. It is safe for use by several goroutines.
type ledger struct {
	op       *model.Op // one of those that write these keys
	lo, n    int64
	tried    []atomic.Uint64
	acked    []atomic.Uint64
	spilled  atomic.Bool // a number was out of range, so counts are not bounds
	payloads datagen.Sizes
}

func newLedger(o *model.Op, lo, hi int64) *ledger {
	l := &ledger{op: o, lo: lo, n: hi - lo + 1}
	if l.n <= 0 || l.n > maxWatched {
		l.n = 0
		l.spilled.Store(true)
	}
	l.tried, l.acked = make([]atomic.Uint64, (l.n+63)/64), make([]atomic.Uint64, (l.n+63)/64)
	return l
}

func (l *ledger) set(in []atomic.Uint64, n int64) {
	i := n - l.lo
	if i < 0 || i >= l.n {
		if !l.spilled.Load() {
			l.spilled.Store(true)
		}
		return
	}
	word, bit := &in[i/64], uint64(1)<<(i%64)
	if word.Load()&bit == 0 {
		word.Or(bit)
	}
}

// has reports whether a number is in; false if it is out of range.
func (l *ledger) has(in []atomic.Uint64, n int64) bool {
	i := n - l.lo
	return i >= 0 && i < l.n && in[i/64].Load()&(1<<(i%64)) != 0
}

func ones(in []atomic.Uint64) int64 {
	var n int64
	for i := range in {
		n += int64(bits.OnesCount64(in[i].Load()))
	}
	return n
}

// sample returns up to most acknowledged numbers, spread over all of them.
func (l *ledger) sample(most int64) []int64 {
	total := ones(l.acked)
	if total == 0 {
		return nil
	}
	step := max(total/most, 1)
	var out []int64
	var seen int64
	for i := range l.acked {
		w := l.acked[i].Load()
		for w != 0 {
			bit := bits.TrailingZeros64(w)
			w &= w - 1
			if seen%step == 0 && int64(len(out)) < most {
				out = append(out, l.lo+int64(i)*64+int64(bit))
			}
			seen++
		}
	}
	return out
}
