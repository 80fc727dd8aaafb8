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

// moveOn makes everything that waits for a moment check the clock again, and
// shifts whatever has a time. The caller holds r.mu.
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
	r.parted += by
	r.changes = slices.Clone(r.changes) // slices handed out stay as they are
	for i := range r.changes {
		r.changes[i].At += time.Duration(by)
	}
	r.marks = slices.Clone(r.marks)
	for i := range r.marks {
		r.marks[i].At += time.Duration(by)
	}
}
