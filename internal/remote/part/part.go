// Package part carries out a worker's part of a run: it makes the plan from the order, keeps
// its part of it, works when all begin, and tells what it measured.
package part

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch/self"
	"github.com/perfbench/perfbench/internal/workload"
)

// Env is what a worker takes from its surroundings.
type Env struct {
	Profiles []workload.Profile
	// Password is the target's, empty: it has none.
	Password string
	// Target is the pattern of the targets that the worker may log in at, as Pinned reads it;
	// empty: any that a coordinator names which it trusts.
	Target string
	Log    *slog.Logger
	// Patience is how long to go on without a coordinator; 0: remote.DefaultAbsence.
	Patience time.Duration
	// Say is given sentences of what happens; it may be called from any goroutine.
	Say func(sentence string)
}

// work is a part under way.
type work struct {
	env   Env
	w     *remote.Worker
	order remote.Order
	proxy *proxy.Proxy // nil: the run has no faults
	plan  *workload.Plan
	conn  store.Conn
	// addrs are where the store's servers listen.
	addrs []string
	run   *engine.Run
	told  bool // when it began
	began time.Time
	// used is what worked was when it told last, then.
	used time.Duration
	then time.Time
	// met is how many connections it had opened when it told last, and how often it was redirected.
	met [2]int64
	// handoff is what it has of another's part; nil: the part is its own.
	handoff *remote.Handoff
	heirs   takeovers
	// free is closed when the worker may leave that has stayed for others.
	free    chan struct{}
	release sync.Once
	leave   leave
	// came is what was done, in a few words.
	came string
}

// errStopped is the cause of a part that the coordinator ended.
var errStopped = errors.New("ended by the coordinator")

// Do carries out the part of a worker that has joined, to its end.
func Do(ctx context.Context, env Env, w *remote.Worker) error {
	return newWork(env, w).do(ctx)
}

func newWork(env Env, w *remote.Worker) *work {
	env.Patience = cmp.Or(env.Patience, remote.DefaultAbsence)
	return &work{env: env, w: w, free: make(chan struct{}), leave: leave{lost: make(chan struct{})}}
}

// do carries out the part of a worker that has joined, to its end.
func (p *work) do(ctx context.Context) error {
	env, w := p.env, p.w
	defer w.Close()
	defer p.leave.end()
	err := p.prepare(ctx)
	told := w.Ready(ctx, err)
	if err = errors.Join(err, told); err != nil {
		if p.conn != nil {
			_ = p.conn.Close()
		}
		return err
	}
	defer p.proxy.Close()
	defer func() { _ = p.conn.Close() }()
	env.Say(fmt.Sprintf("worker %d of %d of run %s: ready", w.Place.Index+1, w.Place.Of, w.Place.Run))
	if err := w.Begin(ctx); err != nil {
		return err
	}
	return p.carryOut(ctx)
}

// prepare makes the plan and connects it.
func (p *work) prepare(ctx context.Context) error {
	if err := json.Unmarshal(p.w.Place.Order, &p.order); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	target, driver, err := drivers.Parse(p.order.Target)
	if err != nil {
		return err
	}
	if err := p.env.lets(target, p.w.Trusted()); err != nil {
		return err
	}
	_, plan, err := p.order.Remake(p.env.Profiles)
	if err != nil {
		return err
	}
	if err := plan.Divide(p.part(), p.w.Place.Of); err != nil {
		return err
	}
	target.Password = p.env.Password
	p.addrs = driver.Listens(target)
	threads := plan.Connections
	for _, t := range plan.Tracks() {
		threads += t.Start.Threads
	}
	if p.order.Leased {
		p.guard(driver, target)
	}
	if p.order.Faults {
		p.proxy = proxy.New()
	}
	if p.conn, err = driver.Open(ctx, target, store.OpenOptions{Threads: threads, Log: p.env.Log, Fence: p.leave.fence, Proxy: p.proxy}); err != nil {
		return fmt.Errorf("open %s: %w", target.Redacted(), err)
	}
	if _, err := p.conn.Info(ctx); err != nil {
		return fmt.Errorf("ask %s what it is: %w", target.Redacted(), err)
	}
	if p.plan, err = plan.Bind(ctx, driver.Name, p.conn, p.w.Place.Run); err != nil {
		return err
	}
	if err := p.join(ctx); err != nil {
		return err
	}
	if err := p.takeOver(); err != nil {
		return err
	}
	if warm, ok := store.Has[store.Warmer](p.conn); ok {
		return warm.Warm(ctx, threads)
	}
	return nil
}

// join gives the plan what the coordinator has found.
func (p *work) join(ctx context.Context) error {
	if err := p.plan.Shared.Adopt(p.order.Found); err != nil {
		return fmt.Errorf("take over what was prepared: %w", err)
	}
	return p.plan.Join(ctx)
}

// carryOut works, now, and tells of each second.
func (p *work) carryOut(ctx context.Context) error {
	resumed, deaf := self.Resumed()
	defer deaf()
	own, beside := self.Watch(ctx), accompany(ctx, p.addrs)
	if p.handoff == nil {
		p.began = time.Now()
	}
	p.then, p.used = time.Now(), p.worked()
	polled := p.polled()
	p.contacts() // those of the beginning are no matter of the run
	run, err := engine.Start(ctx, engine.Options{
		Plan: p.plan, Warmup: p.order.Inputs.Warmup, Classify: p.classify, Classes: store.ClassNames, Timeout: uint8(store.Timeout), Lost: uint8(store.Lost),
		Unreachable: func(c uint8) bool { return store.Class(c) == store.Unreachable },
		Break: func(f workload.Faults) {
			p.plan.Breaks(f)
			p.proxy.Set(f.Link(false))
		},
		Client: p.order.Inputs.Client, Retryable: store.Retryable,
		Arrivals: p.order.Inputs.Arrivals, Seed: p.order.Inputs.Seed, Stream: p.part(),
		Late: p.late(), Part: p.send, Held: true, Ended: p.w.Ended, Grace: p.order.Inputs.Drain, Signs: engine.Signs{Resumed: resumed, Processor: self.Processor, Waited: self.Waited},
	})
	if err != nil {
		p.w.Outbox.Report(remote.Report{Over: true, Err: err.Error()})
		return errors.Join(err, p.say(ctx))
	}
	p.run = run
	fault.Go(func() { // ends with the run
		select {
		case <-p.leave.lost:
			run.GiveUp(p.leave.why)
		case <-run.Done():
		}
	})
	if p.handoff != nil {
		run.ApplyIn(p.handoff.Segment, p.handoff.Settings)
	}
	p.w.Orders.OnCommand(p.obey)
	p.env.Say("working")
	p.beat(own, beside, run.Done())
	res, cause := run.Wait()
	p.plan.Settle(ctx)
	p.leave.end() // nothing more is written
	observed := own.Observed(ctx)
	if observed.Seconds > 0 {
		observed.Polled = min((p.polled()-polled).Seconds()/observed.Seconds, observed.CPU)
	}
	doubts := p.doubts(res, observed)
	p.stay(own, beside, cause)
	last := remote.Report{Over: true, Ledger: p.plan.Shared.Delta(), Doubts: doubts}
	if p.handoff == nil { // otherwise the worker in whose process it is tells of it
		last.Company = beside.seen(&observed, res)
	}
	if cause != nil && !errors.Is(cause, errStopped) {
		last.Err = cause.Error()
	} else {
		cause = nil
	}
	p.heirs.wait()
	p.w.Outbox.Report(last)
	p.came = fmt.Sprintf("done: %d %s", done(res), cmp.Or(p.plan.Unit, "operations"))
	p.env.Say(p.came)
	return errors.Join(cause, p.say(ctx))
}

func done(res *measure.Result) (n int64) {
	for _, o := range res.Ops {
		n += o.Count
	}
	return n
}

// beat watches this process and its company until done, and ends the run when its coordinator does not come
// back, nor another in its place.
func (p *work) beat(own *self.Watcher, beside *company, done <-chan struct{}) {
	absent := time.Duration(0) // by this process's own beat: it may be stopped for a while
	timer := time.NewTimer(self.Beat)
	defer timer.Stop()
	beats := 0
	for set := time.Now(); ; set = time.Now() {
		timer.Reset(self.Beat)
		select {
		case <-done:
			return
		case <-timer.C:
			own.Beaten(time.Since(set))
			if beats++; beats%int(time.Second/self.Beat) == 0 {
				beside.sample(context.Background()) // reading /proc does not block
			}
			if absent += self.Beat; p.w.Pulse.Hears() {
				absent = 0
			}
			p.leave.absent.Store(int64(absent))
			if absent > p.env.Patience {
				why := fmt.Errorf("the coordinator was not heard of for %s (--patience)", units.Duration(p.env.Patience))
				if cut := p.w.Cut(); cut != "" {
					why = fmt.Errorf("%w: %s", why, cut)
				}
				p.run.Stop(why)
				p.leaves()
			}
		}
	}
}

// obey does what the coordinator says.
func (p *work) obey(c remote.Command) {
	switch {
	case c.Stop != "":
		p.run.Stop(errStopped)
		p.leaves()
	case c.Release:
		p.leaves()
	case c.Handoff != nil:
		p.takeOn(c.Handoff)
	case c.Phase != "":
		p.run.Enter(c.Phase)
	default:
		p.run.ApplyIn(c.Segment, c.Settings)
	}
}

// send sends a second. The collector of the run calls it, one second after the other.
func (p *work) send(part *measure.Increment) {
	r := remote.Report{Part: part, Ledger: p.plan.Shared.Delta(), Cores: p.cores()}
	r.Connections, r.Redirects = p.contacts()
	if !p.told && p.handoff == nil {
		p.told, r.Began = true, p.began.UnixNano()
	}
	p.w.Outbox.Report(r)
}

// contacts is what the client of the store has done since this process told last.
func (p *work) contacts() (connections, redirects int64) {
	now := [2]int64{p.leave.fence.Connections()}
	if pool, ok := store.Has[store.Pooled](p.conn); ok {
		now[1] = pool.Pool().Redirects
	}
	defer func() { p.met = now }()
	return now[0] - p.met[0], now[1] - p.met[1]
}

// polled is the processor time that the client of the store has polled for replies so far.
func (p *work) polled() time.Duration {
	if pool, ok := store.Has[store.Pooled](p.conn); ok {
		return pool.Pool().Polled
	}
	return 0
}

// worked is the processor time that this process has used so far, other than for polling.
func (p *work) worked() time.Duration { return self.Processor() - p.polled() }

// cores is how many processors this process has used for work since it told last.
func (p *work) cores() float64 {
	now, used := time.Now(), p.worked()
	defer func() { p.then, p.used = now, used }()
	return (used - p.used).Seconds() / max(now.Sub(p.then), time.Millisecond).Seconds()
}

// classify puts an operation's error in a class.
func (p *work) classify(err error) uint8 {
	if engine.IsPanic(err) {
		return uint8(store.Panicked)
	}
	return uint8(store.ClassOf(p.conn, err))
}

func (p *work) say(ctx context.Context) error {
	if p.leave.gone() { // there is nobody to tell, or he does not wait for it
		p.w.Close()
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), p.env.Patience, fmt.Errorf("the coordinator does not answer"))
	defer cancel()
	return fault.Code(p.w.Leave(ctx), fault.CodeOther)
}

// ours are the causes that are told of each worker: what its own machine did to its
// figures. All others are of the whole.
var ours = map[string]bool{
	string(verdict.Suspended): true, string(verdict.Pauses): true, string(verdict.Lateness): true, string(verdict.Laws): true, string(verdict.Throttled): true, string(verdict.CPU): true, string(verdict.Stolen): true,
	string(verdict.Scheduler): true, string(verdict.GC): true, string(verdict.Memory): true, string(verdict.Clock): true,
}

// doubts are the reasons for which this worker's figures are not valid.
func (p *work) doubts(res *measure.Result, seen verdict.Observed) (out []string) {
	if p.handoff != nil {
		return nil // the worker in whose process it is tells them
	}
	run := rundir.Run{Unit: p.plan.Unit, Observed: &seen, EndedBy: "count"}
	rundir.SetResult(&run, res)
	v := run.Judge()
	for _, d := range v.Doubts {
		d.Shows = slices.DeleteFunc(d.Shows, func(s verdict.Doubt) bool { return !ours[string(s.Cause)] })
		if ours[string(d.Cause)] {
			out = append(out, d.Sentence())
		}
	}
	return out
}
