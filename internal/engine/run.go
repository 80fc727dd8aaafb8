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

// DefaultGrace is how long operations under way may take once the run ends.
const DefaultGrace = 10 * time.Second

// At is one entry of the timetable: a live change at a moment of the run.
type At struct {
	// After is the time since measurement began.
	After time.Duration
	// Track is the index of the track, or workload.AllTracks.
	Track int
	// Knob is what to change; a Knob with only the name "paused" pauses (1) or
	// resumes (0).
	Knob  workload.Knob
	Value float64
	// Ramp is the number, from 1, of the ramp that this is a step of; 0 if none. A
	// ramp is one schedule: units that are due but not begun stay due across its
	// steps.
	Ramp int
	// First means that this is the first step of its ramp, which begins a schedule. It
	// opens a segment for the whole ramp, and the Last step one for what it came to.
	First, Last bool
}

// Options say what to run and how.
type Options struct {
	// Plan must be bound: its tracks have NewTask. The engine calls neither Setup,
	// Verify nor Teardown.
	Plan *workload.Plan
	// Warmup is how long the run goes on before measurement begins, unless
	// EndWarmup ends it.
	Warmup time.Duration
	// Timetable holds live changes, in any order.
	Timetable []At
	// Classify returns the class of an operation's error, never 0 for an error. It
	// is called on the workers' goroutines. Classes names the classes by number.
	Classify func(error) uint8
	Classes  []string
	// Timeout is the class of operations that took longer than allowed: these are
	// timed, while other failures are only counted.
	Timeout uint8
	// Unreachable reports whether a class means that the store cannot be reached; a
	// closed loop backs off after such an error.
	Unreachable func(class uint8) bool
	// Sink, when set, takes each finished second, in order, on one goroutine. An
	// error from it, such as a full disk, ends the run.
	Sink func(*measure.Second) error
	// Grace is how long operations in progress may take once the run ends; 0 means
	// DefaultGrace.
	Grace time.Duration
	// PlainTimer makes an open loop wait with the runtime's timer alone, as on
	// systems that have nothing better, for comparison.
	PlainTimer bool
	// Part, when set, takes each second in a form that another process can merge;
	// see Run.Merge.
	Part func(*measure.Part)
	// Held makes phases that wait for others wait for Enter as well. Ended, when
	// set, is called when a track is over, with the time since measurement began;
	// it must not block or call the run.
	Held  bool
	Ended func(track int, at time.Duration)
	// Away, when set, is where the work is done: the run then has no workers of its
	// own.
	Away Away
	// Note, when set, is called with each decision in a run with Away, so that
	// another engine can take over. It must not call the run.
	Note func(Note)
	// Past is the state of a run with Away that began under another engine; nil if
	// it began here.
	Past *Restored
	// Late, when set, is the state of a run that other processes have begun before.
	Late *Late
	// Signs tell when the process was stopped; with the zero value only silence
	// does.
	Signs Signs
}

// Run is a run in progress. All methods may be called from any goroutine, and
// only Wait blocks.
type Run struct {
	opts   Options
	clock  clock
	col    *measure.Collector
	tracks []*track
	// precise means that workers may sleep on alarms.
	precise bool
	knobs   []workload.Knob
	hard    context.Context
	kill    context.CancelFunc
	done    chan struct{}
	ending  chan struct{} // closed when no more iterations are admitted
	skipped chan struct{} // receives a value when the run's time was moved on

	mu        sync.Mutex
	stopped   bool
	closed    bool // the records are complete
	measuring bool
	cause     error
	byTime    bool // a phase reached its duration
	taken     int  // entries of the timetable that have been put into force
	phases    map[string]*phaseState
	changes   []measure.Change
	marks     []measure.Mark
	segments  []segmentInfo
	changed   int64 // when the last change was made, or was scheduled by the timetable
	everMoved bool
	parted    int64        // when the last change was made that does not belong to a ramp's segment
	onRamp    bool         // a step of a ramp, not its first, is being put into force
	lastStep  bool         // the last step of a ramp is
	ramped    map[int]bool // the ramps that have begun
	result    *measure.Result
	timers    []appointment
	abandoned []string // what was in progress when it was given up
	weights   []int    // of the tracks, for spreading totals
	resumed   int64    // when the run was taken over from another engine
}

type segmentInfo struct {
	from     int64
	settings map[string]float64
	end      map[string]float64 // what a ramp has come to; nil: they are as they were
}

// Start begins a run. Cancelling ctx has the effect of Stop with the context's
// cause.
func Start(ctx context.Context, o Options) (*Run, error) {
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	o.Timetable = slices.Clone(o.Timetable)
	slices.SortStableFunc(o.Timetable, func(a, b At) int { return int(a.After - b.After) })
	r := &Run{
		opts: o, knobs: o.Plan.Knobs,
		precise: !o.PlainTimer && !virtualTime(), done: make(chan struct{}), ending: make(chan struct{}), skipped: make(chan struct{}, 1), phases: map[string]*phaseState{}, ramped: map[int]bool{},
	}
	from := time.Now().Add(o.Warmup)
	if o.Past != nil {
		from = time.Now().Add(time.Until(o.Past.Began)) // on a clock that nobody sets
	}
	if o.Late != nil {
		from = o.Late.Began
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
	r.measuring = o.Warmup == 0 || (o.Past != nil || o.Late != nil) && r.now() >= 0
	r.weigh()
	r.segments = []segmentInfo{{settings: r.settingsByName()}}
	r.catchOn()
	if o.Past != nil {
		r.recall(o.Past.Notes)
	} else {
		r.startReady()
	}
	r.mu.Unlock()
	go r.conduct(ctx)
	return r, nil
}

// layOut builds the tracks and the collector from the plan.
func (r *Run) layOut() error {
	cfg := measure.Config{
		Classify: r.classify, Classes: r.opts.Classes, Timeout: r.opts.Timeout, Start: -int64(r.opts.Warmup), Source: source{r}, Gaps: r.Suspensions,
		Sink: r.opts.Sink, SinkFailed: r.Stop, Part: r.opts.Part,
	}
	if r.opts.Away != nil {
		cfg.Complete = r.opts.Away.Complete
	}
	if r.opts.Late != nil {
		cfg.Start = max(cfg.Start, r.now())
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
			cfg.Tracks, cfg.Plans = append(cfg.Tracks, spec.Name), append(cfg.Plans, spec.Total)
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

// now returns nanoseconds since measurement began, without suspensions.
func (r *Run) now() int64 { return r.clock.read() }

// Snapshot returns the newest state of the run; never nil.
func (r *Run) Snapshot() *measure.Snapshot { return r.col.Snapshot() }

// Stop admits no more iterations; those in progress may finish within the grace
// period. Wait returns the first cause.
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
		r.opts.Away.Control(workload.Word{Stop: fmt.Errorf("stopped: %v", cause)})
	}
	for _, t := range r.tracks {
		t.end()
	}
	r.when(r.now()+int64(r.opts.Grace), r.giveUp)
}

// Kill ends the run at once and cancels operations in progress.
func (r *Run) Kill() {
	r.Stop(ErrKilled)
	r.kill()
}

// ErrKilled is the cause of a run ended by Kill.
var ErrKilled = errors.New("stopped at once")

// Done returns a channel that is closed when all workers have ended and the sink
// has taken the last second.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait returns the result and why the run ended: nil when it reached its count or
// duration, otherwise the cause given to Stop, a fatal error of a task, or the
// sink's error.
func (r *Run) Wait() (*measure.Result, error) {
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.result, r.cause
}

// ByDuration reports, after Done, whether a phase was ended by its duration
// rather than by running out of work.
func (r *Run) ByDuration() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byTime
}
