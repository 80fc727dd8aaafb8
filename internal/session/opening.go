package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch/self"
	"github.com/perfbench/perfbench/internal/workload"
)

// opening is the way of a prepared run to one that is open: a new one begins, one whose
// session died goes on.
type opening struct {
	p      *Prepared
	o      *Opened
	report func(Progress)
	stage  string // the last one that was begun
}

// enter reports that a stage has begun.
func (g *opening) enter(stage string) {
	g.stage = stage
	g.report(Progress{Stage: stage})
}

// connect opens the store. A driver that ignores the end of its context is left behind.
func (g *opening) connect(ctx context.Context) error {
	driver, target := g.p.Driver, g.p.Target
	if g.p.binding.Target != "" {
		var err error
		if target, driver, err = g.p.env.Drivers.Parse(g.p.binding.Target); err != nil {
			return err
		}
	}
	type result struct {
		conn store.Conn
		err  error
	}
	if g.p.binding.Target == "" { // nobody else has a store of this process
		g.o.lease.fence = store.NewFence()
	}
	opts := store.OpenOptions{Threads: g.p.Threads(), Log: g.p.env.Log, Agent: g.p.Inputs.Agent, Fence: g.o.lease.fence, Proxy: g.p.newProxy()}
	g.o.proxy = opts.Proxy
	if g.p.proxied(true) {
		g.o.through = proxy.New()
	}
	done := make(chan result, 1) // one value: the sender never waits
	fault.Go(func() {
		conn, err := driver.Open(ctx, target, opts)
		done <- result{conn, err}
	})
	select {
	case r := <-done:
		g.o.conn = r.conn
		return fault.Code(r.err, fault.CodeStore)
	case <-ctx.Done():
		fault.Go(func() {
			if r := <-done; r.err == nil {
				_ = r.conn.Close()
			}
		})
		return ctx.Err()
	}
}

// begin makes a new run from its first check against the store to the point where
// measuring can begin.
func (g *opening) begin(ctx context.Context) error {
	if g.p.binding.Target != "" && g.o.Info.NoFigure == "" {
		g.o.Info.NoFigure = "The store was " + g.o.Info.Name + ", embedded in perfbench; these numbers do not describe a real server."
	}
	if free := g.o.Info.FreeBytes; g.o.Info.NoFigure != "" && free > 0 && g.p.Plan.Bytes > free {
		return fault.Input(fmt.Errorf("this run would store %s in perfbench itself, and this machine has %s of memory free", units.Size(g.p.Plan.Bytes), units.Size(free)),
			"store less"+offer(g.p.Plan, free, ", such as with ")+", or name a server with --target")
	}
	if err := foresee(g.p.Plan, g.p.Timetable, store.FreeMemory(), freeIn(&g.o.Info)); err != nil {
		return err
	}
	g.o.Notices = g.notices(ctx)
	if g.o.Info.NoFigure == "" {
		g.o.ceiling.calibrate(ctx)
	}
	var err error
	if g.o.journal, err = rundir.Create(g.journalled(g.model())); err != nil {
		return err
	}
	if err := g.setUp(ctx); err != nil {
		return err
	}
	if err := g.gather(ctx); err != nil {
		return err
	}
	if warm, ok := store.Has[store.Warmer](g.o.conn); ok && g.o.crew == nil {
		if err := warm.Warm(ctx, int(Settings(g.o.plan)["threads"])); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	if !g.o.release() { // interrupted: later than this, a run would end gracefully
		return context.Cause(ctx)
	}
	g.beginSampling(ctx)
	return nil
}

// notices are the sentences to show before a new run begins.
func (g *opening) notices(ctx context.Context) []string {
	var out []string
	if g.o.Info.NoFigure != "" {
		out = append(out, g.o.Info.NoFigure)
	}
	out = append(out, g.o.Info.Warnings...)
	if free := g.o.Info.FreeBytes; free > 0 && g.p.Plan.Bytes > free/2 {
		out = append(out, fmt.Sprintf("this run stores %s, more than half of the %s that %s has free", units.Size(g.p.Plan.Bytes), units.Size(free), g.o.Info.Name)+offer(g.p.Plan, free/2, "; what fits into half of it is "))
	}
	if n := g.o.heap.notice(ctx, g.p.env.Log); n != "" {
		out = append(out, n)
	}
	if g.p.proxied(false) && g.p.Driver.Breaks == store.BreaksConnections {
		out = append(out, rundir.ThroughProxy)
	}
	if limit := self.FileLimit(); limit > 0 && int64(g.p.Threads()) > limit/2 {
		out = append(out, fmt.Sprintf("this run may open %d connections, more than half of the %d files that the process may have open", g.p.Threads(), limit))
	}
	return dedupe(append(out, g.p.Warnings...))
}

// model returns the run as far as it is known before it begins.
func (g *opening) model() rundir.Run {
	run := g.p.Model()
	run.Store = rundir.Store{
		Name: g.p.Driver.Name, Product: g.o.Info.Name, Version: g.o.Info.Version,
		Topology: g.o.Info.Topology, Details: g.o.Info.Details, InProcess: g.o.Info.NoFigure != "",
	}
	run.Notices = g.o.Notices
	return run
}

// journalled returns the options for writing the run's journal.
func (g *opening) journalled(run rundir.Run) rundir.Options {
	return rundir.Options{
		Out: g.p.Out, Run: run, Operations: g.p.Plan.Operations(), Formats: g.p.Formats, Given: g.p.Given, Open: g.p.WarmsItself(), Explain: explain.Of,
		Facts: g.o.facts, Contacts: g.o.contacts,
	}
}

// bind connects the plan to the store.
func (g *opening) bind(ctx context.Context, run string) error {
	between := *g.p.Plan
	between.Through = g.o.through
	plan, err := between.Bind(ctx, g.p.Driver.Name, g.o.conn, run)
	if err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	g.o.plan, g.o.lease.keeper = plan, plan.Keeps
	return nil
}

// setUp binds the plan, now that the run has an id, claims its spaces, and prepares the
// store.
func (g *opening) setUp(ctx context.Context) error {
	if err := g.bind(ctx, g.o.ID()); err != nil {
		return err
	}
	if err := g.claim(ctx); err != nil {
		return err
	}
	if !workload.Has[workload.Preparer](g.o.plan.Parts) {
		return nil
	}
	g.enter("preparing")
	ctx, free := g.o.lease.whileOurs(ctx)
	defer free()
	if err := g.o.plan.Setup(ctx, func(done, total int64) { g.report(Progress{Stage: "preparing", Done: done, Total: total}) }); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	if g.o.lease.claim != nil {
		g.o.Notices = dedupe(append(g.o.Notices, g.o.lease.claim.Notes()...))
	}
	return nil
}

// claim claims the spaces of the bound plan for a new run.
func (g *opening) claim(ctx context.Context) (err error) {
	if g.o.plan.Claims == nil {
		return probe(ctx, g.o.conn, g.o.plan.Spaces)
	}
	want := g.wanted(g.o.ID())
	want.Say = func(sentence string) { g.report(Progress{Stage: g.stage, Note: sentence, Keeps: true}) }
	if g.o.lease.claim, err = ownership.Take(ctx, g.o.lease.holder(g.o.conn), want); err == nil {
		g.watchLease(ctx)
	}
	return err
}

// reclaim takes over the claim of the session that died.
func (g *opening) reclaim(ctx context.Context) (err error) {
	if g.o.plan.Claims == nil || g.p.restored.kept.Held == nil {
		return nil
	}
	if g.o.lease.claim, err = ownership.Resume(ctx, g.o.lease.holder(g.o.conn), g.wanted(g.p.restored.crew.Run), *g.p.restored.kept.Held); err == nil {
		g.watchLease(ctx)
	}
	return err
}

// wanted returns what a run with that id claims.
func (g *opening) wanted(run string) ownership.Want {
	workers := 0
	if g.p.workers != nil {
		workers = g.p.workers.Workers
	}
	return ownership.Want{
		Workers: workers, Namespace: g.p.Inputs.Namespace, Profile: g.p.Profile.Name, Run: run,
		Spaces: g.o.plan.Claims, Allow: g.p.Inputs.AllowExisting, Admit: g.o.plan.Admit,
	}
}

// watchLease has the store asked whether the claim still holds before anything is written
// after this process was stopped.
func (g *opening) watchLease(ctx context.Context) {
	l := &g.o.lease
	if !g.o.lease.leased() || l.fence == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	l.watched = sync.OnceFunc(func() {
		cancel()
		all.Wait()
	})
	all.Go(fault.Guarded(func() {
		_ = l.fence.Guard(ctx, nil, func(ctx context.Context) (gone, err error) { // the claim says it, too
			ctx, cancel := context.WithTimeout(ctx, ownership.TTL)
			defer cancel()
			conn, err := g.p.Driver.Open(ctx, g.p.Target, store.OpenOptions{Threads: 1, Log: g.p.env.Log, Existing: true})
			if err != nil {
				return nil, err
			}
			defer func() { _ = conn.Close() }() // it was only to ask
			err = l.claim.Confirm(ctx, conn)
			return l.claim.Err(), err
		})
	}))
}

// probe asks the store whether it would accept the writes of a plan without claims.
func probe(ctx context.Context, conn store.Conn, spaces []store.Space) error {
	prober, ok := store.Has[store.Prober](conn)
	if !ok {
		return nil
	}
	for _, s := range spaces {
		if err := prober.Probe(ctx, s); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	return nil
}

// gather waits for the workers that are to do the work.
func (g *opening) gather(ctx context.Context) error {
	if g.p.workers == nil {
		return nil
	}
	order := g.o.order()
	order.Found = g.o.plan.Shared.Findings()
	run := g.o.journal.Run()
	if err := g.openCrew(ctx, run.ID, g.o.Dir(), order, &run); err != nil {
		return err
	}
	g.report(Progress{Stage: "waiting for workers", Note: fmt.Sprintf("waiting for %s: %s", units.Plural(g.p.workers.Workers, "worker"), g.o.crew.Join())})
	waiting := g.o.shown
	return g.o.crew.Coordinator.Gather(ctx, func(joined, ready int, missing string) {
		now := waiting
		now.Progress.Done = int64(ready)
		g.o.crew.Show(func() *crew.View { return &now })
		g.report(Progress{Stage: "waiting for workers", Note: missing, Done: int64(ready), Total: int64(g.p.workers.Workers)})
	})
}

// openCrew begins to listen for workers, and shows the run to its watchers as it is before
// it begins.
func (g *opening) openCrew(ctx context.Context, id, dir string, order remote.Order, run *rundir.Run) (err error) {
	g.o.shown = crew.View{
		Version: g.p.workers.Version, ID: run.ID, Order: order, Store: g.p.Driver.Name, Target: g.p.Target.Redacted(), Started: run.Started,
		Shared: g.p.Shares(), Planned: g.p.Planned(), Verdict: rundir.Verdict{State: verdict.Valid},
		Progress: crew.Progress{Step: "waiting for workers", Total: int64(g.p.workers.Workers)},
	}
	g.o.shown.Order.Found = nil
	waiting := g.o.shown
	g.o.crew, err = crew.Open(ctx, *g.p.workers, g.o.plan, id, dir, order, func() *crew.View { return &waiting })
	return err
}

// resume takes the place of the session that died, up to the point where measuring goes on.
func (g *opening) resume(ctx context.Context) error {
	g.report(Progress{Stage: "resuming"})
	k, run := g.p.restored.crew, g.p.restored.dead.Run
	if err := g.bind(ctx, k.Run); err != nil {
		return err
	}
	if workload.Has[workload.Preparer](g.o.plan.Parts) && !workload.Has[workload.Successor](g.o.plan.Parts) {
		return fault.Input(fmt.Errorf("run %s cannot be resumed: what %s found in the store at its start died with its coordinator", run.ID, g.p.Profile.Name), "perfbench report shows what it had come to; run it again")
	}
	if err := g.reclaim(ctx); err != nil {
		return err
	}
	began := k.Past.At.Add(g.p.Inputs.Warmup)
	if err := g.succeed(ctx, workload.Predecessor{Began: began, Facts: run.Facts}); err != nil {
		return err
	}
	if err := g.openCrew(ctx, k.Run, g.p.restored.dead.Dir, k.Order, &run); err != nil {
		return err
	}
	since := time.Since(began)
	g.o.first = int(since / time.Second)
	run.Resumed = append(slices.Clip(run.Resumed), rundir.Resumed{AtS: round(since), ForS: round(time.Since(run.Ended))})
	if !g.o.release() { // interrupted: from here on a run would end gracefully
		return context.Cause(ctx)
	}
	var err error
	if g.o.journal, err = g.p.restored.dead.Resume(g.journalled(run)); err != nil {
		return err
	}
	g.o.Notices = slices.Clone(run.Notices)
	g.beginSampling(ctx)
	g.o.journal.Update(func(r *rundir.Run) { r.Notices = g.o.Notices })
	return nil
}

// succeed gives the plan what the session that died had found and made.
func (g *opening) succeed(ctx context.Context, dead workload.Predecessor) error {
	err := g.o.plan.Shared.Restore(g.p.restored.kept.Plan)
	if err == nil {
		err = g.o.plan.Succeed(ctx, dead)
	}
	if err != nil {
		return fault.Code(fmt.Errorf("take over what was prepared: %w", err), fault.CodeStore)
	}
	return nil
}

// beginSampling starts sampling resource use.
func (g *opening) beginSampling(ctx context.Context) {
	what := Options{Role: g.p.Driver.Name, Agent: g.p.Inputs.Agent, Pool: g.o.Pool, Also: g.o.crew.Samples}
	if g.o.Info.NoFigure == "" {
		what.Server, _ = store.Has[store.Metered](g.o.conn)
		if what.Book, _ = store.Has[store.Notebook](g.o.conn); g.p.Inputs.Namespace != "" {
			what.Own = g.p.Inputs.Namespace + ":"
		}
		what.Addrs = g.p.Driver.Listens(g.p.Target)
	}
	g.o.sampler = New(ctx, what)
	g.o.plan.Watch(ctx, g.o.sampler.Set())
	if reports, err := g.o.sampler.Begin(context.WithoutCancel(ctx)); err != nil { // an interrupt is not the store's refusal
		how := "reports nothing"
		if reports {
			how = "does not report everything"
		}
		why := strings.ReplaceAll(err.Error(), "\n", "; ")
		g.o.Notices = append(g.o.Notices, g.p.secret().mask(fmt.Sprintf("%s %s about itself during the run: %s", g.o.Info.Name, how, why)))
	}
	if err := g.o.sampler.BeginOthers(context.WithoutCancel(ctx)); err != nil {
		g.o.Notices = append(g.o.Notices, g.p.secret().mask("not everything besides "+g.o.Info.Name+" reports about itself during the run: "+strings.ReplaceAll(err.Error(), "\n", "; ")))
	}
}
