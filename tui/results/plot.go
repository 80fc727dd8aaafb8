package results

import (
	"math"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/widget"
)

// curves is what the charts of a finished run show: one value per second.
type curves struct {
	// first is the second of the first value, negative in warm-up.
	first int
	// rates are units per second of what counts, slowest is the p99 in nanoseconds of
	// the slowest operation that counts. NaN is a gap.
	rates, slowest []float64
	// changes are the times at which a setting changed, phases those at which one of
	// several phases began.
	changes, phases []float64
}

// curvesOf computes the charts of a run.
func curvesOf(f *rundir.Folder) curves {
	from := rundir.Of(f)
	c := curves{first: from.First, rates: from.Rates, slowest: from.P99}
	for _, ch := range f.Run.Changes {
		if len(c.changes) == 0 || c.changes[len(c.changes)-1] != ch.At {
			c.changes = append(c.changes, ch.At)
		}
	}
	if len(f.Run.Phases) > 1 {
		for _, p := range f.Run.Phases {
			c.phases = append(c.phases, p.From)
		}
	}
	return c
}

// across spreads values over n places: interpolated if there are few, the mean or the
// maximum if there are many.
func across(vals []float64, n int, mean bool) []float64 {
	out := rundir.Gaps(n)
	if len(vals) == 0 {
		return out
	}
	if len(vals) > n {
		for i := range out {
			sum, top, count := 0.0, math.NaN(), 0.0
			for _, v := range vals[i*len(vals)/n : (i+1)*len(vals)/n] {
				if math.IsNaN(v) {
					continue
				}
				sum, count = sum+v, count+1
				if !(top >= v) {
					top = v
				}
			}
			out[i] = top
			if mean && count > 0 {
				out[i] = sum / count
			}
		}
		return out
	}
	for i := range out {
		at := (float64(i)+0.5)*float64(len(vals))/float64(n) - 0.5
		l := int(max(math.Floor(at), 0))
		r, f := min(l+1, len(vals)-1), max(at-float64(l), 0)
		switch a, b := vals[l], vals[r]; {
		case math.IsNaN(a) || math.IsNaN(b):
			out[i] = vals[int(min(max(math.Round(at), 0), float64(len(vals)-1)))]
		default:
			out[i] = a*(1-f) + b*f
		}
	}
	return out
}

// plot is one of the charts.
type plot struct {
	vals   []float64
	mean   bool // reduce by the mean, else by the maximum
	ink    widget.Ink
	format func(float64) string
}

// axisWidth is the width of the axis labels of a chart.
const axisWidth = 9

// draw fills exactly w×h cells: the line, its axis, the warm-up dimmed, a rule at each
// change.
func (p plot) draw(s *widget.Styles, c curves, w, h int) []string {
	cells := max(w-axisWidth, 1)
	top := chart.Nice(chart.Peak(p.vals))
	lines := chart.Braille(across(p.vals, 2*cells, p.mean), cells, h, top)
	var marks []int
	span := float64(max(len(p.vals), 1))
	for _, at := range c.changes {
		marks = append(marks, int((at-float64(c.first))/span*float64(cells)))
	}
	lines = chart.Rule(lines, marks, '┊')
	marks = marks[:0]
	for _, at := range c.phases {
		marks = append(marks, int((at-float64(c.first))/span*float64(cells)))
	}
	lines = chart.Rule(lines, marks, '╎')
	warm := min(max(int(float64(-c.first)/span*float64(cells)), 0), cells)
	out := make([]string, 0, h)
	for y, l := range lines {
		label := ""
		switch {
		case y == 0:
			label = p.format(top)
		case y == h-1:
			label = "0"
		case h >= 5 && h%2 == 1 && y == h/2:
			label = p.format(top / 2)
		}
		r := []rune(l)
		out = append(out, s.Muted.On(widget.FitRight(label, axisWidth-2))+s.Line.On(" ┤")+s.Past.On(string(r[:warm]))+p.ink.On(string(r[warm:])))
	}
	return out
}

// timeAxis labels the seconds below a chart.
func (c curves) timeAxis(s *widget.Styles, w int) string {
	cells := max(w-axisWidth, 1)
	n := len(c.rates)
	if n == 0 {
		return ""
	}
	line := []rune(strings.Repeat(" ", cells))
	step := chart.Nice(float64(n) / max(float64(cells)/14, 1))
	if step > 10 {
		for _, nice := range []float64{15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400} {
			if nice >= step*0.9 {
				step = nice
				break
			}
		}
	}
	step = max(math.Round(step), 1)
	for t := math.Ceil(float64(c.first)/step) * step; t < float64(c.first+n); t += step {
		at := int((t - float64(c.first)) / float64(n) * float64(cells))
		text := []rune(secondLabel(int(t)))
		if at+len(text) <= cells {
			copy(line[at:], text)
		}
	}
	return strings.Repeat(" ", axisWidth) + s.Muted.On(string(line))
}

func secondLabel(t int) string {
	if t >= 3600 {
		return (time.Duration(t) * time.Second).Truncate(time.Minute).String()[:len((time.Duration(t)*time.Second).Truncate(time.Minute).String())-2]
	}
	if t >= 60 {
		m := (time.Duration(t) * time.Second).String()
		return strings.TrimSuffix(m, "0s")
	}
	return widget.NumberText(float64(t)) + " s"
}

func durationLabel(v float64) string {
	return strings.ReplaceAll(units.Duration(time.Duration(v)), " ", "")
}
