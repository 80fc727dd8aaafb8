package wire

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// An encoder for LZ4 blocks. Compressing is most of what a batch costs, and the
// library's encoder takes several times as long for content like ours: its table of
// 128 KB does not stay in the fastest cache, and its bitmap is checked each time.
// This one has a table of 32 KB and checks two of every four positions; behind a long
// match it checks far fewer, and only at the distance of that match, since records that
// are alike repeat at the distance of their length. Both lose little compression because
// matches are extended in both directions. Its output is an ordinary block that the
// library can decode.
const (
	lz4TableBits = 13
	// lz4Window is the greatest distance of a match.
	lz4Window = 1<<16 - 1
	// lz4Margin is the number of bytes at the end in which no match begins, lz4Tail the
	// number in which none ends. The format requires 12 and 5; two positions are
	// checked at once.
	lz4Margin = 14
	lz4Tail   = 5
	// lz4Least is the shortest match, lz4Long a long one.
	lz4Least = 4
	lz4Long  = 64
	// lz4Stride is how far apart positions are that are checked behind a long match, and
	// lz4Gap how far that goes.
	lz4Stride = 12
	lz4Gap    = 128
)

var le = binary.LittleEndian

// lz4Bound returns the maximum encoded length of n bytes.
func lz4Bound(n int) int { return n + n/255 + 16 }

// lz4Encoder encodes blocks. It belongs to one goroutine and is reused; its output
// depends only on the block.
type lz4Encoder struct {
	// table has the last position of six bytes, by their hash.
	table [1 << lz4TableBits]uint32
}

// lz4Hash hashes the lower six bytes.
func lz4Hash(v uint64) uint64 {
	const prime = 227718039650203
	return v << 16 * prime >> (64 - lz4TableBits)
}

// append encodes src as one block and appends it to dst.
func (z *lz4Encoder) append(dst, src []byte) []byte {
	clear(z.table[:])
	dst = slices.Grow(dst, lz4Bound(len(src)))
	done := 0      // how much has been encoded
	usual := 1     // distance of the last long match: for similar records, the next one is at the same distance
	alike := false // the last match was long
	for next := 1; ; {
		at, back := -1, usual
		if alike {
			at, back, next = z.skim(src, next, usual)
		}
		if at < 0 {
			at, back = z.find(src, done, next)
		}
		if at < 0 {
			dst = appendLZ4Head(dst, len(src)-done, 0)
			return append(dst, src[done:]...)
		}
		end := matchEnd(src[:len(src)-lz4Tail], at+lz4Least, back)
		if !alike && usual != back && usual <= at && le.Uint32(src[at:]) == le.Uint32(src[at-usual:]) {
			if e := matchEnd(src[:len(src)-lz4Tail], at+lz4Least, usual); e > end {
				end, back = e, usual
			}
		}
		if alike = end-at >= lz4Long; alike {
			usual = back
		}
		for at > done && at > back && src[at-1] == src[at-back-1] {
			at--
		}
		dst = appendLZ4Head(dst, at-done, end-at-lz4Least)
		dst = append(dst, src[done:at]...)
		dst = append(dst, byte(back), byte(back>>8))
		dst = appendLZ4Length(dst, end-at-lz4Least)
		done, next = end, end
		if end < len(src)-lz4Margin {
			z.table[lz4Hash(le.Uint64(src[end-2:]))] = uint32(end - 2)
		}
	}
}

// skim looks behind a long match at s for four bytes that occurred before, at the usual
// distance; at s itself, where there is none, at any. It returns their position and the
// distance; -1 if there are none before next.
func (z *lz4Encoder) skim(src []byte, s, usual int) (at, back, next int) {
	last := len(src) - lz4Margin
	if s < last {
		if ref := z.look(s, le.Uint64(src[s:])); le.Uint32(src[ref:]) == le.Uint32(src[s:]) && s-ref <= lz4Window {
			return s, s - ref, s
		}
	}
	last = min(last, s+lz4Gap)
	for s++; s < last; s += lz4Stride {
		if le.Uint32(src[s-usual:]) == le.Uint32(src[s:]) {
			return s, usual, s
		}
	}
	return -1, 0, s
}

// look returns the last position before s of the lower six bytes of v, or another one.
func (z *lz4Encoder) look(s int, v uint64) int {
	p := &z.table[lz4Hash(v)]
	ref := int(*p)
	*p = uint32(s)
	return ref
}

// find looks, from s on, for four bytes that occurred before, and returns their position
// and the distance; -1 if there are none. The longer it finds nothing since done, the
// larger its steps get.
func (z *lz4Encoder) find(src []byte, done, s int) (at, back int) {
	for last := len(src) - lz4Margin; s < last; s += 3 + (s-done)>>6 {
		v := le.Uint64(src[s:])
		if ref := z.look(s, v); le.Uint32(src[ref:]) == uint32(v) && s-ref <= lz4Window {
			return s, s - ref
		}
		v >>= 8
		s++
		if ref := z.look(s, v); le.Uint32(src[ref:]) == uint32(v) && s-ref <= lz4Window {
			return s, s - ref
		}
	}
	return -1, 0
}

// matchEnd returns the position at or after s at which src differs from itself back
// bytes earlier, or the length of src.
func matchEnd(src []byte, s, back int) int {
	for ; s+16 <= len(src); s += 16 {
		a, b := src[s:s+16], src[s-back:s-back+16]
		if x := le.Uint64(a) ^ le.Uint64(b); x != 0 {
			return s + bits.TrailingZeros64(x)>>3
		}
		if x := le.Uint64(a[8:]) ^ le.Uint64(b[8:]); x != 0 {
			return s + 8 + bits.TrailingZeros64(x)>>3
		}
	}
	for s < len(src) && src[s] == src[s-back] {
		s++
	}
	return s
}

// appendLZ4Head appends the first byte of a sequence, and the rest of the length of its
// literals. match is the length of its match minus the shortest.
func appendLZ4Head(dst []byte, literals, match int) []byte {
	dst = append(dst, byte(min(literals, 15)<<4|min(match, 15)))
	return appendLZ4Length(dst, literals)
}

// appendLZ4Length appends the part of a length that does not fit into four bits.
func appendLZ4Length(dst []byte, n int) []byte {
	if n < 15 {
		return dst
	}
	for n -= 15; n >= 255; n -= 255 {
		dst = append(dst, 255)
	}
	return append(dst, byte(n))
}
