package dashboard

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/tui/chart"
)

// Histogram is a chart of how many calls took how long: a bar for each band of a
// logarithmic scale, or for several bands if there are many.
type Histogram struct {
	Plot
	first, bars int // the number of the first bar, and the number of bars
	each        int // bands per bar
	dots        int // columns of dots per bar, the last of which stays empty
}

// NewHistogram draws the spreads stacked, each in the colour of its series, as
// fractions of all calls. It returns nil if there are no calls.
func NewHistogram(cells, rows int, spreads []measure.Spread, series []int) *Histogram {
	var all measure.Spread
	for _, s := range spreads {
		all = all.Plus(s)
	}
	total := all.Calls()
	if total == 0 || cells <= 0 || rows <= 0 {
		return nil
	}
	h := &Histogram{Plot: Plot{Cells: cells, Rows: rows, Label: percent, Fresh: cells}}
	for h.each = 1; ; h.each++ {
		h.first = all.First / h.each
		h.bars = (all.First+len(all.Counts)-1)/h.each - h.first + 1
		const narrowest = 4 // two cells, one of which parts it from the next
		if h.dots = 2 * (cells / h.bars); h.dots >= narrowest || h.bars == 1 {
			break
		}
	}
	upTo := make([]float64, h.bars)
	for i, s := range spreads {
		for n, count := range s.Counts {
			upTo[(s.First+n)/h.each-h.first] += 100 * float64(count) / float64(total)
		}
		h.Areas = append([]Area{{To: h.columns(upTo), Series: series[i]}}, h.Areas...)
	}
	h.High = plot.TopIn(chart.Peak(upTo), rows)
	for _, q := range []struct {
		percent float64
		name    string
	}{{50, "p50"}, {90, "p90"}, {99, "p99"}, {99.9, "p99.9"}} {
		if measure.Enough(q.percent, total) {
			h.Moments = append(h.Moments, chart.Moment{Cell: h.cell(quantile(all, total, q.percent)), Sign: '▾', Name: q.name})
		}
	}
	return h
}

// percent formats a percentage.
func percent(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) + " %" }

// columns returns the heights of bars by column of dots; a bar without calls is a gap.
func (h *Histogram) columns(heights []float64) []float64 {
	out := make([]float64, 2*h.Cells)
	for x := range out {
		out[x] = math.NaN()
		bar := x / h.dots
		if bar < h.bars && heights[bar] > 0 && (x%h.dots < h.dots-2 || h.dots <= 2) {
			out[x] = heights[bar]
		}
	}
	return out
}

// cell returns the column of a time in nanoseconds.
func (h *Histogram) cell(ns float64) int {
	bars := (math.Log10(ns)*measure.BandsPerDecade+1)/float64(h.each) - float64(h.first)
	return int(bars * float64(h.dots) / 2)
}

// at returns the time in nanoseconds at which a column begins.
func (h *Histogram) at(cell int) float64 {
	return math.Pow(10, ((2*float64(cell)/float64(h.dots)+float64(h.first))*float64(h.each)-1)/measure.BandsPerDecade)
}

// Foot returns the line below the bars: round times in even steps, formatted by label.
func (h *Histogram) Foot(label func(float64) string) string {
	line := []rune(strings.Repeat(" ", h.Cells))
	span := func(ns float64) (from, to int) { // of a label
		n := utf8.RuneCountInString(label(ns))
		from = h.cell(ns) - n/2
		return from, from + n
	}
	const least, longest = 1, 5e10 // nanoseconds
	for _, ns := range plot.Even(max(h.at(0), least), min(h.at(h.Cells), longest), h.Cells, func(values []float64) bool {
		for i := range len(values) - 1 {
			_, end := span(values[i])
			if from, _ := span(values[i+1]); from < end+2 {
				return false
			}
		}
		return true
	}) {
		if from, to := span(ns); from >= 0 && to <= h.Cells {
			copy(line[from:], []rune(label(ns)))
		}
	}
	return string(line)
}
