package session

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch/self"
	"github.com/perfbench/perfbench/internal/workload"
)

// The ceiling of the harness is measured phase by phase: each for ceilingTime or, if
// there are many, for an even share of ceilingAll that is at least ceilingLeast. The
// first phase takes ceilingWarmup longer, because everything is cold. Setting up may
// take ceilingSetup. The whole measurement is given up after ceilingLimit, which only a
// stalled machine reaches.
const (
	ceilingTime   = 250 * time.Millisecond
	ceilingAll    = 750 * time.Millisecond
	ceilingLeast  = 20 * time.Millisecond
	ceilingWarmup = 50 * time.Millisecond
	ceilingSetup  = 300 * time.Millisecond
	ceilingLimit  = 2 * time.Second
	ceilingTarget = "null:"
)

// ceilingRan is how long a phase that ran out of work must have lasted to have a
// ceiling.
const ceilingRan = 10 * time.Millisecond

// ceiling is how many calls per second the harness alone makes in each phase of a plan.
type ceiling struct {
	env     Env
	profile workload.Profile
	inputs  workload.Inputs
	plan    *workload.Plan // bound to no store
	// threads is the highest number of them, designed how long designing the plan took.
	threads  int
	designed time.Duration

	mu     sync.Mutex
	phases []verdict.PhaseCeiling
}

func newCeiling(p *Prepared) *ceiling {
	return &ceiling{env: p.env, profile: p.Profile, inputs: p.Inputs, plan: p.Plan, threads: p.Threads(), designed: p.designed}
}

// known returns the figure of each phase that has one.
func (c *ceiling) known() []verdict.PhaseCeiling {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phases
}

// calibrate determines the figures, if they mean anything: either what was measured on
// this machine before, or by running the plan against a store that does nothing. A
// failure here is never an error of the run.
func (c *ceiling) calibrate(ctx context.Context) {
	if !c.applies() {
		return
	}
	key := c.key(ctx)
	figure, ok := request.Ceilings(c.env.CacheDir)[key]
	if !ok {
		figure, ok = c.measure(ctx, key)
	}
	if ok {
		c.set(figure.PerS)
	}
}

// recalibrate measures again, because a machine that was busy the first time gave too low
// a figure; false: it was interrupted.
func (c *ceiling) recalibrate(ctx context.Context) bool {
	figure, ok := c.measure(ctx, c.key(ctx))
	if ok {
		c.set(figure.PerS)
	}
	return ok
}

// set gives each phase the figure of its kind.
func (c *ceiling) set(perS map[string]float64) {
	var all []verdict.PhaseCeiling
	for i := range c.plan.Phases {
		ph := &c.plan.Phases[i]
		if v := perS[ph.Work()]; v > 0 && ceilinged(ph) {
			all = append(all, verdict.PhaseCeiling{Phase: ph.Name, PerS: v})
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phases = all
}

// ceilinged reports whether a ceiling means anything for a phase: some of its
// operations are whole pieces of work, and the phase does not set its own pace.
func ceilinged(ph *workload.Phase) bool {
	return !ph.NoCeiling && slices.ContainsFunc(ph.Tracks, func(t workload.Track) bool { return len(t.Ops) > 0 && t.Whole(0) })
}

// ceilingPhases returns the phases of a plan to measure: the first of each kind.
func ceilingPhases(plan *workload.Plan) []workload.Phase {
	var out []workload.Phase
	for i := range plan.Phases {
		ph := &plan.Phases[i]
		known := slices.ContainsFunc(out, func(o workload.Phase) bool { return o.Work() == ph.Work() })
		if !known && ceilinged(ph) && len(out) < int(ceilingAll/ceilingLeast) {
			out = append(out, *ph)
		}
	}
	return out
}

// applies reports whether a ceiling means anything for the plan.
func (c *ceiling) applies() bool {
	if c.env.CacheDir == "" || c.designed > ceilingSetup || len(ceilingPhases(c.plan)) == 0 {
		return false
	}
	for _, q := range c.profile.Params {
		text := c.inputs.Values[q.Name].Text
		if q.Kind == workload.Target && strings.Contains(text, ":") || q.Outside && text != "" {
			return false // it says nothing about another server, or about a file that the run writes
		}
	}
	b, ok := c.profile.Binding("null")
	return ok && b.Refuse == "" && b.Target == ""
}

// key identifies everything that the ceiling depends on. Payloads are rounded to
// powers of two.
func (c *ceiling) key(ctx context.Context) string {
	h := sha256.New()
	for _, ph := range c.plan.Phases {
		fmt.Fprintln(h, ph.Name, len(ph.Tracks), ceilinged(&ph))
	}
	for _, t := range c.plan.Tracks() {
		s := t.Start
		fmt.Fprintln(h, t.Name, t.Ops, s.Threads, bits.Len(uint(max(s.Payload, 0))), s.Batch, s.Extra)
	}
	for _, v := range c.plan.Parameters {
		fmt.Fprintln(h, v.Name, v.Text)
	}
	name := c.profile.Name
	if c.plan.Mode != "" {
		name += " " + c.plan.Mode
	}
	return fmt.Sprintf("perfbench %s, %s | %s | %s %x", c.env.Version, runtime.Version(), self.Processors(ctx), name, h.Sum(nil)[:8])
}

// errCutShort means that the machine was too busy to measure all phases.
var errCutShort = fmt.Errorf("not all of it within %v", ceilingLimit)

// measure measures and keeps the ceiling; it returns false if it was
// interrupted. The file holds the highest figures, since other load can only make them
// lower. Figures of a measurement that was cut short are not kept, so that the next run
// tries again.
func (c *ceiling) measure(ctx context.Context, key string) (request.Ceiling, bool) {
	perS, err := c.runOnNothing(ctx)
	if ctx.Err() != nil {
		return request.Ceiling{}, false
	}
	if err != nil {
		c.env.Log.Debug("The ceiling could not be measured", "error", err)
	}
	figure := request.Ceiling{PerS: perS, Measured: time.Now().UTC().Truncate(time.Second)}
	if figure.PerS == nil {
		figure.PerS = map[string]float64{}
	}
	all := request.Ceilings(c.env.CacheDir)
	for kind, v := range all[key].PerS {
		figure.PerS[kind] = max(figure.PerS[kind], v)
	}
	if errors.Is(err, errCutShort) {
		return figure, true
	}
	all[key] = figure
	if err := request.KeepCeilings(c.env.CacheDir, all); err != nil {
		c.env.Log.Debug("The ceiling was not kept", "error", err)
	}
	return figure, true
}

// runOnNothing runs the phases of the plan one after the other, as fast as possible,
// against a store that does nothing, and returns how many calls per second each made.
func (c *ceiling) runOnNothing(ctx context.Context) (perS map[string]float64, err error) {
	each := min(ceilingTime, ceilingAll/time.Duration(len(ceilingPhases(c.plan))))
	ctx, cancel := context.WithTimeout(ctx, ceilingLimit)
	defer cancel()
	defer runtime.GC() // what this leaves behind must not burden the run
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it panicked: %v", r)
		}
	}()
	plan, classify, err := c.onNothing(ctx, cancel, each)
	if plan != nil && plan.Keeps != nil {
		defer func() { _ = plan.Keeps.Close() }() // a temporary one of this process
	}
	if err != nil {
		return nil, err
	}
	run, err := engine.Start(ctx, engine.Options{
		Plan: plan, Classify: classify,
		Classes: store.ClassNames, Timeout: uint8(store.Timeout), Grace: ceilingTime,
	})
	if err != nil {
		return nil, err
	}
	res, _ := run.Wait() // a timeout is as good an end as any
	late := ctx.Err() != nil
	_ = plan.Verify(ctx) // stops what the plan has running
	if res == nil {
		return nil, errCutShort
	}
	perS = callsPerSecond(plan, res)
	if late && len(perS) < len(plan.Phases) {
		err = errCutShort
	}
	return perS, err
}

// callsPerSecond returns, for each kind of phase, how many calls per second it made
// that are whole pieces of work.
func callsPerSecond(plan *workload.Plan, res *measure.Result) map[string]float64 {
	calls, at := map[string]int64{}, 0
	for _, t := range plan.Tracks() {
		for i := range t.Ops {
			if t.Whole(i) {
				calls[t.Name] += res.Ops[at].Calls
			}
			at++
		}
	}
	perS := map[string]float64{}
	for _, ran := range res.Phases {
		i := slices.IndexFunc(plan.Phases, func(ph workload.Phase) bool { return ph.Name == ran.Name })
		if i < 0 || ran.To-ran.From < ceilingRan {
			continue
		}
		sum := int64(0)
		for _, track := range ran.Tracks {
			sum += calls[track]
		}
		perS[plan.Phases[i].Work()] = float64(sum) / (ran.To - ran.From).Seconds()
	}
	return perS
}

// onNothing designs the plan for a store that does nothing, and sets it up. The phases
// run one after the other, each for the given time, without an end or a rate of their
// own. The plan returned is not nil once it has been bound.
func (c *ceiling) onNothing(ctx context.Context, cancel func(), each time.Duration) (*workload.Plan, func(error) uint8, error) {
	target, driver, err := c.env.Drivers.Parse(ceilingTarget)
	if err != nil {
		return nil, nil, err
	}
	conn, err := driver.Open(ctx, target, store.OpenOptions{Threads: c.threads, Log: c.env.Log})
	if err != nil {
		return nil, nil, err
	}
	in := c.inputs
	in.Values = maps.Clone(in.Values) // as they were when the run's own plan was designed
	in.Driver, in.Hosts, in.Agent = driver.Name, nil, ""
	in.Duration, in.Count, in.Warmup = each*time.Duration(len(c.plan.Phases)), 0, 0
	designed, err := c.profile.Design(in)
	if err != nil {
		return nil, nil, err
	}
	for i := range designed.Phases {
		designed.Phases[i].Duration = each // visible to the Binder, so that tasks have work for all that time
	}
	for _, t := range designed.Tracks() {
		t.Start.Rate, t.Iterations = 0, 0
	}
	plan, err := designed.Bind(ctx, driver.Name, conn, "ceiling")
	if err != nil {
		return nil, nil, err
	}
	plan.Phases = ceilingPhases(plan)
	plan.Phases[0].Duration += ceilingWarmup
	for i := range plan.Phases {
		plan.Phases[i].After = nil
		if i > 0 {
			plan.Phases[i].After = []string{plan.Phases[i-1].Name}
		}
	}
	// Not through the context passed to Setup: what Setup starts may go on using
	// it.
	late := time.AfterFunc(ceilingSetup, cancel)
	err = plan.Setup(ctx, func(int64, int64) {})
	if !late.Stop() {
		err = errors.Join(err, ctx.Err())
	}
	if err != nil {
		return plan, nil, err
	}
	return plan, func(err error) uint8 {
		if engine.IsPanic(err) {
			return uint8(store.Panicked)
		}
		return uint8(store.ClassOf(conn, err))
	}, ctx.Err()
}
