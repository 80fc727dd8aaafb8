// Package search looks for the highest rate that a store sustains: Find chooses what
// to try, Backlog judges one rate by how what is due and not done grows, and Load puts
// both to work on whatever can be paced, a run of the engine or a Pacer.
package search

import (
	"context"
	"math"
)

// Rates rise by raise until one does not hold and fall by half until one does; then
// the middle of the two is tried, until they are close.
const (
	raise = 1.6
	near  = 1.05
	most  = 20 // steps
)

// Step is one rate that was tried.
type Step struct {
	Rate float64
	// From and To are by the clock of the run, in nanoseconds.
	From, To int64
	// Done is units a second that were done, Slope how the backlog grew, in units a
	// second.
	Done, Slope float64
	// Held says that the rate is sustainable, Why says why or why not.
	Held bool
	Why  string
}

// Find tries rates, start first, until the highest that holds is known well enough.
// try offers one and judges it; each step is told to found. It ends early with the
// error of try, of whose step nothing is known then.
func Find(ctx context.Context, start float64, try func(ctx context.Context, rate float64) (Step, error), found func(Step)) error {
	low, high, rate := 0.0, 0.0, start
	for range most {
		s, err := try(ctx, rate)
		if err != nil {
			return err
		}
		found(s)
		if s.Held {
			low = rate
		} else {
			high = rate
		}
		if rate = next(low, high); rate == 0 {
			return nil
		}
	}
	return nil
}

// next is what to try after low has held and high has not, 0 when they are close
// enough. Either may be 0: not known yet.
func next(low, high float64) float64 {
	switch {
	case high == 0:
		return low * raise
	case low == 0:
		if high < 2 {
			return 0
		}
		return high / 2
	case high/low <= near:
		return 0
	}
	return math.Sqrt(low * high)
}
