package rundir

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// harmful reports whether a character could control the terminal or the page that shows
// it: a control character other than those that separate words and lines, or one that
// turns the direction of what follows.
func harmful(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return false
	case r < ' ', r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// clean replaces harmful characters by spaces.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if harmful(r) {
			return ' '
		}
		return r
	}, s)
}

// harmless replaces harmful characters in the strings of a JSON text by spaces, written
// out or escaped: a folder may come from anybody, and what it says reaches terminals,
// pages and documents. A text without any is returned as it is.
func harmless(data []byte) []byte {
	if !bytes.ContainsFunc(data, harmful) && !bytes.Contains(data, []byte(`\u`)) {
		return data
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		if data[i] == '\\' && i+1 < len(data) {
			n := 2
			if data[i+1] == 'u' && i+6 <= len(data) {
				n = 6
				if v, err := strconv.ParseUint(string(data[i+2:i+6]), 16, 16); err == nil && harmful(rune(v)) {
					out, i = append(out, ' '), i+n
					continue
				}
			}
			out, i = append(out, data[i:i+n]...), i+n
			continue
		}
		r, n := utf8.DecodeRune(data[i:])
		if harmful(r) {
			out = append(out, ' ')
		} else {
			out = append(out, data[i:i+n]...)
		}
		i += n
	}
	return out
}

// formulas are what a cell begins with that a spreadsheet takes for a formula.
const formulas = "=+-@\t"

// cell returns a text that a spreadsheet takes for text; uncell returns what it was.
func cell(s string) string {
	if s = clean(s); s != "" && strings.ContainsRune(formulas, rune(s[0])) {
		return "'" + s
	}
	return s
}

func uncell(s string) string {
	if len(s) > 1 && s[0] == '\'' && strings.ContainsRune(formulas, rune(s[1])) {
		return s[1:]
	}
	return clean(s)
}
