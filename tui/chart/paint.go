package chart

import (
	"strings"

	"github.com/perfbench/perfbench/tui/widget"
)

// Paint returns the rows of a canvas, each cell in the ink that ink returns for its layer
// and place.
func Paint(c *Canvas, ink func(l Layer, x, y int) widget.Ink) []string {
	w, h := c.Size()
	out := make([]string, h)
	var b, run strings.Builder
	for y := range out {
		b.Reset()
		var now widget.Ink
		for x := range w {
			r, l := c.At(x, y)
			k := ink(l, x, y)
			if u := c.Under(x, y); u != 0 {
				k = k.Over(ink(u, x, y))
			}
			if k != now {
				b.WriteString(now.On(run.String()))
				run.Reset()
				now = k
			}
			run.WriteRune(r)
		}
		b.WriteString(now.On(run.String()))
		run.Reset()
		out[y] = b.String()
	}
	return out
}
