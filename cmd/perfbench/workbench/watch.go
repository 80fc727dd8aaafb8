package workbench

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// watchedRun is a run that another process drives, as the screens see it. It asks that process
// how the run is, on a goroutine of its own, follow, which ends with the run.
type watchedRun struct {
	w crew.Watcher
	// driver names that process; dir is the folder of the run if it is on this machine, which
	// kept is told of at its end.
	driver, dir string
	kept        *kept
	plan        *workload.Plan
	info        screen.RunInfo
	done        chan struct{}

	// turns are the changes that are still to be told, in order.
	turns chan crew.Change

	mu      sync.Mutex
	now     *crew.View
	heard   time.Time
	looked  time.Time // when a screen last did
	outcome screen.Outcome
	// untold counts the changes in turns and the one that is being told: until there is none,
	// settings are as they were turned here, and so are totals; nil: they were not turned.
	untold int
	// told is when the last change was; until it is seen in force, and for no longer than settles,
	// settings stay as they were turned here.
	told   time.Time
	totals *workload.Settings
	// refused is why the last change was not made, and refusedAt when that was.
	refused   string
	refusedAt time.Time
}

// How often the process that drives a run is asked, and how long it may be silent until the run
// is given up.
const (
	askEvery = 400 * time.Millisecond
	givenUp  = 30 * time.Second
	settles  = 2 * time.Second
)

// watchRun looks for the process that drives a run and asks it once.
func watchRun(ctx context.Context, k *kept, o cli.Watched) (*watchedRun, error) {
	w, err := watcher(ctx, o)
	if err != nil {
		return nil, err
	}
	r := &watchedRun{w: w, driver: "the coordinator", kept: k, done: make(chan struct{}), turns: make(chan crew.Change, mostTurns)}
	if o.Dir != "" {
		r.driver, r.dir = "the process that drives it", o.Dir
	}
	if err := r.begin(ctx); err != nil {
		w.Close()
		return nil, fmt.Errorf("watch %s: %w", cmp.Or(o.Dir, o.At.URL), err)
	}
	fault.Go(func() { r.follow(context.WithoutCancel(ctx)) })
	return r, nil
}

// watcher is what asks how the run is.
func watcher(ctx context.Context, o cli.Watched) (crew.Watcher, error) {
	if o.Dir != "" {
		return crew.WatchLocal(o.Dir), nil
	}
	return remote.Watch(ctx, o.At)
}

// begin makes the plan that the run has.
func (r *watchedRun) begin(ctx context.Context) error {
	v, err := r.ask(ctx)
	if err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	if ours := cli.Of().Version; v.Version != ours {
		return fault.Input(fmt.Errorf("%s is perfbench %s, and this is %s", r.driver, v.Version, ours), "use the same version for both")
	}
	p, plan, err := v.Order.Remake(r.kept.env.Profiles)
	if err != nil {
		return fault.Code(err, fault.CodeInput)
	}
	r.plan = plan
	r.now, r.heard, r.looked = v, time.Now(), time.Now()
	r.info = screen.RunInfo{
		Profile: p.Name, Title: p.Title, Mode: r.plan.Mode, Store: v.Store, Target: v.Target, Unit: r.plan.Unit, Units: r.plan.OtherUnits(),
		Duration: r.plan.Length(), Started: v.Started, Shared: v.Shared, Planned: v.Planned,
	}
	return nil
}

// ask asks how the run is.
func (r *watchedRun) ask(ctx context.Context) (*crew.View, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	data, err := r.w.Ask(ctx)
	if err != nil {
		return nil, err
	}
	return crew.ReadView(data)
}

// follow asks until the run has ended, or nobody has answered for too long.
func (r *watchedRun) follow(ctx context.Context) {
	defer close(r.done)
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		var v *crew.View
		var err error
		select {
		case last := <-r.w.Last():
			v, err = crew.ReadView(last)
		case c := <-r.turns:
			r.tell(ctx, c)
			v, err = r.ask(ctx)
		case <-tick.C:
			if r.forgotten() {
				return
			}
			v, err = r.ask(ctx)
		}
		r.mu.Lock()
		if err == nil {
			if r.untold > 0 || time.Since(r.told) < settles && !slices.Equal(v.Settings, r.now.Settings) {
				v.Settings = r.now.Settings
			} else {
				r.totals, r.told = nil, time.Time{}
			}
			r.now, r.heard = v, time.Now()
		}
		over := err == nil && v.Came != nil
		if over {
			r.outcome = r.cameTo(v)
		} else if time.Since(r.heard) > givenUp {
			over = true
			r.outcome = r.unknown("Nothing was heard from " + r.driver + " for " + units.Duration(givenUp) + ": the outcome of run " + r.now.ID + " is not known here.")
		}
		r.mu.Unlock()
		if over {
			return
		}
	}
}

// forgotten says that no screen has looked at the run for a minute, and none will.
func (r *watchedRun) forgotten() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.looked) > time.Minute
}

// outcomeOf is the outcome of the run, as far as its folder tells it, if that is on this machine.
func (r *watchedRun) outcomeOf(id string) screen.Outcome {
	o := screen.Outcome{Watched: true}
	if r.dir != "" {
		o.ID, o.Dir = id, r.dir
		r.kept.dirs.Store(id, r.dir)
	}
	return o
}

// unknown is the outcome of a run of which nobody says what came of it, for the reason why.
func (r *watchedRun) unknown(why string) screen.Outcome {
	o := r.outcomeOf(r.now.ID)
	o.Note, o.Summary = why, "\n"+why+"\n"
	if o.Dir != "" {
		o.Summary += "what was measured until then is in " + o.Dir + "\n"
	}
	return o
}

// cameTo is what came of the run, which is not this command's: it has no error of it. Its results
// are shown whole if its folder is on this machine.
func (r *watchedRun) cameTo(v *crew.View) screen.Outcome {
	var run rundir.Run
	if err := json.Unmarshal(infile.Harmless(v.Came.Run), &run); err != nil {
		return r.unknown("What is said of the outcome of run " + v.ID + " cannot be read: " + err.Error())
	}
	o := r.outcomeOf(v.ID)
	o.Verification, o.Verdict = run.Verification, run.Verdict
	o.Summary = cli.Summary(&run, v.Came.Dir)
	if v.Came.Err != "" {
		o.Summary += fmt.Sprintf("\nIt failed, with exit code %d: %s\n", v.Came.Code, v.Came.Err)
	}
	return o
}

func (r *watchedRun) last() *crew.View {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// Info returns what is known of the run, with what was planned for it when it was last heard.
func (r *watchedRun) Info() screen.RunInfo {
	info := r.info
	info.Planned = r.last().Planned
	return info
}

func (r *watchedRun) Plan() *workload.Plan    { return r.plan }
func (r *watchedRun) Done() <-chan struct{}   { return r.done }
func (r *watchedRun) Verdict() rundir.Verdict { return r.last().Verdict }

func (r *watchedRun) Samples() []rundir.Sample { return r.last().Samples }

// late is after how long without an answer the screen says so.
const late = 3 * time.Second

func (r *watchedRun) Progress() screen.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.now.Progress
	out := screen.Progress{
		Stage: [...]screen.Stage{crew.Preparing: screen.Preparing, crew.Working: screen.Measuring, crew.Verifying: screen.Verifying, crew.Ended: screen.Ended}[p.Stage],
		Step:  p.Step, Note: p.Note, Held: p.Held, Done: p.Done, Total: p.Total,
	}
	if silent := time.Since(r.heard); silent > late {
		out.Note = "nothing was heard from " + r.driver + " for " + units.Duration(silent.Truncate(time.Second)) + ": what is shown is as it was then"
	}
	if r.refused != "" && time.Since(r.refusedAt) < refusedFor {
		out.Note = "not turned: " + r.refused
	}
	return out
}

func (r *watchedRun) Snapshot() *measure.Snapshot {
	r.mu.Lock()
	r.looked = time.Now()
	r.mu.Unlock()
	if s := r.last().Snapshot; s != nil {
		return s
	}
	return &measure.Snapshot{Began: -r.last().Order.Inputs.Warmup}
}

func (r *watchedRun) Settings(track int) workload.Settings {
	tracks, of := r.plan.Tracks(), workload.Starts(r.plan.Tracks())
	if now := r.last().Settings; len(now) == len(tracks) {
		of = func(i int) workload.Settings { return now[i] }
	}
	if track != workload.AllTracks {
		return of(track)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.totals != nil {
		return *r.totals
	}
	return workload.Totals(r.plan.Knobs, tracks, of)
}

func (r *watchedRun) Outcome() screen.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outcome
}
