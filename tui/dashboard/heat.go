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
	h.each, h.first = rowsOf(lo, hi, rows)
	for _, s := range spreads {
		from := a.Cell(float64(s.T))
		to := max(a.Cell(float64(s.T+s.Width)), from+1)
		for x := max(from, 0); x < min(to, a.Cells); x++ {
			for i, n := range s.Counts {
				h.add(x, h.place(s.First+i-1), h.place(s.First+i), float64(n))
				h.sums[x] += float64(n)
			}
		}
	}
	return h
}

// rowsOf returns how many rows a decade has in a map of so many that ends near the lowest and the highest band, and where
// the lowest row begins. Rows are bands, or several of them, where the map is of less than a decade.
func rowsOf(lo, hi, rows int) (each, first float64) {
	for each = measure.BandsPerDecade; each > float64(rows); each-- {
		first = math.Floor(float64(lo-1) * each / measure.BandsPerDecade)
		if float64(hi)*each/measure.BandsPerDecade-first <= float64(rows) {
			return each, first
		}
	}
	scale := plot.LogIn(measure.BandEnd(lo-1), measure.BandEnd(hi), rows+1) // a row lies between two of its rows
	each = float64(rows) / math.Log10(scale.High/scale.Low)
	return each, math.Log10(scale.Low) * each
}

// place returns where a band ends, in rows of the map.
func (h *Heat) place(band int) float64 {
	at := float64(band)*h.each/measure.BandsPerDecade - h.first
	return min(max(at, 0), float64(len(h.rows))) // what is at an end may be off by a rounding
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
