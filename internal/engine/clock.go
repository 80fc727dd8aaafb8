package engine

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
)

// How a run notices that it was stopped (ctrl+z, SIGSTOP, a frozen container):
//
// While the process runs its clock is confirmed at every beat. Whoever reads it long
// after the last beat is the first to run since then, or the beat alone was late. If
// it was a stop, the time that it took is taken out of the clock before anybody reads
// it, so that no due time, duration or chart ever sees it.
const (
	// clockBeat is how often the clock is confirmed, and so how exactly the moment of
	// a stop is known.
	clockBeat = 50 * time.Millisecond
	// leastGap is how late a beat must be for a stop that the system confirms by
	// SIGCONT, leastSilence for one that it does not: no thread ran, and nothing was
	// computed.
	leastGap     = 500 * time.Millisecond
	leastSilence = time.Second
	// signPatience is how long the signal may take to be delivered.
	signPatience = 10 * time.Millisecond
)

// Signs tell a process that was stopped from one that was kept waiting.
type Signs struct {
	// Resumed takes a value when the process is resumed by a signal; nil: it never does.
	Resumed <-chan os.Signal
	// Processor tells the processor time that the process has used; nil: unknown.
	Processor func() time.Duration
}

// clock tells nanoseconds since measurement began, without the time in which the
// process was stopped. Reading it takes one atomic load.
type clock struct {
	base  time.Time // when measurement would begin if nothing were stopped
	signs Signs
	// newest tells when the newest operation under way began; nil: there is none.
	newest func() int64
	state  atomic.Pointer[clockState]
	gaps   atomic.Pointer[[]*measure.Gap]

	mu  sync.Mutex
	cpu time.Duration // at the last beat
}

// clockState is replaced, never changed. Times are since base.
type clockState struct {
	// gone is how far the run's time is behind: for how long the process was stopped in
	// all, less skipped, what was left out of the warm-up.
	gone, skipped int64

	seen  int64 // the last beat
	limit int64 // until when that will do
}

// start begins at base, which may lie ahead.
func (c *clock) start(base time.Time, signs Signs) {
	c.base, c.signs = base, signs
	c.gaps.Store(new([]*measure.Gap))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.confirm(c.raw(), 0)
}

func (c *clock) raw() int64 { return int64(time.Since(c.base)) }

// read tells the time. The state is loaded before the time is taken: who was stopped
// in between finds that its limit has passed.
func (c *clock) read() int64 {
	s := c.state.Load()
	raw := c.raw()
	if raw > s.limit {
		return c.late()
	}
	return raw - s.gone
}

// late is read once the limit has passed. The first to come decides what it was, and
// the others wait.
func (c *clock) late() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.state.Load(); c.raw() > s.limit {
		c.judge(s)
	}
	return c.raw() - c.state.Load().gone
}

// judge decides whether the process was stopped since the last beat. The caller holds
// c.mu.
func (c *clock) judge(s *clockState) {
	if !c.stopped(time.Duration(c.raw()-s.seen) - clockBeat) {
		c.confirm(c.raw(), s.gone)
		return
	}
	at := s.seen + int64(clockBeat) - s.gone
	if c.newest != nil { // the beat before may have been late as well
		at = max(at, c.newest()+1)
	}
	now := c.raw()
	gone := now - at
	gaps := append((*c.gaps.Load())[:len(*c.gaps.Load()):len(*c.gaps.Load())], &measure.Gap{At: at, For: time.Duration(gone - s.gone)})
	c.gaps.Store(&gaps) // before anybody can read a time beyond it
	c.confirm(now, gone)
}

// stopped says whether the process was stopped for as long as its beat is late. The
// caller holds c.mu.
func (c *clock) stopped(late time.Duration) bool {
	if late >= leastSilence {
		used := time.Duration(0)
		if c.signs.Processor != nil {
			used = c.signs.Processor() - c.cpu
		}
		if used <= late/10+clockBeat*time.Duration(runtime.GOMAXPROCS(0)) {
			return true
		}
	}
	if c.signs.Resumed == nil {
		return false
	}
	timer := time.NewTimer(signPatience)
	defer timer.Stop()
	select {
	case <-c.signs.Resumed:
		return true
	case <-timer.C:
		return false
	}
}

// confirm notes that the process runs. The caller holds c.mu.
func (c *clock) confirm(raw, gone int64) {
	if c.signs.Processor != nil {
		c.cpu = c.signs.Processor()
	}
	s := clockState{gone: gone, seen: raw, limit: raw + int64(clockBeat+leastGap)}
	if old := c.state.Load(); old != nil {
		s.skipped = old.skipped
	}
	c.state.Store(&s)
}

// skip moves the run's time on, as if so much of it had passed.
func (c *clock) skip(by int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.state.Load(); c.raw() > s.limit {
		c.judge(s)
	}
	s := *c.state.Load()
	s.gone, s.skipped = s.gone-by, s.skipped+by
	c.state.Store(&s)
}

// beat confirms the clock, unless it was stopped.
func (c *clock) beat() {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state.Load()
	if c.raw() > s.limit {
		c.judge(s)
		return
	}
	select {
	case <-c.signs.Resumed: // it was not stopped for long
	default:
	}
	c.confirm(c.raw(), s.gone)
}

// run beats until done.
func (c *clock) run(done <-chan struct{}) {
	ticker := time.NewTicker(clockBeat)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			c.beat()
		case <-done:
			return
		}
	}
}

// Suspensions lists the stretches, in order, in which the process was stopped: they
// are no part of the run's time.
func (r *Run) Suspensions() []*measure.Gap { return *r.clock.gaps.Load() }

// Suspended is for how long the process was stopped in all.
func (r *Run) Suspended() time.Duration {
	s := r.clock.state.Load()
	return time.Duration(s.gone + s.skipped)
}

// Elapsed is the run's time: since measurement began, negative in warm-up, without
// suspensions.
func (r *Run) Elapsed() time.Duration { return time.Duration(r.now()) }

// appointment is a timer that is set for a moment of the run's time.
type appointment struct {
	*time.Timer
	moment int64
}

// when calls f, with the lock held, once the run's time has come to a moment. The
// caller holds r.mu.
func (r *Run) when(moment int64, f func()) {
	var timer *time.Timer
	timer = time.AfterFunc(time.Duration(moment-r.now()), func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		left := moment - r.now()
		switch {
		case r.closed:
		case left > 0: // it was suspended
			timer.Reset(time.Duration(left))
		default:
			f()
		}
	})
	r.timers = append(r.timers, appointment{timer, moment})
}
