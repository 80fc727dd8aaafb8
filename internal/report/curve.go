package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
)

const (
	// nines is how far the percentile axis reaches: 99.999 %.
	nines = 5
	// perNine is how many points a curve has for each nine.
	perNine = 20
	// beyond is how many calls must lie beyond a percentile for it to be drawn.
	beyond = 10
)

// withCurve draws the curve of percentiles above the table of times.
func withCurve(s Section, f *rundir.Folder) Section {
	if g := percentiles(f); !g.Empty() {
		s.Charts = append(s.Charts, g)
	}
	return s
}

// percentiles returns the percentile curve of the response times of all calls that
// count, on an axis on which each nine takes the same space, together with that of an
// earlier run.
func percentiles(f *rundir.Folder) Graph {
	g := byPercentile("response time" + ofWhich(&f.Run) + " by percentile")
	add := func(name string, h *hdrhistogram.Histogram) {
		if h == nil || h.TotalCount() == 0 {
			return
		}
		g.Lines = append(g.Lines, plot.Line{Name: Plain(name), Values: curveOf(h, g.At)})
	}
	add("response", all(f, hlog.Response))
	if slices.ContainsFunc(f.Run.Headline().Timed, func(o rundir.Operation) bool { return o.Wait.Max > 0 }) { // otherwise they are the same
		add("service", all(f, hlog.Service))
	}
	if f.Against != nil {
		add("response of "+f.Against.Run.ID, all(f.Against, hlog.Response))
	}
	return shortened(g)
}

// byPercentile is a graph without lines over percentiles, on an axis on which each nine takes
// the same space.
func byPercentile(title string) Graph {
	g := Graph{Over: true, Chart: plot.Chart{
		Caption: "That share of the calls took at most so long. Each nine is as wide as the one before; a curve ends where too few calls are left to tell.",
		Title:   title, Log: true, Unit: plot.Nanoseconds, Format: duration,
		Ticks:  []float64{0, -math.Log10(0.5), 1, -math.Log10(0.05), 2, 3, 4, 5},
		Across: func(x float64) string { return fmt.Sprintf("p%.5g", (1-math.Pow(10, -x))*100) },
	}}
	for i := range nines*perNine + 1 {
		g.At = append(g.At, float64(i)/perNine)
	}
	return g
}

// shortened ends a graph over percentiles where its longest line does.
func shortened(g Graph) Graph {
	for _, l := range g.Lines {
		for i, v := range l.Values {
			if !math.IsNaN(v) {
				g.To = max(g.To, g.At[i])
			}
		}
	}
	for len(g.Ticks) > 0 && g.Ticks[len(g.Ticks)-1] > g.To {
		g.Ticks = g.Ticks[:len(g.Ticks)-1]
	}
	return g
}

// sidesByPercentile returns the percentile curves of two sides: of all calls of a side
// together and, with several runs, a band from the lowest to the highest of its runs. A side
// of a baseline has none.
func sidesByPercentile(title string, a, b []compare.Measured) Graph {
	g := byPercentile(title)
	g.Band = "from the lowest to the highest of the runs"
	for i, side := range [][]compare.Measured{a, b} {
		l := plot.Line{Name: string(rune('A' + i))}
		var all []*hdrhistogram.Histogram
		for _, m := range side {
			if m.Response == nil || m.Response.TotalCount() == 0 {
				continue
			}
			all = append(all, m.Response)
			one := curveOf(m.Response, g.At)
			if len(all) == 1 {
				l.Low, l.High = slices.Clone(one), one
				continue
			}
			for k, v := range one { // the edges end where those of any run do
				l.Low[k], l.High[k] = min(l.Low[k], v), max(l.High[k], v)
			}
		}
		if len(all) > 0 {
			l.Values = curveOf(measure.Merge(all...), g.At)
			g.Lines = append(g.Lines, l)
		}
	}
	return shortened(g)
}

// curveOf returns the value at each position, as far as there are enough calls.
func curveOf(h *hdrhistogram.Histogram, at []float64) []float64 {
	out := rundir.Gaps(len(at))
	for i, x := range at {
		if part := math.Pow(10, -x); part*float64(h.TotalCount()) >= beyond || x == 0 {
			out[i] = float64(measure.Percentile(h, (1-part)*100))
		}
	}
	return out
}

// all returns the times of one kind of all calls that count.
func all(f *rundir.Folder, what string) *hdrhistogram.Histogram {
	parts := []*hdrhistogram.Histogram{measure.NewHistogram()}
	for _, o := range f.Run.Operations {
		if h := f.Histograms[hlog.Tag(o.Track, o.Op, what)]; h != nil && f.Run.Counts(o) {
			parts = append(parts, h)
		}
	}
	return measure.Merge(parts...)
}
