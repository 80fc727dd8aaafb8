package dashboard

import (
	"math"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/tui/widget"
)

// Heat is a map of latency over time: the more calls of a moment took so long, the
// denser and hotter its cell. Powers of ten are where two rows meet.
type Heat struct {
	rows  [][]float64 // from the lowest up, cells from left to right
	sums  []float64
	first float64 // where the lowest row begins, in rows from 1 ns on
	each  float64 // rows of a decade
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
	h := &Heat{rows: make([][]float64, rows), sums: make([]float64, a.Cells), Cells: a.Cells}
	for i := range h.rows {
		h.rows[i] = make([]float64, a.Cells)
	}
	for by := float64(measure.BandsPerDecade); ; by = fewer(by) {
		h.each, h.first = by, math.Floor(h.place(lo-1, by))
		if h.place(hi, by)-h.first <= float64(rows) {
			break
		}
	}
	for _, s := range spreads {
		from := a.Cell(float64(s.T))
		to := max(a.Cell(float64(s.T+s.Width)), from+1)
		for x := max(from, 0); x < min(to, a.Cells); x++ {
			for i, n := range s.Counts {
				h.add(x, h.place(s.First+i-1, h.each)-h.first, h.place(s.First+i, h.each)-h.first, float64(n))
				h.sums[x] += float64(n)
			}
		}
	}
	return h
}

// fewer returns the next smaller number of rows of a decade: a whole one, or a whole part of one.
func fewer(rows float64) float64 {
	if rows > 1 {
		return rows - 1
	}
	return 1 / (math.Round(1/rows) + 1)
}

// place returns where a band ends, in rows from 1 ns on of which a decade has so many.
func (h *Heat) place(band int, each float64) float64 {
	return float64(band) * each / measure.BandsPerDecade
}

// add spreads n calls of a column over the rows from one place to another.
func (h *Heat) add(x int, from, to, n float64) {
	for y := int(from); float64(y) < to; y++ {
		h.rows[y][x] += n * (min(to, float64(y+1)) - max(from, float64(y))) / (to - from)
	}
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

func (h *Heat) level(row []float64, x int) int {
	if row[x] == 0 {
		return 0
	}
	return plot.HeatLevel(row[x] / h.sums[x])
}

// Ticks returns the round values among the rows, in even steps, each in the row that ends with it.
func (h *Heat) Ticks(label func(float64) string) []Tick {
	end := func(row float64) float64 { return math.Pow(10, (h.first+row)/h.each) }
	row := func(v float64) int { return len(h.rows) - int(math.Ceil(math.Log10(v)*h.each-h.first-1e-9)) }
	var out []Tick
	for _, v := range plot.Even(end(0), end(float64(len(h.rows))), len(h.rows), func(values []float64) bool {
		for i := range len(values) - 1 {
			if by := row(values[i]) - row(values[i+1]); by < 1 || by != row(values[0])-row(values[1]) {
				return false
			}
		}
		return true
	}) {
		if y := row(v); y >= 0 && y < len(h.rows) {
			out = append(out, Tick{y, label(v)})
		}
	}
	return out
}
