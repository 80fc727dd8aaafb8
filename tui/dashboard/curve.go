package dashboard

import (
	"math"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
)

// nines are the percentiles labelled below a curve; each step leaves a tenth of the
// remaining calls.
var nines = []struct {
	at   float64
	text string
}{{0, "0 %"}, {90, "90 %"}, {99, "99 %"}, {99.9, "99.9 %"}, {99.99, "99.99 %"}, {99.999, "99.999 %"}}

// Curve is a chart of latency over percentiles, which gives rare calls as much width as
// common ones.
type Curve struct {
	Plot
	decades int
}

// NewCurve draws a curve for each spread, in the colour of its series, as far as there
// are enough calls; nil if there are too few.
func NewCurve(cells, rows int, spreads []measure.Spread, series []int, label func(float64) string) *Curve {
	c := &Curve{Plot: Plot{Cells: cells, Rows: rows, Label: label, Fresh: cells}}
	for _, s := range spreads {
		for n := len(nines) - 1; n > c.decades; n-- {
			if measure.Enough(nines[n].at, s.Calls()) {
				c.decades = n
			}
		}
	}
	if c.decades == 0 {
		return nil
	}
	low, high := math.Inf(1), 0.0
	for i, s := range spreads {
		total := s.Calls()
		if total == 0 {
			continue
		}
		line := make([]float64, 2*cells)
		for x := range line {
			p := 100 * (1 - math.Pow(10, -float64(x)/float64(len(line)-1)*float64(c.decades)))
			if line[x] = math.NaN(); measure.Enough(p, total) {
				line[x] = quantile(s, total, p)
				low, high = min(low, line[x]), max(high, line[x])
			}
		}
		c.Areas = append(c.Areas, Area{From: line, To: line, Series: series[i]})
	}
	c.Scale = plot.LogIn(low, high, rows)
	return c
}

// quantile returns the time that so many percent of the calls stayed below, assuming
// that they are evenly distributed within a band.
func quantile(s measure.Spread, total int64, percent float64) float64 {
	rank, before := percent/100*float64(total), 0.0
	for i, n := range s.Counts {
		upTo := before + float64(n)
		if n > 0 && rank <= upTo {
			from := measure.BandEnd(s.First + i - 1)
			return from + (measure.BandEnd(s.First+i)-from)*(rank-before)/float64(n)
		}
		before = upTo
	}
	return measure.BandEnd(s.First + len(s.Counts) - 1)
}

// Foot returns the line below the curve: the percentiles.
func (c *Curve) Foot() string {
	line, free := []rune(strings.Repeat(" ", c.Cells)), 0
	for n := range c.decades + 1 {
		text := []rune(nines[n].text)
		at := min(n*(c.Cells-1)/c.decades, c.Cells-len(text))
		if at >= free {
			copy(line[at:], text)
			free = at + len(text) + 1
		}
	}
	return string(line)
}
