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

// workerPool is where the workers of a run are: in this process, or in others.
type workerPool interface {
	// carryOut works on a track until it is over.
	carryOut(t *track)
	// paced says whether due times are made here.
	paced() bool
	// tell passes the word on to workers elsewhere.
	tell(w workload.Word)
	// ended waits until workers elsewhere have told of all that they did, or the run is given up.
	ended(givenUp <-chan struct{})
	// seen returns what workers elsewhere know of a track; see Away.
	seen(track int) (backlog int64, ended time.Duration)
	// unstarted is how many units of a track were due in a segment and begun by none of
	// the workers elsewhere.
	unstarted(segment, track int) int64
}

// local are workers in this process, of which each track knows its own.
type local struct{}

func (local) carryOut(t *track)                    { t.supervise() }
func (local) paced() bool                          { return true }
func (local) tell(workload.Word)                   {}
func (local) ended(<-chan struct{})                {}
func (local) seen(int) (b int64, at time.Duration) { return 0, 0 }
func (local) unstarted(int, int) int64             { return 0 }

// remote are workers in other processes.
type remote struct{ away Away }

func (o remote) carryOut(t *track) {
	which := workload.AllTracks // only the end follows
	if g := &t.run.graph; g.leads(g.of(t).spec.Name) {
		which = t.index
	}
	o.wait(which, t.run.hard.Done())
	t.run.trackOver(t)
}

func (o remote) paced() bool { return false }

func (o remote) tell(w workload.Word) { o.away.Control(w) }

func (o remote) ended(givenUp <-chan struct{}) { o.wait(workload.AllTracks, givenUp) }

func (o remote) wait(track int, givenUp <-chan struct{}) {
	select {
	case <-o.away.Over(track):
	case <-givenUp:
	}
}

func (o remote) seen(track int) (backlog int64, ended time.Duration) { return o.away.Seen(track) }

func (o remote) unstarted(segment, track int) int64 { return o.away.Unstarted(segment, track) }

// poolOf returns the workers of a run.
func poolOf(away Away) workerPool {
	if away == nil {
		return local{}
	}
	return remote{away}
}

// follow has workers elsewhere follow the settings that are asked for of all tracks. The
// caller holds r.mu.
func (r *Run) follow() {
	r.pool.tell(workload.Word{Tracks: slices.Clone(r.settings.want), Segment: int(r.timeline.segment())})
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
