// Package chart turns numbers into lines of text: braille line charts,
// sparklines, bars, scales. All of it is pure: no styles, no state, no clock,
// any input, NaN and infinities included. Callers colour the lines. It is for
// the terminal screens only; charts in text reports are drawn elsewhere.
package chart

import (
	"math"
	"slices"
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

// Trend draws the last w values as Sparkline does, but from the lowest to the highest of
// them, or to a tenth more of what hardly differs: how they changed, not how much they are.
func Trend(vals []float64, w int) string {
	if len(vals) > w {
		vals = vals[len(vals)-max(w, 0):]
	}
	low, high := math.Inf(1), Peak(vals)
	for _, v := range vals {
		if finite(v) {
			low = min(low, v)
		}
	}
	if room := high/10 - (high - low); room > 0 {
		low, high = max(low-room/2, 0), high+room/2
	}
	out := make([]float64, len(vals))
	for i, v := range vals {
		out[i] = v - low
	}
	return Sparkline(out, w, high-low)
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

// quantile returns the value that a part of vals, which it sorts, stays at or below.
func quantile(vals []float64, part float64) float64 {
	slices.Sort(vals)
	return vals[min(int(part*float64(len(vals))), len(vals)-1)]
}
