package chart

import "math"

// gridlines is how many parts a scale has that begins at 0.
const gridlines = 4

// scale maps values to parts of a height: from 0, or by decades.
type scale struct {
	lo, hi float64
	log    bool
}

// scale is what the values of a chart need; of a chart without any above 0 it goes
// up to 1.
func (c *Chart) scale() scale {
	if c.Heat != nil {
		return scale{c.Heat.Low, c.Heat.High, true}
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
		return scale{0, 1, false}
	case hi == 0:
		hi = 1
	case c.Log:
		return scale{math.Pow(10, math.Floor(math.Log10(lo))), math.Pow(10, math.Ceil(math.Log10(hi*1.0001))), true}
	}
	return scale{0, hi * 1.05, false}
}

// close is the scale of a page: by decades it leaves less room than whole ones do.
func (c *Chart) close() scale {
	s := c.scale()
	if !s.log || c.Heat != nil {
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

// decades is a scale by decades around the values from lo to hi, from one of 1, 2 and 5
// times a power of ten to another.
func decades(lo, hi float64) scale {
	s := scale{math.Pow(10, math.Floor(math.Log10(lo))), math.Pow(10, math.Ceil(math.Log10(hi))), true}
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

// grid are the values that are written beside the scale.
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
	for i := range gridlines + 1 {
		out = append(out, s.lo+(s.hi-s.lo)*float64(i)/gridlines)
	}
	return out
}
