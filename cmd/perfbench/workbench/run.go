package workbench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// benchRun is a run of the workbench, on its way through its stages. It goes on a
// goroutine of its own, carry, which ends with the run. Screens see it as the parts of
// access.
type benchRun struct {
	from *surroundings
	kept *kept
	p    *session.Prepared
	info screen.RunInfo
	// form is what the form was set to that the run came from; nil: there was none.
	form *request.Request
	// soft is for preparing, cancel ends it; hard ends everything.
	soft   context.Context
	cancel context.CancelFunc
	hard   context.Context
	kill   context.CancelFunc
	done   chan struct{}
	// begun is closed when the store has answered.
	begun chan struct{}

	searches *searches
	// seeks is searched for from the beginning; nil: only what the user asks for.
	seeks *find.Asked

	mu       sync.Mutex
	progress screen.Progress
	notices  []string // what became of what earlier runs had left
	live     *session.Driven
	outcome  screen.Outcome
	ended    *session.Concluded // nil before, and of a start that failed
	err      error              // of a start that failed
	isBegun  bool
	stopped  bool
}

// newBenchRun is a run that carry takes through its stages. The values of ctx go with it,
// not its end.
func newBenchRun(ctx context.Context, at *surroundings, k *kept, p *session.Prepared) *benchRun {
	soft, cancel := context.WithCancel(context.WithoutCancel(ctx))
	hard, kill := context.WithCancel(at.hard)
	r := &benchRun{
		from: at, kept: k, p: p, soft: soft, cancel: cancel, hard: hard, kill: kill, done: make(chan struct{}), begun: make(chan struct{}),
		progress: screen.Progress{Stage: screen.Preparing, Step: "connecting"},
		info: screen.RunInfo{
			Profile: p.Profile.Name, Title: p.Profile.Title, Mode: p.Plan.Mode, Store: p.Driver.Name, Target: p.Target.Redacted(),
			Unit: p.Plan.Unit, Units: p.Plan.OtherUnits(), Duration: p.Plan.Length(), Settles: p.WarmsItself(), Started: time.Now(),
			CPUs: runtime.NumCPU(), Cores: min(runtime.NumCPU(), runtime.GOMAXPROCS(0)),
			Shared: p.Shares(), Planned: p.Planned(), Request: p.Asked(),
		},
	}
	r.form, r.info.Request.Form = r.info.Request.Form, nil
	r.searches = &searches{run: r}
	return r
}

// access is the run as screens see it, and what they can do with it.
func (r *benchRun) access() screen.Access {
	return screen.Access{Run: shown{r}, Control: control{r}, Searches: r.searches, Ending: r}
}

// starter begins runs.
type starter struct {
	at       *surroundings
	requests *requests
	kept     *kept
}

// Start connects and leaves the rest to the background. ctx cancels connecting only.
func (s starter) Start(ctx context.Context, req request.Request) (screen.Access, error) {
	req = s.requests.endless(req)
	req.MaxThreads = workload.MaxThreads
	p, err := s.requests.prepare(ctx, req)
	if err != nil {
		return screen.Access{}, err
	}
	r := newBenchRun(ctx, s.at, s.kept, p)
	fault.Go(r.carry)
	select {
	case <-r.begun:
	case <-r.done:
	case <-ctx.Done():
		r.cancel()
		<-r.done
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return screen.Access{}, r.err
	}
	return r.access(), nil
}

// carry takes the run through all stages.
func (r *benchRun) carry() {
	defer close(r.done)
	defer r.cancel()
	defer r.rescue()
	live, err := r.p.Start(r.soft, r.step)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = err
		r.outcome = screen.Outcome{Err: err, Code: fault.CodeOf(err), Note: "It did not begin, so it measured nothing and left no files."}
		return
	}
	r.mu.Lock()
	r.live, r.progress = live, screen.Progress{Stage: screen.Measuring, Notice: r.notice()}
	r.answered()
	stopped := r.stopped
	r.mu.Unlock()
	r.from.remember(r.p.Target, r.form)
	if stopped {
		live.Stop(r.cause())
	}
	if r.seeks != nil {
		if err := r.searches.Search(*r.seeks); err != nil {
			live.Stop(err)
		}
	}
	stop := context.AfterFunc(r.hard, live.Kill)
	<-live.Done()
	stop()
	r.at(screen.Progress{Stage: screen.Verifying})
	o := live.Conclude(r.hard)
	r.kept.dirs.Store(o.Run.ID, o.Dir)
	r.keepFound(o)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress, r.ended = screen.Progress{Stage: screen.Ended}, o
	r.outcome = screen.Outcome{
		ID: o.Run.ID, Dir: o.Dir, Summary: cli.Summary(&o.Run, o.Dir), Verification: o.Run.Verification, Verdict: o.Run.Verdict,
		Code: o.Code(), Err: o.Err,
	}
}

// keepFound keeps what the last search on the run has found in its folder.
func (r *benchRun) keepFound(o *session.Concluded) {
	f := r.searches.wait()
	if f == nil {
		return
	}
	err := experiment.KeepFound(o.Dir, f)
	if !f.Complete && fault.CodeOf(err) == fault.CodeThreshold {
		return // whoever ended it knows that it found nothing
	}
	o.Err = errors.Join(o.Err, err)
}

// rescue ends a run that panics outside its workers as a run that failed: the
// screen owns the terminal, and must live to give it back.
func (r *benchRun) rescue() {
	v := recover()
	if v == nil {
		return
	}
	err := r.from.bug(v)
	o := screen.Outcome{Err: err, Code: fault.CodeOther}
	if live := r.running(); live != nil {
		live.Kill()
		o.ID, o.Dir = live.Opened.ID(), live.Opened.Dir() // with what was measured until then
		r.kept.dirs.Store(o.ID, o.Dir)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress, r.outcome = screen.Progress{Stage: screen.Ended}, o
	if !r.isBegun {
		r.err = err
	}
}

// bug says what a panic was, and keeps its stack; call it while recovering.
func (s *surroundings) bug(v any) error {
	hint := "please report it with the command line that you used"
	if s.crashed != nil {
		if path := s.crashed(v, debug.Stack()); path != "" {
			hint += ", and with its stack, which is at the end of " + path
		}
	}
	return fault.Hint(fmt.Errorf("this is a bug in perfbench: %v", v), hint)
}

func (r *benchRun) at(p screen.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = p
}

// step follows the way to the first operation.
func (r *benchRun) step(g session.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	note := g.Note
	if g.Keeps {
		r.notices, note = append(r.notices, note), ""
	}
	if note == "" && r.progress.Step == g.Stage {
		note = r.progress.Note
	}
	r.progress = screen.Progress{Stage: screen.Preparing, Step: g.Stage, Note: note, Notice: r.notice(), Done: g.Done, Total: g.Total}
	if g.Stage != "connecting" {
		r.answered()
	}
}

// notice is all notices in one text. The caller holds mu.
func (r *benchRun) notice() string { return strings.Join(r.notices, "; ") }

// answered notes that the store is there. The caller holds mu.
func (r *benchRun) answered() {
	if !r.isBegun {
		r.isBegun = true
		close(r.begun)
	}
}

func (r *benchRun) running() *session.Driven {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live
}

// Stop ends the run in order; what has not begun does not begin.
func (r *benchRun) Stop() {
	r.mu.Lock()
	r.stopped = true
	live := r.live
	r.mu.Unlock()
	if live != nil {
		live.Stop(r.cause())
		return
	}
	r.cancel()
}

// cause tells a user who stops the run from a signal that does.
func (r *benchRun) cause() error {
	if r.from.soft.Err() != nil {
		return session.ErrInterrupted
	}
	return session.ErrStopped
}

// Kill ends the run at once.
func (r *benchRun) Kill() {
	r.Stop()
	r.kill()
}

func (r *benchRun) Done() <-chan struct{} { return r.done }

func (r *benchRun) Outcome() screen.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outcome
}

var errNoTerminal = errors.New("the workbench needs a terminal")
