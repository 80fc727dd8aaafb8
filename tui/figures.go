package tui

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// figures are the numbers of a run at an instant, for one operation or all.
type figures struct {
	// second is the last finished one, valid when some is.
	second int
	some   bool
	// rate is that of the last second, mean that since the segment began or of the
	// measured run, peak the best second's.
	rate, mean, peak float64
	// latency is the digest since the segment began; over several operations each
	// value is that of the slowest.
	latency measure.Summary
	// since is when the segment began; 0 also for the first.
	since          time.Duration
	errors         int64
	inFlight       int
	oldest         time.Duration
	backlog        int64
	open, running  bool
	lastP99        int64 // of the last second
	warmup, paused bool
}

// digest works out the figures of a snapshot; op < 0: all operations.
func digest(s *measure.Snapshot, op int) figures {
	f := figures{second: math.MinInt, warmup: s.At < 0, rate: math.NaN(), mean: math.NaN(), peak: math.NaN()}
	for _, rows := range s.Recent {
		for i := len(rows) - 1; i >= max(len(rows)-2, 0); i-- {
			if i == 0 || rows[i].Seconds >= measure.ShortestRate { // what is left over of the last second has no rate
				f.second, f.some = max(f.second, rows[i].T), true
				break
			}
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
		}
	}
	f.sums(s, op)
	return f
}

// sums takes mean and percentiles from the segment in force; before it has any,
// from the whole run.
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
		l, r := &f.latency, t.Response.Shown()
		l.Count += r.Count
		l.P50, l.P90, l.P99 = max(l.P50, r.P50), max(l.P90, r.P90), max(l.P99, r.P99)
		l.P999, l.Max = max(l.P999, r.P999), max(l.Max, r.Max)
	}
	if op < 0 && len(s.Ran) > 0 {
		active = s.Active(f.since, s.At)
	}
	f.mean = measure.Rate(count, active.Seconds())
}

// nanAdd adds what is known.
func nanAdd(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return a + b
}

// rowAt returns an operation's row of a second.
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

// errorsInWords lists the classes of errors with their counts, most frequent
// first; a single class needs no count.
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
		words = append(words, c.class+" "+whole(c.n))
	}
	return strings.Join(words, ", ")
}

// whole writes a count in full with thin spaces between thousands, and short from
// ten million on.
func whole(n int64) string {
	if n >= 10_000_000 {
		return units.Number(float64(n))
	}
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u2009" + s[i:]
	}
	return s
}

// clock writes a moment of a run: 00:47, 1:02:03; before zero with a minus.
func clock(d time.Duration) string {
	sign := ""
	s := seconds(d)
	if s < 0 {
		sign, s = "−", -s
	}
	if s >= 3600 {
		return fmt.Sprintf("%s%d:%02d:%02d", sign, s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%s%02d:%02d", sign, s/60, s%60)
}

// nanos writes a latency; nothing timed is a dash.
func nanos(ns int64) string {
	if ns <= 0 {
		return "–"
	}
	return units.Duration(time.Duration(ns))
}

// unlimited tells whether a value of a knob means that there is no limit.
func unlimited(k workload.Knob, v float64) bool { return k.Name == "rate" && v <= 0 }

// knobText writes a value of a knob as people read it.
func knobText(k workload.Knob, v float64) string {
	switch {
	case unlimited(k, v):
		return "max"
	case k.Unit == "bytes":
		return units.Size(int64(v))
	case v == math.Trunc(v) && math.Abs(v) < 1e6:
		return whole(int64(v))
	default:
		return units.Number(v)
	}
}

// percent writes a change: "+38 %"; nothing to compare is empty.
func percent(before, after float64) string {
	if !(before > 0) || math.IsNaN(after) || math.IsInf(after, 0) {
		return ""
	}
	p := (after - before) / before * 100
	if math.Abs(p) < 0.5 {
		return "±0 %"
	}
	return strings.Replace(fmt.Sprintf("%+.0f %%", p), "-", "−", 1)
}
