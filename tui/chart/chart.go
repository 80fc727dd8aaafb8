// Package chart turns numbers into lines of text: braille line charts,
// sparklines, bars, scales. All of it is pure: no styles, no state, no clock,
// any input, NaN and infinities included. Callers colour the lines. It is for
// the terminal screens only; charts in text reports are drawn elsewhere.
package chart

import (
	"math"
	"strings"
)

// finite tells whether v can be drawn.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// level brings v into 0..steps for a scale that ends at top; -1: nothing to draw.
func level(v, top float64, steps int) int {
	if !finite(v) || !finite(top) || top <= 0 || steps <= 0 {
		return -1
	}
	return int(math.Round(min(max(v/top, 0), 1) * float64(steps)))
}

// Peak returns the largest finite value; 0 when there is none.
func Peak(vals []float64) float64 {
	peak := 0.0
	for _, v := range vals {
		if finite(v) {
			peak = max(peak, v)
		}
	}
	return peak
}

var sparks = []rune(" ▁▂▃▄▅▆▇█")

// Sparkline draws the last w values, one column each, scaled to top, newest on
// the right. A value above 0 is never invisible; a gap is a space.
func Sparkline(vals []float64, w int, top float64) string {
	if w <= 0 {
		return ""
	}
	if len(vals) > w {
		vals = vals[len(vals)-w:]
	}
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", w-len(vals)))
	for _, v := range vals {
		l := level(v, top, len(sparks)-1)
		if l >= 0 {
			l = max(l, 1)
		}
		b.WriteRune(sparks[max(l, 0)])
	}
	return b.String()
}

var eighths = []rune(" ▏▎▍▌▋▊▉█")

// Bar draws v as a horizontal bar in w columns that end at top, to an eighth of a
// column, padded with spaces.
func Bar(v, top float64, w int) string {
	if w <= 0 {
		return ""
	}
	l := max(level(v, top, w*8), 0)
	if l == 0 && finite(v) && v > 0 && top > 0 {
		l = 1
	}
	out := strings.Repeat("█", l/8)
	if l%8 != 0 {
		out += string(eighths[l%8])
		return out + strings.Repeat(" ", w-l/8-1)
	}
	return out + strings.Repeat(" ", w-l/8)
}
