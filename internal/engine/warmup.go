package engine

import (
	"slices"
	"time"
)

// How a warm-up ends early:
//
// The time of a run counts towards 0, where measurement begins, and everything
// that is planned is planned in that time. So the warm-up is not cut short:
// instead, the time in which nothing would be learnt is skipped. The clock jumps
// by whole seconds to the last one before 0, and whatever already has a time,
// such as seconds of the warm-up and changes made in it, is moved along with it.
// Afterwards it looks as if the warm-up had been that short from the beginning.

// EndWarmup ends the warm-up with the current second, and returns how much of it
// is left out, in whole seconds; the run's time has moved on by that. 0 means
// that none of it can be left out. Only Options.Sink may call it, where the
// seconds of the warm-up are numbered.
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
	// Open loops pause meanwhile: in the new time, everything that the old schedule
	// still had ahead would be due at once.
	paced := slices.DeleteFunc(slices.Clone(r.tracks), func(t *track) bool { return t.state != running || t.want().Rate <= 0 || t.want().Paused })
	for _, t := range paced {
		s := t.want()
		s.Paused = true
		t.apply(s, keep)
	}
	r.Clock.skip(by)
	r.col.Skip(by)
	for _, t := range paced {
		t.publish(keep)
	}
	// Whatever waits for a moment looks at the clock again, and what has a time is moved.
	r.conductor.skip()
	r.appointments.shift()
	r.timeline.shift(by)
	return time.Duration(by)
}
