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

// Merge adds what another process has measured. It returns an error if that is
// not of this run.
func (r *Run) Merge(p measure.Part) error {
	r.mu.Lock()
	segments := len(r.segments)
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
	for i, t := range r.tracks {
		t.want = tracks[i]
	}
	for len(r.segments) <= segment {
		r.segments = append(r.segments, segmentInfo{from: r.now()})
	}
	r.segments[segment].settings = r.settingsByName()
	for _, t := range r.tracks {
		if t.state == running {
			t.publish(false)
			t.nudge()
		}
	}
}

// Enter starts a phase that waits for others, in a run with Options.Held: it has
// begun where the run is conducted.
func (r *Run) Enter(phase string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.phases[phase]; p != nil {
		p.let = true
		r.startReady()
	}
}

// control tells the processes that do the work what has changed. The caller holds
// r.mu.
func (r *Run) control() {
	if r.opts.Away == nil {
		return
	}
	all := make([]workload.Settings, len(r.tracks))
	for i, t := range r.tracks {
		all[i] = t.want
	}
	r.opts.Away.Control(workload.Word{Tracks: all, Segment: int(r.segment())})
}

// await replaces the supervisor for a track that is worked on elsewhere.
func (t *track) await(phase string) {
	which := workload.AllTracks // only the end follows
	for _, other := range t.run.opts.Plan.Phases {
		if slices.Contains(other.After, phase) {
			which = t.index
		}
	}
	t.run.awaitOthers(which)
	t.run.trackOver(t)
}

// awaitOthers waits until no other process works on a track any more, or the run is
// given up.
func (r *Run) awaitOthers(track int) {
	select {
	case <-r.opts.Away.Over(track):
	case <-r.hard.Done():
	}
}

// seen returns what is known about a track that is worked on elsewhere.
func (t *track) seen() (backlog int64, ended time.Duration) {
	if t.run.opts.Away == nil {
		return 0, 0
	}
	return t.run.opts.Away.Seen(t.index)
}
