package engine

import (
	"context"
	"os"
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

// timers counts the alarms that this process has open.
func timers(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	n := 0
	for _, f := range open {
		if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && strings.Contains(to, "timerfd") {
			n++
		}
	}
	return n
}

func nothing(context.Context, *workload.Iteration) error { return nil }

// Whatever the threads and the rate, everything that is due is done, once, by few
// alarms, and none of them is left.
func TestAlarmsServeEveryDueTime(t *testing.T) {
	before := timers(t)
	for _, c := range []struct {
		threads, most int
		rate, total   float64
	}{{1, 1, 500, 50}, {8, 8, 5_000, 500}, {300, fewAlarms, 5_000, 500}, {8, 1, 100_000, 5_000}, {300, 1, 100_000, 5_000}} {
		p := pool("p", workload.Settings{Threads: c.threads, Rate: c.rate}, nothing)
		p.Iterations = int64(c.total)
		r := start(t, onePhase(0, p))
		require.True(t, r.precise)
		most := 0
		for over := false; !over; {
			select {
			case <-r.Done():
				over = true
			default:
				most = max(most, timers(t)-before)
			}
		}
		op := result(t, r).Ops[0]
		assert.EqualValues(t, c.total, op.Count, c)
		assert.EqualValues(t, c.total, op.Lateness.Count, c)
		assert.Positive(t, op.Response.Min, "nothing starts early")
		assert.Positive(t, most, c)
		assert.LessOrEqual(t, most, c.most, c)
		assert.Equal(t, before, timers(t), c)
	}
}

// A sleeper hears of changes though its due time is far: an hour here.
func TestSleepersHearOfChanges(t *testing.T) {
	p := pool("p", workload.Settings{Threads: 100, Rate: 1. / 3600}, nothing)
	r := start(t, onePhase(0, p))
	done := func(n int64) {
		if !assert.Eventually(t, func() bool { return r.Snapshot().Done >= n }, time.Minute, time.Millisecond) {
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1) // what they wait for
			t.FailNow()
		}
	}
	done(1) // the first is due at once
	r.Change("test", workload.AllTracks, rate(1000))
	done(20)
	r.Change("test", workload.AllTracks, rate(1./3600))
	r.Change("test", workload.AllTracks, threads(3))
	r.Change("test", workload.AllTracks, rate(100_000))
	done(1000)
	r.Change("test", workload.AllTracks, rate(1./3600))
	r.Stop(nil)
	res := result(t, r)
	assert.Len(t, res.Changes, 5)
	assert.Equal(t, 0, timers(t))
}

// In virtual time no timer of the machine's would ever be right.
func TestVirtualTimeHasNoAlarms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool("p", workload.Settings{Threads: 2, Rate: 10}, nothing)
		r := start(t, onePhase(time.Hour-time.Microsecond, p))
		assert.False(t, r.precise)
		time.Sleep(time.Minute)
		assert.Equal(t, 0, timers(t))
		op := result(t, r).Ops[0]
		assert.EqualValues(t, 36_000, op.Count)
		assert.Zero(t, op.Wait.Max)
	})
}

func TestAlarmsAreHandedOn(t *testing.T) {
	p := newAlarms(1, 0)
	defer p.close()
	stale := make(chan struct{})
	a := p.acquire(stale)
	require.NotNil(t, a)
	got := make(chan *alarm)
	go func() { got <- p.acquire(stale) }()
	p.free <- a
	assert.Same(t, a, <-got)
	close(stale)
	assert.Nil(t, p.acquire(stale), "all are taken, and the settings have changed")
	p.free <- a
	assert.True(t, a.sleep(time.Microsecond))
}

func TestLeadSettlesBelowWhatAlarmsTake(t *testing.T) {
	var p alarms
	p.lead.Store(int64(firstLead))
	early := 0
	for i := range 10_000 {
		took := int64(40_000 + 1000*(i*7%21)) // 40 to 60 µs
		if took < p.lead.Load() && i >= 1000 {
			early++
		}
		p.learn(took)
	}
	assert.InDelta(t, 42_000, p.lead.Load(), 15_000)
	assert.InDelta(t, 1000, early, 400, "one of nine")
	for range 1000 {
		p.learn(int64(time.Second)) // a machine that is busy
	}
	assert.Equal(t, int64(maxLead), p.lead.Load())
	for range 100 {
		p.learn(0)
	}
	assert.Equal(t, int64(time.Microsecond), p.lead.Load())
}

// A worker wakes that much earlier than a wake-up nearly always takes, so that one which
// takes longer is still in time.
func TestNapsEndBeforeTheMomentByWhatMayBeSpun(t *testing.T) {
	p := newAlarms(1, 0)
	defer p.close()
	a := p.acquire(nil)
	defer func() { p.free <- a }()
	w := worker{t: &track{run: &Run{}}, alarm: a, pool: p}
	w.t.run.Clock.start(time.Now(), Signs{})
	require.True(t, w.nap(time.Millisecond, mostSpin))
	assert.Equal(t, time.Millisecond-mostSpin-firstLead, time.Duration(a.set.Value.Nano()))
	p.lead.Store(int64(firstLead))
	require.True(t, w.nap(80*time.Microsecond, mostSpin), "too little is left to set it by what it takes")
	assert.Equal(t, 20*time.Microsecond, time.Duration(a.set.Value.Nano()))
}

// Tracks of one rate take turns: what falls due at one moment starts late.
func TestTracksFallDueByTurns(t *testing.T) {
	r := &Run{precise: true}
	for i := range 4 {
		r.tracks = append(r.tracks, &track{run: r, index: i})
	}
	var at []time.Duration
	for _, track := range r.tracks {
		at = append(at, time.Duration(track.offset(&active{comes: 50, units: 2})))
	}
	assert.Equal(t, []time.Duration{0, 10 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond}, at)
	r.precise = false
	assert.Zero(t, r.tracks[3].offset(&active{comes: 50, units: 1}), "on a virtual clock")
}
