// Package engine runs plans: workers, pacing, phases, live control. It knows
// nothing of stores, profiles or screens. Commands and tests call it.
package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// All aims a live change at every track.
const All = -1

// DefaultGrace is how long operations under way may take once the run ends.
const DefaultGrace = 10 * time.Second

// At is one entry of the timetable: a live change at a moment of the run.
type At struct {
	// After is the time since measurement began.
	After time.Duration
	// Track is the index of the track, or All.
	Track int
	// Knob is what to turn; a Knob with only the name "paused" pauses (1) or resumes (0).
	Knob  workload.Knob
	Value float64
	// Ramp is the number, from 1, of the ramp that it is a step of; 0: of none. A ramp is
	// one schedule: what is due and not begun stays due across its steps.
	Ramp int
	// First says that it is the first step of its ramp, which begins a schedule.
	First bool
}

// Options say what to run.
type Options struct {
	// Plan must be bound: its tracks have NewTask. The engine calls neither Setup,
	// Verify nor Teardown.
	Plan *workload.Plan
	// Warmup is run before measurement begins, unless EndWarmup ends it.
	Warmup time.Duration
	// Timetable holds live changes, in any order.
	Timetable []At
	// Classify puts an operation's error in a class, never 0 for an error; called
	// on the workers' goroutines. Classes names the classes by number.
	Classify func(error) uint8
	Classes  []string
	// Timeout is the class of operations that took longer than they may: they are
	// timed, while other failures are only counted.
	Timeout uint8
	// Unreachable says which class means that the store cannot be reached: a closed
	// loop backs off after one.
	Unreachable func(class uint8) bool
	// Sink, when set, takes each finished second, in order, on one goroutine. An
	// error ends the run, as a full disk should.
	Sink func(*measure.Second) error
	// Grace is how long operations under way may take once the run ends; 0:
	// DefaultGrace.
	Grace time.Duration
	// PlainTimer makes an open loop wait by the runtime's timer alone, as it does
	// where the system has nothing better: for comparison.
	PlainTimer bool
	// Part, when set, takes each second as another process can merge it; see Run.Merge.
	Part func(*measure.Part)
	// Held has phases that wait for others wait for Enter, too. Ended, when set, is told when
	// a track is over, in time since measurement began; it must not wait, nor call the run.
	Held  bool
	Ended func(track int, at time.Duration)
	// Away, when set, is where the work is done: the run then has no workers of its own.
	Away Away
	// Note, when set, is told of what is decided in a run with Away, for another that goes on
	// in its place. It must not call the run.
	Note func(Note)
	// Past is that of a run with Away that begun under another engine; nil: it has none.
	Past *Past
	// Signs tell when the process was stopped; the zero value goes by silence alone.
	Signs Signs
}

// Run is a run in progress. All methods may be called from any goroutine and
// none of them blocks but Wait.
type Run struct {
	opts   Options
	clock  clock
	col    *measure.Collector
	tracks []*track
	// precise says that workers may sleep by alarms.
	precise bool
	knobs   []workload.Knob
	hard    context.Context
	kill    context.CancelFunc
	done    chan struct{}
	ending  chan struct{} // closed when admission ends
	skipped chan struct{} // takes a value when the run's time has moved on

	mu        sync.Mutex
	stopped   bool
	closed    bool // the books are
	measuring bool
	cause     error
	byTime    bool // a phase reached its duration
	taken     int  // entries of the timetable that are in force
	phases    map[string]*phaseState
	changes   []measure.Change
	marks     []measure.Mark
	segments  []segmentInfo
	changed   int64 // when the last change was, or was to be by the timetable
	everMoved bool
	onRamp    bool // a step of a ramp, but the first, is being put into force
	result    *measure.Result
	timers    []appointment
	abandoned []string // what was under way when it was given up
	weights   []int    // of the tracks, for spreading totals
	resumed   int64    // when it went on in the place of another
}

type segmentInfo struct {
	from     int64
	settings map[string]float64
}

// Start begins a run. Cancelling ctx is Stop with the context's cause.
func Start(ctx context.Context, o Options) (*Run, error) {
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	o.Timetable = slices.Clone(o.Timetable)
	slices.SortStableFunc(o.Timetable, func(a, b At) int { return int(a.After - b.After) })
	r := &Run{
		opts: o, knobs: o.Plan.Knobs,
		precise: !o.PlainTimer && !virtualTime(), done: make(chan struct{}), ending: make(chan struct{}), skipped: make(chan struct{}, 1), phases: map[string]*phaseState{},
	}
	from := time.Now().Add(o.Warmup)
	if o.Past != nil {
		from = time.Now().Add(time.Until(o.Past.Began)) // with a clock that nobody sets
	}
	r.clock.start(from, o.Signs)
	if err := r.layOut(); err != nil {
		return nil, err
	}
	r.clock.newest = r.col.Newest
	r.hard, r.kill = context.WithCancel(context.WithoutCancel(ctx))
	go r.clock.run(r.done)
	go r.col.Run()
	r.mu.Lock()
	r.measuring = o.Warmup == 0 || o.Past != nil && r.now() >= 0
	r.weigh()
	r.segments = []segmentInfo{{0, r.settingsByName()}}
	if o.Past != nil {
		r.recall(o.Past.Notes)
	} else {
		r.startReady()
	}
	r.mu.Unlock()
	go r.conduct(ctx)
	return r, nil
}

// layOut builds tracks and collector from the plan.
func (r *Run) layOut() error {
	cfg := measure.Config{
		Classify: r.classify, Classes: r.opts.Classes, Timeout: r.opts.Timeout, Start: -int64(r.opts.Warmup), Source: source{r}, Gaps: r.Suspensions,
		Sink: r.opts.Sink, SinkFailed: r.Stop, Part: r.opts.Part,
	}
	if r.opts.Away != nil {
		cfg.Complete = r.opts.Away.Complete
	}
	if r.opts.Past != nil {
		cfg.Reread, cfg.Then = r.opts.Past.Upto, r.then
	}
	for i := range r.opts.Plan.Phases {
		ph := &r.opts.Plan.Phases[i]
		if _, ok := r.phases[ph.Name]; ok {
			return fmt.Errorf("phase %q is in the plan twice", ph.Name)
		}
		state := &phaseState{spec: ph}
		r.phases[ph.Name] = state
		for j := range ph.Tracks {
			spec := &ph.Tracks[j]
			t := &track{
				run: r, spec: spec, name: spec.Name, index: len(r.tracks), base: len(cfg.Ops), want: spec.Start,
				wake: make(chan struct{}, 1), exits: make(chan exit),
			}
			r.tracks = append(r.tracks, t)
			state.tracks = append(state.tracks, t)
			cfg.Tracks = append(cfg.Tracks, spec.Name)
			for i, op := range spec.Ops {
				cfg.Apart, cfg.Parts = append(cfg.Apart, !spec.Counts(i)), append(cfg.Parts, !spec.Whole(i))
				cfg.Ops = append(cfg.Ops, measure.Operation{Track: spec.Name, Op: op})
				cfg.OpTrack = append(cfg.OpTrack, t.index)
			}
		}
	}
	if len(r.tracks) == 0 {
		return errors.New("the plan has no tracks")
	}
	if err := r.checkGraph(); err != nil {
		return err
	}
	r.col = measure.NewCollector(cfg)
	return nil
}

func (r *Run) classify(err error) uint8 {
	return max(r.opts.Classify(err), 1)
}

// now tells nanoseconds since measurement began, without suspensions.
func (r *Run) now() int64 { return r.clock.read() }

// Snapshot returns the newest state of the run; never nil.
func (r *Run) Snapshot() *measure.Snapshot { return r.col.Snapshot() }

// Stop ends the admission of iterations; what is under way may finish within the
// grace period. The first cause stands in Wait's error.
func (r *Run) Stop(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop(cause)
}

func (r *Run) stop(cause error) {
	if r.stopped {
		return
	}
	r.stopped, r.cause = true, cause
	close(r.ending)
	if r.opts.Away != nil {
		r.opts.Away.Steer(workload.Word{Stop: fmt.Errorf("stopped: %v", cause)})
	}
	for _, t := range r.tracks {
		t.end()
	}
	r.when(r.now()+int64(r.opts.Grace), r.giveUp)
}

// Kill ends the run at once: operations under way are cancelled.
func (r *Run) Kill() {
	r.Stop(ErrKilled)
	r.kill()
}

// ErrKilled is the cause of a run ended by Kill.
var ErrKilled = errors.New("stopped at once")

// Done is closed when all workers have ended and the last second is in the sink.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait returns the result and why the run ended: nil when it reached its count or
// duration, the cause given to Stop, a fatal error of a task, or the sink's.
func (r *Run) Wait() (*measure.Result, error) {
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.result, r.cause
}

// ByDuration says, after Done, whether a phase was ended by its duration, as
// opposed to running out of work.
func (r *Run) ByDuration() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byTime
}
