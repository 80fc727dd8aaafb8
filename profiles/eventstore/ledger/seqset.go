package ledger

import "math/bits"

// seqset is a set of sequence numbers, in pages of bits. A full page is replaced by a
// marker, so that a set without gaps takes next to nothing however large it is.
type seqset struct {
	pages map[int64]*page
	n     int64
}

const pageBits = 1 << 16

type page struct {
	bits [pageBits / 64]uint64
	n    int
}

// full stands for every page whose bits are all set.
var full = &page{n: pageBits}

// add adds the numbers [from, from+count) and returns how many were new.
func (s *seqset) add(from, count int64) (added int64) {
	if s.pages == nil {
		s.pages = map[int64]*page{}
	}
	for to := from + count; from < to; {
		number, at := from/pageBits, int(from%pageBits)
		n := int(min(to-from, int64(pageBits-at)))
		p := s.pages[number]
		switch {
		case p == full:
		case p == nil && n == pageBits:
			s.pages[number], added = full, added+int64(n)
		default:
			if p == nil {
				p = &page{}
				s.pages[number] = p
			}
			added += int64(p.set(at, n))
			if p.n == pageBits {
				s.pages[number] = full
			}
		}
		from += int64(n)
	}
	s.n += added
	return added
}

// set sets n bits starting at at and returns how many were not set before.
func (p *page) set(at, n int) (added int) {
	for n > 0 {
		w, b := at/64, at%64
		k := min(64-b, n)
		mask := (^uint64(0) >> (64 - k)) << b
		added += bits.OnesCount64(mask &^ p.bits[w])
		p.bits[w] |= mask
		at, n = at+k, n-k
	}
	p.n += added
	return added
}

// has reports whether a number is in the set.
func (s *seqset) has(i int64) bool {
	p := s.pages[i/pageBits]
	switch p {
	case nil:
		return false
	case full:
		return true
	}
	at := int(i % pageBits)
	return p.bits[at/64]>>(at%64)&1 == 1
}
