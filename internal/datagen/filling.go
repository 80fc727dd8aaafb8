package datagen

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/units"
)

// All letters need no escaping in JSON, in SQL and in line-based protocols.
const (
	printable = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	headBytes = 16
	// textBytes is prime, so that pieces of common sizes do not repeat in step.
	textBytes = 65521
)

// text is pseudo-random and the same in every process; each filling is a piece of it,
// wrapping around at the end.
var text = sync.OnceValue(func() []byte {
	b, x := make([]byte, textBytes), uint64(0x9e3779b97f4a7c15)
	for i := range b {
		x = mix(x)
		b[i] = printable[x%uint64(len(printable))]
	}
	return b
})

// mix is a step of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Owner identifies a filling: it stands for a record and a part of it.
type Owner uint64

// Of returns the owner for a part of the record with a name.
func Of[T ~string | ~[]byte](name T, part int) Owner {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return Owner(mix(h + uint64(part)))
}

// head returns how a filling of n bytes begins, and where its piece of the text begins.
func (o Owner) head(n int) (h [headBytes]byte, at int) {
	x := mix(uint64(o) ^ mix(uint64(n)))
	for i := range h {
		h[i] = printable[x>>(4*i)&15]
	}
	return h, int(x % textBytes)
}

// Append appends the owner's filling of n bytes.
func Append(dst []byte, o Owner, n int) []byte {
	h, at := o.head(n)
	dst = append(dst, h[:min(n, headBytes)]...)
	all := text()
	for n -= headBytes; n > 0; at = 0 {
		piece := all[at:min(at+n, textBytes)]
		dst = append(dst, piece...)
		n -= len(piece)
	}
	return dst
}

// Check says what is wrong with a filling of an owner; nil if it belongs to that owner
// and has its original length, as far as its first 16 bytes can tell.
func Check[T ~string | ~[]byte](got T, o Owner) error {
	n := len(got)
	h, at := o.head(n)
	if m := min(n, headBytes); string(got[:m]) != string(h[:m]) {
		return fmt.Errorf("its filling of %s belongs to another record, or was cut", units.Size(int64(n)))
	}
	all := text()
	for i := headBytes; i < n; at = 0 {
		piece := all[at:min(at+n-i, textBytes)]
		if string(got[i:i+len(piece)]) != string(piece) {
			return fmt.Errorf("its filling of %s was changed after byte %d", units.Size(int64(n)), i)
		}
		i += len(piece)
	}
	return nil
}

// Sizes are the sizes set during a run. It is safe for use by several goroutines, and
// is read without a lock; each goroutine notes a size when it changes, not for each
// record.
type Sizes struct {
	mu  sync.Mutex
	set atomic.Pointer[[]int] // replaced under mu, never changed
}

// All returns the sizes that were set; the result must not be modified.
func (s *Sizes) All() []int {
	if p := s.set.Load(); p != nil {
		return *p
	}
	return nil
}

// Note remembers a size.
func (s *Sizes) Note(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if set := s.All(); !slices.Contains(set, n) {
		set = append(slices.Clone(set), n)
		s.set.Store(&set)
	}
}

// mostSizes is how many sizes other processes may tell of.
const mostSizes = 1 << 14

// Credit remembers sizes that another process has set, and returns false, remembering none, if
// these are more than there can be.
func (s *Sizes) Credit(sizes []int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Concat(s.All(), sizes)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > mostSizes {
		return false
	}
	if len(all) != len(s.All()) {
		s.set.Store(&all)
	}
	return true
}

// Check says what is wrong with the size of something written under the sizes that were
// set; nil if none was set.
func (s *Sizes) Check(n int) error {
	set := s.All()
	if len(set) == 0 || slices.Contains(set, n) {
		return nil
	}
	lo, hi := slices.Min(set), slices.Max(set)
	switch len(set) {
	case 1:
		return fmt.Errorf("its filling has %d bytes, and %d were set", n, lo)
	case 2:
		return fmt.Errorf("its filling has %d bytes, and %d and %d were set", n, lo, hi)
	}
	return fmt.Errorf("its filling has %d bytes, and %d other sizes from %d to %d were set", n, len(set), lo, hi)
}

// Most returns the largest size that was set, 0 if none was.
func (s *Sizes) Most() int {
	most := 0
	for _, n := range s.All() {
		most = max(most, n)
	}
	return most
}
