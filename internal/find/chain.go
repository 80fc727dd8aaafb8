package find

import (
	"context"
	"time"
)

// every is how often a step is looked at.
const every = 100 * time.Millisecond

// Chain is something whose rate can be set and whose work can be counted.
type Chain struct {
	// Unit is what is counted, for use in sentences: "events".
	Unit string
	// Trial is how long each rate is offered.
	Trial time.Duration
	// Pace sets the rate from now on; 0 makes nothing due.
	Pace func(rate float64)
	// Clock is the run's clock; Done returns how much has been done so far.
	Clock, Done func() int64
	// Slack returns how much is on its way at any rate.
	Slack func() float64
}

// Find looks for the highest rate whose backlog stays bounded, with the steps of
// Choice. Between two rates it waits until the backlog is gone.
func (l *Chain) Find(ctx context.Context, start float64, found func(Tried)) error {
	first := true
	_, err := Choice{Start: start}.Find(ctx, func(ctx context.Context, rate float64, _ bool) (Tried, error) {
		if !first {
			l.drain(ctx)
		}
		first = false
		return l.try(ctx, rate)
	}, found)
	return err
}

// try applies one rate for the length of a trial and judges it.
func (l *Chain) try(ctx context.Context, rate float64) (Tried, error) {
	from, before := l.Clock(), l.Done()
	b := Backlog{Unit: l.Unit, Rate: rate, Length: l.Trial, Slack: l.Slack()}
	l.Pace(rate)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return Tried{}, context.Cause(ctx)
		case <-tick.C:
		}
		now := l.Clock()
		s, over := b.Observe(time.Duration(now-from), float64(l.Done()-before))
		if over {
			s.From, s.To = from, now
			return s, nil
		}
	}
}

// drain makes nothing due until the backlog is gone, that is, until nothing more gets
// done.
func (l *Chain) drain(ctx context.Context) {
	l.Pace(0)
	last, quiet := l.Done(), 0
	tick := time.NewTicker(every)
	defer tick.Stop()
	for quiet < 5 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := l.Done()
		if quiet++; now != last {
			last, quiet = now, 0
		}
	}
}
