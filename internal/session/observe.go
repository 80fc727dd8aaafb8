package session

import (
	"context"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch/self"
)

// observer gathers what the verdict is based on, apart from the run's own figures.
type observer struct {
	run     *engine.Run
	sampler *Sampler
	pool    func() (store.PoolStats, bool)
	ceiling *ceiling
	backlog *backlog
	// measured returns when measurement began.
	measured func() time.Time

	// last is the last observation of process and machine; nil before the first second.
	last atomic.Pointer[verdict.Observed]
	// over is closed when observation has ended.
	over chan struct{}

	mu sync.Mutex
	// waits and waitNs are the counters of the connection pool when measurement began.
	waits, waitNs int64
	// polled is how long busy polling had taken then.
	polled time.Duration
}

// longPause is from which length on a pause is marked. One that is so long was no stop.
const longPause = time.Second

// observeEvery is how many beats pass between two observations of the machine.
const observeEvery = int(time.Second / self.Beat)

// observe watches process and machine until the run has ended. It costs one wake-up per
// self.Beat and some 100 µs a second.
func (o *observer) observe(warm bool) {
	defer close(o.over)
	ctx := context.Background() // reading /proc does not block
	own := self.Watch(ctx)
	observe := func() {
		now := own.Observed(ctx)
		o.last.Store(&now)
	}
	o.beginPool()
	known, told := 0, 0 // numbers of suspensions and of pauses
	timer := time.NewTimer(self.Beat)
	defer timer.Stop()
	for n := 1; ; n++ {
		set := time.Now()
		timer.Reset(self.Beat)
		select {
		case <-o.run.Done():
			observe()
			<-o.sampler.Over()
			return
		case <-timer.C:
		}
		gone := own.Beaten(time.Since(set))
		for _, g := range o.run.Suspensions()[known:] {
			known++
			gone += g.For
		}
		for _, p := range o.run.PausesAt(told) {
			if told++; p.For >= longPause {
				o.run.Mark("got no processor for " + units.Duration(p.For.Round(time.Millisecond)))
			}
		}
		if gone > 0 {
			o.run.Mark("suspended for " + units.Duration(gone.Round(time.Millisecond)))
		}
		if warm && o.run.Snapshot().At >= 0 {
			warm, n = false, 0
			own.Restart(ctx)
			o.sampler.Restart()
			o.beginPool()
		}
		if n%observeEvery == 0 {
			observe()
		}
	}
}

// taken is as verdict.TakenSoFar, of what was observed last.
func (o *observer) taken() verdict.Taken {
	last := o.last.Load()
	if last == nil {
		return verdict.Taken{}
	}
	now := *last
	now.Processes, now.Store = o.sampler.Report()
	now.Others, now.OthersMost = o.sampler.Others()
	return verdict.TakenSoFar(&now)
}

// beginPool notes the counters of the connection pool: only what comes on top counts.
func (o *observer) beginPool() {
	pool, _ := o.pool()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waits, o.waitNs, o.polled = pool.Waits, pool.WaitNs, pool.Polled
}

// observed returns what has been observed of this process and machine so far; nil if
// nothing has.
func (o *observer) observed() *verdict.Observed {
	last := o.last.Load()
	if last == nil {
		return nil
	}
	out := *last
	out.Processes, out.Store = o.sampler.Report()
	out.Others, out.OthersMost = o.sampler.Others()
	out.Noted, out.NotedMore = o.sampler.Noted()
	out.Restarts = o.sampler.lives.restarts(o.measured())
	if pool, ok := o.pool(); ok {
		o.mu.Lock()
		out.PoolSize, out.PoolWaits, out.PoolWaitNs = pool.Size, pool.Waits-o.waits, pool.WaitNs-o.waitNs
		if out.Seconds > 0 {
			out.Polled = min((pool.Polled-o.polled).Seconds()/out.Seconds, out.CPU)
		}
		o.mu.Unlock()
	}
	out.Suspensions = suspensions(out.Suspensions, o.run.Suspensions())
	pauses, paused := o.run.Pauses()
	out.Pauses, out.PausedS = pauses, paused.Seconds()
	for _, p := range o.run.PausesAt(0) {
		out.PausesAt = append(out.PausesAt, verdict.Pause{AtS: time.Duration(p.At).Seconds(), ForS: p.For.Seconds()})
	}
	out.Ceilings = o.ceiling.known()
	out.Growth = o.backlog.growth()
	out.CaughtUp, out.GivenUp = o.backlog.behind()
	return &out
}

// suspensions merges stops of the process into suspensions of the machine, in order.
func suspensions(naps []verdict.Suspension, stops []*measure.Gap) []verdict.Suspension {
	all := slices.Clone(naps)
	for _, g := range stops {
		if g.At >= 0 { // in warm-up it does not matter
			all = append(all, verdict.Suspension{AtS: time.Duration(g.At).Seconds(), ForS: g.For.Seconds(), Untimed: g.Untimed.Load()})
		}
	}
	sort.Slice(all, func(i, k int) bool { return all[i].AtS < all[k].AtS }) // not generic, as each of those is compiled again
	return all
}

// backlog is that of each second since the last change, of the rate or of anything else: how
// many units were due and not begun, over all tracks. On a ramp, every second is a change.
type backlog struct {
	operations
	// pauses is as in engine.Run; nil: nobody knows.
	pauses func() (n int64, sum time.Duration)
	// taken is as verdict.TakenSoFar; nil: nobody knows.
	taken func() verdict.Taken

	mu      sync.Mutex
	seconds []int64
	// lost is what had been lost at the end of each of them.
	lost []loss
	// last is the newest second, or when its units were given up.
	last    verdict.Waiting
	rate    float64
	segment int
	began   int // second in which the last change was
	sought  bool
	// past is how the backlog grew before each of the changes before which it did.
	past []*verdict.Growth
	// whole are all seconds from the first, never is how many units were given up in them.
	whole []verdict.Waiting
	never int64
}

// loss is for how long in all perfbench had not run, and who had had the processors.
type loss struct {
	paused time.Duration
	taken  verdict.Taken
}

func (b *backlog) add(s *measure.Second) {
	w := verdict.Waiting{AtS: float64(s.T) + s.Length}
	segment := 0
	seen := map[string]bool{}
	for _, r := range s.Rows {
		segment = max(segment, r.Segment)
		if track := b.list[r.Op].Track; !seen[track] {
			seen[track] = true
			w.Units += r.Backlog
			w.Rate += r.Rate
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(s.Rows) == 0 { // what a run has left over after its last second
		segment, w.Rate = b.segment, b.rate
	}
	b.giveUp(&w, s)
	units := w.Units + w.GivenUp
	if w.Rate != b.rate || segment != b.segment {
		if w.GivenUp > 0 {
			b.note(w.GivenUp, w)
		}
		if g := b.grown(); g != nil {
			b.past = append(b.past, g)
		}
		b.seconds, b.lost, b.rate, b.segment, b.began = nil, nil, w.Rate, segment, s.T
		b.sought = s.Result != nil && slices.ContainsFunc(s.Result.Changes, func(c measure.Change) bool { return c.Segment == segment && c.By == measure.BySearch })
		units = w.Units
	}
	if s.Length >= 1 || units > w.Units {
		b.note(units, w)
	}
	if b.sought { // a search goes beyond what the store holds
		w.Rate = 0
	}
	for len(b.whole) < s.T { // of a coordinator that took over
		b.whole = append(b.whole, verdict.Waiting{AtS: float64(len(b.whole) + 1)})
	}
	b.whole = append(b.whole, w)
}

// giveUp tells how many units were given up in a second, and why if not because its work was
// over. The caller holds b.mu, as for note and grown.
func (b *backlog) giveUp(w *verdict.Waiting, s *measure.Second) {
	if s.Result == nil {
		return
	}
	never := int64(0)
	for _, o := range s.Result.Ops {
		never += o.Unstarted
	}
	if len(b.whole) == s.T {
		w.GivenUp = max(never-b.never, 0)
	}
	b.never = never
	for i := len(s.Result.Changes) - 1; i >= 0; i-- {
		c := &s.Result.Changes[i]
		at := c.At.Seconds()
		if w.GivenUp == 0 || at < float64(s.T) || w.Until == "rate" {
			return
		}
		w.AtS, w.Until = min(w.AtS, at), c.Knob()
	}
}

// note adds how many units were due and not begun by the end of a second, or when they were given up.
func (b *backlog) note(units int64, w verdict.Waiting) {
	var l loss
	if b.pauses != nil {
		_, l.paused = b.pauses()
	}
	if b.taken != nil {
		l.taken = b.taken()
	}
	b.seconds, b.lost, b.last = append(b.seconds, units), append(b.lost, l), w
}

// grown says whether the backlog grows since the last change. If a search made that, it is
// what the search wants to know, and nothing to object to.
func (b *backlog) grown() *verdict.Growth {
	if b.sought {
		return nil
	}
	g := verdict.Grown(b.seconds, b.rate, float64(b.began))
	if g != nil {
		first := int(g.FromS) - b.began // seconds that its first third has
		from, to := b.lost[first-1], b.lost[len(b.lost)-1]
		g.PausedS = (to.paused - from.paused).Seconds()
		g.EndAt(b.last)
		g.Taken = to.taken.Since(from.taken, g.ToS-g.FromS)
	}
	return g
}

// growth says where the backlog grew most, before a change or since the last; one that was worked
// off comes behind one that was not.
func (b *backlog) growth() *verdict.Growth {
	b.mu.Lock()
	defer b.mu.Unlock()
	worst := b.grown()
	for i := len(b.past) - 1; i >= 0; i-- {
		g := *b.past[i] // whoever has had it may still read it
		g.CaughtUpS = verdict.CaughtUpAfter(b.whole, &g)
		if g.Worse(worst) {
			worst = &g
		}
	}
	return worst
}

// behind returns the largest backlog that was worked off, and the largest that was given up; nil if
// none was worth telling.
func (b *backlog) behind() (caughtUp, gaveUp *verdict.Behind) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return verdict.Worked(b.whole)
}
