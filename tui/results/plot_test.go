package results

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/widget"
)

// Whoever reads the chart of a finished run by its axis reads the figures of its seconds, to an
// eighth of a row.
func TestTheChartOfARunIsItsFigures(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		cells, h := 20+random.IntN(60), 5+2*random.IntN(8)
		vals := make([]float64, 2*cells) // one for each half of a column
		for i := range vals {
			vals[i] = 1000 * random.Float64()
		}
		g := graph{vals: vals, format: func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }}
		rows := g.draw(s, curves{rates: vals}, cells+chart.AxisWidth, h)
		require.Len(t, rows, h)
		label, _, ok := strings.Cut(ansi.Strip(rows[0]), " ┤")
		require.True(t, ok, "the end of the scale is labelled")
		top, err := strconv.ParseFloat(strings.TrimSpace(label), 64)
		require.NoError(t, err)
		for x := range cells {
			eighths := 0
			for _, row := range rows {
				if r := []rune(ansi.Strip(row))[chart.AxisWidth+x]; r >= '▁' && r <= '█' {
					eighths += int(r-'▁') + 1
				}
			}
			assert.InDelta(t, max(vals[2*x], vals[2*x+1]), float64(eighths)/float64(8*h)*top, top/float64(8*h)+1e-9, strings.Join(rows, "\n"))
		}
	}
}

// The page of errors begins with their course, on the axis of all charts: an outage hides none of it, and where
// nothing failed in the seconds of the run there is none.
func TestThePageOfErrorsHasTheirCourse(t *testing.T) {
	for _, w := range []int{56, 76, 116} {
		a, r, _ := show(t, w+4, 40)
		l := r.run.loaded
		none := ansi.Strip(strings.Join(l.failures(a.Env.Styles, r.moment, w, 0), "\n"))
		assert.NotContains(t, none, "per second")
		assert.True(t, r.moment.plots.Empty())

		l.course.errors = make([]int64, len(l.course.rates))
		at := 20 - l.course.first
		for i := at; i < at+6; i++ {
			l.course.errors[i] = 40
		}
		l.course.idle = []idle{{from: 20, to: 26}}
		page := ansi.Strip(strings.Join(l.failures(a.Env.Styles, r.moment, w, 0), "\n"))
		lines := strings.Split(page, "\n")
		assert.Contains(t, lines[0], "Errors per second")
		assert.Contains(t, page, "40 ┤")
		cells := w - chart.AxisWidth
		column := chart.AxisWidth + l.course.column(22, cells)
		assert.Equal(t, "█", string([]rune(lines[3])[column]), "%d: the outage is full of them: %s", w, page)
		assert.NotContains(t, string([]rune(lines[3])[:column-cells/8]), "█")
		assert.Contains(t, page, "00:30", "the axis")
		assert.Contains(t, page, "timeout")
		assert.Equal(t, w, r.moment.plots.Max.X)

		f := *l.folder
		f.Run.Parts, f.Run.Operations = []string{"a.part"}, []rundir.Operation{{Track: "a", Op: "whole"}, {Track: "a", Op: "part", Errors: 7}}
		l.folder = &f
		high := l.failures(a.Env.Styles, r.moment, w, 20)
		assert.Greater(t, len(high), len(lines), "a higher chart where there is room")
		assert.LessOrEqual(t, len(high), 20)
		assert.Contains(t, ansi.Strip(high[0]), "Errors per second")
		assert.Contains(t, ansi.Strip(strings.Join(high, "\n")), "besides, 7 failed", "below the chart, not in its place")
	}
}

// l gives the latency the other axis; it begins with the one that it had while the run went, and does nothing where there
// is no chart of latency.
func TestLatencyHasTheAxisThatSuitsItAndLGivesItTheOther(t *testing.T) {
	a, r, _ := show(t, 120, 40)
	assert.Contains(t, a.Picture(t), "Latency   █")
	a.Send(t, "l")
	assert.Contains(t, a.Picture(t), "Latency, log   █")
	a.Send(t, "l")
	assert.Contains(t, a.Picture(t), "Latency   █")

	c := &r.run.loaded.course
	for _, few := range []float64{4e6, 6e6} { // as while the run goes
		for i := range c.course.P99 {
			c.course.P50[i], c.course.P99[i], c.course.Max[i] = 1e6, 1e6, few
		}
		r.moment.turned, r.pages.cache = false, bodyCache{}
		want := "Latency   █"
		if few > chart.Far*1e6 {
			want = "Latency, log   █"
		}
		assert.Contains(t, a.Picture(t), want)
	}
	assert.True(t, r.moment.timed)

	a, r, _ = show(t, 60, 16)
	a.Picture(t)
	assert.False(t, r.moment.turn(), "there is throughput only")
}
