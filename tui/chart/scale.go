package chart

import "math"

// Nice returns the smallest of 1, 2 or 5 × 10ⁿ that is not below v, or 1 if v cannot be
// drawn.
func Nice(v float64) float64 {
	if !finite(v) || v <= 0 {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(v)))
	if base == 0 || math.IsInf(base, 0) {
		return v
	}
	for _, f := range []float64{1, 2, 5, 10} {
		if f*base >= v*(1-1e-12) && finite(f*base) {
			return f * base
		}
	}
	return v
}

// quiet is how many seconds a smaller scale must have sufficed before the scale
// shrinks.
const quiet = 10

// Scale is the top of an axis over time. It grows at once and shrinks only after ten
// quiet seconds, so that a chart does not keep rescaling. The zero value is ready for
// use.
type Scale struct {
	// Top is the end of the axis, 1, 2 or 5 × 10ⁿ.
	Top float64
	// need is the largest top needed since the last second that filled the axis.
	need   float64
	filled int
}

// Next returns the scale after a second in which the largest visible value was peak.
// Calling it again with the same second has no significant effect.
func (s Scale) Next(peak float64, second int) Scale {
	top := Nice(peak)
	switch {
	case s.Top <= 0 || top >= s.Top:
		return Scale{Top: max(top, s.Top), filled: second}
	case second-s.filled >= quiet:
		return Scale{Top: max(top, s.need), filled: second}
	}
	s.need = max(s.need, top)
	return s
}

// Log maps v to 0..1 on a logarithmic axis from lo to hi. NaN stays a gap, and values
// below lo become 0.
func Log(v, lo, hi float64) float64 {
	if !finite(v) || !finite(lo) || !finite(hi) || lo <= 0 || hi <= lo {
		return math.NaN()
	}
	if v <= lo {
		return 0
	}
	return min(math.Log(v/lo)/math.Log(hi/lo), 1)
}
