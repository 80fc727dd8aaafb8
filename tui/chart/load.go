package chart

import (
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/tui/widget"
)

// Load returns the curves of a chart of latency over a load, with bands, rules at the knees
// and axes in per cent of them.
func Load(s *widget.Styles, c *plot.Chart) Plot {
	p := Plot{Log: true, Format: c.Format, Across: c.Across, Axes: c.Axes}
	for i, l := range c.Lines {
		p.Curves = append(p.Curves, Curve{At: c.Moments(l), Values: l.Values, Low: l.Low, High: l.High, Ink: s.Series[i%len(s.Series)]})
	}
	for _, m := range c.Marks {
		p.Marks = append(p.Marks, m.At)
	}
	return p
}

// LoadLegend names the curves of Load in their colours.
func LoadLegend(s *widget.Styles, c *plot.Chart) string {
	out := ""
	for i, l := range c.Lines {
		if i > 0 {
			out += "  "
		}
		out += s.Series[i%len(s.Series)].On(l.Name)
	}
	return out
}
