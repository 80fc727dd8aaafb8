package engine

import (
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// Away is the work of a run that other processes do, while this one keeps the books and
// has the clock, the timetable and the settings. Its methods must not wait, and may be
// called from any goroutine.
type Away interface {
	// Over is closed when none of them is at work any more.
	Over() <-chan struct{}
	// Complete says whether all of them have told of a second, by Run.Merge.
	Complete(second int) bool
	// Seen tells how many units of a track are due and not begun, and when, since
	// measurement began, the last of them had ended it; 0: not known.
	Seen(track int) (backlog int64, ended time.Duration)
	// Unstarted is how many units of a track were due in a segment and never begun.
	Unstarted(segment, track int) int64
	// Steer puts settings of all tracks in force from now on, in the segment of that number;
	// or, with a cause, ends the run.
	Steer(segment int, tracks []workload.Settings, stop error)
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

// steer tells those who do the work what has changed. The caller holds r.mu.
func (r *Run) steer() {
	if r.opts.Away == nil {
		return
	}
	all := make([]workload.Settings, len(r.tracks))
	for i, t := range r.tracks {
		all[i] = t.want
	}
	r.opts.Away.Steer(int(r.segment()), all, nil)
}

// await stands in for the supervisor of a track that is worked on elsewhere.
func (t *track) await() {
	select {
	case <-t.run.opts.Away.Over():
	case <-t.run.hard.Done():
	}
	t.run.trackOver(t)
}

// seen tells what is known of a track that is worked on elsewhere.
func (t *track) seen() (backlog int64, ended time.Duration) {
	if t.run.opts.Away == nil {
		return 0, 0
	}
	return t.run.opts.Away.Seen(t.index)
}
