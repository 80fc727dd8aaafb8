package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// How a run continues whose work is done by other processes and whose engine has
// died:
//
// Its clock has gone on, and so has the work. What was measured was kept, and is
// merged again from the beginning. All that is missing of the old engine is what
// it decided: settings, phases and the timetable. It noted each decision, and the
// new engine adopts the notes before it begins.

// Note is a decision of an engine, recorded for the engine that may replace it.
type Note struct {
	// At is when, since measurement began.
	At time.Duration `json:"at_ns"`
	// Phase is one that has begun; empty: none.
	Phase string `json:"phase,omitempty"`
	// Mark is a note on the time line; empty: none.
	Mark string `json:"mark,omitempty"`
	// Taken is how many entries of the timetable have been put into force.
	Taken int `json:"taken,omitempty"`
	// Changes came into force in the segment with that number, which began at From
	// and has these Settings. Tracks are the tracks' requested settings from then
	// on, and Weights their proportions. SettingsEnd is what a ramp has come to.
	Changes     []measure.Change    `json:"changes,omitempty"`
	Segment     int                 `json:"segment,omitempty"`
	From        time.Duration       `json:"from_ns,omitempty"`
	Settings    map[string]float64  `json:"settings,omitempty"`
	SettingsEnd map[string]float64  `json:"settings_end,omitempty"`
	Tracks      []workload.Settings `json:"tracks,omitempty"`
	Weights     []int               `json:"weights,omitempty"`
}

// Restored is the state of the run that this one continues.
type Restored struct {
	// Began is when measurement began, or is to begin.
	Began time.Time
	// Notes are those of the previous engine, in order.
	Notes []Note
	// Reread is closed when all figures that were kept have been merged again. Upto
	// returns the time up to which they have been, math.MaxInt64 at the end.
	Reread <-chan struct{}
	Upto   func() int64
}

// note reports a decision. The caller holds r.mu.
func (r *Run) note(n Note) {
	if r.opts.Note != nil {
		n.At, n.Taken = cmp.Or(n.At, r.Elapsed()), r.conductor.taken
		r.opts.Note(n)
	}
}

// changesNote is the note of settings that came into force.
func changesNote(log []measure.Change, l *timeline, s *settings) Note {
	at := l.segments[l.segment()]
	return Note{
		Changes: log, Segment: int(l.segment()), From: time.Duration(at.from), Settings: at.settings, SettingsEnd: at.end,
		Tracks: slices.Clone(s.want), Weights: slices.Clone(s.weights),
	}
}

// past owns what is known of a run's time under the engine that began it.
type past struct {
	*Restored

	tracks []*workload.Track
	until  int64 // when this engine went on with it
}

// recall has a run adopt the notes of the engine before. The caller holds r.mu.
func (p *past) recall(r *Run) {
	p.until = r.now()
	for i := range p.Notes {
		n := &p.Notes[i]
		r.conductor.taken = max(r.conductor.taken, n.Taken)
		switch {
		case n.Mark != "":
			r.timeline.mark(measure.Mark{At: n.At, Note: n.Mark})
		case n.Phase != "":
			if ph := r.graph.named[n.Phase]; ph != nil && ph.state == waiting {
				r.begin(ph, int64(n.At))
			}
		case len(n.Tracks) == len(r.tracks) && n.Segment < MaxSegments:
			copy(r.settings.want, n.Tracks)
			r.settings.weights = n.Weights
			r.timeline.recall(n, r.measuring)
			r.publish(keep)
		}
	}
	for _, ph := range r.graph.phases {
		if ph.state == running && len(ph.spec.After) > 0 {
			r.pool.send(workload.Word{Phase: ph.spec.Name}) // harmless to processes that have heard of it already
		}
	}
	if len(r.timeline.changes) > 0 {
		r.send()
	}
}

// wanted are the settings that were asked for before a moment, and their segment.
func (p *past) wanted(before int64) (segment int, of func(track int) workload.Settings) {
	of = workload.Starts(p.tracks)
	for _, n := range p.Notes {
		if len(n.Tracks) == len(p.tracks) && int64(n.At) < before {
			segment, of = n.Segment, func(i int) workload.Settings { return n.Tracks[i] }
		}
	}
	return segment, of
}

// then sets the gauges of a run's tracks to their values at an earlier moment, which the
// previous engine may or may not have seen.
func (p *past) then(r *Run, gauges []measure.Gauge, at int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at >= p.until {
		return
	}
	segment, wanted := p.wanted(at)
	for i := range gauges {
		g, s, t := &gauges[i], wanted(i), r.tracks[i]
		g.Threads, g.Payload, g.Batch, g.Rate, g.Paused, g.Segment = s.Threads, s.Payload, s.Batch, s.Rate, s.Paused, segment
		ended := r.pool.seen(i).Ended
		g.Running = t.state != waiting && t.span.From < at && (ended == 0 || int64(ended) >= at)
		g.Ended = ended != 0 && int64(ended) < at
	}
}

// catchUp waits until all that was kept has been merged again, and then handles
// what fell due in the meantime. It returns false if the run was ended.
func (p *past) catchUp(ctx context.Context, r *Run) bool {
	select {
	case <-p.Reread:
	case <-ctx.Done():
		r.Stop(context.Cause(ctx))
		return false
	case <-r.ending:
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ph := range r.graph.phases {
		if at, ok := ph.ends(); ok && ph.state == running {
			r.appointments.at(at, func() { r.endPhase(ph) })
		}
	}
	return true
}
