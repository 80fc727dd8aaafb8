package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/fleet"
	"github.com/perfbench/perfbench/internal/fleet/crew"
	"github.com/perfbench/perfbench/internal/fleet/view"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// kept is what a session keeps for another that goes on in its place.
type kept struct {
	Preset       string      `json:"preset,omitempty"`
	Formats      []string    `json:"formats"`
	Timetable    []string    `json:"timetable,omitempty"`
	Thresholds   []string    `json:"thresholds,omitempty"`
	MaxThreads   int         `json:"max_threads,omitempty"`
	Cleanup      bool        `json:"cleanup,omitempty"`
	RequireValid bool        `json:"require_valid,omitempty"`
	Search       bool        `json:"search,omitempty"`
	Held         *place.Held `json:"held,omitempty"`
	// Plan is what the plan itself keeps.
	Plan []byte `json:"plan,omitempty"`
	// Verified is what verification found, once it has, and Facts are the plan's by then: what
	// is removed after it cannot be verified again.
	Verified *workload.Verification `json:"verified,omitempty"`
	Facts    json.RawMessage        `json:"facts,omitempty"`
}

// past is the run that a session goes on with.
type past struct {
	dead  *rundir.Dead
	crew  *crew.Kept
	notes []engine.Note
	kept  kept
	// live is the first second that this session sees itself.
	live int
}

// over says that a second was over before this session began; that of nil never is.
func (p *past) over(second int) bool { return p != nil && second < p.live }

// verified is what verification found before this session began; nil: nothing.
func (p *past) verified() *workload.Verification {
	if p == nil {
		return nil
	}
	return p.kept.Verified
}

// Steered returns p as a run whose knobs are turned by a search, which nobody else can go on
// with.
func (p *Prepared) Steered() *Prepared {
	q := *p
	q.search = true
	return &q
}

// keepPast writes down what another session would need to go on, where there are workers.
// verified is what verification found; nil: nothing yet.
func (l *Live) keepPast(verified *workload.Verification) error {
	if l.crew == nil {
		return nil
	}
	k := kept{
		Preset: l.Preset, Timetable: l.changes(), Thresholds: l.req.Thresholds, MaxThreads: l.req.MaxThreads,
		Cleanup: l.Cleanup, RequireValid: l.RequireValid, Search: l.search, Verified: verified,
	}
	for _, f := range l.Formats {
		k.Formats = append(k.Formats, f.ID)
	}
	if l.claim != nil {
		k.Held = new(l.claim.Held())
	}
	if verified != nil {
		var err error
		if k.Facts, err = json.Marshal(l.facts()); err != nil {
			return fmt.Errorf("keep what was verified: %w", err)
		}
	}
	if l.plan.Kept != nil {
		k.Plan = l.plan.Kept()
	}
	return l.crew.Keep(k)
}

// Revive prepares going on with a run of workers whose coordinator died, from what that kept
// in the run's folder: Start then takes it over. The password is the target's. Whatever
// cannot be gone on with is refused as bad input. A run that is not started is to be let go
// with Forget.
func Revive(ctx context.Context, env Env, dir, password string) (*Prepared, error) {
	dead, err := rundir.Take(dir)
	if err != nil {
		return nil, err
	}
	p, err := revive(env, dead, password)
	if err != nil {
		return nil, errors.Join(err, dead.Release())
	}
	return p, ctx.Err()
}

// Forget lets go of the folder of a run that is not gone on with after all.
func (p *Prepared) Forget() error {
	if p.past == nil {
		return nil
	}
	return p.past.dead.Release()
}

func revive(env Env, dead *rundir.Dead, password string) (*Prepared, error) {
	refuse := func(err error) error {
		return fault.Input(fmt.Errorf("run %s cannot be resumed: %w", dead.Run.ID, err), fault.HintOf(err))
	}
	c, lines, err := crew.ReadKept(dead.Dir)
	if err != nil {
		return nil, refuse(err)
	}
	var k kept
	if err := json.Unmarshal(c.Job, &k); err != nil {
		return nil, refuse(err)
	}
	switch {
	case c.Version != env.Version:
		return nil, refuse(fault.Hint(fmt.Errorf("it was begun by perfbench %s, and this is %s", c.Version, env.Version), "use the same version"))
	case k.Search:
		return nil, refuse(fault.Hint(errors.New("it was a search, and what that knew is lost"), "search again"))
	}
	past := &past{dead: dead, crew: c, kept: k}
	for _, line := range lines {
		var n engine.Note
		if json.Unmarshal(line, &n) == nil {
			past.notes = append(past.notes, n)
		}
	}
	profile, err := findProfile(env.Profiles, c.Order.Profile)
	if err != nil {
		return nil, refuse(err)
	}
	req := Request{
		Profile: profile.Name, Target: c.Order.Target, Password: password, Values: workload.Values{}, Timetable: k.Timetable, Thresholds: k.Thresholds,
		Out: filepath.Dir(dead.Dir), MaxThreads: k.MaxThreads,
	}
	p := &Prepared{
		env: env, req: req, Out: req.Out, Profile: profile, Preset: k.Preset, Inputs: c.Order.Inputs, Tags: dead.Run.Tags,
		Cleanup: k.Cleanup, RequireValid: k.RequireValid, past: past,
	}
	if err := p.remake(c.Order, k); err != nil {
		return nil, refuse(err)
	}
	ask, err := c.Ask()
	if err != nil {
		return nil, refuse(err)
	}
	return p.WithWorkers(ask)
}

// remake makes the plan and all that goes with it once more.
func (p *Prepared) remake(order fleet.Order, k kept) error {
	if err := p.aim(); err != nil {
		return err
	}
	p.Warnings = nil // they were told when it began
	var err error
	if p.Formats, err = p.formats(k.Formats); err != nil {
		return err
	}
	if p.Plan, err = p.Profile.Design(p.Inputs); err != nil {
		return err
	}
	if fleet.Sum(p.Plan) != order.Sum {
		return errors.New("the plan comes out otherwise than when it began")
	}
	p.redact(p.Plan)
	err = errors.Join(p.schedule(p.Plan), p.conditions(p.Plan), p.until())
	p.Warnings = nil
	return err
}

// goOn goes on with a run in the place of the session that died.
func (l *Live) goOn(ctx context.Context, tell func(Progress)) error {
	tell(Progress{Stage: "resuming"})
	k, run := l.past.crew, l.past.dead.Run
	var err error
	if l.plan, err = l.Plan.Bind(ctx, l.Driver.Name, l.conn, k.Run); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	if l.plan.Setup != nil && l.plan.Resume == nil {
		return fault.Input(fmt.Errorf("run %s cannot be resumed: what %s found in the store at its start died with its coordinator", run.ID, l.Profile.Name), "perfbench report shows what it had come to; run it again")
	}
	if err := l.retake(ctx); err != nil {
		return err
	}
	if l.plan.Resume != nil {
		if err := l.plan.Resume(ctx, workload.Past{Kept: l.past.kept.Plan, Facts: run.Facts, Began: k.Past.At.Add(l.Inputs.Warmup)}); err != nil {
			return fault.Code(fmt.Errorf("take over what was prepared: %w", err), fault.CodeStore)
		}
	}
	waiting := l.introduce(k.Order, &run)
	l.crew, err = crew.Open(ctx, *l.workers, l.plan, k.Run, l.past.dead.Dir, k.Order, func() *view.View { return &waiting })
	if err != nil {
		return err
	}
	l.began = k.Past.At
	l.warmup.Store(int64(l.Inputs.Warmup))
	measured := l.began.Add(l.Inputs.Warmup)
	l.past.live = int(time.Since(measured) / time.Second)
	gap := time.Since(run.Ended)
	run.Resumed = append(slices.Clip(run.Resumed), rundir.Resumed{AtS: round(time.Since(measured)), ForS: round(gap)})
	if !l.release() { // interrupted: from here on a run would end gracefully
		return context.Cause(ctx)
	}
	if l.journal, err = l.past.dead.Resume(l.journalled(run)); err != nil {
		return err
	}
	l.Notices = slices.Clone(run.Notices)
	l.sample(ctx)
	l.journal.Update(func(r *rundir.Run) { r.Notices = l.Notices })
	if err := l.launch(ctx, &engine.Past{Began: measured, Notes: l.past.notes, Reread: l.crew.Reread(), Upto: l.crew.Upto}); err != nil {
		return err
	}
	l.Mark("the coordinator was resumed, after " + units.Duration(gap.Round(100*time.Millisecond)) + " without one")
	return nil
}

// round is a time in seconds, to a tenth.
func round(d time.Duration) float64 { return d.Round(100 * time.Millisecond).Seconds() }

// retake takes over the claim of the session that died.
func (l *Live) retake(ctx context.Context) error {
	if l.plan.Claims == nil || l.past.kept.Held == nil {
		return nil
	}
	conn := l.conn
	if l.plan.Keeps != nil {
		conn = l.plan.Keeps
	}
	var err error
	l.claim, err = place.Resume(ctx, conn, l.wanted(l.past.crew.Run), *l.past.kept.Held)
	return err
}

// leaveDead lets go of a run that could not be gone on with, so that it can be tried again:
// nothing of it is removed.
func (l *Live) leaveDead(ctx context.Context) error {
	l.crew.Leave()
	l.closeKeeper()
	var err error
	if l.claim != nil && ctx.Err() == nil {
		err = l.claim.Release(ctx)
	}
	return errors.Join(err, l.Forget())
}
