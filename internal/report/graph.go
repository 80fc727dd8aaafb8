package report

import (
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// graph is one chart over the seconds of a run: a line or more, a value each
// second, NaN where there is none.
type graph struct {
	title string
	// first is the second of the first value, negative in warm-up.
	first int
	lines []line
	// changes are the seconds of live changes.
	changes []float64
	format  func(float64) string
	// mean says how to thin: by mean, for throughput; else by maximum, so that
	// peaks survive.
	mean bool
}

type line struct {
	name   string
	values []float64
}

// graphs draws the whole run: units per second of all operations together, and
// the worst response time of any.
func graphs(f *rundir.Folder) []graph {
	if len(f.Series) == 0 {
		return nil
	}
	first, last := f.Series[0].T, f.Series[0].T
	for _, r := range f.Series {
		first, last = min(first, r.T), max(last, r.T)
	}
	n := last - first + 1
	if n > maxSeconds {
		return nil
	}
	rates, p50, p99, top := blank(n), blank(n), blank(n), blank(n)
	for _, r := range f.Series {
		i := r.T - first
		if !math.IsNaN(r.Throughput) {
			rates[i] = r.Throughput + nonNaN(rates[i])
		}
		if r.ResponseMax > 0 {
			p50[i] = max(nonNaN(p50[i]), float64(r.ResponseP50))
			p99[i] = max(nonNaN(p99[i]), float64(r.ResponseP99))
			top[i] = max(nonNaN(top[i]), float64(r.ResponseMax))
		}
	}
	var marks []float64
	for _, c := range f.Run.Changes {
		marks = append(marks, c.At)
	}
	duration := func(v float64) string { return units.Duration(time.Duration(v)) }
	var out []graph
	if some(rates) {
		out = append(out, graph{
			title: f.Run.Unit + " per second", first: first, mean: true, format: units.Number, changes: marks,
			lines: []line{{"throughput", rates}},
		})
	}
	if some(p99) {
		out = append(out, graph{
			title: "response time", first: first, format: duration, changes: marks,
			lines: []line{{"p99", p99}, {"p50", p50}, {"max", top}},
		})
	}
	return out
}

// maxSeconds bounds what a chart holds: half a year.
const maxSeconds = 183 * 86400

func blank(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

func nonNaN(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

func some(values []float64) bool {
	for _, v := range values {
		if !math.IsNaN(v) {
			return true
		}
	}
	return false
}

// thin brings values down to at most n, each the mean or the maximum of as many,
// leaving NaN out.
func thin(values []float64, n int, mean bool) []float64 {
	if len(values) <= n {
		return values
	}
	out := make([]float64, n)
	for i := range out {
		from, to := i*len(values)/n, (i+1)*len(values)/n
		sum, top, count := 0.0, math.NaN(), 0
		for _, v := range values[from:to] {
			if math.IsNaN(v) {
				continue
			}
			sum, count = sum+v, count+1
			if !(v <= top) {
				top = v
			}
		}
		switch {
		case count == 0:
			out[i] = math.NaN()
		case mean:
			out[i] = sum / float64(count)
		default:
			out[i] = top
		}
	}
	return out
}

// measured is a line without its warm-up.
func (g graph) measured(l line) []float64 {
	skip := min(max(-g.first, 0), len(l.values))
	return l.values[skip:]
}
