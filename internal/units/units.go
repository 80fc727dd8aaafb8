// Package units parses and formats the sizes, rates and durations that people type and
// read: "4KiB", "41.2k", "1.2 ms". It has no state.
package units

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

var sizeUnits = []struct {
	suffix string
	factor float64
}{
	{"kib", 1 << 10},
	{"mib", 1 << 20},
	{"gib", 1 << 30},
	{"tib", 1 << 40},
	{"kb", 1e3},
	{"mb", 1e6},
	{"gb", 1e9},
	{"tb", 1e12},
	{"k", 1 << 10},
	{"m", 1 << 20},
	{"g", 1 << 30},
	{"b", 1},
}

// ParseSize parses a number of bytes: "512", "1KiB", "10KB", "1.5 MiB". Case is
// ignored; the result must be a whole number of bytes.
func ParseSize(s string) (int64, error) {
	t := strings.ToLower(strings.TrimSpace(s))
	factor := 1.0
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(t, u.suffix); ok {
			t, factor = strings.TrimSpace(rest), u.factor
			break
		}
	}
	v, ok := digits(t)
	if !ok {
		return 0, fmt.Errorf("%q is not a size such as 512, 1KiB or 10KB", s)
	}
	n := v * factor
	if n < 0 || n > math.MaxInt64/2 || n != math.Trunc(n) {
		return 0, fmt.Errorf("%q is not a whole number of bytes in range", s)
	}
	return int64(n), nil
}

// number matches a number as people write it, without its suffix; digits may be grouped
// by single underscores, or in threes by spaces, as the workbench shows them (spaced).
var number = regexp.MustCompile(`^[+-]?(\d+(_\d+)*(\.\d*)?|\.\d+)([eE][+-]?\d+)?$`)

var (
	spaced = regexp.MustCompile("^[+-]?\\d{1,3}([ \u00a0\u2009\u202f]\\d{3})+(\\.\\d*)?$")
	spaces = strings.NewReplacer(" ", "", "\u00a0", "", "\u2009", "", "\u202f", "")
)

// ungroup removes the spaces between groups of three digits.
func ungroup(s string) string {
	if spaced.MatchString(s) {
		return spaces.Replace(s)
	}
	return s
}

func digits(s string) (float64, bool) {
	s = ungroup(s)
	if !number.MatchString(s) {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return v, err == nil
}

// factors are what the suffixes of numbers stand for.
var factors = map[byte]float64{'k': 1e3, 'K': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12}

// LikeNumbers is the advice for something that is not a valid number.
const LikeNumbers = "write it like 500, 10k or 1e6"

// ParseNumber parses a number as written by people and by Number: "10000", "10_000",
// "10 000", "1e4", "10k", "1.5M". The result is finite.
func ParseNumber(s string) (float64, error) {
	t, factor := strings.TrimSpace(s), 1.0
	if n := len(t) - 1; n > 0 && factors[t[n]] != 0 {
		t, factor = strings.TrimSpace(t[:n]), factors[t[n]]
	}
	v, ok := digits(t)
	if v *= factor; !ok || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number such as 500, 10k or 1e6", s)
	}
	return v, nil
}

// ParseRate parses a number per second, with or without "/s".
func ParseRate(s string) (float64, error) {
	return ParseNumber(strings.TrimSuffix(strings.TrimSpace(s), "/s"))
}

// exact is the limit above which a float64 cannot represent every integer.
const exact = 1 << 53

// ParseWhole parses a whole number in the same forms. Plain digits may be as large as
// an int64, other forms up to 2^53.
func ParseWhole(s string) (int64, error) {
	v, err := ParseNumber(s)
	if err != nil {
		return 0, err
	}
	if n, err := strconv.ParseInt(strings.ReplaceAll(ungroup(strings.TrimSpace(s)), "_", ""), 10, 64); err == nil {
		return n, nil
	}
	if v != math.Trunc(v) || math.Abs(v) >= exact {
		return 0, fmt.Errorf("%q is not a whole number in range", s)
	}
	return int64(v), nil
}

// ParseDuration reads a duration as Go writes it ("1m30s", "2.5ms") and as Duration, Length or a
// person does: "5 ms", "1m 44s", "1min", "30 sec".
func ParseDuration(s string) (time.Duration, error) {
	return time.ParseDuration(written.ReplaceAllStringFunc(between.ReplaceAllString(strings.TrimSpace(s), "$1$2"), func(part string) string {
		m := written.FindStringSubmatch(part)
		return m[1] + cmp.Or(longUnits[m[2]], m[2])
	}))
}

// Lacking returns a text with the unit that it lacks; empty if it is no number above 0.
func Lacking(text, unit string) string {
	text = strings.TrimSpace(text)
	if v, err := strconv.ParseFloat(text, 64); err != nil || v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return ""
	}
	return text + unit
}

// written matches a number and its unit, between the space between two such parts, and longUnits
// are the units that Go lacks.
var (
	between   = regexp.MustCompile(`(\p{L}) (\d)`)
	written   = regexp.MustCompile(`([\d.]+) ?(\p{L}+)`)
	longUnits = map[string]string{"min": "m", "sec": "s", "hour": "h", "hours": "h"}
)

// Size formats a number of bytes with three significant digits and a binary unit: "512
// B", "1 KiB", "1.5 MiB".
func Size(n int64) string {
	if n < 1<<10 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		v /= 1 << 10
		if v < 1023.5 {
			break
		}
	}
	return trim(v) + " " + unit
}

// Number formats a rate or a count with three significant digits and a decimal suffix:
// "999", "41.2k", "1.03M". NaN becomes "–".
func Number(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	suffix := ""
	for _, s := range []string{"k", "M", "G", "T"} {
		if math.Abs(v) < 999.5 {
			break
		}
		v, suffix = v/1000, s
	}
	return trim(v) + suffix
}

// Percent formats by how much a value differs from one before: "+25 %", "−50 %"; from a doubling
// on as a factor: "×12"; "" if there was none before.
func Percent(before, after float64) string {
	if !(before > 0) || math.IsNaN(after) || math.IsInf(after, 0) {
		return ""
	}
	p := (after - before) / before * 100
	switch {
	case math.Abs(p) < 0.5:
		return "±0 %"
	case p >= 100*doubled:
		return Factor(after / before)
	case p > -100 && p < -99: // −100 % would be nothing at all
		return fmt.Sprintf("−%.4g %%", -p)
	}
	return Minus(fmt.Sprintf("%+.0f %%", p))
}

// Duration formats a time that was measured, with three significant digits: "850 ns", "1.2 ms",
// "94 s"; from 100 s on in whole seconds, "1m 44s", "5m"; and from an hour on in whole minutes,
// "1h 2m". The moments of a run are told by plot.Clock, and what is typed by Typed.
func Duration(d time.Duration) string {
	v := float64(d)
	switch {
	case math.Abs(v) < 1e3:
		return strconv.FormatInt(int64(d), 10) + " ns"
	case math.Abs(v) < 999.5e3:
		return trim(v/1e3) + " µs"
	case math.Abs(v) < 999.5e6:
		return trim(v/1e6) + " ms"
	case math.Abs(v) < 99.95e9:
		return trim(v/1e9) + " s"
	case d < 0:
		return "-" + Duration(-max(d, -math.MaxInt64))
	}
	small, units := time.Second, "ms"
	if d >= time.Hour-time.Second/2 {
		small, units = time.Minute, "hm"
	}
	n := int64(d.Round(small) / small)
	text := strconv.FormatInt(n/60, 10) + units[:1]
	if n%60 > 0 {
		text += fmt.Sprintf(" %d%s", n%60, units[1:])
	}
	return text
}

// Length formats how long something took or takes: like Duration, and "0 s" if it took no time.
func Length(d time.Duration) string {
	if d == 0 {
		return "0 s"
	}
	return Duration(d)
}

// Typed formats a duration as users type it, without units that are zero: "5m", "1h30m", "10s",
// "200ms".
func Typed(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func trim(v float64) string {
	digits := 0
	switch a := math.Abs(v); {
	case a < 9.995:
		digits = 2
	case a < 99.95:
		digits = 1
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// PartOf formats a part of a number in per cent, to four digits; 100 % only if it is all of it.
func PartOf(n, of int64) string {
	share := 100 * float64(n) / float64(of)
	if n < of {
		share = min(share, 99.99)
	}
	return strconv.FormatFloat(share, 'g', 4, 64) + " %"
}

// Unlimited is how a rate of 0 is shown, and may be typed: there is no target rate.
const Unlimited = "unlimited"

// Digits formats a number with so many significant digits, and without an exponent: "120", "0.0000312".
func Digits(v float64, n int) string {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64) // cannot fail
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Numbered names things by their ascending numbers: "worker 3", "workers 1 and 3", "workers 1
// to 30", "workers 1, 3 to 5 and 9".
func Numbered(thing string, numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		k := i
		for k+1 < len(numbers) && numbers[k+1] == numbers[k]+1 {
			k++
		}
		switch {
		case k-i >= 2:
			parts = append(parts, fmt.Sprintf("%d to %d", numbers[i], numbers[k]))
		default:
			for _, n := range numbers[i : k+1] {
				parts = append(parts, strconv.Itoa(n))
			}
		}
		i = k + 1
	}
	if len(numbers) != 1 {
		thing += "s"
	}
	return thing + " " + Listed(parts)
}

// Capital begins a text with a capital letter.
func Capital(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[n:]
}

// Listed writes words as a list: "a, b and c".
func Listed(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// Whole formats a count in full, with thin spaces between thousands: "2 472 000".
func Whole[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u2009" + s[i:]
	}
	return s
}

// Many is Plural with the number as Whole formats it: "1 030 calls".
func Many[N int | int64](n N, thing string) string {
	return Whole(n) + strings.TrimPrefix(Plural(n, thing), strconv.FormatInt(int64(n), 10))
}

// Plural formats a number of things: "1 thread", "2 threads", "3 entries", "4 branches".
func Plural[N int | int64](n N, thing string) string {
	many := thing + "s"
	switch stem, y := strings.CutSuffix(thing, "y"); {
	case n == 1:
		many = thing
	case y:
		many = stem + "ies"
	case strings.HasSuffix(thing, "ch"):
		many = thing + "es"
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Choose returns what to say of one thing, or of any other number of them: "is", "are".
func Choose[N int | int64 | float64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
