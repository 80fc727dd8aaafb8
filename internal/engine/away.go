package engine

import (
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// Away is the work of a run that other processes do, while this one keeps the books and
// has the clock, the timetable and the settings. Its methods must not wait, and may be
// called from any goroutine.
type Away interface {
	// Over is closed when none of them is at work on a track any more; of All, when each has
	// told everything, too.
	Over(track int) <-chan struct{}
	// Complete says whether all of them have told of a second, by Run.Merge.
	Complete(second int) bool
	// Seen tells how many units of a track are due and not begun, and when, since
	// measurement began, the last of them had ended it; 0: not known.
	Seen(track int) (backlog int64, ended time.Duration)
	// Unstarted is how many units of a track were due in a segment and never begun.
	Unstarted(segment, track int) int64
	// Steer has them do as the word says.
	Steer(workload.Word)
}

// Merge adds what another process has measured. The error says that it is not of this run.
func (r *Run) Merge(p measure.Part) error { return r.col.Merge(p) }

// Follow puts settings of all tracks in force as another process had them changed, in the
// segment that has that number there. What was changed stands in that process's log.
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

// Enter lets a phase begin that waits for others, in a run with Options.Held: it has begun
// where the run is conducted.
func (r *Run) Enter(phase string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.phases[phase]; p != nil {
		p.let = true
		r.startReady()
	}
}

// steer tells those who do the work what has changed. The caller holds r.mu.
func (r *Run) steer() {
	if r.opts.Away == nil {
		return
	}
	all := make([]workload.Settings, len(r.tracks))
	for i, t := range r.tracks {
		all[i] = t.want
	}
	r.opts.Away.Steer(workload.Word{Tracks: all, Segment: int(r.segment())})
}

// await stands in for the supervisor of a track that is worked on elsewhere.
func (t *track) await(phase string) {
	which := All // nothing comes after it but the end
	for _, other := range t.run.opts.Plan.Phases {
		if slices.Contains(other.After, phase) {
			which = t.index
		}
	}
	t.run.told(which)
	t.run.trackOver(t)
}

// told waits until nobody works on a track any more elsewhere, or the run is given up.
func (r *Run) told(track int) {
	select {
	case <-r.opts.Away.Over(track):
	case <-r.hard.Done():
	}
}

// seen tells what is known of a track that is worked on elsewhere.
func (t *track) seen() (backlog int64, ended time.Duration) {
	if t.run.opts.Away == nil {
		return 0, 0
	}
	return t.run.opts.Away.Seen(t.index)
}
