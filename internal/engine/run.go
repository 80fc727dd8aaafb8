// Package engine runs plans: workers, pacing, phases, live control. It knows
// nothing of stores, profiles or screens.
package engine

import (
	"context"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// All aims a live change at every track.
const All = -1

// At is one entry of the timetable: a live change at a moment of the run.
type At struct {
	// After is the time since measurement began.
	After time.Duration
	// Track is the index of the track, or All.
	Track int
	Knob  workload.Knob
	Value float64
}

// Options say what to run.
type Options struct {
	// Plan must be bound: its tracks have NewTask. The engine calls neither Setup,
	// Verify nor Teardown.
	Plan *workload.Plan
	// Warmup is run before measurement begins.
	Warmup time.Duration
	// Timetable holds live changes, in any order.
	Timetable []At
	// Classify puts an operation's error in a class, never 0 for an error; called
	// on the workers' goroutines. Classes names the classes by number.
	Classify func(error) uint8
	Classes  []string
	// Unreachable says which class means that the store cannot be reached: a closed
	// loop backs off after one.
	Unreachable func(class uint8) bool
	// Sink, when set, takes each finished second, in order, on one goroutine. An
	// error ends the run, as a full disk should.
	Sink func(*measure.Second) error
	// Grace is how long operations under way may take once the run ends; 0: 10 s.
	Grace time.Duration
}

// Run is a run in progress. All methods may be called from any goroutine and
// none of them blocks but Wait.
type Run struct{}

// Start begins a run. Cancelling ctx is Stop with the context's cause.
func Start(ctx context.Context, o Options) (*Run, error) { return nil, nil }

// Snapshot returns the newest state of the run; never nil.
func (r *Run) Snapshot() *measure.Snapshot { return nil }

// Change changes the live settings of one track, or of All: then f gets the
// totals of threads and rate and, of the other settings, those of the first
// track, and what it changes is spread over the tracks. f must be pure; it is
// called once, with changes applied in the order of the calls. Values are
// brought into the knobs' ranges. by goes into the change log.
func (r *Run) Change(by string, track int, f func(workload.Settings) workload.Settings) {}

// Settings returns the settings asked for, of one track or the totals of All.
func (r *Run) Settings(track int) workload.Settings { return workload.Settings{} }

// Stop ends the admission of iterations; what is under way may finish within the
// grace period. The first cause stands in Result.
func (r *Run) Stop(cause error) {}

// Kill ends the run at once: operations under way are cancelled.
func (r *Run) Kill() {}

// Done is closed when all workers have ended and the last second is in the sink.
func (r *Run) Done() <-chan struct{} { return nil }

// Wait returns the result and why the run ended: nil when it reached its count or
// duration, the cause given to Stop, a fatal error of a task, or the sink's.
func (r *Run) Wait() (*measure.Result, error) { return nil, nil }
