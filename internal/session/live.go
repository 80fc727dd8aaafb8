package session

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fleet/crew"
	"github.com/perfbench/perfbench/internal/fleet/view"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session/sampler"
	"github.com/perfbench/perfbench/internal/session/settle"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/telemetry"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// ErrInterrupted is the cause of a run's end if a signal stopped it.
var ErrInterrupted = errors.New("interrupted")

// ErrStopped is the cause of a run's end if its user stopped it.
var ErrStopped = errors.New("stopped by the user")

// Reached is the cause of a run's end if it had achieved what it was for: "search", the
// word used in ended_by.
type Reached string

// Error implements error.
func (r Reached) Error() string { return "ended by the " + string(r) }

// Live is a run in progress. Its methods may be called from any goroutine.
type Live struct {
	*Prepared
	// Info is what the store reported about itself at the start.
	Info store.Info
	// Notices are sentences to show, which reports repeat.
	Notices []string

	// plan is Plan bound to conn.
	plan    *workload.Plan
	conn    store.Conn
	journal *rundir.Journal
	run     *engine.Run
	// heap is the heap size of a store that keeps all data there; 0 if unknown.
	heap int64
	// claim holds the spaces of the run; nil if there is none.
	claim *place.Claim
	began time.Time
	// crew does the work; nil: this process does.
	crew *crew.Crew
	// shown is the constant part of what is reported to those who watch the run.
	shown view.View
	observer
	sampler *sampler.Sampler
	feed    *telemetry.Feed
	// counts and operations belong to the plan; only the sink uses them.
	counts     []bool
	operations []measure.Operation
	merged     map[string]*hdrhistogram.Histogram
	seconds    seconds
	// watch checks whether the run can end early; only the sink uses it while the run
	// goes on.
	watch *settle.Watch
	// abort is the threshold that ended the run, nil if none did; only the sink writes
	// it.
	abort *aborted
	warming

	// onWait, when set, is called with what Finish waits for. ended is when the last
	// worker ended.
	onWait func(sentence string)
	ended  time.Time

	// release keeps an interrupt from closing the connection; false: it already has.
	release func() bool
	closing sync.Once
	closed  error
}

// Dir is the run directory.
func (l *Live) Dir() string { return l.journal.Dir() }

// ID is the id of the run.
func (l *Live) ID() string { return l.journal.Run().ID }

// Bound returns the plan being run.
func (l *Live) Bound() *workload.Plan { return l.plan }

// Snapshot returns the newest state of the run, never nil.
func (l *Live) Snapshot() *measure.Snapshot { return l.run.Snapshot() }

// Change changes live settings as engine.Run.Change does.
func (l *Live) Change(by string, track int, f func(workload.Settings) workload.Settings) {
	l.run.Change(by, track, f)
}

// Mark puts a note on the time line, as engine.Run.Mark does.
func (l *Live) Mark(note string) { l.run.Mark(note) }

// Settings returns the requested settings, as engine.Run.Settings does.
func (l *Live) Settings(track int) workload.Settings { return l.run.Settings(track) }

// Elapsed is the run's time: since measurement began, negative during warm-up.
func (l *Live) Elapsed() time.Duration { return l.run.Elapsed() }

// Observed is what has been observed of this process and machine so far; nil if nothing
// has.
func (l *Live) Observed() *verdict.Observed { return l.observedNow() }

// Samples are those of the last second sampled, including the number of pool
// connections in use; they are not modified once returned.
func (l *Live) Samples() []rundir.Sample {
	last := l.lastSamples.Load()
	if last == nil {
		return nil
	}
	out := slices.Clone(*last)
	if pool, ok := l.Pool(); ok && pool.Open > 0 {
		out = append(out, rundir.Sample{Source: rundir.OfClient, Name: "clients", Value: float64(pool.Open)})
	}
	return out
}

// Stop ends the run gracefully; the first cause is recorded.
func (l *Live) Stop(cause error) { l.run.Stop(cause) }

// killPatience is how long operations in progress have to react to cancellation before
// their connection is closed.
const killPatience = 500 * time.Millisecond

// Kill ends the run at once and cancels operations in progress.
func (l *Live) Kill() {
	l.run.Kill()
	go func() {
		select {
		case <-l.run.Done():
		case <-time.After(killPatience):
			_ = l.close()
		}
	}()
}

// Done is closed when all workers have ended. Finish must follow.
func (l *Live) Done() <-chan struct{} { return l.run.Done() }

// Pool returns the statistics of the connection pool; false if the store has none.
func (l *Live) Pool() (store.PoolStats, bool) {
	if p, ok := l.conn.(store.Pooled); ok {
		return p.Pool(), true
	}
	return store.PoolStats{}, false
}

// view returns the run as shown to those who watch it.
func (l *Live) view() *view.View {
	v := l.shown
	v.Progress = view.Progress{Stage: view.Working}
	select {
	case <-l.run.Done():
		v.Progress.Stage = view.Verifying
	default:
	}
	v.Snapshot, v.Verdict, v.Samples = l.run.Snapshot(), l.Verdict(), l.Samples()
	for i := range l.plan.Tracks() {
		v.Settings = append(v.Settings, l.run.Settings(i))
	}
	return &v
}

// came shows the outcome to those who watch the run.
func (l *Live) came(o *Outcome) {
	if l.crew == nil {
		return
	}
	v := l.view()
	v.Progress.Stage, v.Verdict = view.Ended, o.Run.Verdict
	v.Came = &view.Came{Code: o.Code(), Dir: o.Dir}
	if o.Err != nil {
		v.Came.Err = o.Err.Error()
	}
	v.Came.Run, _ = json.Marshal(o.Run) // as in its file
	l.crew.Came(v)
}

// close closes the connection, once.
func (l *Live) close() error {
	l.closing.Do(func() { l.closed = l.conn.Close() })
	return l.closed
}
