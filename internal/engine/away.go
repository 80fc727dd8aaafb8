package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// Away is the work of a run that is done by other processes, while this one keeps
// the records and owns the clock, the timetable and the settings. Its methods
// must not block and may be called from any goroutine.
type Away interface {
	// Over returns a channel that is closed when no process works on a track any
	// more; for workload.AllTracks, when each of them has also reported everything.
	Over(track int) <-chan struct{}
	// Complete reports whether all of them have delivered a second, through
	// Run.Merge.
	Complete(second int) bool
	// Seen returns how many units of a track are due but not begun, and when the
	// last process ended it, in time since measurement began; 0 if not known.
	Seen(track int) (backlog int64, ended time.Duration)
	// Unstarted returns how many units of a track were due in a segment and never
	// begun.
	Unstarted(segment, track int) int64
	// Control passes the word on to them.
	Control(workload.Word)
}

// others are the processes that do the work of a run, where it has no workers of its own; of the
// zero value there are none.
type others struct{ away Away }

// there says whether others do the work.
func (o others) there() bool { return o.away != nil }

// tell passes the word on to them.
func (o others) tell(w workload.Word) {
	if o.away != nil {
		o.away.Control(w)
	}
}

// follow has them follow settings of all tracks from now on, in a segment.
func (o others) follow(want []workload.Settings, segment uint16) {
	o.tell(workload.Word{Tracks: slices.Clone(want), Segment: int(segment)})
}

// wait waits until none of them works on a track any more, or the run is given up.
func (o others) wait(track int, givenUp <-chan struct{}) {
	if o.away == nil {
		return
	}
	select {
	case <-o.away.Over(track):
	case <-givenUp:
	}
}

// seen returns what is known about a track that they work on.
func (o others) seen(track int) (backlog int64, ended time.Duration) {
	if o.away == nil {
		return 0, 0
	}
	return o.away.Seen(track)
}

// unstarted is how many units of a track were due in a segment and begun by none of them.
func (o others) unstarted(segment, track int) int64 {
	if o.away == nil {
		return 0
	}
	return o.away.Unstarted(segment, track)
}

// await replaces the supervisor for a track that is worked on elsewhere.
func (t *track) await() {
	which := workload.AllTracks // only the end follows
	if g := &t.run.graph; g.leads(g.of(t).spec.Name) {
		which = t.index
	}
	t.run.others.wait(which, t.run.hard.Done())
	t.run.trackOver(t)
}

// Merge adds what another process has measured. It returns an error if that is
// not of this run.
func (r *Run) Merge(p measure.Part) error {
	r.mu.Lock()
	segments := len(r.timeline.segments)
	r.mu.Unlock()
	if n := p.Segments(); n > segments || len(p.Unstarted) > segments {
		return fmt.Errorf("figures of segment %d, and the run has %d", max(n, len(p.Unstarted)), segments)
	}
	return r.col.Merge(p)
}

// Follow puts settings of all tracks into force that another process changed, in
// the segment with the number that they have there. The change log is kept by
// that process.
func (r *Run) Follow(segment int, tracks []workload.Settings) {
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
