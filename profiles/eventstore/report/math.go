package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/units"
)

// Formatting of numbers in tables. Unknown values are shown as such.

func number(format string, v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return unknown
	}
	return fmt.Sprintf(format, v)
}

// count formats a number that may be unknown.
func count(v *int64) string {
	if v == nil {
		return unknown
	}
	return strconv.FormatInt(*v, 10)
}

// three formats three significant digits.
func three(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return unknown
	case a >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case a >= 9.995:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// memory formats bytes as MiB or GiB.
func memory(v float64) string {
	switch {
	case math.IsNaN(v):
		return unknown
	case v >= 1<<30:
		return three(v/(1<<30)) + " GiB"
	default:
		return three(v/(1<<20)) + " MiB"
	}
}

// known is a figure of which a negative one means that it is not known.
func known(v int64) float64 {
	if v < 0 {
		return math.NaN()
	}
	return float64(v)
}

func spell(ns int64) string { return units.Duration(time.Duration(ns)) }

func ratio(a, b int64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return float64(a) / float64(b)
}
