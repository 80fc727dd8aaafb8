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

// ErrInterrupted is the cause of a run that a signal stopped.
var ErrInterrupted = errors.New("interrupted")

// ErrStopped is the cause of a run that its user stopped.
var ErrStopped = errors.New("stopped by the user")

// Reached is the cause of a run that was ended because it had come to what it was for:
// "search", as ended_by says it.
type Reached string

// Error says it in words.
func (r Reached) Error() string { return "ended by the " + string(r) }

// Live is a run in progress. Its methods may be called from any goroutine.
type Live struct {
	*Prepared
	// Info is what the store said of itself at the start.
	Info store.Info
	// Notices are sentences that reports repeat; to be shown as well.
	Notices []string

	// plan is Plan bound to conn.
	plan    *workload.Plan
	conn    store.Conn
	journal *rundir.Journal
	run     *engine.Run
	// heap is that of a store which keeps all in it; 0: not known.
	heap int64
	// claim is the hold on the spaces of the run; nil when it has none.
	claim *place.Claim
	began time.Time
	// crew is who does the work; nil: this process.
	crew *crew.Crew
	// shown is what does not change of what those are told who watch the run.
	shown view.View
	observer
	sampler *sampler.Sampler
	feed    *telemetry.Feed
	// counts and operations are of the plan; the sink alone uses them.
	counts     []bool
	operations []measure.Operation
	merged     map[string]*hdrhistogram.Histogram
	seconds    seconds
	// watch watches for what ends the run before its time; the sink alone uses it while
	// the run goes.
	watch *settle.Watch
	// abort is the threshold that ended the run, nil when none did; the sink alone writes it.
	abort *aborted
	warming

	// onWait, when set, is told what Finish waits for; ended is when the last worker
	// had gone home.
	onWait func(sentence string)
	ended  time.Time

	// release undoes that an interrupt closes the connection; false: it has.
	release func() bool
	closing sync.Once
	closed  error
}

// Dir is the run directory.
func (l *Live) Dir() string { return l.journal.Dir() }

// ID is the id of the run.
func (l *Live) ID() string { return l.journal.Run().ID }

// Bound is the plan that runs.
func (l *Live) Bound() *workload.Plan { return l.plan }

// Snapshot returns the newest state of the run; never nil.
func (l *Live) Snapshot() *measure.Snapshot { return l.run.Snapshot() }

// Change changes live settings as engine.Run.Change does.
func (l *Live) Change(by string, track int, f func(workload.Settings) workload.Settings) {
	l.run.Change(by, track, f)
}

// Mark puts a note on the time line, as engine.Run.Mark does.
func (l *Live) Mark(note string) { l.run.Mark(note) }

// Settings returns the settings asked for, as engine.Run.Settings does.
func (l *Live) Settings(track int) workload.Settings { return l.run.Settings(track) }

// Elapsed is the time of the run: since measurement began, negative in warm-up.
func (l *Live) Elapsed() time.Duration { return l.run.Elapsed() }

// Observed is what was seen of this process and machine up to now; nil before there was
// anything.
func (l *Live) Observed() *verdict.Observed { return l.observedNow() }

// Samples are those of the last second that was sampled, with the connections of the pool
// that are in use; never written to once returned.
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

// killPatience is how long operations under way have to heed that they were
// cancelled, before their connection is closed.
const killPatience = 500 * time.Millisecond

// Kill ends the run at once: operations under way are cancelled.
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

// Pool tells of the connection pool, false when the store has none to tell of.
func (l *Live) Pool() (store.PoolStats, bool) {
	if p, ok := l.conn.(store.Pooled); ok {
		return p.Pool(), true
	}
	return store.PoolStats{}, false
}

// view is the run as it is shown to those who watch it.
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

// came shows those who watch the run what came of it.
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
