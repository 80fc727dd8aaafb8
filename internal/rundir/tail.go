package rundir

import (
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
)

// Last returns the last second of the series. What a run has left over after it, less
// than measure.ShortestRate, belongs to it: calls that ended while the run did are too
// few for a rate or a percentile of their own, and the slowest of all.
func (r *Run) Last() int {
	const rounding = 1e-9
	return max(int(math.Ceil(r.MeasuredS-measure.ShortestRate+rounding))-1, 0)
}

// SecondOf returns the second of the series to which a moment of the measured part
// belongs.
func (r *Run) SecondOf(at float64) int { return min(int(math.Floor(at)), r.Last()) }

// ends returns when a second of the series ends.
func (r *Run) ends(second int) float64 {
	if second == r.Last() {
		return max(r.MeasuredS, float64(second))
	}
	return float64(second + 1)
}

// joinTail joins the rows after the last second of a series with those of that second,
// whose percentiles it computes again. It reports whether there were any.
func (f *Folder) joinTail() (bool, error) {
	last := f.Run.Last()
	late := func(r SeriesRow) bool { return !r.Warmup && r.T > last }
	if !slices.ContainsFunc(f.Series, late) {
		return false, nil
	}
	times, err := f.Between(float64(last), math.Inf(1))
	if err != nil {
		return false, err
	}
	var rows []SeriesRow
	at := map[measure.Operation]int{} // index of each operation's row of the last second
	for _, r := range f.Series {
		op := measure.Operation{Track: r.Track, Op: r.Op}
		i, ok := at[op]
		switch {
		case !late(r):
			if r.T == last {
				at[op] = len(rows)
			}
			rows = append(rows, r)
		case !ok:
			at[op] = len(rows)
			r.T = last
			r.Throughput = measure.Rate(r.Count, f.Run.ran(r.Track, float64(last), f.Run.MeasuredS))
			rows = append(rows, r)
		default:
			rows[i].join(r, &f.Run)
		}
	}
	for _, i := range at {
		r := &rows[i]
		if h := times[hlog.Tag(r.Track, r.Op, hlog.Response)]; h != nil {
			s := measure.Summarize(h)
			r.ResponseP50, r.ResponseP99, r.ResponseMax = s.P50, s.P99, s.Max
		}
		if h := times[hlog.Tag(r.Track, r.Op, hlog.Service)]; h != nil {
			r.ServiceP99 = measure.Summarize(h).P99
		}
		if f.Run.Failed() {
			r.Throughput = math.NaN()
		}
	}
	f.Series = rows
	return true, nil
}

// join adds a later row of the same operation; percentiles are computed elsewhere.
func (r *SeriesRow) join(next SeriesRow, run *Run) {
	from := float64(r.T)
	ran := run.ran(r.Track, from, run.MeasuredS)
	if r.Throughput > 0 {
		ran = float64(r.Count)/r.Throughput + run.ran(r.Track, from+1, run.MeasuredS)
	}
	r.Count += next.Count
	r.Errors += next.Errors
	r.ResponseMax = max(r.ResponseMax, next.ResponseMax)
	r.Throughput = measure.Rate(r.Count, ran)
}

// ran returns for how many seconds of from..to the phases of a track ran; all of them
// if the run's phases are not known.
func (r *Run) ran(track string, from, to float64) float64 {
	if len(r.Phases) == 0 {
		return max(to-from, 0)
	}
	return r.covered(func(name string) bool { return name == track }, from, to)
}
