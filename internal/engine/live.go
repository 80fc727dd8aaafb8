package engine

import (
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// Together is the time within which changes share a segment; changes further
// apart have one each, except for the steps of a ramp, which share one.
const Together = 250 * time.Millisecond

// MaxSegments limits the memory of a run whose settings change all the time:
// later changes share the last segment.
const MaxSegments = 4096

// apply makes the change that a timetable entry describes.
func (a At) apply(s workload.Settings) workload.Settings {
	if a.Knob.Name == "paused" {
		s.Paused = a.Value != 0
		return s
	}
	return a.Knob.Set(s, a.Knob.Clamp(a.Value))
}

// segment returns the number of the segment in force. The caller holds r.mu.
func (r *Run) segment() uint16 { return uint16(max(len(r.segments)-1, 0)) }

// Settings returns the requested settings of one track, or the totals of all tracks.
func (r *Run) Settings(track int) workload.Settings {
	r.mu.Lock()
	defer r.mu.Unlock()
	if track == workload.AllTracks {
		return r.totals()
	}
	return r.tracks[track].want
}

// totals combines the requested settings of all tracks. The caller holds r.mu.
func (r *Run) totals() workload.Settings {
	return workload.Totals(r.knobs, r.opts.Plan.Tracks(), r.wanted)
}

// wanted returns the requested settings of a track. The caller holds r.mu.
func (r *Run) wanted(track int) workload.Settings { return r.tracks[track].want }

// Change changes the live settings of one track, or of all. In the latter case f
// gets the totals of what adds up and otherwise the settings of the first track,
// and what it changes is spread over the tracks, also to those that differ from the
// first. f must be pure; it may be called more than once, and changes are applied in the
// order of the calls. Values are clamped to
// the knobs' ranges. Tracks on which a knob has no effect are left as they are.
// by names the originator in the change log.
func (r *Run) Change(by string, track int, f func(workload.Settings) workload.Settings) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.change(by, track, f, r.now(), 0)
}

// change is Change for a given moment of the run's time and step of a ramp, 0 if
// it is not part of one. The caller holds r.mu.
func (r *Run) change(by string, track int, f func(workload.Settings) workload.Settings, moment int64, ramp int) {
	if r.stopped {
		return
	}
	prefix := ""
	before := r.totals()
	if track != workload.AllTracks {
		before = r.tracks[track].want
		if len(r.tracks) > 1 {
			prefix = r.tracks[track].name + "."
		}
	}
	after := f(before)
	var log []measure.Change
	note := func(name string, from, to float64) {
		log = append(log, measure.Change{Name: prefix + name, From: from, To: to, By: by, Ramp: ramp})
	}
	for _, k := range r.knobs {
		from, to := k.Get(before), k.Get(after)
		if track == workload.AllTracks && r.differs(k) {
			// A function that leaves the first track as it is may mean to set all to that.
			for _, c := range r.even(k, before, f) {
				note(c.Name, c.From, c.To)
			}
			continue
		}
		if from == to {
			continue
		}
		to = k.Clamp(to)
		if track == workload.AllTracks {
			r.spread(k, to)
			to = k.Get(r.totals())
		} else {
			t := r.tracks[track]
			if !t.spec.Turns(k) {
				continue
			}
			t.want = k.Set(t.want, to)
			r.weigh()
		}
		if from != to {
			note(k.Name, from, to)
		}
	}
	if before.Paused != after.Paused {
		for i, t := range r.tracks {
			if track == workload.AllTracks || track == i {
				t.want.Paused = after.Paused
			}
		}
		note("paused", number(before.Paused), number(after.Paused))
	}
	if len(log) > 0 {
		r.applyChanges(log, moment, ramp)
	}
}

// differs reports whether tracks that have a knob which does not add up differ in its
// value. The caller holds r.mu.
func (r *Run) differs(k workload.Knob) bool {
	if k.Sum {
		return false
	}
	first, known := 0.0, false
	for _, t := range r.tracks {
		if !t.spec.Turns(k) {
			continue
		}
		if known && k.Get(t.want) != first {
			return true
		}
		first, known = k.Get(t.want), true
	}
	return false
}

// even sets a knob in which tracks differ to one value on all of them, if f does that or
// changes it, and returns what changed on each. The caller holds r.mu.
func (r *Run) even(k workload.Knob, before workload.Settings, f func(workload.Settings) workload.Settings) (log []measure.Change) {
	to := k.Get(f(before))
	touched := to != k.Get(before)
	for _, t := range r.tracks {
		own := k.Get(t.want)
		touched = touched || t.spec.Turns(k) && k.Get(f(k.Set(before, own))) != own
	}
	if !touched {
		return nil
	}
	to = k.Clamp(to)
	for _, t := range r.tracks {
		if from := k.Get(t.want); t.spec.Turns(k) && from != to {
			t.want = k.Set(t.want, to)
			log = append(log, measure.Change{Name: t.name + "." + k.Name, From: from, To: to})
		}
	}
	return log
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// applyChanges puts the requested settings into force and logs them. Whether
// changes share a segment depends on the moments they were meant for, and not on
// how late they are. The steps of a ramp between its first and its last belong to the
// segment in force: the ramp's own, or that of a later change.
func (r *Run) applyChanges(log []measure.Change, moment int64, ramp int) {
	now := r.now()
	switch {
	case !r.measuring: // warm-up: the first segment has yet to begin
		r.segments[0].settings = r.settingsByName()
	case ramp > 0 && r.ramped[ramp] && !r.lastStep:
		r.segments[len(r.segments)-1].end = r.settingsByName()
	case r.everMoved && moment-r.parted < int64(Together), len(r.segments) >= MaxSegments:
		last := &r.segments[len(r.segments)-1]
		last.settings, last.end = r.settingsByName(), nil
		r.parted = moment
	default:
		r.segments = append(r.segments, segmentInfo{from: now, settings: r.settingsByName()})
		r.parted = moment
	}
	r.changed, r.everMoved, r.ramped[ramp] = moment, true, true
	for i := range log {
		log[i].At, log[i].Segment = time.Duration(now), int(r.segment())
	}
	r.changes = append(r.changes, log...)
	r.noteChanges(log)
	for _, t := range r.tracks {
		if t.state == running {
			t.publish(false)
			t.nudge()
		}
	}
	r.control()
}

// spread sets a knob over all tracks: a value that adds up is divided in the
// current proportions, any other is set on every track.
func (r *Run) spread(k workload.Knob, to float64) {
	if !k.Sum {
		for _, t := range r.tracks {
			if t.spec.Turns(k) {
				t.want = k.Set(t.want, to)
			}
		}
		return
	}
	parts := make([]*track, 0, len(r.tracks))
	sum := 0.0
	for _, t := range r.tracks {
		if t.spec.Adds(k) {
			parts = append(parts, t)
			sum += k.Get(t.want)
		}
	}
	if k.Name == "threads" {
		for i, n := range workload.Spread(r.weights, int(to)) {
			parts[i].want = k.Set(parts[i].want, float64(n))
		}
		return
	}
	for _, t := range parts {
		part := to / float64(len(parts))
		if sum > 0 {
			part = to * k.Get(t.want) / sum
		}
		t.want = k.Set(t.want, part)
	}
}

// maxMarks limits the memory used by notes on the time line.
const maxMarks = 1000

// Mark puts a note on the run's time line; after the first thousand notes it does
// nothing.
func (r *Run) Mark(note string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped && len(r.marks) < maxMarks {
		m := measure.Mark{At: time.Duration(r.now()), Note: note}
		r.marks = append(r.marks, m)
		r.note(Note{At: m.At, Mark: m.Note})
	}
}

// weigh notes the proportions of the tracks' threads, by which totals are spread:
// those at the start or after the last change aimed at one track. The caller
// holds r.mu.
func (r *Run) weigh() {
	r.weights = r.weights[:0]
	for _, t := range r.tracks {
		if !t.spec.Apart {
			r.weights = append(r.weights, t.want.Threads)
		}
	}
}

// settingsByName lists the requested settings under the names that users type.
// The caller holds r.mu.
func (r *Run) settingsByName() map[string]float64 {
	out := workload.ByName(r.knobs, r.opts.Plan.Tracks(), r.wanted)
	for _, t := range r.tracks {
		if t.want.Paused {
			out["paused"] = 1
		}
	}
	return out
}

// source is the collector's view of a run.
type source struct{ r *Run }

func (s source) Now() int64 { return s.r.now() }

func (s source) Gauges(dst []measure.Gauge) {
	r := s.r
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for i, t := range r.tracks {
		dst[i] = t.gauge(now)
	}
}

func (s source) Control() measure.Control {
	r := s.r
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	c := measure.Control{Changes: slices.Clip(r.changes), Marks: slices.Clip(r.marks)}
	never, known := make([][]int64, len(r.tracks)), true
	for i, t := range r.tracks {
		never[i] = t.neverStarted(now, len(r.segments))
		for k := range never[i] {
			if r.opts.Away != nil {
				never[i][k] += r.opts.Away.Unstarted(k, i)
			}
		}
		sp := t.span
		if t.state == running {
			sp.To = max(now, 0)
		}
		c.Spans = append(c.Spans, sp)
		c.Total += t.spec.Total
		known = known && (t.spec.Total > 0 || t.spec.Apart)
	}
	if !known {
		c.Total = 0
	}
	for i, seg := range r.segments {
		info := measure.SegmentInfo{From: time.Duration(seg.from), To: time.Duration(max(now, 0)), Settings: seg.settings, SettingsEnd: seg.end}
		if i+1 < len(r.segments) {
			info.To = time.Duration(r.segments[i+1].from)
		}
		for _, n := range never {
			info.Unstarted = append(info.Unstarted, n[i])
		}
		c.Segments = append(c.Segments, info)
	}
	for _, p := range r.opts.Plan.Phases {
		if r.phases[p.Name].state == running {
			c.Phases = append(c.Phases, p.Name)
		}
		if ran, ok := r.phases[p.Name].ran(now); ok {
			c.Ran = append(c.Ran, ran)
		}
	}
	return c
}
