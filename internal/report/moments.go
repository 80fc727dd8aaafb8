package report

import (
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
)

const (
	// mostStretches is how many rows the table of the course has; mostColumns and
	// rowsADecade are the resolution of a heat map, whose columns combine to whole rows
	// of the table.
	mostStretches = 12
	mostColumns   = 16 * mostStretches
	rowsADecade   = 10
)

// moments holds the response times of all calls that count, second by second and in
// longer periods, from one pass over the run's log.
type moments struct {
	// p50, p90, p99 and most are for each measured second; NaN if there were no calls.
	p50, p90, p99, most []float64
	// columns divide the measured seconds evenly; nil for one without calls.
	columns []*hdrhistogram.Histogram
}

// momentsOf reads the log of a run. The result is empty if the log is unreadable.
func momentsOf(f *rundir.Folder) moments {
	n := 0
	if f.Run.MeasuredS > 1e-6 {
		n = f.Run.Last() + 1
	}
	m := moments{p50: rundir.Gaps(n), p90: rundir.Gaps(n), p99: rundir.Gaps(n), most: rundir.Gaps(n)}
	if n == 0 || n > longest {
		return moments{}
	}
	m.columns = make([]*hdrhistogram.Histogram, min(n, mostColumns))
	err := f.Together(m.add)
	if err != nil {
		return moments{}
	}
	return m
}

// longest is the number of seconds up to which moments are computed for a run: a day.
const longest = 86400

// add adds the calls of a second.
func (m *moments) add(second int, h *hdrhistogram.Histogram) {
	at := measure.At(h, 50, 90, 99, 100)
	m.p50[second], m.p90[second], m.p99[second], m.most[second] = float64(at[0]), float64(at[1]), float64(at[2]), float64(at[3])
	add(m.columns, second, len(m.p50), h)
}

// add adds calls to the part at position at out of n.
func add(parts []*hdrhistogram.Histogram, at, n int, h *hdrhistogram.Histogram) {
	i := at * len(parts) / n
	parts[i] = measure.Merge(parts[i], h)
}

// stretches returns the measured seconds in fewer parts.
func (m *moments) stretches() []*hdrhistogram.Histogram {
	out := make([]*hdrhistogram.Histogram, min(len(m.p50), mostStretches))
	for i, h := range m.columns {
		if h != nil {
			add(out, i, len(m.columns), h)
		}
	}
	return out
}

// known reports whether there were any calls.
func (m *moments) known() bool { return plot.Some(m.most) }

// heat returns the heat map of the response times; nil if there is none.
func (m *moments) heat() *plot.Heat {
	low, high := math.Inf(1), 0.0
	for _, h := range m.columns {
		if h != nil {
			low, high = min(low, float64(max(h.Min(), 1))), max(high, float64(h.Max()))
		}
	}
	if high == 0 {
		return nil
	}
	heat := plot.NewHeat(float64(len(m.p50)), low, high, rowsADecade)
	for _, h := range m.columns {
		heat.Column()
		if h == nil {
			continue
		}
		for _, bar := range h.Distribution() {
			if bar.Count > 0 {
				heat.Add(float64(bar.To), bar.Count)
			}
		}
	}
	return heat
}
