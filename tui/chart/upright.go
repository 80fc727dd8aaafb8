package chart

import (
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/tui/widget"
)

// Upright puts a vertical axis before the rows of a picture, its labels in so many cells:
// at both ends and, if there is a row in the middle, there. value writes the value at a
// part of the height.
func Upright(s *widget.Styles, picture []string, labels int, value func(part float64) string) []string {
	out, rows := make([]string, 0, len(picture)+1), len(picture)
	for y, row := range picture {
		label := ""
		switch {
		case y == 0:
			label = value(1)
		case y == rows-1:
			label = value(0)
		case rows >= 5 && rows%2 == 1 && y == rows/2:
			label = value(0.5)
		}
		out = append(out, s.Muted.On(widget.FitRight(ansi.Truncate(label, labels, ""), labels))+s.Line.On(" ┤")+row)
	}
	return out
}
