package plot

import (
	"fmt"
	"math"
	"strings"
)

// Heat says how many calls took how long at which time: columns of equal width over the
// time of a chart, and rows over its scale, the lowest first.
type Heat struct {
	// From and To are the seconds that the columns cover.
	From, To float64
	// Low and High are the ends of the rows' scale, which is logarithmic.
	Low, High float64
	rows      int
	cells     [][]float64 // counts, column by column
}

// NewHeat returns an empty map over the seconds from 0 to to, for values from low to
// high, with that many rows per decade.
func NewHeat(to, low, high float64, rows int) *Heat {
	s := Around(low, high)
	h := &Heat{To: to, Low: s.Low, High: s.High}
	h.rows = max(int(math.Log10(h.High/h.Low)*float64(rows)+0.5), 1)
	return h
}

// Column appends an empty column, to which Add adds values.
func (h *Heat) Column() { h.cells = append(h.cells, make([]float64, h.rows)) }

// Add adds n calls that took v to the last column.
func (h *Heat) Add(v float64, n int64) {
	part := math.Log(max(v, h.Low)/h.Low) / math.Log(h.High/h.Low)
	h.cells[len(h.cells)-1][min(max(int(part*float64(h.rows)), 0), h.rows-1)] += float64(n)
}

// HeatLevels is how many shades a heat map has; each stands for three times as much as
// the one before.
const HeatLevels = 7

// HeatLevel returns the shade for a fraction of the calls of a column: 0 for none.
func HeatLevel(share float64) int {
	if share <= 0 {
		return 0
	}
	return min(max(HeatLevels+int(math.Floor(math.Log(share)/math.Log(3)))+1, 1), HeatLevels)
}

// heat draws a path for each shade.
func (d *drawing) heat() {
	h := d.Heat
	if len(h.cells) == 0 {
		return
	}
	levels := make([][]int, len(h.cells))
	for i, column := range h.cells {
		levels[i] = make([]int, len(column))
		sum := 0.0
		for _, n := range column {
			sum += n
		}
		for k, n := range column {
			levels[i][k] = HeatLevel(n / max(sum, 1))
		}
	}
	wide, high := (h.To-h.From)/float64(len(levels)), float64(pageHeight)/float64(len(levels[0]))
	for shade := 1; shade <= HeatLevels; shade++ {
		var b strings.Builder
		for k := range levels[0] {
			for i := 0; i < len(levels); i++ {
				if levels[i][k] != shade {
					continue
				}
				from := i
				for i+1 < len(levels) && levels[i+1][k] == shade {
					i++
				}
				x, y := d.x(h.From+float64(from)*wide), math.Round(pageHeight-float64(k+1)*high)
				fmt.Fprintf(&b, "M%.0f %.0fH%.0fv%.0fH%.0fz", x, y, d.x(h.From+float64(i+1)*wide), math.Round(pageHeight-float64(k)*high)-y, x)
			}
		}
		if b.Len() > 0 {
			fmt.Fprintf(&d.b, "<path class=\"h%d\" d=\"%s\"/>\n", shade, b.String())
		}
	}
}
