// Package chart is the pictures of the terminal screens: a canvas of braille, sparklines
// and bars, which turn numbers into text without a style, and what is drawn with them in
// colours: distributions, and the curves and tables of searches and sweeps. It has no
// state and no clock, and takes any input, including NaN and infinities. Scales and clocks
// are those of internal/plot; charts in text reports are drawn elsewhere.
package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
)

// finite reports whether v can be drawn.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// level maps v to 0..steps on a scale that ends at top; -1 if there is nothing to draw.
func level(v, top float64, steps int) int {
	if !finite(v) || !finite(top) || top <= 0 || steps <= 0 {
		return -1
	}
	return int(math.Round(min(max(v/top, 0), 1) * float64(steps)))
}

// Peak returns the largest finite value, or 0 if there is none.
func Peak(vals []float64) float64 {
	peak := 0.0
	for _, v := range vals {
		if finite(v) {
			peak = max(peak, v)
		}
	}
	return peak
}

// Far is how many times the p99 of the seconds their maxima may be for one linear scale to show both, tower how many
// times the p50 the highest may be.
const Far, tower = 5, 100

// Firm is after how many seconds Steep can tell.
const Firm = 5

// Steep reports whether the times of a run need a logarithmic axis, while it goes and afterwards: their maxima are
// usually far above their p99, or once very far above their p50.
func Steep(p50, p99, most []float64) bool {
	return Median(most) > Far*Median(p99) || Peak(most) > tower*Median(p50)
}

// DimmedFew says where the p99 of a chart is dimmed: too few calls support it.
func DimmedFew() string { return fmt.Sprintf("dimmed if of fewer than %d calls", measure.Needs(99)) }

// Across spreads values over n columns, each flat over all of its own: at returns where a column lies,
// counted in values. A column that lies beside them is a gap.
func Across(vals []float64, n int, at func(column int) float64) []float64 {
	out := make([]float64, n)
	for x := range out {
		out[x] = math.NaN()
		if i := int(math.Floor(at(x))); i >= 0 && i < len(vals) {
			out[x] = vals[i]
		}
	}
	return out
}

var sparks = []rune(" ▁▂▃▄▅▆▇█")

// Sparkline draws the last w values, one per column, scaled to top, with the newest on
// the right. A value above 0 is always visible; 0 and a gap are spaces.
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
		if l >= 0 && v > 0 {
			l = max(l, 1)
		}
		b.WriteRune(sparks[max(l, 0)])
	}
	return b.String()
}

// Trend draws the last w values as Sparkline does, but scaled from their minimum to
// their maximum, or to a tenth above the minimum if they hardly differ: it shows how
// they changed rather than how large they are. But 0 is none.
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
		if v > 0 {
			out[i] = max(v-low, math.SmallestNonzeroFloat64)
		}
	}
	return Sparkline(out, w, high-low)
}

var eighths = []rune(" ▏▎▍▌▋▊▉█")

// Bar draws v as a horizontal bar in w columns that end at top, accurate to an eighth
// of a column and padded with spaces.
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

// Median returns the median of the known values; NaN if there is none.
func Median(vals []float64) float64 {
	var known []float64
	for _, v := range vals {
		if finite(v) {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return math.NaN()
	}
	return quantile(known, 0.5)
}

// quantile returns the value that a fraction of vals does not exceed. It sorts vals.
func quantile(vals []float64, part float64) float64 {
	slices.Sort(vals)
	return vals[min(int(part*float64(len(vals))), len(vals)-1)]
}
