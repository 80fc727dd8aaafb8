package session

import (
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
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

func (q *seconds) add(s Second) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.unread) < maxUnread {
		q.unread = append(q.unread, s)
	}
}

// read returns the seconds that have been added since the last call.
func (q *seconds) read() []Second {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := q.unread
	q.unread = nil
	return out
}

// renumber shifts the numbers of the seconds that have not been read.
func (q *seconds) renumber(by int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.unread {
		q.unread[i].T += by
	}
}

// operations are those of a plan, and whether each counts in totals.
type operations struct {
	list    []measure.Operation
	counted []bool
}

// summary sums a second up over the operations that count.
type summary struct{ operations }

// of returns the sums of a second, and the response times of all its calls, nil in a
// second that has no histograms.
func (o *summary) of(s *measure.Second, warmup time.Duration) (Second, *hdrhistogram.Histogram) {
	out := Second{
		T: s.T, Warmup: s.Warmup, Length: s.Length, Active: o.active(s),
		Since: warmup + time.Duration((float64(s.T)+s.Length)*float64(time.Second)),
	}
	for _, r := range s.Rows {
		if !o.counted[r.Op] {
			continue
		}
		out.Count += r.Count
		out.Errors += r.Errors
		if p99 := time.Duration(r.ResponseP99); p99 > out.P99 {
			out.P50, out.P99 = time.Duration(r.ResponseP50), p99
		}
	}
	var all measure.Sum
	if len(s.Intervals) > 0 {
		all.Add(measure.NewHistogram())
	}
	for _, in := range s.Intervals {
		if at := slices.Index(o.list, in.Op); at < 0 || o.counted[at] {
			all.Add(in.Response)
		}
	}
	times := all.Histogram()
	if times != nil {
		sum := measure.Summarize(times)
		out.P50, out.P99 = time.Duration(sum.P50), time.Duration(sum.P99)
	}
	return out, times
}

// active returns for how many seconds of a second counted operations were running.
func (o *summary) active(s *measure.Second) float64 {
	if s.Warmup || s.Result == nil {
		return s.Length
	}
	counts := func(track string) bool {
		for i, op := range o.list {
			if op.Track == track && o.counted[i] {
				return true
			}
		}
		return false
	}
	from := time.Duration(s.T) * time.Second
	return measure.Covered(s.Result.Phases, counts, from, from+time.Second).Seconds()
}

// listeners are called with each second.
type listeners struct {
	mu  sync.Mutex
	all []func(*measure.Second)
}

func (l *listeners) add(f func(*measure.Second)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(slices.Clip(l.all), f)
}

func (l *listeners) call(s *measure.Second) {
	l.mu.Lock()
	all := l.all
	l.mu.Unlock()
	for _, f := range all {
		f(s)
	}
}
