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
// While the process runs, its clock is confirmed at every beat. Whoever reads the
// clock long after the last beat is either the first to run after a stop, or the
// beat alone was late. If it was a stop, its length is taken out of the clock
// before anybody reads it, so that no due time, duration or chart ever includes
// it.
const (
	// clockBeat is how often the clock is confirmed, and so how precisely the
	// moment of a stop is known.
	clockBeat = 50 * time.Millisecond
	// leastGap is how late a beat must be to count as a stop when SIGCONT confirms
	// it, and leastSilence when nothing does: no thread ran, and no processor time
	// was used.
	leastGap     = 500 * time.Millisecond
	leastSilence = time.Second
	// leastPause is how late a beat must be to count as a pause when SIGCONT confirms it,
	// and twice that when no processor time was used: too short to be taken out of the
	// run's time, but several add up.
	leastPause = 100 * time.Millisecond
	// waitedEvery is at how many beats it is read once how long threads have waited.
	waitedEvery = 5
	// signPatience is how long to wait for the signal to be delivered: that, or a tenth of how late
	// the beat is, as the thread that takes it may have to wait for a processor.
	signPatience = 10 * time.Millisecond
)

// Signs distinguish a process that was stopped from one that was merely starved.
type Signs struct {
	// Resumed receives a value when a signal resumes the process; nil: it never
	// does.
	Resumed <-chan os.Signal
	// Processor returns the processor time used by the process; nil if unknown.
	Processor func() time.Duration
	// Waited returns for how long the process's threads have waited for a processor, added up; nil or
	// always 0 if unknown. Who is stopped does not wait.
	Waited func() time.Duration
}

// Clock owns the time of a run: nanoseconds since measurement began, without the time during
// which the process was stopped. Reading it takes one atomic load.
type Clock struct {
	base  time.Time // when measurement would begin if there were no stops
	signs Signs
	// newest returns when the newest operation in progress began; nil: there is
	// none.
	newest func() int64
	state  atomic.Pointer[clockState]
	gaps   atomic.Pointer[[]*measure.Gap]

	// pauses and paused are how often the process did not run for a while that was too
	// short to be a stop, and for how many nanoseconds in all; since measurement began.
	pauses, paused atomic.Int64

	mu     sync.Mutex
	cpu    time.Duration // at the last beat
	waited time.Duration // some beats ago, as reading it takes longer
	beats  int           // since then
	unsaid time.Duration // how late the last beat was, if nothing confirmed a pause
}

// clockState is replaced, never changed. Times are since base.
type clockState struct {
	// gone is how far the run's time lags behind: the total time that the process
	// was stopped, minus skipped, the part of the warm-up that was left out.
	gone, skipped int64

	seen  int64 // time of the last beat
	limit int64 // time until which the beat is good
}

// start begins at base, which may be in the future.
func (c *Clock) start(base time.Time, signs Signs) {
	c.base, c.signs = base, signs
	c.gaps.Store(new([]*measure.Gap))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.confirm(c.raw(), 0)
}

func (c *Clock) raw() int64 { return int64(time.Since(c.base)) }

// now returns the time. The state is loaded before the time is taken, so a
// goroutine stopped in between finds that its limit has passed.
func (c *Clock) now() int64 {
	s := c.state.Load()
	raw := c.raw()
	if raw > s.limit {
		return c.late()
	}
	return raw - s.gone
}

// late is called once the limit has passed. The first caller decides whether it
// was a stop, and the others wait.
func (c *Clock) late() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.state.Load(); c.raw() > s.limit {
		c.judge(s)
	}
	return c.raw() - c.state.Load().gone
}

// judge decides whether the process was stopped since the last beat. The caller holds
// c.mu.
func (c *Clock) judge(s *clockState) {
	late := time.Duration(c.raw()-s.seen) - clockBeat
	stopped, signed := c.wasStopped(late)
	if !stopped {
		c.pause(s, late, c.silent(late))
		c.confirm(c.raw(), s.gone)
		return
	}
	at := s.seen + int64(clockBeat) - s.gone
	if c.newest != nil { // the beat before may have been late as well
		at = max(at, c.newest()+1)
	}
	now := c.raw()
	gone := now - at
	gaps := append((*c.gaps.Load())[:len(*c.gaps.Load()):len(*c.gaps.Load())], &measure.Gap{At: at, For: time.Duration(gone - s.gone), Waited: !signed && c.starved(late)})
	c.gaps.Store(&gaps) // before anybody can read a time beyond it
	c.beats = waitedEvery
	c.confirm(now, gone)
}

// wasStopped reports whether the process was stopped for as long as its beat is late, and whether a
// signal says so. The caller holds c.mu.
func (c *Clock) wasStopped(late time.Duration) (stopped, signed bool) {
	silent := c.silent(late) // before the others go on
	if c.signs.Resumed != nil {
		timer := time.NewTimer(max(signPatience, late/10))
		defer timer.Stop()
		select {
		case <-c.signs.Resumed:
			return true, true
		case <-timer.C:
		}
	}
	return late >= leastSilence && silent, false
}

// starved reports whether threads of the process waited for a processor for half of a time in which
// none of them ran. The caller holds c.mu.
func (c *Clock) starved(late time.Duration) bool {
	return c.signs.Waited != nil && c.signs.Waited()-c.waited >= late/2
}

// silent reports whether the process has used no processor time since its last beat but
// what it may have used until the next was due. The caller holds c.mu.
func (c *Clock) silent(late time.Duration) bool {
	used := time.Duration(0)
	if c.signs.Processor != nil {
		used = c.signs.Processor() - c.cpu
	}
	return used <= late/10+clockBeat*time.Duration(runtime.GOMAXPROCS(0))
}

// pause counts a beat that was late because the process did not run. The signal that
// says so may come a beat later. The caller holds c.mu.
func (c *Clock) pause(s *clockState, late time.Duration, known bool) {
	by := late
	if late < leastPause {
		by = c.unsaid
	}
	c.unsaid = 0
	switch {
	case by < leastPause:
	case known:
		if s.seen >= s.gone { // before, it does not matter
			c.pauses.Add(1)
			c.paused.Add(int64(by))
		}
	case by == late:
		c.unsaid = by
	}
}

// confirm notes that the process is running. The caller holds c.mu.
func (c *Clock) confirm(raw, gone int64) {
	if c.signs.Processor != nil {
		c.cpu = c.signs.Processor()
	}
	if c.beats++; c.signs.Waited != nil && c.beats >= waitedEvery {
		c.waited, c.beats = c.signs.Waited(), 0
	}
	s := clockState{gone: gone, seen: raw, limit: raw + int64(clockBeat+leastGap)}
	if old := c.state.Load(); old != nil {
		s.skipped = old.skipped
	}
	c.state.Store(&s)
}

// skip advances the run's time by that much.
func (c *Clock) skip(by int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.state.Load(); c.raw() > s.limit {
		c.judge(s)
	}
	s := *c.state.Load()
	s.gone, s.skipped = s.gone-by, s.skipped+by
	c.state.Store(&s)
}

// beat confirms the clock, unless the process was stopped.
func (c *Clock) beat() {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state.Load()
	if c.raw() > s.limit {
		c.judge(s)
		return
	}
	late := time.Duration(c.raw()-s.seen) - clockBeat
	known := late >= 2*leastPause && c.silent(late)
	select {
	case <-c.signs.Resumed: // it was not stopped for long
		known = true
	default:
	}
	c.pause(s, late, known)
	c.confirm(c.raw(), s.gone)
}

// run beats until done.
func (c *Clock) run(done <-chan struct{}) {
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

// Suspensions lists, in order, the periods in which the process was stopped. They
// are not part of the run's time.
func (c *Clock) Suspensions() []*measure.Gap { return *c.gaps.Load() }

// Pauses returns how often the process did not run for a while, since measurement
// began, and for how long in all. Unlike suspensions, these were too short to be told
// apart for certain, and are part of the run's time.
func (c *Clock) Pauses() (n int64, sum time.Duration) {
	return c.pauses.Load(), time.Duration(c.paused.Load())
}

// Suspended returns the total time that the process was stopped.
func (c *Clock) Suspended() time.Duration {
	s := c.state.Load()
	return time.Duration(s.gone + s.skipped)
}

// Elapsed returns the run's time: since measurement began, negative during
// warm-up, without suspensions.
func (c *Clock) Elapsed() time.Duration { return time.Duration(c.now()) }
