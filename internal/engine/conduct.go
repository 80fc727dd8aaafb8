package engine

import (
	"context"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// At is one entry of the timetable: a live change at a moment of the run.
type At struct {
	// After is the time since measurement began.
	After time.Duration
	// Track is the index of the track, or workload.AllTracks.
	Track int
	// Knob is what to change; a Knob with only the name "paused" pauses (1) or
	// resumes (0), one named workload.ComingKnob sets how calls come, and one with the name of
	// a fault's setting begins it or, with 0, ends it.
	Knob  workload.Knob
	Value float64
	// Ramp is the number, from 1, of the ramp that this is a step of; 0 if none. A
	// ramp is one schedule: units that are due but not begun stay due across its
	// steps.
	Ramp int
	// First means that this is the first step of its ramp, which begins a schedule. It
	// opens a segment for the whole ramp, and the Last step one for what it came to.
	First, Last bool
}

// apply makes the change that a timetable entry describes.
func (a At) apply(s workload.Settings) workload.Settings {
	switch a.Knob.Name {
	case "paused":
		s.Paused = a.Value != 0
		return s
	case workload.ComingKnob:
		s.Coming = workload.Coming(a.Value)
		return s
	}
	if kind, ok := workload.FaultSetting(a.Knob.Name); ok {
		s.Faults[kind] = a.Value
		return s
	}
	return a.Knob.Set(s, a.Knob.Clamp(a.Value))
}

// step is for which moment of a run's time a change was meant, and as a step of which ramp.
type step struct {
	moment int64
	ramp   int  // 0: it is none
	bends  bool // the schedule goes on: it is not the first step
	last   bool
}

// conductor owns what is planned by the clock, the end of the warm-up and the timetable, and
// how much of it has come.
type conductor struct {
	run     *Run
	table   []At          // in the order of time
	taken   int           // entries that have been put into force; guarded by Run.mu
	skipped chan struct{} // receives a value when the run's time was moved on
}

// next returns when the next entry of the timetable is due, or what else comes before. The
// caller holds Run.mu.
func (c *conductor) next(until int64) int64 {
	if c.taken < len(c.table) {
		until = min(until, int64(c.table[c.taken].After))
	}
	return until
}

// conduct begins measurement when the warm-up is over, and follows the timetable
// and the context. It ends when the run admits no more iterations.
func (c *conductor) conduct(ctx context.Context) {
	r := c.run
	if r.past != nil && !r.past.catchUp(ctx, r) {
		return
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	r.mu.Lock()
	warm := !r.measuring
	table := c.table[min(c.taken, len(c.table)):]
	r.mu.Unlock()
	if warm {
		if !c.wait(ctx, timer, 0) {
			return
		}
		r.beginMeasuring()
	}
	for _, at := range table {
		if !c.wait(ctx, timer, at.After) {
			return
		}
		c.apply(at)
	}
	select {
	case <-ctx.Done():
		r.Stop(context.Cause(ctx))
	case <-r.ending:
	}
}

// wait waits for a moment of the run's time; false: the run ends before.
func (c *conductor) wait(ctx context.Context, timer *time.Timer, until time.Duration) bool {
	r := c.run
	for {
		timer.Reset(until - r.Elapsed())
		select {
		case <-timer.C:
			if r.Elapsed() < until { // it was suspended
				continue
			}
			return true
		case <-c.skipped:
			continue
		case <-ctx.Done():
			r.Stop(context.Cause(ctx))
		case <-r.ending:
		}
		return false
	}
}

// skip has the wait look at the clock again, which was moved on.
func (c *conductor) skip() {
	select {
	case c.skipped <- struct{}{}:
	default:
	}
}

// apply puts the next entry of the timetable into force. It does so even for
// tracks that the entry does not change, because they have waited for it.
func (c *conductor) apply(at At) {
	r := c.run
	r.mu.Lock()
	defer r.mu.Unlock()
	c.taken++
	r.change(measure.ByTimetable, at.Track, at.apply, step{moment: int64(at.After), ramp: at.Ramp, bends: at.Ramp > 0 && !at.First, last: at.Last})
	for _, t := range r.tracks {
		if a := t.active.Load(); t.state == running && !a.ended && a.until != t.horizon() {
			t.publish(keep)
			t.nudge()
		}
	}
}
