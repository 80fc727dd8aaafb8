package session

import (
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/internal/session/settle"
)

// Second is one finished second over all operations.
type Second struct {
	// T is the start of the second, in whole seconds since measurement began; negative
	// during warm-up.
	T      int
	Warmup bool
	// Since is how long the run had lasted at the end of the second, warm-up included.
	Since time.Duration
	// Length is 1, except for the last second of a run. Active is for how much of it
	// counted operations were running.
	Length, Active float64
	// Count is the number of units that succeeded, Errors the number of calls that
	// failed.
	Count, Errors int64
	// P50 and P99 are response times of all calls together; 0 if there was none. In
	// warm-up, which keeps no histograms, they are those of the slowest operation.
	P50, P99 time.Duration
}

// maxUnread is how many finished seconds are kept for a reader that does not read.
const maxUnread = 600

// seconds passes finished seconds from the sink to their reader.
type seconds struct {
	mu     sync.Mutex
	unread []Second
}

// Seconds returns the seconds that have finished since the last call, the oldest first.
// Only one goroutine at a time may call it.
func (l *Live) Seconds() []Second {
	l.seconds.mu.Lock()
	defer l.seconds.mu.Unlock()
	out := l.seconds.unread
	l.seconds.unread = nil
	return out
}

func (l *Live) keep(s *measure.Second) {
	counted := l.counted()
	out := Second{
		T: s.T, Warmup: s.Warmup, Length: s.Length, Active: l.active(s),
		Since: l.Warmup() + time.Duration((float64(s.T)+s.Length)*float64(time.Second)),
	}
	for _, r := range s.Rows {
		if !counted[r.Op] {
			continue
		}
		out.Count += r.Count
		out.Errors += r.Errors
		if p99 := time.Duration(r.ResponseP99); p99 > out.P99 {
			out.P50, out.P99 = time.Duration(r.ResponseP50), p99
		}
	}
	var all *hdrhistogram.Histogram
	for _, in := range s.Intervals {
		if all == nil {
			all = measure.NewHistogram()
		}
		if at := slices.Index(l.operations, in.Op); in.Response != nil && (at < 0 || counted[at]) {
			all.Merge(in.Response)
		}
	}
	l.settle(s, all, out)
	if all != nil {
		sum := measure.Summarize(all)
		out.P50, out.P99 = time.Duration(sum.P50), time.Duration(sum.P99)
	}
	if l.past.over(s.T) {
		return // it has been printed, or is not news
	}
	l.seconds.mu.Lock()
	defer l.seconds.mu.Unlock()
	if len(l.seconds.unread) < maxUnread {
		l.seconds.unread = append(l.seconds.unread, out)
	}
}

// settle ends the run once what it was to find out is known.
func (l *Live) settle(s *measure.Second, all *hdrhistogram.Histogram, sum Second) {
	if l.Until == nil || s.Warmup || s.Length < 1 || len(s.Rows) == 0 {
		return
	}
	if l.watch == nil {
		l.watch = settle.NewWatch(*l.Until)
	}
	segment := 0
	for _, r := range s.Rows {
		segment = max(segment, r.Segment)
	}
	if l.watch.Add(all, measure.Rate(sum.Count, sum.Active), segment) {
		l.Stop(Reached("until"))
	}
}

// active returns for how many seconds of a second counted operations were running.
func (l *Live) active(s *measure.Second) float64 {
	if s.Warmup || s.Result == nil {
		return s.Length
	}
	counts := func(track string) bool {
		for i, op := range l.operations {
			if op.Track == track && l.counts[i] {
				return true
			}
		}
		return false
	}
	from := time.Duration(s.T) * time.Second
	return measure.Covered(s.Result.Phases, counts, from, from+time.Second).Seconds()
}

// counted returns the plan's Counted, computed once.
func (l *Live) counted() []bool {
	if l.counts == nil {
		l.counts, l.operations = l.Plan.Counted(), l.Plan.Operations()
	}
	return l.counts
}

// OnSecond makes f be called with each second that finishes from now on, in order, on
// the measuring goroutine: it must be quick, and its argument is valid only during the
// call. Any goroutine may call OnSecond.
func (l *Live) OnSecond(f func(*measure.Second)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onSecond = append(slices.Clip(l.onSecond), f)
}

// second is the engine's sink: it writes the journal, and keeps the histograms of the
// whole run if thresholds need them.
func (l *Live) second(s *measure.Second) error {
	if len(l.Thresholds) > 0 {
		for _, in := range s.Intervals {
			l.merge(in.Op, "response", in.Response)
			l.merge(in.Op, "service", in.Service)
			l.merge(in.Op, "wait", in.Wait)
			l.merge(in.Op, "lateness", in.Lateness)
		}
	}
	l.warm(s)
	l.keep(s)
	if err := l.journal.Second(s); err != nil {
		return err
	}
	if !l.past.over(s.T) {
		l.sampler.Second(s.T + l.ahead())
	}
	l.judgeSecond(s)
	l.mu.Lock()
	told := l.onSecond
	l.mu.Unlock()
	for _, f := range told {
		f(s)
	}
	return nil
}

func (l *Live) merge(op measure.Operation, what string, h *hdrhistogram.Histogram) {
	if h == nil {
		return
	}
	tag := hlog.Tag(op.Track, op.Op, what)
	if l.merged[tag] == nil {
		l.merged[tag] = measure.NewHistogram()
	}
	l.merged[tag].Merge(h)
}
