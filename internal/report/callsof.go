package report

import (
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
)

// calls are those of one name, on whichever track, for layouts that have no tracks.
type calls struct {
	name          string
	calls, errors int64
	response      *hdrhistogram.Histogram
	tags          []string // of the histograms of response times
}

// operationsOf returns the operations that were called, by their names, in the order of
// the run.
func operationsOf(f *rundir.Folder) []*calls {
	var out []*calls
	for _, o := range f.Run.Operations {
		if o.Calls == 0 && o.Errors == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(c *calls) bool { return c.name == o.Op })
		if i < 0 {
			i, out = len(out), append(out, &calls{name: o.Op, response: measure.NewHistogram()})
		}
		c, tag := out[i], hlog.Tag(o.Track, o.Op, hlog.Response)
		c.calls += o.Calls
		c.errors += o.Errors
		c.tags = append(c.tags, tag)
		if h := f.Histograms[tag]; h != nil {
			c.response.Merge(h)
		}
	}
	return out
}

// callRate returns the calls a second of the operations that count, NaN if there is no
// rate.
func callRate(f *rundir.Folder) float64 {
	n := int64(0)
	for _, o := range f.Run.Operations {
		if f.Run.Counts(o) {
			n += o.Calls
		}
	}
	if f.Run.Failed() || f.Run.MeasuredS < measure.ShortestRate {
		return math.NaN()
	}
	return float64(n) / f.Run.MeasuredS
}
