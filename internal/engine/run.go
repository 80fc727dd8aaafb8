// Package engine runs plans: workers, pacing, phases, live control. It knows
// nothing of stores, profiles or screens. Commands and tests call it.
package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// DefaultGrace is how long operations under way may take once the run ends.
const DefaultGrace = 10 * time.Second

// Options say what to run and how.
type Options struct {
	// Plan must be bound: its tracks have NewTask. The engine calls neither Setup,
	// Verify nor Teardown.
	Plan *workload.Plan
	// Warmup is how long the run goes on before measurement begins, unless
	// EndWarmup ends it.
	Warmup time.Duration
	// Arrivals say how due times are spread; they are a function of Seed and of Stream, which
	// differs between the processes of a distributed run.
	Arrivals workload.Arrivals
	Seed     int64
	Stream   int
	// Client is what callers do when the store is slow or fails. Retryable reports whether what
	// failed with a class of error may be tried again; nil: nothing may.
	Client    workload.Client
	Retryable func(class uint8) bool
	// Timetable holds live changes, in any order.
	Timetable []At
	// Classify returns the class of an operation's error, never 0 for an error. It
	// is called on the workers' goroutines. Classes names the classes by number.
	Classify func(error) uint8
	Classes  []string
	// Timeout is the class of operations that took longer than allowed: these are
	// timed, while other failures are only counted.
	Timeout uint8
	// Lost is the class of calls that the store answered without a record that it had acknowledged;
	// 0: there is none.
	Lost uint8
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
	Part func(*measure.Increment)
	// Break, when set, is called with the faults that are in force from now on. It must not
	// block or call the run. At its end they are healed.
	Break func(workload.Faults)
	// Held makes phases that wait for others wait for Enter as well. Ended, when
	// set, is called when a track is over, with the time since measurement began;
	// it must not block or call the run.
	Held  bool
	Ended func(track int, at time.Duration)
	// Remote, when set, is where the work is done: the run then has no workers of its
	// own.
	Remote Remote
	// Note, when set, is called with each decision in a run with Remote, so that
	// another engine can take over. It must not call the run.
	Note func(Note)
	// Past is the state of a run with Remote that began under another engine; nil if
	// it began here.
	Past *Restored
	// Late, when set, is the state of a run that other processes have begun before.
	Late *Late
	// binds stands between a worker and its clock and recorder where a test breaks them; nil: nothing.
	binds func(it *workload.Iteration, now workload.Clock, rec workload.Recorder, base int)
	// Signs tell when the process was stopped; with the zero value only silence
	// does.
	Signs Signs
}

// Run is a run in progress: its tracks with their workers, the settings in force, the timeline of
// what was changed, and the graph of its phases. Each of these is a type of its own; Run connects
// them, under one lock. All methods may be called from any goroutine, and only Wait blocks.
type Run struct {
	Clock
	Ending

	opts   Options
	col    *measure.Collector
	tracks []*track
	stages int // index of the plan's first stage
	pool   workforce
	past   *past // nil: it began here
	tide   *tide // nil: there have been no bursts; guarded by mu
	// precise means that workers may sleep on alarms.
	precise bool

	mu           sync.Mutex // guards the following
	measuring    bool
	settings     *settings
	timeline     *timeline
	graph        graph
	conductor    conductor
	appointments appointments
	broken       workload.Faults // those in force
}

// Start begins a run. Cancelling ctx has the effect of Stop with the context's
// cause.
func Start(ctx context.Context, o Options) (*Run, error) {
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	o.Timetable = slices.Clone(o.Timetable)
	slices.SortStableFunc(o.Timetable, func(a, b At) int { return int(a.After - b.After) })
	r := &Run{opts: o, precise: !o.PlainTimer && !virtualTime(), pool: workforce{o.Remote}, settings: newSettings(o.Plan, o.Arrivals)}
	r.timeline = newTimeline(r.settings.byName())
	r.conductor = conductor{run: r, table: o.Timetable, skipped: make(chan struct{}, 1)}
	r.appointments = appointments{clock: &r.Clock, mu: &r.mu}
	from := time.Now().Add(o.Warmup)
	if o.Past != nil {
		r.past = &past{Restored: o.Past, tracks: o.Plan.Tracks()}
		from = time.Now().Add(time.Until(o.Past.Began)) // on a clock that nobody sets
	}
	if o.Late != nil {
		from = o.Late.Began
	}
	r.Clock.start(from, o.Signs)
	if err := r.layOut(); err != nil {
		return nil, err
	}
	r.Clock.newest = r.col.Newest
	r.Ending = newEnding(ctx, &r.mu)
	fault.Go(func() { r.Clock.run(r.done) })
	fault.Go(r.col.Run)
	r.mu.Lock()
	r.measuring = o.Warmup == 0 || (o.Past != nil || o.Late != nil) && r.now() >= 0
	if o.Late != nil {
		o.Late.catchOn(&r.graph, r.timeline, r.now())
	}
	if r.past != nil {
		r.past.recall(r)
	} else {
		r.startReady()
	}
	r.mu.Unlock()
	fault.Go(func() { r.conductor.conduct(ctx) })
	return r, nil
}

// layOut builds the tracks and the collector from the plan.
func (r *Run) layOut() error {
	cfg := measure.Config{
		Classify: func(err error) uint8 { return max(r.opts.Classify(err), 1) }, Classes: r.opts.Classes, Timeout: r.opts.Timeout, Lost: r.opts.Lost,
		Deadline: r.opts.Client.Deadline,
		Start:    -int64(r.opts.Warmup), Source: source{r}, Gaps: r.Suspensions, Sink: r.opts.Sink, SinkFailed: r.Stop, Increment: r.opts.Part,
	}
	if r.opts.Remote != nil {
		cfg.Complete = r.opts.Remote.Complete
	}
	if r.opts.Late != nil {
		cfg.Start = max(cfg.Start, r.now())
	}
	if r.past != nil {
		cfg.Reread, cfg.Then = r.past.Upto, func(gauges []measure.Gauge, at int64) { r.past.then(r, gauges, at) }
	}
	for i := range r.opts.Plan.Phases {
		state, err := r.graph.add(&r.opts.Plan.Phases[i])
		if err != nil {
			return err
		}
		for j := range state.spec.Tracks {
			spec := &state.spec.Tracks[j]
			t := &track{
				run: r, spec: spec, name: spec.Name, index: len(r.tracks), base: len(cfg.Ops),
				wake: make(chan struct{}, 1), exits: make(chan exit),
			}
			r.tracks = append(r.tracks, t)
			state.tracks = append(state.tracks, t)
			cfg.Tracks, cfg.Plans = append(cfg.Tracks, spec.Name), append(cfg.Plans, spec.Total)
			cfg.Sessions = append(cfg.Sessions, -1)
			if op := spec.SessionOp(); op >= 0 {
				cfg.Sessions[t.index] = t.base + op
			}
			for i, op := range spec.Ops {
				cfg.Apart, cfg.Parts = append(cfg.Apart, !spec.Counts(i)), append(cfg.Parts, !spec.Whole(i))
				cfg.Ops = append(cfg.Ops, measure.Operation{Track: spec.Name, Op: op})
				cfg.OpTrack = append(cfg.OpTrack, t.index)
			}
		}
	}
	r.stages, cfg.Stages = len(cfg.Ops), len(r.opts.Plan.Stages)
	if len(r.tracks) == 0 {
		return errors.New("the plan has no tracks")
	}
	if err := r.graph.check(); err != nil {
		return err
	}
	r.col = measure.NewCollector(cfg)
	return nil
}

// Snapshot returns the newest state of the run; never nil.
func (r *Run) Snapshot() *measure.Snapshot { return r.col.Snapshot() }
