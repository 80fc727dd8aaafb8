package chart

import (
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/tui/widget"
)

// Upright puts a vertical axis before the rows of a picture, its labels in so many cells: the
// round values of the scale, which format writes.
func Upright(s *widget.Styles, picture []string, labels int, scale plot.Scale, format func(float64) string) []string {
	at := make([]string, len(picture))
	for _, t := range scale.Ticks(len(picture)) {
		if at[t.Row] = format(t.Value); t.Value == 0 {
			at[t.Row] = "0"
		}
	}
	out := make([]string, 0, len(picture)+1)
	for y, row := range picture {
		edge := " │"
		if at[y] != "" {
			edge = " ┤"
		}
		out = append(out, s.Muted.On(widget.FitRight(at[y], labels))+s.Line.On(edge)+row)
	}
	return out
}
