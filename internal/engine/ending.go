package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// Ending owns whether a run ends, why, and what came of it. Its methods may be called from any
// goroutine.
type Ending struct {
	mu     *sync.Mutex // Run.mu
	hard   context.Context
	kill   context.CancelFunc
	killed *atomic.Bool
	done   chan struct{}
	ending chan struct{} // closed when no more iterations are admitted

	// Guarded by mu.
	stopped   bool
	cause     error
	byTime    bool     // a phase reached its duration
	abandoned []string // what was in progress when it was given up
	result    *measure.Result
}

// ErrKilled is the cause of a run ended by Kill.
var ErrKilled = errors.New("stopped at once")

func newEnding(ctx context.Context, mu *sync.Mutex) Ending {
	e := Ending{mu: mu, killed: new(atomic.Bool), done: make(chan struct{}), ending: make(chan struct{})}
	e.hard, e.kill = context.WithCancel(context.WithoutCancel(ctx))
	return e
}

// stop takes why the run ends, nil when it was through; false: it was ending already. The
// caller holds mu.
func (e *Ending) stop(cause error) bool {
	if e.stopped {
		return false
	}
	e.stopped, e.cause = true, cause
	close(e.ending)
	return true
}

// Done returns a channel that is closed when all workers have ended and the sink
// has taken the last second.
func (e *Ending) Done() <-chan struct{} { return e.done }

// Wait returns the result and why the run ended: nil when it reached its count or
// duration, otherwise the cause given to Stop, a fatal error of a task, or the
// sink's error.
func (e *Ending) Wait() (*measure.Result, error) {
	<-e.done
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.result, e.cause
}

// ByDuration reports, after Done, whether a phase was ended by its duration
// rather than by running out of work.
func (e *Ending) ByDuration() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.byTime
}

// GivenUp returns a channel that is closed when operations in progress are
// cancelled: at the end of the grace period, by Kill, or because all have ended.
func (e *Ending) GivenUp() <-chan struct{} { return e.hard.Done() }

// Killed reports whether Kill was called.
func (e *Ending) Killed() bool { return e.killed.Load() }

// Abandoned names the operations still in progress when the grace period ended, or
// at Kill; nil if all finished in time.
func (e *Ending) Abandoned() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.abandoned
}

// Stop admits no more iterations; those in progress may finish within the grace
// period. Wait returns the first cause.
func (r *Run) Stop(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stop(cause) {
		return
	}
	r.pool.send(workload.Word{Stop: fmt.Errorf("stopped: %v", cause)})
	r.breakTo(workload.Faults{})
	for _, t := range r.tracks {
		t.end()
	}
	r.appointments.at(r.now()+int64(r.opts.Grace), r.giveUp)
	if !r.graph.left(true) { // all that is left are phases that nobody has let in
		fault.Go(r.finish)
	}
}

// Kill ends the run at once and cancels operations in progress, which are no errors.
func (r *Run) Kill() {
	r.Stop(ErrKilled)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed.Store(true)
	r.giveUp()
}

// GiveUp ends the run with a cause and cancels operations in progress without a
// grace period, because the caller has waited long enough.
func (r *Run) GiveUp(cause error) {
	r.Stop(cause)
	r.kill()
}

// giveUp ends a grace period, or what is left of it: it notes and cancels what is in progress. The
// caller holds r.mu.
func (r *Run) giveUp() {
	if _, what, ok := r.waiting(); ok && r.hard.Err() == nil {
		r.abandoned = what
	}
	r.kill()
}

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

// someOf names the first few of a track's operations.
func someOf(ops []string) string {
	const few = 3
	if len(ops) > few {
		return strings.Join(ops[:few], ", ") + " …"
	}
	return strings.Join(ops, ", ")
}
