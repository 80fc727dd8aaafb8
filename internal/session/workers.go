package session

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/remote/view"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
)

// gather waits for the workers that are to do the work.
func (o *Opened) gather(ctx context.Context, report func(Progress)) error {
	if o.workers == nil {
		return nil
	}
	public, _ := o.Target.Public()
	order := remote.Order{Profile: o.Profile.Name, Target: public.String(), Inputs: o.Inputs, Sum: remote.Sum(o.Plan), Leased: o.leased(), Found: o.plan.Shared.Findings()}
	run := o.journal.Run()
	if err := o.openCrew(ctx, run.ID, o.Dir(), order, &run); err != nil {
		return err
	}
	report(Progress{Stage: "waiting for workers", Note: fmt.Sprintf("waiting for %s: %s", units.Plural(o.workers.Workers, "worker"), o.crew.Join())})
	waiting := o.shown
	return o.crew.Coordinator.Gather(ctx, func(joined, ready int, missing string) {
		now := waiting
		now.Progress.Done = int64(ready)
		o.crew.Show(func() *view.View { return &now })
		report(Progress{Stage: "waiting for workers", Note: missing, Done: int64(ready), Total: int64(o.workers.Workers)})
	})
}

// openCrew begins to listen for workers, and shows the run to its watchers as it is before
// it begins.
func (o *Opened) openCrew(ctx context.Context, id, dir string, order remote.Order, run *rundir.Run) (err error) {
	o.shown = view.View{
		Version: o.workers.Version, ID: run.ID, Order: order, Store: o.Driver.Name, Target: o.Target.Redacted(), Started: run.Started,
		Verdict:  rundir.Verdict{State: verdict.Valid},
		Progress: view.Progress{Step: "waiting for workers", Total: int64(o.workers.Workers)},
	}
	o.shown.Order.Found = nil
	waiting := o.shown
	o.crew, err = crew.Open(ctx, *o.workers, o.plan, id, dir, order, func() *view.View { return &waiting })
	return err
}

// moment returns when the run begins: now, or as agreed with the workers.
func (o *Opened) moment(ctx context.Context) (time.Time, error) {
	switch {
	case o.restored != nil:
		return o.restored.crew.Past.At, nil
	case o.crew == nil:
		return time.Now(), nil
	}
	o.told = true
	return o.crew.Coordinator.Start(ctx)
}

// away returns who does the work; nil: this process.
func (o *Opened) away() engine.Away {
	if o.crew == nil {
		return nil
	}
	return o.crew.Away()
}

// reportTime is how much longer than an operation a worker's report may take to arrive.
const reportTime = 5 * time.Second

// grace returns how long operations in progress may take once the run ends.
func (o *Opened) grace() time.Duration {
	if o.crew == nil {
		return o.Inputs.Drain
	}
	return cmp.Or(o.Inputs.Drain, engine.DefaultGrace) + reportTime
}
