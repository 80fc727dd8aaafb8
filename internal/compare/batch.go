package compare

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
)

const (
	// mostBatches is the largest number of batches into which the seconds of a run are
	// combined: enough to show their scatter, but with each as long as possible.
	mostBatches = 30
	// leastBatches is how many batches are needed to show any scatter.
	leastBatches = 5
	// callsBeyond is how many calls of a batch must lie beyond a percentile for the
	// batch to have one.
	callsBeyond = 10
)

// width returns how many of n seconds make a batch.
func width(n int) int { return max((n+mostBatches-1)/mostBatches, 1) }

// batched combines seconds into batches, each with the mean of its known values.
// Seconds left over at the end go into the last batch.
func batched(vals []float64) []float64 {
	w := width(len(vals))
	n := len(vals) / w
	out := make([]float64, n)
	for i := range n {
		to := (i + 1) * w
		if i == n-1 {
			to = len(vals)
		}
		out[i] = stat.Independent(vals[i*w : to]).Value
	}
	return out
}

// level removes the effects of live changes and phases from values by batch: each
// segment's values are shifted so that their mean is that of all. Segments of few batches
// stay as they are.
func level(vals []float64, segments []int) []float64 {
	if len(segments) != len(vals) {
		return vals
	}
	by := map[int][]float64{}
	for i, v := range vals {
		by[segments[i]] = append(by[segments[i]], v)
	}
	if len(by) < 2 {
		return vals
	}
	mean := stat.Independent(vals).Value
	out := slices.Clone(vals)
	for i := range out {
		if own := by[segments[i]]; len(own) >= leastBatches {
			out[i] += mean - stat.Independent(own).Value
		}
	}
	return out
}

// segmentsOf numbers, for each of n batches, the period between live changes, and
// between phases of the plan, in which it began.
func segmentsOf(f *rundir.Folder, n, width int) []int {
	out, numbers := make([]int, n), map[string]int{}
	for _, r := range f.Series {
		if r.T >= 0 && !r.Warmup && r.T%width == 0 && r.T/width < n {
			out[r.T/width] = max(out[r.T/width], r.Segment)
		}
	}
	for i := range out {
		at, name := float64(i*width), strconv.Itoa(out[i])
		for j, p := range f.Run.Phases {
			if p.From <= at && at < p.To {
				name += "," + strconv.Itoa(j)
			}
		}
		if _, ok := numbers[name]; !ok {
			numbers[name] = len(numbers)
		}
		out[i] = numbers[name]
	}
	return out
}

// counts is a sparse histogram, with the lowest value first.
type counts []count

type count struct{ value, n int64 }

// batches holds the response times of a run, batch by batch, by tag.
type batches struct {
	n     int
	byTag map[string][]counts
	// segments are those in which the batches began.
	segments []int
}

// readBatches reads the response times of a run in one pass over its log. Seconds left
// over at the end go into the last batch.
func readBatches(f *rundir.Folder) (batches, error) {
	whole := max(int(math.Floor(f.Run.MeasuredS)), 0)
	w := width(whole)
	b := batches{n: whole / w, byTag: map[string][]counts{}, segments: segmentsOf(f, whole/w, w)}
	at, m := 0, hlog.NewMerger()
	keep := func() {
		for tag, h := range m.Histograms() {
			if !strings.HasSuffix(tag, "."+hlog.Response) {
				continue
			}
			if b.byTag[tag] == nil {
				b.byTag[tag] = make([]counts, b.n)
			}
			b.byTag[tag][at] = slices.Concat(b.byTag[tag][at], counted(h))
		}
		m = hlog.NewMerger()
	}
	err := f.Intervals(func(iv hlog.Interval) error {
		if b.n == 0 || iv.T < 0 || !strings.HasSuffix(iv.Tag, "."+hlog.Response) {
			return nil
		}
		if i := min(int(iv.T)/w, b.n-1); i != at {
			keep()
			at = i
		}
		return m.Add(iv)
	})
	if b.n > 0 {
		keep()
	}
	return b, err
}

// counted returns the values of a histogram.
func counted(h *hdrhistogram.Histogram) counts {
	var out counts
	for _, bar := range h.Distribution() {
		if bar.Count > 0 {
			out = append(out, count{bar.To, bar.Count})
		}
	}
	return out
}

// of combines the operations with these tags, batch by batch.
func (b batches) of(tags []string) []counts {
	out := make([]counts, b.n)
	for _, tag := range tags {
		for i, c := range b.byTag[tag] {
			out[i] = append(out[i], c...)
		}
	}
	for _, c := range out {
		slices.SortFunc(c, func(x, y count) int { return cmp.Compare(x.value, y.value) })
	}
	return out
}

// at returns the value at a percentile, NaN if there is none.
func (c counts) at(q float64) float64 {
	total := int64(0)
	for _, v := range c {
		total += v.n
	}
	rank, seen := max(int64(q/100*float64(total)+0.5), 1), int64(0) // as histograms compute it
	for _, v := range c {
		if seen += v.n; seen >= rank {
			return float64(v.value)
		}
	}
	return math.NaN()
}

// percentiles estimates the response times at the percentiles, in nanoseconds. The
// error of each is the larger of two: that expected from random calls, and that derived
// from the scatter of the batches' own percentiles. If batches have too few calls for a
// percentile, the scatter of the next lower one is used instead. A run of too few batches
// to show any scatter has no known error: that of random calls alone is far too small.
func (m *Measured) percentiles(times []counts, segments []int) {
	if m.Response == nil || m.Response.TotalCount() == 0 {
		return
	}
	var scatter stat.Estimate // of logarithms
	least, most := 0.0, 0.0   // of the batches, as shares of the figure of all
	few := false
	for _, p := range percentiles {
		e := byChance(m.Response, p.q)
		if logs, ok := scatterOf(times, segments, p.q, m.Response.TotalCount()); ok {
			scatter = stat.Successive(logs)
			if low, high := spread(logs, outside); high > 0 {
				e.Low, e.High = math.Exp(low), math.Exp(high)
				low, high = spread(logs, 0)
				least, most, few = math.Exp(low)/e.Value, math.Exp(high)/e.Value, tooFew(logs)
			}
		}
		if by := e.Value * scatter.SE; by > e.SE {
			e.SE, e.DF = by, scatter.DF
			if e.DF < fewAlike {
				e.Least, e.Most, e.Few = e.Value*least, e.Value*most, few
			}
		}
		if len(times) < leastBatches {
			e.SE = math.NaN()
		}
		m.set(p.figure, e)
	}
}

// byChance estimates a percentile of independent calls: it lies between the values at
// the ranks n·q ± 2·√(n·q·(1−q)).
func byChance(h *hdrhistogram.Histogram, q float64) Estimate {
	n, p := float64(h.TotalCount()), q/100
	by := 2 * math.Sqrt(p*(1-p)/n) * 100
	at := func(q float64) float64 { return float64(measure.Percentile(h, min(max(q, 0), 100))) }
	return Estimate{
		Value: at(q), SE: (at(q+by) - at(q-by)) / 4, DF: math.Inf(1),
		Vague: !measure.Enough(q, h.TotalCount()),
	}
}

// scatterOf returns the logarithm of a percentile in each of several batches; false if there are too
// few calls to tell how it scatters.
func scatterOf(times []counts, segments []int, q float64, calls int64) ([]float64, bool) {
	most := int(float64(calls) * (1 - q/100) / callsBeyond)
	if most < leastBatches || len(times) < leastBatches {
		return nil, false
	}
	w := (len(times) + most - 1) / most
	var logs []float64
	var at []int
	for from := 0; from+w <= len(times); from += w { // a shorter one at the end is left out
		at = append(at, segments[from])
		all := slices.Concat(times[from : from+w]...)
		slices.SortFunc(all, func(x, y count) int { return cmp.Compare(x.value, y.value) })
		logs = append(logs, math.Log(max(all.at(q), 1)))
	}
	logs = level(logs, at)
	e := stat.Successive(logs)
	return logs, len(logs) >= leastBatches && !math.IsNaN(e.SE) && !math.IsInf(e.SE, 0)
}
