package eventstore

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// How a search goes. Rates rise by raise until one does not hold and fall by half
// until one does; then the middle of the two is tried, until they are close.
const (
	searchRaise  = 1.6
	searchClose  = 1.05
	searchTrials = 20
	// searchSettle is the part of a trial that is not judged.
	searchSettle = 0.3
	// searchBacklog is the most that may be due and not durable, in seconds of the rate.
	searchBacklog = 1.0
	searchEvery   = 100 * time.Millisecond
)

// search looks for the highest rate whose backlog stays bounded. It paces the
// generators itself: the schedule goes on whatever they manage, so what is due and
// not yet generated is backlog, too.
type search struct {
	start  float64
	trial  time.Duration
	clock  func() int64
	stored func() int64 // events durable so far
	// slack is how many events are on their way at any rate.
	slack func() float64

	once  sync.Once
	begun chan struct{} // closed when the first generator asks

	mu      sync.Mutex
	rate    float64 // 0: nothing is due
	next    float64 // when the next batch is due, by the clock
	changed chan struct{}
	over    bool
	facts   SearchFacts
}

func newSearch(start float64, trial time.Duration, clock, stored func() int64, slack func() float64) *search {
	return &search{start: start, trial: trial, clock: clock, stored: stored, slack: slack, begun: make(chan struct{}), changed: make(chan struct{})}
}

// slot waits until a batch of n events is due and returns when it was; false when
// the search or ctx has ended. Any goroutine may call it.
func (x *search) slot(ctx context.Context, n int) (due int64, ok bool) {
	x.once.Do(func() { close(x.begun) })
	for ctx.Err() == nil {
		x.mu.Lock()
		if x.over {
			x.mu.Unlock()
			return 0, false
		}
		wait, changed := time.Duration(math.MaxInt64), x.changed
		if x.rate > 0 {
			if wait = time.Duration(int64(x.next) - x.clock()); wait <= 0 {
				due = int64(x.next)
				x.next += float64(n) / x.rate * 1e9
				x.mu.Unlock()
				return due, true
			}
		}
		x.mu.Unlock()
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return 0, false
}

// pace sets the rate from now on; 0 makes nothing due.
func (x *search) pace(rate float64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.rate, x.next = rate, float64(x.clock())
	close(x.changed)
	x.changed = make(chan struct{})
}

// run searches until it knows, or ctx ends.
func (x *search) run(ctx context.Context) {
	defer x.end()
	select {
	case <-x.begun:
	case <-ctx.Done():
		return
	}
	low, high, rate := 0.0, 0.0, x.start
	for range searchTrials {
		t := x.try(ctx, rate)
		if ctx.Err() != nil {
			return // of a trial cut short nothing is known
		}
		x.mu.Lock()
		x.facts.Trials = append(x.facts.Trials, t)
		if t.Held {
			low = rate
			x.facts.Rate = rate
		} else {
			high = rate
		}
		x.mu.Unlock()
		if rate = nextRate(low, high); rate == 0 {
			return
		}
		x.drain(ctx)
	}
}

// nextRate is what to try after low has held and high has not, 0 when they are close
// enough. Either may be 0: not known yet.
func nextRate(low, high float64) float64 {
	switch {
	case high == 0:
		return low * searchRaise
	case low == 0:
		if high < 2 {
			return 0
		}
		return high / 2
	case high/low <= searchClose:
		return 0
	}
	return math.Sqrt(low * high)
}

// end lets the generators go.
func (x *search) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over, x.rate = true, 0
	close(x.changed)
	x.changed = make(chan struct{})
}

// try offers one rate for the length of a trial and judges it.
func (x *search) try(ctx context.Context, rate float64) SearchTrial {
	from, before := x.clock(), x.stored()
	t := SearchTrial{Rate: rate, FromNs: from}
	x.pace(rate)
	var backlog, stored []timed
	tick := time.NewTicker(searchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return t
		case <-tick.C:
		}
		now := x.clock()
		done := float64(x.stored() - before)
		left := rate*float64(now-from)/1e9 - done
		t.ToNs = now
		if part := float64(now-from) / float64(x.trial); part >= searchSettle {
			backlog, stored = append(backlog, timed{now, left}), append(stored, timed{now, done})
		}
		step := &StepFacts{FromNs: from, ToNs: now}
		t.Slope, t.Stored = slope(step, backlog), slope(step, stored)
		bound := rate*searchBacklog + x.slack()
		switch {
		case left > 2*bound: // it will not come back within the trial
			t.Why = fmt.Sprintf("the backlog came to %.0f events", left)
		case now-from < int64(x.trial):
			continue
		case left > bound:
			t.Why = fmt.Sprintf("at its end %.0f events were due and not durable", left)
		case t.Slope > sustainedSlope*rate+x.slack()/x.trial.Seconds():
			t.Why = fmt.Sprintf("the backlog grew by %.0f events/s", t.Slope)
		default:
			t.Held, t.Why = true, fmt.Sprintf("the backlog stayed bounded: %.0f events at its end", max(left, 0))
		}
		if math.IsNaN(t.Slope) { // over before it was judged; JSON knows no NaN
			t.Slope, t.Stored = left/(float64(now-from)/1e9), done/(float64(now-from)/1e9)
		}
		return t
	}
}

// drain makes nothing due until the backlog is gone: until nothing more becomes
// durable.
func (x *search) drain(ctx context.Context) {
	x.pace(0)
	last, quiet := x.stored(), 0
	tick := time.NewTicker(searchEvery)
	defer tick.Stop()
	for quiet < 5 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := x.stored()
		if quiet++; now != last {
			last, quiet = now, 0
		}
	}
}

// report is what was found so far, by the time of the run, which began at zero.
func (x *search) report(zero int64) *SearchFacts {
	x.mu.Lock()
	defer x.mu.Unlock()
	f := &SearchFacts{Rate: x.facts.Rate}
	for _, t := range x.facts.Trials {
		t.FromNs -= zero
		t.ToNs -= zero
		f.Trials = append(f.Trials, t)
	}
	return f
}

// summary says in a sentence what was found.
func (x *search) summary() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.facts.Rate == 0 {
		return "no rate that was tried is sustainable"
	}
	return fmt.Sprintf("the highest sustainable rate found is %.0f events/s", x.facts.Rate)
}
