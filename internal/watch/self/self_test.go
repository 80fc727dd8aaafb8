package self

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClocksThatMoveApartAreNoticed(t *testing.T) {
	s := Watch(t.Context())
	start := time.Now()
	s.began, s.wall, s.slept = start, 0, 0
	// at is a moment so long after the start, by a clock of day that is off by that much.
	at := func(after, off time.Duration) time.Time {
		now := start.Add(after)
		s.wall -= off // as if the clock had shown it before
		return now
	}
	assert.Zero(t, s.beaten(Beat, at(100*time.Millisecond, 0), 0))
	assert.Empty(t, s.seen.Steps)
	s.beaten(Beat, at(200*time.Millisecond, 5*time.Second), 0)
	s.beaten(Beat, at(300*time.Millisecond, -20*time.Millisecond), 0)
	require.Len(t, s.seen.Steps, 1, "what a clock drifts is no step")
	assert.InDelta(t, 5, s.seen.Steps[0].ByS, 0.001)
	assert.InDelta(t, 0.2, s.seen.Steps[0].AtS, 0.001)
}

// Of readings with waits between them, the first that followed at once is taken.
func TestClocksAreReadTogether(t *testing.T) {
	start := time.Now()
	read := []time.Duration{0, 120 * time.Millisecond, 125 * time.Millisecond, 125*time.Millisecond + 40, 300 * time.Millisecond}
	next := 0
	now := func() time.Time {
		next++
		return start.Add(read[next-1])
	}
	assert.Equal(t, read[3], together(now).Sub(start))
}

// A process that waits for a processor between two readings has seen no sleep, and no clock that was set.
func TestWaitsBetweenReadingsAreNoSleep(t *testing.T) {
	var awake time.Duration
	var waits []time.Duration // before each reading
	read := func(ahead time.Duration) func() time.Duration {
		return func() time.Duration {
			awake += 200 * time.Nanosecond
			if len(waits) > 0 {
				awake, waits = awake+waits[0], waits[1:]
			}
			return awake + ahead
		}
	}
	const slept = 3 * time.Hour
	for _, w := range [][]time.Duration{
		{0, 0, 0},
		{0, 0, 450 * time.Millisecond}, // between the two that are compared
		{0, 450 * time.Millisecond, 700 * time.Millisecond, 0, 0}, // and twice
	} {
		waits = w
		assert.InDelta(t, slept, apart(read(slept), read(0)), float64(time.Microsecond), "%v", w)
	}

	s := Watch(t.Context())
	s.slept = slept
	waits = []time.Duration{0, 0, 450 * time.Millisecond}
	assert.Zero(t, s.beaten(Beat+450*time.Millisecond, s.began.Add(time.Second), apart(read(slept), read(0))))
	assert.Zero(t, s.beaten(Beat, s.began.Add(1100*time.Millisecond), apart(read(slept), read(0))))
	assert.Empty(t, s.seen.Steps)
	assert.Empty(t, s.seen.Suspensions)

	waits = nil
	for range 2 * mostReads { // a machine so full that every reading has to wait
		waits = append(waits, 5*time.Millisecond)
	}
	assert.InDelta(t, slept, apart(read(slept), read(0)), float64(leastStep))
}

func TestSleepIsNoticed(t *testing.T) {
	s := Watch(t.Context())
	s.slept = 0
	now := s.began.Add(4 * time.Second)
	assert.Zero(t, s.beaten(Beat+3*time.Second, now, 0), "the machine was awake")
	assert.Zero(t, s.beaten(Beat, now, 400*time.Millisecond), "clocks differ by a little")
	s.slept = 0
	assert.Equal(t, time.Hour, s.beaten(Beat, now, time.Hour), "a laptop asleep")
	require.Len(t, s.seen.Suspensions, 1)
	assert.InDelta(t, 3.9, s.seen.Suspensions[0].AtS, 0.001)
	assert.InDelta(t, 3600, s.seen.Suspensions[0].ForS, 0.001)
}

func TestSelfSeesProcessorsAndGarbage(t *testing.T) {
	s := Watch(t.Context())
	began := time.Now()
	var kept [][]byte
	for time.Since(began) < 50*time.Millisecond {
		kept = append(kept[:len(kept)%64], make([]byte, 1<<16))
	}
	o := s.Observed(t.Context())
	assert.Positive(t, o.Seconds)
	assert.Positive(t, o.Cores)
	assert.Positive(t, o.CPU, "a loop is going: %d", len(kept))
	assert.Positive(t, o.ClockCost+o.ClockTick)
}

func TestPressureIsReadAsTheKernelWritesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpu")
	require.NoError(t, os.WriteFile(path, []byte("some avg10=33.49 avg60=10.62 avg300=17.74 total=208121517\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"), 0o600))
	s, ok := pressure(path)
	assert.True(t, ok)
	assert.InDelta(t, 208.121517, s, 1e-9)
	_, ok = pressure(path + "s")
	assert.False(t, ok, "a kernel without it")
	require.NoError(t, os.WriteFile(path, []byte("some nothing\n"), 0o600))
	_, ok = pressure(path)
	assert.False(t, ok)
}
