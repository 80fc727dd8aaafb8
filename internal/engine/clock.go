package engine

import (
	"os"
	"runtime"
	"slices"
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
// it. A process that waited for a processor was not stopped: that is time that passed,
// however long it was, as it is for whoever else uses the machine.
const (
	// clockBeat is how often the clock is confirmed, and so how precisely the
	// moment of a stop is known.
	clockBeat = 50 * time.Millisecond
	// leastGap is how late a beat must be to count as a stop when SIGCONT confirms
	// it, and leastSilence when nothing does: no thread ran, no processor time was used,
	// and none was waited for.
	leastGap     = 500 * time.Millisecond
	leastSilence = time.Second
	// leastPause is how late a beat must be to count as a pause when SIGCONT confirms it,
	// and twice that when no processor time was used: it is part of the run's time, but
	// several add up. mostPauses is of how many it is known when they were.
	leastPause = 100 * time.Millisecond
	mostPauses = 1000
	// waitedEvery is at how many beats it is read once how long threads have waited.
	waitedEvery = 5
	// signPatience is how long to wait for the signal to be delivered: that, or a tenth of how late
	// the beat is, as the thread that takes it may have to wait for a processor, or mostPatience.
	signPatience = 10 * time.Millisecond
	mostPatience = 500 * time.Millisecond
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

	// pauses and paused are how often the process did not run for a while that was no
	// stop, and for how many nanoseconds in all, since measurement began.
	pauses, paused atomic.Int64

	mu     sync.Mutex
	list   []measure.Pause // when the first of these pauses were
	cpu    time.Duration   // at the last beat
	waited time.Duration   // some beats ago, as reading it takes longer
	beats  int             // since then
	unsaid time.Duration   // how late the last beat was, if nothing confirmed a pause
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
	c.beats = waitedEvery
	if silent, starved := c.silent(late), c.starved(late); !c.resumed(late) && (late < leastSilence || !silent || starved) {
		c.pause(s, time.Duration(c.raw()-s.seen)-clockBeat, silent) // nobody could read it until now
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

// resumed reports whether a signal says that the process was stopped until now. The caller holds c.mu.
func (c *Clock) resumed(late time.Duration) bool {
	if c.signs.Resumed == nil {
		return false
	}
	timer := time.NewTimer(min(max(signPatience, late/10), mostPatience))
	defer timer.Stop()
	select {
	case <-c.signs.Resumed:
		return true
	case <-timer.C:
		return false
	}
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
	by, end := late, c.raw()
	if late < leastPause {
		by, end = c.unsaid, s.seen
	}
	c.unsaid = 0
	switch {
	case by < leastPause:
	case known:
		if s.seen >= s.gone { // before, it does not matter
			c.pauses.Add(1)
			c.paused.Add(int64(by))
			if len(c.list) < mostPauses {
				c.list = append(c.list, measure.Pause{At: end - int64(by) - s.gone, For: by})
			}
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
// began, and for how long in all: because it waited for a processor, or too short to
// be taken for a stop. Unlike suspensions, they are part of the run's time.
func (c *Clock) Pauses() (n int64, sum time.Duration) {
	return c.pauses.Load(), time.Duration(c.paused.Load())
}

// PausesAt lists the first pauses after so many of them, in order.
func (c *Clock) PausesAt(after int) []measure.Pause {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.list[after:])
}

// Suspended returns the total time that the process was stopped.
func (c *Clock) Suspended() time.Duration {
	s := c.state.Load()
	return time.Duration(s.gone + s.skipped)
}

// Elapsed returns the run's time: since measurement began, negative during
// warm-up, without suspensions.
func (c *Clock) Elapsed() time.Duration { return time.Duration(c.now()) }
