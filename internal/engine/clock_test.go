package engine

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Nobody beats here: a sleep is a stop, for all that the clock can see.
func TestClockStandsStillWhileStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		c.start(time.Now(), Signs{})
		time.Sleep(40 * time.Millisecond)
		assert.EqualValues(t, 40*time.Millisecond, c.read())
		c.newest = func() int64 { return int64(40 * time.Millisecond) }
		time.Sleep(3 * time.Second)
		assert.EqualValues(t, clockBeat, c.read(), "no earlier than what it showed before")
		gaps := *c.gaps.Load()
		require.Len(t, gaps, 1)
		assert.EqualValues(t, clockBeat, gaps[0].At)
		assert.Equal(t, 2990*time.Millisecond, gaps[0].For)

		c.newest = func() int64 { return int64(90 * time.Millisecond) } // a beat that was late
		time.Sleep(2 * time.Second)
		c.beat()
		assert.Greater(t, c.read(), int64(90*time.Millisecond))
		assert.Len(t, *c.gaps.Load(), 2)
	})
}

// What is only kept waiting, computes, or is resumed by no signal, was not stopped.
func TestClockGoesOnWhenTheBeatIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var used time.Duration
		resumed := make(chan os.Signal, 1)
		var c clock
		c.start(time.Now(), Signs{Resumed: resumed, Processor: func() time.Duration { return used }})
		resumed <- syscall.SIGTERM // of a stop too short to matter
		time.Sleep(clockBeat)
		c.beat()
		time.Sleep(900 * time.Millisecond)
		c.beat()
		assert.EqualValues(t, 900*time.Millisecond+clockBeat+signPatience, c.read(), "a busy machine")
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
