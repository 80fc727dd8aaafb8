package engine

import (
	"slices"
	"time"
)

// How a warm-up ends early:
//
// The time of a run leads to 0, where measurement begins, and all that is planned is
// planned by it. So the warm-up is not cut short: the time in which nothing would be
// learnt is skipped. The clock moves on by whole seconds to the last one before 0, and
// what has a time already, such as seconds of the warm-up and changes made in it, moves on
// with it. Whoever looks later sees a warm-up that was as short from the beginning.

// EndWarmup ends the warm-up with the second under way, and tells how much of it is left
// out, in whole seconds: by that the run's time has moved on. 0: none of it can be. Only
// Options.Sink may call it, where the seconds of the warm-up are numbered.
func (r *Run) EndWarmup() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped || r.measuring {
		return 0
	}
	by := (-r.now() - 1) / int64(time.Second) * int64(time.Second)
	if by <= 0 {
		return 0
	}
	// Open loops rest meanwhile: by the new time, all that the old schedule had still
	// ahead would be due at once.
	paced := slices.DeleteFunc(slices.Clone(r.tracks), func(t *track) bool { return t.state != running || t.want.Rate <= 0 || t.want.Paused })
	for _, t := range paced {
		t.want.Paused = true
		t.publish(false)
		t.want.Paused = false
	}
	r.clock.skip(by)
	r.col.Skip(by)
	for _, t := range paced {
		t.publish(false)
	}
	r.moveOn(by)
	return time.Duration(by)
}

// moveOn has what waits for a moment look at the clock again, and what has a time move on
// with it. The caller holds r.mu.
func (r *Run) moveOn(by int64) {
	select {
	case r.skipped <- struct{}{}:
	default:
	}
	for _, a := range r.timers {
		if left := a.moment - r.now(); left > 0 {
			a.Reset(time.Duration(left))
		}
	}
	r.changed += by
	r.changes = slices.Clone(r.changes) // those handed out stay as they are
	for i := range r.changes {
		r.changes[i].At += time.Duration(by)
	}
	r.marks = slices.Clone(r.marks)
	for i := range r.marks {
		r.marks[i].At += time.Duration(by)
	}
}
