package dashboard

import (
	"math"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/tui/widget"
)

// Heat is a map of latency over time: the more calls of a moment took so long, the
// denser and hotter its cell.
type Heat struct {
	rows  [][]int64 // from the lowest up, cells from left to right
	sums  []int64
	first int // band of the lowest row
	each  int // bands per row
	Cells int
}

// NewHeat gathers spreads in rows over an axis.
func NewHeat(a Axis, rows int, spreads []measure.Spread) *Heat {
	lo, hi := math.MaxInt, math.MinInt
	for _, s := range spreads {
		lo, hi = min(lo, s.First), max(hi, s.First+len(s.Counts)-1)
	}
	if rows <= 0 || lo > hi {
		return nil
	}
	h := &Heat{rows: make([][]int64, rows), sums: make([]int64, a.Cells), first: lo, each: (hi-lo)/rows + 1, Cells: a.Cells}
	for i := range h.rows {
		h.rows[i] = make([]int64, a.Cells)
	}
	for _, s := range spreads {
		from := a.Cell(float64(s.T))
		to := max(a.Cell(float64(s.T+s.Width)), from+1)
		for x := max(from, 0); x < min(to, a.Cells); x++ {
			for i, n := range s.Counts {
				h.rows[(s.First+i-lo)/h.each][x] += n
				h.sums[x] += n
			}
		}
	}
	return h
}

// shades are the characters of a heat map, which show even without colour where most
// calls are.
var shades = [plot.HeatLevels + 1]string{" ", "·", "░", "░", "▒", "▒", "▓", "█"}

// Draw returns the rows of the map, styled, the longest times first.
func (h *Heat) Draw(s *widget.Styles) []string {
	out := make([]string, len(h.rows))
	for y := range out {
		var b strings.Builder
		row := h.rows[len(h.rows)-1-y]
		for x := 0; x < h.Cells; {
			level := h.level(row, x)
			from := x
			for x < h.Cells && h.level(row, x) == level {
				x++
			}
			text := strings.Repeat(shades[level], x-from)
			if level > 0 {
				text = s.Heat[level-1].On(text)
			}
			b.WriteString(text)
		}
		out[y] = b.String()
	}
	return out
}

func (h *Heat) level(row []int64, x int) int {
	if row[x] == 0 {
		return 0
	}
	return plot.HeatLevel(float64(row[x]) / float64(h.sums[x]))
}

// Ticks returns the round values among the rows, in even steps.
func (h *Heat) Ticks(label func(float64) string) []Tick {
	low, high := measure.BandEnd(h.first-1), measure.BandEnd(h.first+len(h.rows)*h.each-1)
	row := func(v float64) int {
		band := int(math.Ceil(math.Log10(v)*measure.BandsPerDecade - 1e-9))
		return len(h.rows) - 1 - int(math.Floor(float64(band-h.first)/float64(h.each)))
	}
	var out []Tick
	for _, v := range plot.Even(low, high, len(h.rows), func(a, b float64) bool { return row(a) != row(b) }) {
		if y := row(v); y >= 0 && y < len(h.rows) {
			out = append(out, Tick{y, label(v)})
		}
	}
	return out
}
