package values

import (
	"errors"
	"strconv"
	"strings"
)

// ErrNotInteger is returned by DecodeInt for text that is not a 32-bit integer. With
// compat it means "not set": the original silently uses its default.
var ErrNotInteger = errors.New("not a whole number")

// DecodeInt parses an integer as Java's Integer.decode does: an optional sign, then
// decimal digits, 0x, 0X or # with hexadecimal ones, or a leading 0 with octal ones; 32
// bits. Surrounding blanks are dropped first, unless compat is set: then they make the
// text invalid, as in the original. The only error is ErrNotInteger.
func DecodeInt(s string, compat bool) (int, error) {
	if !compat {
		s = strings.TrimSpace(s)
	}
	sign, digits := "", s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, digits = s[:1], s[1:]
	}
	base := 10
	switch {
	case strings.HasPrefix(digits, "0x"), strings.HasPrefix(digits, "0X"):
		base, digits = 16, digits[2:]
	case strings.HasPrefix(digits, "#"):
		base, digits = 16, digits[1:]
	case len(digits) > 1 && digits[0] == '0':
		base, digits = 8, digits[1:]
	}
	if digits == "" || digits[0] == '-' || digits[0] == '+' {
		return 0, ErrNotInteger
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(sign, "+")+digits, base, 32)
	if err != nil {
		return 0, ErrNotInteger
	}
	return int(n), nil
}

// IsOctal reports whether DecodeInt reads s, without surrounding blanks, as an octal
// number with a value other than its digits suggest: 010 is 8. Such a number deserves a
// warning.
func IsOctal(s string) bool {
	digits := strings.TrimLeft(strings.TrimSpace(s), "+-")
	if len(digits) < 2 || digits[0] != '0' || strings.ContainsAny(digits, "xX") {
		return false
	}
	octal, err := DecodeInt(s, false)
	if err != nil {
		return false
	}
	decimal, err := strconv.Atoi(strings.TrimSpace(s))
	return err == nil && decimal != octal
}
