package eventstore

import "unicode/utf8"

// dice is a small generator of random numbers, seeded for every event on its own,
// so that an event can be made again from its number: splitmix64.
type dice uint64

func (d *dice) next() uint64 {
	*d += 0x9E3779B97F4A7C15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below returns a number in [0, n).
func (d *dice) below(n int) int { return int((d.next() >> 32) * uint64(n) >> 32) }

// eventDice is the generator for one event.
func eventDice(key uint64, seq int64) dice {
	d := dice(key ^ uint64(seq)*0xD1342543DE82EF95)
	d.next()
	return d
}

const alphanumerics = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// fillAlphanumeric fills dst with random letters and digits.
func (d *dice) fillAlphanumeric(dst []byte) {
	for len(dst) >= 8 {
		v := d.next()
		for i := range 8 {
			dst[i] = alphanumerics[(v&0xFF)*uint64(len(alphanumerics))>>8]
			v >>= 8
		}
		dst = dst[8:]
	}
	if len(dst) == 0 {
		return
	}
	v := d.next()
	for i := range dst {
		dst[i] = alphanumerics[(v&0xFF)*uint64(len(alphanumerics))>>8]
		v >>= 8
	}
}

const hexDigits = "0123456789abcdef"

// appendUUID writes a UUID of two words as text.
func appendUUID(dst []byte, hi, lo uint64) []byte {
	for i := range 32 {
		switch i {
		case 8, 12, 16, 20:
			dst = append(dst, '-')
		}
		w, at := hi, i
		if i >= 16 {
			w, at = lo, i-16
		}
		dst = append(dst, hexDigits[w>>(60-4*at)&15])
	}
	return dst
}

// appendRandomUUID writes a version 4 UUID.
func (d *dice) appendRandomUUID(dst []byte) []byte {
	return appendUUID(dst, d.next()&^0xF000|0x4000, d.next()&^(3<<62)|2<<62)
}

// random bytes decoded as UTF-8 with what is invalid replaced: the text that the
// public generator makes of them.
type randomText struct {
	d   dice
	raw []byte
}

// fill draws n random bytes.
func (t *randomText) fill(n int) {
	t.raw = t.raw[:0]
	for len(t.raw) < n {
		v := t.d.next()
		for range min(8, n-len(t.raw)) {
			t.raw = append(t.raw, byte(v))
			v >>= 8
		}
	}
}

// appendPlain writes the text as it is.
func (t *randomText) appendPlain(dst []byte) []byte {
	for b := t.raw; len(b) > 0; {
		r, n := utf8.DecodeRune(b)
		dst = utf8.AppendRune(dst, r)
		b = b[n:]
	}
	return dst
}

// appendJSON writes the text as the inside of a JSON string.
func (t *randomText) appendJSON(dst []byte) []byte {
	for b := t.raw; len(b) > 0; {
		r, n := utf8.DecodeRune(b)
		b = b[n:]
		switch {
		case r == '"', r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}
