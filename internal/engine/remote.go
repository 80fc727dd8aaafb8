package engine

import (
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// Remote is the work of a run that is done by other processes, while this one keeps
// the records and owns the clock, the timetable and the settings. Its methods
// must not block and may be called from any goroutine.
type Remote interface {
	// Over returns a channel that is closed when no process works on a track any
	// more; for workload.AllTracks, when each of them has also reported everything.
	Over(track int) <-chan struct{}
	// Complete reports whether all of them have delivered a second, through
	// Run.Merge.
	Complete(second int) bool
	// Seen returns what they know of a track.
	Seen(track int) measure.Seen
	// Unstarted returns how many units of a track were due in a segment and never
	// begun.
	Unstarted(segment, track int) int64
	// Control passes the word on to them.
	Control(workload.Word)
}

// workforce are the workers of a run: in this process, where each track knows its own; or in others, if
// remote is not nil.
type workforce struct{ remote Remote }

// carryOut works on a track until it is over.
func (w workforce) carryOut(t *track) {
	if w.remote == nil {
		t.supervise()
		return
	}
	which := workload.AllTracks // only the end follows
	if g := &t.run.graph; g.leads(g.of(t).spec.Name) {
		which = t.index
	}
	w.wait(which, t.run.hard.Done())
	t.run.trackOver(t)
}

// paced says whether due times are made here.
func (w workforce) paced() bool { return w.remote == nil }

// send passes the word on to workers elsewhere.
func (w workforce) send(word workload.Word) {
	if w.remote != nil {
		w.remote.Control(word)
	}
}

// wait waits until workers elsewhere have told of all that they did on a track, or the run is given up.
func (w workforce) wait(track int, givenUp <-chan struct{}) {
	if w.remote == nil {
		return
	}
	select {
	case <-w.remote.Over(track):
	case <-givenUp:
	}
}

// seen returns what workers elsewhere know of a track; see Remote.
func (w workforce) seen(track int) measure.Seen {
	if w.remote == nil {
		return measure.Seen{}
	}
	return w.remote.Seen(track)
}

// unstarted is how many units of a track were due in a segment and begun by none of the workers
// elsewhere.
func (w workforce) unstarted(segment, track int) int64 {
	if w.remote == nil {
		return 0
	}
	return w.remote.Unstarted(segment, track)
}

// send has workers elsewhere follow the settings that are asked for of all tracks. The
// caller holds r.mu.
func (r *Run) send() {
	r.pool.send(workload.Word{Tracks: slices.Clone(r.settings.want), Segment: int(r.timeline.segment())})
}

// Merge adds what another process has measured. It returns an error if that is
// not of this run.
func (r *Run) Merge(p measure.Increment) error {
	r.mu.Lock()
	segments := len(r.timeline.segments)
	r.mu.Unlock()
	if n := p.Segments(); n > segments || len(p.Unstarted) > segments {
		return fmt.Errorf("figures of segment %d, and the run has %d", max(n, len(p.Unstarted)), segments)
	}
	return r.col.Merge(p)
}

// ApplyIn puts settings of all tracks into force that another process changed, in
// the segment with the number that they have there. The change log is kept by
// that process.
func (r *Run) ApplyIn(segment int, tracks []workload.Settings) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped || len(tracks) != len(r.tracks) || segment >= MaxSegments {
		return
	}
	copy(r.settings.want, tracks)
	r.timeline.reach(segment, r.now(), nil)
	r.timeline.segments[segment].settings = r.settings.byName()
	r.publish(keep)
}

// Enter starts a phase that waits for others, in a run with Options.Held: it has
// begun where the run is conducted.
func (r *Run) Enter(phase string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.graph.let(phase)
	r.startReady()
}
