package find

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// capable runs a search against something that does that many units a second, in
// batches of ten.
func capable(t *testing.T, perSecond float64, start float64) (best float64, steps []Tried) {
	t.Helper()
	began := time.Now()
	var done, queued atomic.Int64
	p := NewPacer(func() int64 { return int64(time.Since(began)) })
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { // the store
		for ctx.Err() == nil {
			if queued.Load() > 0 {
				queued.Add(-10)
				time.Sleep(time.Duration(10 / perSecond * 1e9))
				done.Add(10)
				continue
			}
			time.Sleep(time.Millisecond)
		}
	})
	for range 2 {
		wg.Go(func() {
			for {
				if _, ok := p.Slot(ctx, 10); !ok {
					return
				}
				queued.Add(10)
			}
		})
	}
	l := Chain{Unit: "events", Trial: 10 * time.Second, Pace: p.Pace, Clock: p.clock, Done: done.Load, Slack: func() float64 { return 20 }}
	require.NoError(t, l.Find(ctx, start, func(s Tried) {
		if steps = append(steps, s); s.Held {
			best = max(best, s.Rate)
		}
	}))
	p.End()
	cancel()
	wg.Wait()
	return best, steps
}

func TestSearchFindsWhatTheStoreCanDo(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]float64{"from below": 100, "from above": 20_000, "near": 1100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				best, steps := capable(t, 1000, start)
				assert.InDelta(t, 1000, best, 60, "%+v", steps)
				require.NotEmpty(t, steps)
				for _, s := range steps {
					assert.NotEmpty(t, s.Why)
					assert.Equal(t, s.Rate <= best, s.Held, "%+v", s)
				}
				last := steps[len(steps)-1]
				assert.LessOrEqual(t, last.To-last.From, int64(11*time.Second))
			})
		})
	}
}

func TestSearchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		p := NewPacer(func() int64 { return time.Now().UnixNano() })
		l := Chain{Trial: time.Minute, Pace: p.Pace, Clock: p.clock, Done: func() int64 { return 0 }, Slack: func() float64 { return 0 }}
		var err error
		steps := 0
		go func() {
			defer p.End()
			err = l.Find(ctx, 10, func(Tried) { steps++ })
		}()
		n := 0
		for {
			if _, ok := p.Slot(t.Context(), 1); !ok {
				break
			}
			n++
		}
		synctest.Wait()
		assert.InDelta(t, 20, n, 12)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.LessOrEqual(t, steps, 1, "of a step cut short nothing is known")
	})
}

func TestSlope(t *testing.T) {
	at := []float64{1, 2, 3, 4}
	assert.InDelta(t, 0, Slope(at, []float64{5, 5, 5, 5}), 1e-9)
	assert.InDelta(t, 7, Slope(at, []float64{5, 12, math.NaN(), 26}), 1e-9)
	assert.True(t, math.IsNaN(Slope(at[:2], []float64{1, 2})))
}

func TestBacklogIsJudgedAtTheEndOrWhenItIsHopeless(t *testing.T) {
	b := Backlog{Unit: "events", Rate: 100, Length: 10 * time.Second, Slack: 10}
	for s := 1; s < 10; s++ {
		_, over := b.Observe(time.Duration(s)*time.Second, float64(s*100))
		assert.False(t, over)
	}
	s, over := b.Observe(10*time.Second, 990)
	assert.True(t, over)
	assert.True(t, s.Held, s.Why)
	assert.InDelta(t, 100, s.Done, 2)

	hopeless := Backlog{Unit: "events", Rate: 100, Length: 10 * time.Second}
	s, over = hopeless.Observe(2500*time.Millisecond, 0)
	assert.True(t, over)
	assert.False(t, s.Held)
	assert.Equal(t, "the backlog came to 250 events", s.Why)
	assert.InDelta(t, 100, s.Slope, 1e-9, "it has one although there are too few moments for a line")

	grows := Backlog{Unit: "events", Rate: 100, Length: 10 * time.Second}
	for i := 1; ; i++ {
		if s, over = grows.Observe(time.Duration(i)*time.Second, float64(i)*95); over {
			break
		}
	}
	assert.False(t, s.Held)
	assert.Equal(t, "the backlog grew by 5 events/s", s.Why)
}

// However much its seconds vary, no level holds that leaves much undone, or something in more than a single one of them.
func TestALevelThatLeavesMuchUndoneDoesNotHold(t *testing.T) {
	level := func(done ...float64) (list []Second) {
		for i, n := range done {
			at := int64(i) * 1e9
			due := 1000.0
			if n > 50e3 {
				due = 100e3
			}
			list = append(list, Second{From: at, To: at + 1e9, Due: due, Done: n, Lump: 1})
		}
		return list
	}
	for _, c := range []struct {
		done []float64
		was  outcome
		why  string
	}{
		{[]float64{1000, 990, 1010, 1000}, held, "it held"},
		{[]float64{900, 1080, 920, 1060}, held, "it held"},
		{[]float64{700, 1090, 780, 1110}, unclear, "the backlog grew: 92 % of what was due was done"},
		{[]float64{98e3, 94e3}, unclear, "the backlog grew: 96 % of what was due was done"},
		{[]float64{98.7e3, 92e3, 98.5e3, 98.7e3, 98.5e3, 92e3}, unclear, "the backlog grew: 96.4 % of what was due was done"},
		{[]float64{100e3, 100e3, 100e3, 78e3, 99.8e3, 100e3}, held, "it held"}, // a stall
		{[]float64{100e3, 100e3, 100e3, 100e3, 100e3, 78e3}, held, "it held"},
		{[]float64{1040, 930, 975, 970, 1010, 930}, held, "it held"}, // chance has so many fewer end
		{[]float64{900, 910, 890, 900}, failed, "the backlog grew: 90 % of what was due was done"},
	} {
		was, s := judge(nil, level(c.done...))
		assert.Equal(t, c.was, was, c.done)
		assert.Equal(t, c.why, s.Why)
		assert.Equal(t, c.was != held || slices.Max(c.done) == 100e3, s.Behind > 0, c.done)
		if was == unclear {
			s = lean(nil, s, level(c.done...))
			assert.False(t, s.Held)
			assert.Equal(t, c.why, s.Why)
		}
	}
}

// A level that has failed and held when the time is up is neither too much nor found.
func TestALevelThatHeldAsOftenAsItFailedIsLeftOut(t *testing.T) {
	t.Parallel()
	tries := map[float64]int{}
	last := false
	c := Choice{Start: 100, Raise: 2, Confirm: true, Up: func() bool { return last }}
	r, err := c.Find(t.Context(), func(_ context.Context, level float64, _ bool) (Tried, error) {
		tries[level]++
		last = tries[800] == 2
		return Tried{Rate: level, Held: level < 800 || last, Doubtful: level == 800}, nil
	}, func(Tried) {})
	require.NoError(t, err)
	assert.Equal(t, Range{Low: 400}, r)
}

// A level whose only step was doubtful when the time was up is not too much: nothing is known
// of it.
func TestADoubtfulStepAloneIsNotTooMuch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		doubtful bool
		high     float64
	}{"clear": {false, 800}, "doubtful": {true, 0}} {
		last := false
		c := Choice{Start: 100, Raise: 2, Confirm: true, Up: func() bool { return last }}
		r, err := c.Find(t.Context(), func(_ context.Context, level float64, _ bool) (Tried, error) {
			last = level >= 800
			return Tried{Rate: level, Held: level < 800, Doubtful: last && tt.doubtful}, nil
		}, func(Tried) {})
		require.NoError(t, err)
		assert.Equal(t, Range{Low: 400, High: tt.high}, r, name)
	}
}

// An answer stands on two tries at least; where there is time for no more than that, it is tried again before another level.
func TestAnAnswerStandsOnTwoTries(t *testing.T) {
	search := func(c Choice, left int) (Range, []float64) {
		var tried []float64
		c.Start, c.Raise, c.Near, c.Confirm = 100, 2, 1.03, true
		c.Up = func() bool { return len(tried) >= left }
		c.Last = func() bool { return len(tried) == left-1 }
		r, err := c.Find(t.Context(), func(_ context.Context, level float64, _ bool) (Tried, error) {
			return Tried{Rate: level, Held: level < 1000}, nil
		}, func(s Tried) { tried = append(tried, s.Rate) })
		require.NoError(t, err)
		return r, tried
	}
	count := func(of []float64, level float64) (n int) {
		for _, l := range of {
			if l == level {
				n++
			}
		}
		return n
	}
	r, tried := search(Choice{}, 100)
	assert.True(t, r.Known)
	assert.InDelta(t, 1000, r.Low, 30)
	assert.Equal(t, 2, count(tried, r.Low), "%v", tried)
	r, tried = search(Choice{}, len(tried)-3)
	assert.False(t, r.Known)
	assert.Equal(t, r.Low, tried[len(tried)-1])
	assert.Equal(t, 2, count(tried, r.Low), "%v", tried)
	r, tried = search(Choice{}, 3)
	assert.Equal(t, []float64{100, 200, 400}, tried, "nothing is too much yet: a higher level says more")
	assert.InDelta(t, 400, r.Low, 0)
}

// Levels are told to three digits, without what binary fractions add.
func TestLevelsAreRounded(t *testing.T) {
	t.Parallel()
	for level, want := range map[float64]float64{36.25: 36.3, 36.3: 36.3, 0.018149: 0.0181, 7.25: 7.25, 145.4: 145, 123456: 123000, 0: 0} {
		assert.Equal(t, fmt.Sprint(want), fmt.Sprint(rounded(level)))
	}
}
