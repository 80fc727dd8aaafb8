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
		n.At, n.Taken = cmp.Or(n.At, time.Duration(r.now())), r.taken
		r.opts.Note(n)
	}
}

// noteChanges reports settings that came into force. The caller holds r.mu.
func (r *Run) noteChanges(log []measure.Change) {
	if r.opts.Note == nil {
		return
	}
	n := Note{Changes: log, Segment: len(r.segments) - 1, Weights: slices.Clone(r.weights)}
	s := r.segments[n.Segment]
	n.From, n.Settings, n.SettingsEnd = time.Duration(s.from), s.settings, s.end
	for _, t := range r.tracks {
		n.Tracks = append(n.Tracks, t.want)
	}
	r.note(n)
}

// recall adopts the notes of the previous engine. The caller holds r.mu.
func (r *Run) recall(notes []Note) {
	r.resumed = r.now()
	for _, n := range notes {
		r.taken = max(r.taken, n.Taken)
		switch {
		case n.Mark != "":
			r.marks = append(r.marks, measure.Mark{At: n.At, Note: n.Mark})
		case n.Phase != "":
			if p := r.phases[n.Phase]; p != nil && p.state == waiting {
				r.begin(p, int64(n.At))
			}
		case len(n.Tracks) == len(r.tracks) && n.Segment < MaxSegments:
			r.recallChanges(&n)
		}
	}
	for _, p := range r.opts.Plan.Phases {
		if r.phases[p.Name].state == running && len(p.After) > 0 {
			r.opts.Away.Control(workload.Word{Phase: p.Name}) // harmless to processes that have heard of it already
		}
	}
	if len(r.changes) > 0 {
		r.control()
	}
}

func (r *Run) recallChanges(n *Note) {
	for i, t := range r.tracks {
		t.want = n.Tracks[i]
	}
	for len(r.segments) <= n.Segment {
		r.segments = append(r.segments, segmentInfo{from: int64(n.From)})
	}
	r.segments[n.Segment] = segmentInfo{int64(n.From), n.Settings, n.SettingsEnd}
	r.changes = append(r.changes, n.Changes...)
	for _, c := range n.Changes {
		r.ramped[c.Ramp] = true
	}
	r.weights = n.Weights
	r.changed, r.parted, r.everMoved = int64(n.At), int64(n.At), r.measuring && n.At >= 0
	for _, t := range r.tracks {
		if t.state == running {
			t.publish(false)
		}
	}
}

// then sets the gauges of tracks to their values at an earlier moment, which the
// previous engine may or may not have seen.
func (r *Run) then(gauges []measure.Gauge, at int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at >= r.resumed {
		return
	}
	segment, tracks := 0, workload.Starts(r.opts.Plan.Tracks())
	wanted := func(i int) workload.Settings { return tracks(i) }
	for _, n := range r.opts.Past.Notes {
		if len(n.Tracks) == len(gauges) && int64(n.At) < at {
			segment, wanted = n.Segment, func(i int) workload.Settings { return n.Tracks[i] }
		}
	}
	for i := range gauges {
		g, s, t := &gauges[i], wanted(i), r.tracks[i]
		g.Threads, g.Payload, g.Batch, g.Rate, g.Paused, g.Segment = s.Threads, s.Payload, s.Batch, s.Rate, s.Paused, segment
		_, ended := t.seen()
		g.Running = t.state != waiting && t.span.From < at && (ended == 0 || int64(ended) >= at)
	}
}

// catchUp waits until all that was kept has been merged again, and then handles
// what fell due in the meantime. It returns false if the run was ended.
func (r *Run) catchUp(ctx context.Context) bool {
	select {
	case <-r.opts.Past.Reread:
	case <-ctx.Done():
		r.Stop(context.Cause(ctx))
		return false
	case <-r.ending:
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.phases {
		if p.state == running && p.spec.Duration > 0 {
			r.when(max(p.began, 0)+int64(p.spec.Duration), func() { r.endPhase(p) })
		}
	}
	return true
}

// timed reports whether a track whose workers this engine does not have ran for the whole
// duration of its phase: by the clock of the process that worked on it, which may be ahead
// of ours, or nearly so if the phase began under another engine. The caller holds r.mu.
func (r *Run) timed(t *track) bool {
	for _, p := range r.phases {
		if p.spec.Duration > 0 && slices.Contains(p.tracks, t) {
			due := max(p.began, 0) + int64(p.spec.Duration)
			_, ended := t.seen()
			return int64(ended) >= due || r.opts.Past != nil && t.span.To >= due-int64(Together)
		}
	}
	return false
}
