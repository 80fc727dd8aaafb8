package chart

import "math"

// gridlines is how many parts a scale that begins at 0 has.
const gridlines = 4

// scale maps values to fractions of a height: linearly from 0, or logarithmically.
type scale struct {
	lo, hi float64
	log    bool
	// step is the distance between lines of the grid; 0: even parts.
	step float64
}

// roundStep returns the smallest round number that is at least v; for bytes, one that
// is round in powers of 1024.
func roundStep(v float64, unit string) float64 {
	power := 1.0
	if unit == Bytes {
		for power*1024 <= v {
			power *= 1024
		}
	}
	power *= math.Pow(10, math.Floor(math.Log10(v/power)))
	for _, by := range []float64{1, 2, 2.5, 5} {
		if by*power >= v*(1-1e-9) {
			return by * power
		}
	}
	return 10 * power
}

// scale returns the scale that the values of a chart need; if none is above 0, it ends
// at 1.
func (c *Chart) scale() scale {
	if c.Heat != nil {
		return scale{c.Heat.Low, c.Heat.High, true, 0}
	}
	lo, hi := math.Inf(1), 0.0
	for _, l := range c.Lines {
		for _, v := range l.Values {
			if v > 0 {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	switch {
	case hi == 0 && c.Log:
		return scale{lo: 0, hi: 1}
	case hi == 0:
		hi = 1
	case c.Log:
		return scale{math.Pow(10, math.Floor(math.Log10(lo))), math.Pow(10, math.Ceil(math.Log10(hi*1.0001))), true, 0}
	}
	return scale{lo: 0, hi: hi * 1.05}
}

// close returns the scale for a page: it ends at a round number, and if it is
// logarithmic it fits more closely than whole decades.
func (c *Chart) close() scale {
	s := c.scale()
	switch {
	case c.Heat != nil:
		return s
	case !s.log:
		s.step = roundStep(s.hi/1.05/gridlines, c.Unit)
		s.hi = math.Ceil(s.hi/1.05/s.step-1e-9) * s.step
		return s
	}
	lo, hi := math.Inf(1), 0.0
	for _, l := range c.Lines {
		for _, v := range l.Values {
			if v > 0 {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return decades(lo, hi)
}

// decades returns a logarithmic scale around the values from lo to hi, with ends that
// are 1, 2 or 5 times a power of ten.
func decades(lo, hi float64) scale {
	s := scale{math.Pow(10, math.Floor(math.Log10(lo))), math.Pow(10, math.Ceil(math.Log10(hi))), true, 0}
	for _, by := range []float64{5, 2} {
		if s.lo*by <= lo {
			s.lo *= by
			break
		}
	}
	for _, by := range []float64{5, 2} {
		if s.hi/by >= hi {
			s.hi /= by
			break
		}
	}
	if s.hi <= s.lo {
		s.hi = s.lo * 10
	}
	return s
}

func (s scale) part(v float64) float64 {
	if s.log {
		return (math.Log10(max(v, s.lo)) - math.Log10(s.lo)) / (math.Log10(s.hi) - math.Log10(s.lo))
	}
	return (v - s.lo) / (s.hi - s.lo)
}

// grid returns the values that are labelled on the scale.
func (s scale) grid() []float64 {
	var out []float64
	if s.log {
		steps := []float64{1}
		if s.hi/s.lo < 50 {
			steps = []float64{1, 2, 5}
		}
		for power := math.Pow(10, math.Floor(math.Log10(s.lo*1.001))); power <= s.hi*1.001; power *= 10 {
			for _, by := range steps {
				if v := power * by; v >= s.lo*0.999 && v <= s.hi*1.001 {
					out = append(out, v)
				}
			}
		}
		return out
	}
	if s.step > 0 {
		for v := s.lo; v <= s.hi*(1+1e-9); v += s.step {
			out = append(out, v)
		}
		return out
	}
	for i := range gridlines + 1 {
		out = append(out, s.lo+(s.hi-s.lo)*float64(i)/gridlines)
	}
	return out
}
