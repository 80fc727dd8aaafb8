package tuitest

import (
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

func (r *Run) total() workload.Settings {
	s := r.want[0]
	for _, w := range r.want[1:] {
		s.Threads += w.Threads
		s.Rate += w.Rate
	}
	return s
}

// Change turns knobs as the engine does.
func (r *Run) Change(by string, track int, f func(workload.Settings) workload.Settings) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Calls++
	r.change(by, track, 0, r.segmentNow(), f)
}

// Ramp takes a step of a ramp of the timetable with this number, from 1. All its steps but
// the last are one segment, as they are in the engine.
func (r *Run) Ramp(number int, last bool, f func(workload.Settings) workload.Settings) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	seg := len(r.segments)
	if n := len(r.changes); n > 0 && r.changes[n-1].Ramp == number && !last {
		seg = r.changes[n-1].Segment
	}
	r.change(measure.ByTimetable, screen.All, number, seg, f)
}

// segmentNow is the segment of a change that is made now: the next one, or that of a change
// a moment ago.
func (r *Run) segmentNow() int {
	if n := len(r.changes); n > 0 && r.At-r.changes[n-1].At < 250*time.Millisecond {
		return r.changes[n-1].Segment
	}
	return len(r.segments)
}

// change turns knobs; the caller holds Mu.
func (r *Run) change(by string, track, ramp, seg int, f func(workload.Settings) workload.Settings) {
	before, prefix := r.total(), ""
	if track != screen.All {
		before = r.want[track]
		if len(r.want) > 1 {
			prefix = r.Designed.Tracks()[track].Name + "."
		}
	}
	after := f(before)
	note := func(name string, from, to float64) {
		if from == to {
			return
		}
		if seg == len(r.segments) {
			fresh := make([]measure.Totals, len(r.ops))
			for i := range fresh {
				fresh[i].Operation = r.ops[i].Operation
			}
			r.segments = append(r.segments, measure.Segment{From: r.At, Ops: fresh})
		}
		r.changes = append(r.changes, measure.Change{At: r.At, Name: prefix + name, From: from, To: to, By: by, Segment: seg, Ramp: ramp})
	}
	for _, k := range r.Designed.Knobs {
		to := k.Clamp(k.Get(after))
		note(k.Name, k.Get(before), to)
		if to == k.Get(before) {
			continue
		}
		r.turn(k, track, to)
	}
	if before.Paused != after.Paused {
		note("paused", b2f(before.Paused), b2f(after.Paused))
		for i := range r.want {
			if track == screen.All || track == i {
				r.want[i].Paused = after.Paused
			}
		}
	}
	if before.Coming != after.Coming {
		prefix = ""
		note(workload.ComingKnob, float64(before.Coming), float64(after.Coming))
		for i := range r.want {
			r.want[i].Coming = after.Coming
		}
	}
	r.segments[len(r.segments)-1].Settings = r.named()
	r.Publish()
}

// named returns the settings in force under the names that users type.
func (r *Run) named() map[string]float64 {
	return workload.ByName(r.Designed.Knobs, r.Designed.Tracks(), func(i int) workload.Settings { return r.want[i] })
}

// turn sets a knob of one track, or of all: if it is a sum, each gets a share.
func (r *Run) turn(k workload.Knob, track int, to float64) {
	now := make([]int, len(r.want))
	for i, w := range r.want {
		now[i] = int(k.Get(w))
	}
	parts := workload.Spread(now, int(to))
	for i, t := range r.Designed.Tracks() {
		if !t.Turns(k) {
			continue
		}
		switch {
		case track == screen.All && k.Sum && to > 0:
			r.want[i] = k.Set(r.want[i], float64(parts[i]))
		case track == screen.All || track == i:
			r.want[i] = k.Set(r.want[i], to)
		}
	}
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
