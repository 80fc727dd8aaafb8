package dashboard

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/tui/widget"
)

// figures are the numbers of a run at an instant, for one operation or for all.
type figures struct {
	// second is the last finished one; valid only if there is one.
	second int
	some   bool
	// drawn is the end of the timelines, math.MinInt64 while they are empty.
	drawn time.Duration
	// rate is that of the last second, or of the last step while there is none. mean is
	// that since the segment began or of the measured run, peak that of the best
	// second.
	rate, mean, peak float64
	// latency is the digest since the segment began; with several operations that of
	// the one with the highest p99, or p50 while none has enough calls.
	latency measure.Summary
	// since is when the segment began; also 0 for the first.
	since          time.Duration
	errors         int64
	inFlight       int
	oldest         time.Duration
	backlog        int64
	open, running  bool
	lastP99        int64 // of the second that rate is from
	warmup, paused bool
}

// stalled is the age from which on an operation in progress deserves attention.
const stalled = time.Second

// stalls reports whether an operation has been in progress for long.
func (f figures) stalls() bool { return f.oldest >= stalled }

// digest computes the figures of a snapshot; op < 0 means all operations.
func digest(s *measure.Snapshot, op int) figures {
	f := figures{second: math.MinInt, drawn: math.MinInt64, warmup: s.At < 0, rate: math.NaN(), mean: math.NaN(), peak: math.NaN()}
	for _, rows := range s.Recent {
		for i := len(rows) - 1; i >= max(len(rows)-2, 0); i-- {
			if i == 0 || rows[i].Seconds >= measure.ShortestRate { // the remainder of the last second has no rate
				f.second, f.some = max(f.second, rows[i].T), true
				break
			}
		}
	}
	for _, line := range s.Timeline {
		if n := len(line); n > 0 {
			f.drawn = max(f.drawn, line[n-1].At+s.Bucket)
		}
	}
	for _, g := range s.Gauges {
		f.inFlight += g.InFlight
		f.oldest = max(f.oldest, g.Oldest)
		f.backlog += g.Backlog
		f.open = f.open || g.Rate > 0
		f.running = f.running || g.Running
		f.paused = f.paused || g.Paused
	}
	for i, t := range s.Ops {
		f.errors += t.Errors
		if op >= 0 && op != i || op < 0 && !s.Counts(i) {
			continue
		}
		if row, ok := rowAt(s, i, f.second); ok {
			f.rate = nanAdd(f.rate, row.PerSecond())
			f.lastP99 = max(f.lastP99, row.ResponseP99)
		} else if p, ok := newest(s, i); ok && !f.some && p.At+s.Bucket == f.drawn {
			f.rate = nanAdd(f.rate, measure.StepRate(p.Count, p.Seconds))
			f.lastP99 = max(f.lastP99, p.ResponseP99)
		}
	}
	f.sums(s, op)
	return f
}

// sums takes mean and percentiles from the current segment, or from the whole run while
// there is none.
func (f *figures) sums(s *measure.Snapshot, op int) {
	ops := s.Ops
	if n := len(s.Segments); n > 0 {
		seg := s.Segments[n-1]
		for _, t := range seg.Ops {
			if t.Calls > 0 {
				ops, f.since = seg.Ops, seg.From
				break
			}
		}
	}
	count, active := int64(0), time.Duration(0)
	for i, t := range ops {
		if op >= 0 && op != i || op < 0 && !s.Counts(i) {
			continue
		}
		count += t.Count
		active = max(active, t.Active)
		if r := t.Response.Shown(); t.Calls > 0 && (f.latency.Count == 0 || cmp.Or(cmp.Compare(r.P99, f.latency.P99), cmp.Compare(r.P50, f.latency.P50)) > 0) {
			f.latency = r
		}
	}
	if op < 0 && len(s.Ran) > 0 {
		active = s.Active(f.since, s.At)
	}
	f.mean = measure.Rate(count, active.Seconds())
}

// nanAdd adds two values, ignoring NaN.
func nanAdd(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return a + b
}

// newest returns the last point of an operation's timeline.
func newest(s *measure.Snapshot, op int) (measure.Point, bool) {
	if op >= len(s.Timeline) || len(s.Timeline[op]) == 0 {
		return measure.Point{}, false
	}
	return s.Timeline[op][len(s.Timeline[op])-1], true
}

// rowAt returns an operation's row for a second.
func rowAt(s *measure.Snapshot, op, second int) (measure.Row, bool) {
	if op >= len(s.Recent) {
		return measure.Row{}, false
	}
	rows := s.Recent[op]
	for i := len(rows) - 1; i >= 0 && rows[i].T >= second; i-- {
		if rows[i].T == second {
			return rows[i], true
		}
	}
	return measure.Row{}, false
}

// errorsInWords lists the classes of errors with their counts, most frequent first; a
// single class needs no count.
func errorsInWords(errs []measure.ErrorCount) string {
	byClass := map[string]int64{}
	for _, e := range errs {
		byClass[e.Class] += e.Count
	}
	type count struct {
		class string
		n     int64
	}
	var list []count
	for c, n := range byClass {
		list = append(list, count{c, n})
	}
	slices.SortFunc(list, func(a, b count) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.class, b.class)) })
	if len(list) == 1 {
		return list[0].class // its count is that of all errors
	}
	var words []string
	for _, c := range list {
		words = append(words, c.class+" "+widget.Whole(c.n))
	}
	return strings.Join(words, ", ")
}
