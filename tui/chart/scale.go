package chart

// quiet is how many seconds a smaller scale must have sufficed before the scale
// shrinks, and early how many where one of the first quiet seconds of the run filled it, in which connections are
// made and caches fill; filling is which part of the most that is to be shown fills the scale.
const quiet, early, filling = 10, 3, 0.8

// Ceiling is what an axis over time must have room for. It grows at once and shrinks only
// after ten quiet seconds, or three at the start, so that a chart does not keep rescaling. The zero value is ready
// for use.
type Ceiling struct {
	// Most is the highest value that the axis has room for, 0 before there is one.
	Most float64
	// need is the highest value since the last second that filled the axis.
	need   float64
	filled int
}

// Next returns the ceiling after a second in which the largest visible value was peak.
// Calling it again with the same second has no significant effect.
func (s Ceiling) Next(peak float64, second int) Ceiling {
	if !finite(peak) {
		return s
	}
	wait := quiet
	if s.filled < quiet {
		wait = early
	}
	switch {
	case peak >= filling*s.Most:
		return Ceiling{Most: max(peak, s.Most), filled: second}
	case second-s.filled >= wait:
		return Ceiling{Most: max(peak, s.need), filled: second}
	}
	s.need = max(s.need, peak)
	return s
}
