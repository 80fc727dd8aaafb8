package dashboard

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/tui/widget"
)

// figures are the numbers of a run at an instant, for one operation or for all.
type figures struct {
	// second is the last finished one; valid only if there is one.
	second int
	some   bool
	// whole means that a whole second of the window has passed; until then there are no figures.
	whole bool
	// drawn is the end of the timelines, math.MinInt64 while they are empty.
	drawn time.Duration
	// from and to are the window that rate, mean and latency are of, and the peak of the
	// chart: to is math.MaxInt64 while it goes on.
	from, to time.Duration
	// rate is that of the window's last second.
	rate, mean float64
	// latency is the digest of the window, of all calls that count where it is of all
	// operations, and of is how many these are.
	latency        measure.Summary
	of             int
	errors         int64
	failed         int64 // those of the window
	inFlight       int
	oldest         time.Duration // since its attempt began
	due            time.Duration // since the oldest that has not ended was due
	backlog        int64
	asked          float64 // the rate at which calls are due, of all tracks that run
	open, running  bool
	lastP99        int64 // of the second that rate is from, in the warm-up, of which nothing else is known; else 0
	warmup, paused bool
}

// stalled is the age from which on an operation in progress deserves attention.
const stalled = time.Second

// stalls reports whether an operation has been in progress for long.
func (f figures) stalls() bool { return f.oldest >= stalled }

// muchLate is how long calls fall due for a backlog that deserves attention.
const muchLate = 250 * time.Millisecond

// behind reports whether more is behind schedule than falls due in that time.
func (f figures) behind() bool { return float64(f.backlog) > muchLate.Seconds()*f.asked }

// digest computes the figures of a snapshot; op < 0 means all operations.
func digest(s *measure.Snapshot, op int) figures {
	f := figures{second: math.MinInt, drawn: math.MinInt64, warmup: s.At < 0, rate: math.NaN(), mean: math.NaN()}
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
		f.oldest, f.due = max(f.oldest, g.Oldest), max(f.due, g.OldestDue)
		if g.Running { // what a track has left is no backlog of those that run
			f.backlog += g.Backlog
			f.asked += g.Rate
		}
		f.open = f.open || g.Rate > 0
		f.running = f.running || g.Running
		f.paused = f.paused || g.Paused
	}
	ops, all := f.window(s)
	if f.whole = f.some && (f.last() >= seconds1(f.from) || f.paused); f.whole {
		f.rate, f.lastP99 = rateIn(s, op, f.last())
	}
	if !f.warmup { // calls that end in a window before any of its own are those of the window before it
		f.lastP99 = 0
	}
	f.errors = s.Failures()
	if f.sums(s, op, ops, all); !f.whole {
		f.mean = math.NaN()
	}
	return f
}

// open is the end of a window that goes on.
const open = time.Duration(math.MaxInt64)

// window finds what the figures are of, its operations, and the times of all calls: the newest
// segment of which a whole second has passed and in which the run was not paused; the warm-up while
// that goes on.
func (f *figures) window(s *measure.Snapshot) ([]measure.Totals, measure.Summary) {
	f.from, f.to = 0, open
	if f.warmup {
		f.from = s.Began
		return s.Ops, s.All
	}
	for i, seg := range slices.Backward(s.Segments) {
		f.from, f.to = seg.From, open
		if i+1 < len(s.Segments) {
			f.to = s.Segments[i+1].From
		}
		if i == 0 || seg.Settings["paused"] == 0 && f.some && seconds1(f.from) <= f.last() {
			return seg.Ops, seg.All
		}
	}
	return s.Ops, s.All
}

// seconds1 is the first second that begins at a moment or later.
func seconds1(at time.Duration) int { return floorDiv(at+time.Second-1, time.Second) }

// last returns the last whole second of the window; that in progress when it ended is none.
// While the run is paused it is the last one of all.
func (f *figures) last() int {
	if f.paused || f.to == open {
		return f.second
	}
	return min(f.second, floorDiv(f.to, time.Second)-1)
}

// rateIn returns the rate of one second, and its p99.
func rateIn(s *measure.Snapshot, op, second int) (rate float64, p99 int64) {
	count, length, some := int64(0), 0.0, false
	for i := range s.Recent {
		if op >= 0 && op != i || op < 0 && !s.Counts(i) {
			continue
		}
		if row, ok := rowAt(s, i, second); ok {
			count, length, p99, some = count+row.Count, max(length, row.Seconds), row.ResponseP99, true
		}
	}
	if op < 0 {
		row, _ := rowAt(s, -1, second)
		p99 = row.ResponseP99
	}
	if at := time.Duration(second) * time.Second; op < 0 && some && second >= 0 && len(s.Ran) > 0 { // phases may follow each other within a second
		length = max(length, s.Active(at, at+time.Second).Seconds())
	}
	return measure.Rate(count, length), p99
}

// best is the highest rate of a whole second, as the series of a run has it, and which second that was.
type best struct {
	rate   float64
	second int
}

// peaks are the best seconds of a window so far, by operation, -1 for all. The zero value is ready for use.
type peaks struct {
	from   time.Duration // of the window
	looked int           // the last second that was looked at
	best   map[int]best
}

// next looks at the seconds of the window that are over since. A chart becomes coarser as a run goes on, and
// a snapshot has the last minutes singly; a peak does not become lower with that. What a store does to catch
// up once it is back, as ran has it, is none.
func (p *peaks) next(s *measure.Snapshot, f *figures, ran *effect.Course) {
	if p.best == nil || p.from != f.from {
		*p = peaks{f.from, math.MinInt, map[int]best{}}
	}
	if !f.some {
		return
	}
	for t := max(seconds1(f.from), f.second-remembered, p.looked); t <= f.last(); t++ {
		p.looked = t
		if at := time.Duration(t) * time.Second; ran.CatchesUp(at, at+time.Second) {
			continue
		}
		for op := -1; op < len(s.Ops); op++ {
			if v, _ := rateIn(s, op, t); v > p.best[op].rate || v > 0 && t == p.best[op].second {
				p.best[op] = best{v, t}
			}
		}
	}
}

// remembered is how many seconds a snapshot has singly.
const remembered = 120

// sums takes mean and percentiles from the operations of the window.
func (f *figures) sums(s *measure.Snapshot, op int, ops []measure.Totals, all measure.Summary) {
	count, active := int64(0), time.Duration(0)
	for i, t := range ops {
		if op >= 0 && op != i || op < 0 && !s.Counts(i) {
			continue
		}
		count += t.Count
		f.failed += f.failedIn(s, i, t)
		active = max(active, t.Active)
		if t.Calls > 0 {
			f.latency, f.of = t.Response, f.of+1
		}
	}
	if f.of > 1 {
		f.latency = all
	}
	if f.of > 0 {
		f.latency = f.latency.Shown()
	}
	if op < 0 && len(s.Ran) > 0 {
		active = s.Active(f.from, f.to)
	}
	f.mean = measure.Rate(count, active.Seconds())
}

// failedIn returns how many calls of an operation failed in the window, of which t are its figures: up to
// now if it goes on.
func (f *figures) failedIn(s *measure.Snapshot, op int, t measure.Totals) int64 {
	if f.to != open || f.warmup {
		return t.Errors
	}
	n := s.Ops[op].Errors
	for i := range s.Segments {
		if seg := &s.Segments[i]; seg.From < f.from && op < len(seg.Ops) {
			n -= seg.Ops[op].Errors
		}
	}
	return n
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

// rowAt returns the row of a second: of an operation, or with a negative op of all calls that count.
func rowAt(s *measure.Snapshot, op, second int) (measure.Row, bool) {
	if op >= len(s.Recent) {
		return measure.Row{}, false
	}
	rows := s.Together
	if op >= 0 {
		rows = s.Recent[op]
	}
	for i := len(rows) - 1; i >= 0 && rows[i].T >= second; i-- {
		if rows[i].T == second {
			return rows[i], true
		}
	}
	return measure.Row{}, false
}

// errorsInWords lists the classes of errors with their counts, most frequent first; a
// single class needs no count.
func errorsInWords(s *measure.Snapshot) string {
	byClass := map[string]int64{}
	for _, e := range s.Errors {
		if op := slices.IndexFunc(s.Ops, func(o measure.Totals) bool { return o.Operation == e.Operation }); op < 0 || s.Fails(op) {
			byClass[e.Class] += e.Count
		}
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
