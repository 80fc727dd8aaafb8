package plot

import (
	"math"
)

// gridlines is how many parts a scale that begins at 0 has.
const gridlines = 4

// scale is the scale of a chart; step is the distance between the lines of its grid, 0:
// even parts.
type scale struct {
	Scale
	step float64
}

// ends returns the lowest value above 0 and the highest of a chart, with its levels; the highest is 0
// if there is none.
func (c *Chart) ends() (lo, hi float64) {
	lo = math.Inf(1)
	for _, l := range c.Levels {
		if l.Value > 0 {
			lo, hi = min(lo, l.Value), max(hi, l.Value)
		}
	}
	for _, l := range c.Lines {
		for _, values := range [][]float64{l.Values, l.Low, l.High} {
			for _, v := range values {
				if v > 0 {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
		}
	}
	return lo, hi
}

// scale returns the scale that the values of a chart need; if none is above 0, it ends
// at 1.
func (c *Chart) scale() scale {
	lo, hi := c.ends()
	switch {
	case c.Heat != nil:
		return scale{Scale: Scale{Low: c.Heat.Low, High: c.Heat.High, Log: true}}
	case hi == 0 && c.Log:
		return scale{Scale: Scale{High: 1}}
	case hi == 0:
		hi = 1
	case c.Log:
		return scale{Scale: Decades(lo, hi*1.0001)}
	}
	return scale{Scale: Scale{High: hi * 1.05}}
}

// close returns the scale for a page: it ends at a round number, and if it is
// logarithmic it fits more closely than whole decades.
func (c *Chart) close() scale {
	s := c.scale()
	switch {
	case c.Heat != nil:
		return s
	case !s.Log:
		s.step = Step(s.High/1.05/gridlines, c.Unit == Bytes)
		s.High = math.Ceil(s.High/1.05/s.step-1e-9) * s.step
		return s
	}
	return scale{Scale: Around(c.ends())}
}

// grid returns the values that are labelled on the scale.
func (s scale) grid() []float64 {
	var out []float64
	switch {
	case s.Log:
		return Round(s.Low, s.High, s.High/s.Low < 50)
	case s.step > 0:
		for v := s.Low; v <= s.High*(1+1e-9); v += s.step {
			out = append(out, v)
		}
	default:
		for i := range gridlines + 1 {
			out = append(out, s.Low+(s.High-s.Low)*float64(i)/gridlines)
		}
	}
	return out
}
