package widget

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// A slider is logarithmic if its knob is turned by factors or its range is wide. An
// unlimited rate is at its right end.

// reach returns the value at the right end of a slider, before "unlimited".
func reach(k workload.Knob) float64 {
	if k.Name == "rate" {
		return min(k.Max, 1e7)
	}
	return k.Max
}

func logSlider(k workload.Knob) bool { return k.Log || k.Max-k.Min > 200*max(k.Step, 1) }

// Slide returns the column 0..w-1 of a value.
func Slide(k workload.Knob, v float64, w int) int {
	if w <= 1 {
		return 0
	}
	end := w - 1
	if unlimited(k, v) {
		return end
	}
	if k.Name == "rate" {
		end--
	}
	f := 0.0
	if lo, hi := k.Min, reach(k); logSlider(k) {
		base := max(lo, 1)
		f = math.Log(max(v, base)/base) / math.Log(hi/base)
	} else if hi > lo {
		f = (v - lo) / (hi - lo)
	}
	if math.IsNaN(f) {
		f = 0
	}
	return int(math.Round(min(max(f, 0), 1) * float64(max(end, 0))))
}

// Slid returns the value of a column, rounded to what people would choose. It maps back
// to the same column unless columns are narrower than the knob's steps.
func Slid(k workload.Knob, col, w int) float64 {
	if w <= 1 {
		return k.Min
	}
	end := w - 1
	if k.Name == "rate" {
		if col >= end {
			return 0
		}
		end--
	}
	f := min(max(float64(col)/float64(max(end, 1)), 0), 1)
	lo, hi := k.Min, reach(k)
	if !logSlider(k) {
		step := max(k.Step, 1e-9)
		return k.Clamp(lo + math.Round((hi-lo)*f/step)*step)
	}
	base := max(lo, 1)
	v := base * math.Pow(hi/base, f)
	if k.Unit == "bytes" {
		if col == 0 {
			return lo
		}
		return k.Clamp(math.Pow(2, math.Round(math.Log2(v))))
	}
	round := math.Pow(10, math.Floor(math.Log10(v))-1)
	return k.Clamp(max(math.Round(v/max(round, 1))*max(round, 1), base))
}

// ladder holds the steps within a decade of knobs that are turned by factors.
var ladder = []float64{1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10}

// surely is the fraction of what was done lately that a store holds without a backlog.
const surely = 0.98

// Turned returns the value after a knob was turned up or down by one notch, or ten
// times as far. now is the throughput that was usual lately, to the notch below which an unlimited rate
// is turned. Turning never removes a limit: that requires typing it or sliding to the end.
func Turned(k workload.Knob, v float64, up, ten bool, now float64) float64 {
	factor := 1.0
	if ten {
		factor = 10
	}
	if !k.Log {
		if !up {
			factor = -factor
		}
		return k.Clamp(v + k.Step*factor)
	}
	if unlimited(k, v) {
		if up {
			return v
		}
		if !(now > 0) {
			now = 1000
		}
		return k.Clamp(notch(surely*now, false))
	}
	if k.Unit == "bytes" {
		return k.Clamp(resized(k, v, up, ten))
	}
	switch {
	case ten && up:
		v = max(v, 1) * 10
	case ten:
		v = math.Floor(v / 10)
	default:
		v = notch(v, up)
	}
	if k.Name == "rate" {
		v = max(v, 1)
	}
	return k.Clamp(v)
}

// firstSize is the first size above 0 bytes.
const firstSize = 64

// resized doubles or halves a size, or makes it ten times as large or small. At 0 it goes on from what
// that stands for.
func resized(k workload.Knob, v float64, up, ten bool) float64 {
	factor := 2.0
	if ten {
		factor = 10
	}
	if v == 0 && k.Usual > 0 {
		v = k.Usual
	}
	switch {
	case up && v == 0:
		return max(firstSize, k.Step)
	case up:
		return math.Round(v * factor)
	}
	if v = math.Floor(v / factor); v >= max(k.Step, 1) {
		return v
	}
	if k.Usual > 0 {
		return max(v, 1) // 0 is no smaller one
	}
	return k.Min
}

// notch returns the next whole number of the ladder.
func notch(v float64, up bool) float64 {
	v = max(v, 1)
	base := math.Pow(10, math.Floor(math.Log10(v)))
	if up {
		for _, f := range ladder {
			if n := math.Round(f * base); n > v*(1+1e-9) {
				return n
			}
		}
		return 20 * base
	}
	for _, f := range slices.Backward(ladder) {
		if n := math.Round(f * base); n < v*(1-1e-9) {
			return n
		}
	}
	return max(math.Round(base*0.8), 1)
}

// Typed parses a value that a user has typed for a knob: a number, a size for bytes, k
// and M for thousands and millions, "unlimited" (or the start of it, or "max") for an
// unlimited rate.
func Typed(k workload.Knob, text string) (float64, bool) {
	t := strings.ToLower(strings.TrimSpace(text))
	if k.Name == "rate" && t != "" && (strings.HasPrefix(units.Unlimited, t) || slices.Contains([]string{"m", "ma", "max"}, t)) {
		return 0, true
	}
	if k.Unit == "bytes" {
		n, err := units.ParseSize(t)
		return float64(n), err == nil
	}
	if d, err := units.ParseDuration(t); err == nil && k.Unit == workload.Milliseconds {
		return float64(d) / 1e6, true
	}
	factor := 1.0
	for suffix, f := range map[string]float64{"k": 1e3, "m": 1e6} {
		if rest, ok := strings.CutSuffix(t, suffix); ok {
			t, factor = rest, f
			break
		}
	}
	v, err := strconv.ParseFloat(t, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return v * factor, true
}

// Bar draws a fraction as a line.
func Bar(s *Styles, part float64, w int) string {
	n := int(math.Round(min(max(part, 0), 1) * float64(w)))
	return s.Accent.On(strings.Repeat("━", n)) + s.Line.On(strings.Repeat("─", w-n))
}

// Slider draws a knob at a value in w cells.
func Slider(s *Styles, k workload.Knob, v float64, w int, selected bool) string {
	if w <= 0 {
		return ""
	}
	at := Slide(k, v, w)
	filled := s.Plain
	if selected {
		filled = s.Accent
	}
	return filled.On(strings.Repeat("━", at)+"●") + s.Line.On(strings.Repeat("─", w-at-1))
}
