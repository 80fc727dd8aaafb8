package eventstore

import (
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
)

// runClock is the time of a run: a clock that all its parts share, and when measurement began by
// it. Processes share that moment. Its methods may be called from any goroutine.
type runClock struct {
	epoch time.Time // when the plan was bound
	// zero is the clock's time when measurement began, as far as it is known; entered means that
	// measured work has begun.
	zero    atomic.Int64
	entered atomic.Bool
}

// now is the time by the clock: nanoseconds since the plan was bound.
func (c *runClock) now() int64 { return int64(time.Since(c.epoch)) }

// wall is the time of day in nanoseconds since 1970, by the clock, so that it never goes back.
func (c *runClock) wall() int64 { return c.epoch.UnixNano() + c.now() }

// since is a moment of the clock as the run's time: nanoseconds since measurement began.
func (c *runClock) since(moment int64) int64 { return moment - c.zero.Load() }

// follow takes the run's time from an iteration.
func (c *runClock) follow(it *workload.Iteration) {
	c.zero.Store(c.now() - it.Now())
	if !it.Warmup && !c.entered.Load() {
		c.entered.Store(true)
	}
}

// toCome reports whether the run has not come to a moment by its time, as far as clocks can run
// apart.
func (c *runClock) toCome(at int64) bool {
	return at > int64(workload.Elapsed(c.epoch)+time.Minute)-min(c.zero.Load(), 0)
}

// clockDelta is the time of the run in a process, and whether its measured part has begun there.
type clockDelta struct {
	Now     int64 `told:"signed"`
	Entered bool
}

// Delta returns the time of the run.
func (c *runClock) Delta() clockDelta { return clockDelta{c.since(c.now()), c.entered.Load()} }

// Merge sets the time of the run by that of another process. What takes longest to come makes the
// beginning seem late.
func (c *runClock) Merge(_ workload.Process, t clockDelta) bool {
	if c.toCome(t.Now) {
		return false
	}
	if zero := c.now() - t.Now; t.Entered && (c.zero.Load() == 0 || zero < c.zero.Load()) {
		c.zero.Store(zero)
	}
	if t.Entered {
		c.entered.Store(true)
	}
	return true
}
