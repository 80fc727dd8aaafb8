package plot

import "math"

// gridlines is how many parts a scale that begins at 0 has at most.
const gridlines = 4

// scale is the scale of a chart; step is the distance between the lines of its grid, where it is not
// logarithmic.
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
		all := [][]float64{l.Values, l.Low, l.High}
		if l.Bars {
			all = all[:1]
		}
		for _, values := range all {
			for _, v := range values {
				if v > 0 {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
		}
	}
	return lo, hi
}

// scale returns the scale that the values of a chart need, with the distance of its gridlines; if no
// value is above 0, it ends at 1. A logarithmic one has its ends at 1, 2 or 5 times a power of ten.
func (c *Chart) scale() scale {
	lo, hi := c.ends()
	switch {
	case c.Heat != nil:
		return scale{Scale: Scale{Low: c.Heat.Low, High: c.Heat.High, Log: true}}
	case hi == 0:
		return scale{Scale: Scale{High: 1}, step: 1.0 / gridlines}
	case c.Log:
		return scale{Scale: Around(lo, hi)}
	}
	top := Top(hi, c.Unit == Bytes)
	return scale{Scale: Scale{High: top}, step: min(Step(top/gridlines, c.Unit == Bytes), top)}
}

// grid returns the values that are labelled on the scale.
func (s scale) grid() []float64 {
	var out []float64
	switch {
	case s.Log:
		return Round(s.Low, s.High, s.High/s.Low < 50)
	default:
		for i := 0.0; i*s.step <= s.High*(1+1e-9); i++ {
			out = append(out, i*s.step)
		}
	}
	return out
}
