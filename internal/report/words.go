package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
)

// Length formats how many seconds something took, see units.Length.
func Length(s float64) string { return units.Length(time.Duration(s * float64(time.Second))) }

// Nanos formats a duration in nanoseconds; a hidden one is a dash.
func Nanos(v int64) string {
	if v == measure.Hidden {
		return "–"
	}
	return units.Duration(time.Duration(v))
}

// Whole formats a count.
func Whole(v int64) string { return strconv.FormatInt(v, 10) }

// Number formats a value with all its digits.
func Number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Several says how many of something there are: "1 run", "2 runs".
func Several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Percent formats a fraction as a percentage with two digits, or with all those before
// the point.
func Percent(v float64) string {
	if v *= 100; v < 9.95 {
		return fmt.Sprintf("%.1f %%", v)
	}
	return fmt.Sprintf("%.0f %%", v)
}

// Plain replaces characters that could control a terminal or break a line.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}
