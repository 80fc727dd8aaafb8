package generate

import (
	"unicode/utf8"
)

// randomText is random bytes decoded as UTF-8 with invalid ones replaced, as the public
// generator does.
type randomText struct {
	d   Dice
	raw []byte
}

// fill draws n random bytes.
func (t *randomText) fill(n int) {
	t.raw = t.raw[:0]
	for len(t.raw) < n {
		v := t.d.Next()
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

// appendJSON appends the text as the inside of a JSON string.
func (t *randomText) appendJSON(dst []byte) []byte {
	for b := t.raw; len(b) > 0; {
		r, n := utf8.DecodeRune(b)
		b = b[n:]
		switch {
		case r == '"', r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ':
			dst = append(dst, '\\', 'u', '0', '0', HexDigits[r>>4], HexDigits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}
