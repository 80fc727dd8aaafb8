package engine

import (
	"fmt"
	"strings"
	"time"
)

// Waiting returns, once every running track has been asked to end, since when the
// run has been waiting for operations in progress, as time since measurement
// began, and names them. It returns false if the run is still working or nothing
// is in progress.
func (r *Run) Waiting() (since time.Duration, what []string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting()
}

// waiting is Waiting. The caller holds r.mu.
func (r *Run) waiting() (since time.Duration, what []string, ok bool) {
	gauges := r.col.Snapshot().Gauges
	for i, t := range r.tracks {
		if t.state != running {
			continue
		}
		if a := t.active.Load(); a == nil || !a.ended {
			return 0, nil, false
		}
		since = max(since, time.Duration(t.endedAt))
		if i < len(gauges) && gauges[i].InFlight > 0 {
			what = append(what, fmt.Sprintf("%d under way in %s (%s)", gauges[i].InFlight, t.name, someOf(t.spec.Ops)))
		}
	}
	return since, what, len(what) > 0
}

// GivenUp returns a channel that is closed when operations in progress are
// cancelled: at the end of the grace period, by Kill, or because all have ended.
func (r *Run) GivenUp() <-chan struct{} { return r.hard.Done() }

// GiveUp ends the run with a cause and cancels operations in progress without a
// grace period, because the caller has waited long enough.
func (r *Run) GiveUp(cause error) {
	r.Stop(cause)
	r.kill()
}

// Abandoned names the operations still in progress when the grace period ended;
// nil if all finished in time.
func (r *Run) Abandoned() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.abandoned
}

// giveUp ends a grace period: it notes and cancels what is in progress. The
// caller holds r.mu.
func (r *Run) giveUp() {
	if _, what, ok := r.waiting(); ok && r.hard.Err() == nil {
		r.abandoned = what
	}
	r.kill()
}

// someOf names the first few of a track's operations.
func someOf(ops []string) string {
	const few = 3
	if len(ops) > few {
		return strings.Join(ops[:few], ", ") + " …"
	}
	return strings.Join(ops, ", ")
}
