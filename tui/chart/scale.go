package chart

import "github.com/perfbench/perfbench/internal/plot"

// quiet is how many seconds a smaller scale must have sufficed before the scale
// shrinks.
const quiet = 10

// Ceiling is the end of an axis over time. It grows at once and shrinks only after ten
// quiet seconds, so that a chart does not keep rescaling. The zero value is ready for
// use.
type Ceiling struct {
	// Top is the end of the axis, as plot.Top has it.
	Top float64
	// need is the largest top needed since the last second that filled the axis.
	need   float64
	filled int
}

// Next returns the ceiling after a second in which the largest visible value was peak.
// Calling it again with the same second has no significant effect.
func (s Ceiling) Next(peak float64, second int) Ceiling {
	top := plot.Top(peak, false)
	switch {
	case s.Top <= 0 || top >= s.Top:
		return Ceiling{Top: max(top, s.Top), filled: second}
	case second-s.filled >= quiet:
		return Ceiling{Top: max(top, s.need), filled: second}
	}
	s.need = max(s.need, top)
	return s
}
