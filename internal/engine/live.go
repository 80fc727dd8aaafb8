package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// Settings returns the requested settings of one track, or the totals of all tracks.
func (r *Run) Settings(track int) workload.Settings {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.settings.of(track)
	s.Coming = cmp.Or(s.Coming, r.settings.began)
	return s
}

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
	r.change(by, track, f, step{moment: r.now()})
}

// change is Change for a given moment of the run's time and step of a ramp: it puts into force
// and logs what is asked for from now on. The caller holds r.mu.
func (r *Run) change(by string, track int, f func(workload.Settings) workload.Settings, s step) {
	if r.stopped {
		return
	}
	log := r.settings.change(by, track, s.ramp, f)
	if len(log) == 0 {
		return
	}
	r.timeline.change(log, r.now(), s, r.settings.byName(), !r.measuring)
	if r.opts.Note != nil {
		r.note(changesNote(log, r.timeline, r.settings))
	}
	how := keep
	if s.bends {
		how = bend
	}
	r.publish(how)
	r.send()
}

// Afresh begins the schedules of all tracks anew, as a change of the rate does, with the settings as they
// are: what is due and has not begun is dropped, except of a recording. The change log has nothing of it.
// It does nothing where other processes do the work.
func (r *Run) Afresh() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.publish(afresh)
	}
}

// publish puts what is asked for into force on all tracks that run. The caller holds r.mu.
func (r *Run) publish(how rhythm) {
	r.breakTo(r.settings.want[0].Faults)
	for _, t := range r.tracks {
		if t.state == running {
			t.publish(how)
			t.nudge()
		}
	}
}

// breakTo puts faults into force, none once the run ends. The caller holds r.mu.
func (r *Run) breakTo(faults workload.Faults) {
	if r.opts.Break == nil || faults == r.broken {
		return
	}
	r.broken = faults
	r.opts.Break(faults)
}

// Mark puts a note on the run's time line; after the first thousand notes it does
// nothing.
func (r *Run) Mark(note string) { r.MarkAt(r.Elapsed(), note) }

// MarkAt is Mark for a moment that may have passed, as when a note took a while to be written.
func (r *Run) MarkAt(at time.Duration, note string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := measure.Mark{At: min(at, r.Elapsed()), Note: note}
	if !r.stopped && r.timeline.mark(m) {
		r.note(Note{At: m.At, Mark: m.Note})
	}
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
	c := measure.Control{Changes: slices.Clip(r.timeline.changes), Marks: slices.Clip(r.timeline.marks)}
	never, known := make([][]int64, len(r.tracks)), true
	for i, t := range r.tracks {
		never[i] = t.neverStarted(now, len(r.timeline.segments))
		for k := range never[i] {
			never[i][k] += r.pool.unstarted(k, i)
		}
		sp := t.span
		if t.state == running {
			sp.To = max(now, 0)
		}
		c.Spans = append(c.Spans, sp)
		var worked []int64
		if t.state == over { // each worker has said how long
			worked = t.worked.times()
		}
		c.Worked = append(c.Worked, worked)
		c.Total += t.spec.Total
		known = known && (t.spec.Total > 0 || t.spec.Apart)
	}
	if !known {
		c.Total = 0
	}
	c.Segments = r.timeline.infos(now, never)
	if r.opts.Remote == nil { // it is the workers that call the store
		c.Pauses = r.PausesAt(0)
	}
	for _, p := range r.graph.phases {
		if p.state == running {
			c.Phases = append(c.Phases, p.spec.Name)
		}
		if ran, ok := p.ran(now); ok {
			c.Ran = append(c.Ran, ran)
		}
	}
	return c
}
