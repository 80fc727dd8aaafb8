package eventstore

import (
	"context"
	"fmt"
	"sync"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// searching looks for the highest rate whose backlog stays bounded, and paces the
// generators meanwhile.
type searching struct {
	pacer *find.Pacer
	load  find.Chain
	start float64

	mu   sync.Mutex
	rate float64 // the highest rate that has held
	list []find.Tried
}

// newSearching makes the search of a run; stored returns how many events are stored.
func newSearching(s *spec, clock *runClock, stored func() int64) *searching {
	p := find.NewPacer(clock.now)
	return &searching{pacer: p, start: s.search.rate, load: find.Chain{
		Unit: "events", Trial: s.search.trial, Pace: p.Pace, Clock: clock.now,
		Done: stored,
		// At every point on the way there may be one batch of each generator.
		Slack: func() float64 { return float64(8 * s.load.start.Batch * s.load.start.Threads) },
	}}
}

// run searches until the answer is known, or ctx ends.
func (x *searching) run(ctx context.Context) {
	defer x.pacer.End()
	select {
	case <-x.pacer.Begun():
	case <-ctx.Done():
		return
	}
	_ = x.load.Find(ctx, x.start, func(s find.Tried) { // the run has ended, and the search with it
		x.mu.Lock()
		defer x.mu.Unlock()
		x.list = append(x.list, s)
		if s.Held {
			x.rate = s.Rate
		}
	})
}

// report returns what has been found so far, in the time of the run, which began at
// zero.
func (x *searching) report(zero int64) *report.Search {
	x.mu.Lock()
	defer x.mu.Unlock()
	f := &report.Search{Rate: x.rate}
	for _, s := range x.list {
		f.Trials = append(f.Trials, report.SearchTrial{Rate: s.Rate, FromNs: s.From - zero, ToNs: s.To - zero, Stored: s.Done, Slope: s.Slope, Held: s.Held, Why: s.Why})
	}
	return f
}

// summary says in a sentence what was found.
func (x *searching) summary() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.rate == 0 {
		return "no rate that was tried is sustainable"
	}
	return fmt.Sprintf("the highest sustainable rate found is %.0f events/s", x.rate)
}
