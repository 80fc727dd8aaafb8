package engine

import (
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
)

// Nobody beats here: a sleep is a stop, for all that the clock can see.
func TestClockStandsStillWhileStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		c.start(time.Now(), Signs{})
		time.Sleep(40 * time.Millisecond)
		assert.EqualValues(t, 40*time.Millisecond, c.now())
		c.newest = func() int64 { return int64(40 * time.Millisecond) }
		time.Sleep(3 * time.Second)
		assert.EqualValues(t, clockBeat, c.now(), "no earlier than what it showed before")
		gaps := *c.gaps.Load()
		require.Len(t, gaps, 1)
		assert.EqualValues(t, clockBeat, gaps[0].At)
		assert.Equal(t, 2990*time.Millisecond, gaps[0].For)

		c.newest = func() int64 { return int64(90 * time.Millisecond) } // a beat that was late
		time.Sleep(2 * time.Second)
		c.beat()
		assert.Greater(t, c.now(), int64(90*time.Millisecond))
		assert.Len(t, *c.gaps.Load(), 2)
	})
}

// What is only kept waiting, computes, or is resumed by no signal, was not stopped.
func TestClockGoesOnWhenTheBeatIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var used time.Duration
		resumed := make(chan os.Signal, 1)
		var c Clock
		c.start(time.Now(), Signs{Resumed: resumed, Processor: func() time.Duration { return used }})
		resumed <- syscall.SIGTERM // of a stop too short to matter
		time.Sleep(clockBeat)
		c.beat()
		time.Sleep(900 * time.Millisecond)
		c.beat()
		assert.EqualValues(t, 985*time.Millisecond+clockBeat, c.now(), "a busy machine")
		used = time.Hour
		time.Sleep(5 * time.Second)
		c.beat()
		assert.Empty(t, *c.gaps.Load(), "busy itself")

		used = 2 * time.Hour
		resumed <- syscall.SIGTERM
		time.Sleep(900 * time.Millisecond)
		c.beat()
		assert.Len(t, *c.gaps.Load(), 1, "the system says that it was stopped")
	})
}

// The thread that takes the signal may have to wait for a processor after a stop, while others of
// the process are at work.
func TestASignalThatIsLateTellsOfTheStop(t *testing.T) {
	for _, at := range []time.Duration{100 * time.Millisecond, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			var used atomic.Int64
			resumed := make(chan os.Signal, 1)
			var c Clock
			c.start(time.Now(), Signs{Resumed: resumed, Processor: func() time.Duration { return time.Duration(used.Load()) }})
			time.Sleep(2 * time.Second)
			go func() {
				time.Sleep(time.Millisecond)
				used.Store(int64(time.Hour))
				time.Sleep(at)
				resumed <- syscall.SIGTERM
			}()
			c.beat()
			assert.Len(t, *c.gaps.Load(), 1, "a signal after %s", at)
			assert.Less(t, c.now(), int64(time.Second))
			time.Sleep(at)
		})
	}
}

// Stops that are too short to be taken out of the run's time are counted, and so is how
// long they were in all; a beat that is late while the process works is none.
func TestShortStopsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var used time.Duration
		resumed := make(chan os.Signal, 1)
		var c Clock
		c.start(time.Now(), Signs{Resumed: resumed, Processor: func() time.Duration { return used }})
		beat := func(after time.Duration, works bool) {
			if time.Sleep(after); works {
				used += time.Hour
			}
			c.beat()
		}
		beat(clockBeat, true)
		beat(clockBeat+300*time.Millisecond, true)
		assert.Zero(t, c.pauses.Load(), "it worked")
		beat(clockBeat, true)
		for range 3 {
			resumed <- syscall.SIGTERM
			beat(clockBeat+300*time.Millisecond, true)
			beat(clockBeat, true)
		}
		assert.EqualValues(t, 3, c.pauses.Load())
		assert.EqualValues(t, 900*time.Millisecond, c.paused.Load())
		assert.Equal(t, 3*(2*clockBeat+300*time.Millisecond)+3*clockBeat+300*time.Millisecond, time.Duration(c.now()), "they are part of the run's time")

		beat(clockBeat+200*time.Millisecond, true)
		resumed <- syscall.SIGTERM // it arrives after the beat
		beat(clockBeat, true)
		assert.EqualValues(t, 4, c.pauses.Load())
		resumed <- syscall.SIGTERM
		beat(clockBeat, true)
		assert.EqualValues(t, 4, c.pauses.Load(), "each counts once")
		beat(clockBeat+300*time.Millisecond, false)
		assert.EqualValues(t, 5, c.pauses.Load(), "a frozen container sends no signal")
		time.Sleep(clockBeat + 700*time.Millisecond)
		c.now()
		assert.EqualValues(t, 6, c.pauses.Load(), "whoever reads the clock first finds it")
		assert.EqualValues(t, 2170*time.Millisecond, c.paused.Load())
		assert.Empty(t, *c.gaps.Load())
	})
}

// However long the process waited for a processor, as its threads tell, that is time of the run like any
// shorter wait; what a signal says was a stop is one, and so is a time in which no thread waited.
func TestWaitingForAProcessorIsTimeOfTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waited time.Duration
		resumed := make(chan os.Signal, 1)
		var c Clock
		c.start(time.Now(), Signs{Resumed: resumed, Waited: func() time.Duration { return waited }})
		still := func(late time.Duration, waits, signed bool) time.Duration { // how long the clock stood still
			for range 2 * waitedEvery {
				time.Sleep(clockBeat)
				c.beat()
			}
			before := c.Suspended()
			time.Sleep(clockBeat + late)
			if waits {
				waited += late
			}
			if signed {
				resumed <- syscall.SIGTERM
			}
			c.now()
			return c.Suspended() - before
		}
		for _, late := range []time.Duration{300 * time.Millisecond, 900 * time.Millisecond, 1100 * time.Millisecond, time.Minute} {
			at := c.now() + int64((2*waitedEvery+1)*clockBeat)
			assert.Zero(t, still(late, true, false), late)
			list := c.PausesAt(0)
			if late <= leastGap { // the next beat finds it
				c.beat()
				list = c.PausesAt(0)
			}
			require.NotEmpty(t, list)
			if late > leastGap { // it was waited for a signal, too
				late += min(late/10, mostPatience)
			}
			assert.Equal(t, measure.Pause{At: at, For: late}, list[len(list)-1])
		}
		n, sum := c.Pauses()
		assert.EqualValues(t, 4, n)
		assert.Equal(t, 62300*time.Millisecond+700*time.Millisecond, sum)
		assert.Equal(t, 3300*time.Millisecond, still(3*time.Second, false, false), "a frozen container, whatever was waited for before")
		assert.Equal(t, 3*time.Second, still(3*time.Second, true, true), "stopped on a busy machine")
		assert.Len(t, c.Suspensions(), 2)
		assert.Len(t, c.PausesAt(0), 4)
	})
}

// When pauses were is kept for no more of them than a document should have; they all count.
func TestNotEveryPauseIsListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		c.start(time.Now(), Signs{})
		for range mostPauses + 5 {
			time.Sleep(clockBeat + 2*leastPause)
			c.beat()
		}
		n, _ := c.Pauses()
		assert.EqualValues(t, mostPauses+5, n)
		assert.Len(t, c.PausesAt(0), mostPauses)
	})
}
