package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// kept is what a session keeps for another that goes on in its place.
type kept struct {
	Preset       string          `json:"preset,omitempty"`
	Formats      []string        `json:"formats"`
	Timetable    []string        `json:"timetable,omitempty"`
	Thresholds   []string        `json:"thresholds,omitempty"`
	MaxThreads   int             `json:"max_threads,omitempty"`
	Cleanup      bool            `json:"cleanup,omitempty"`
	RequireValid bool            `json:"require_valid,omitempty"`
	Search       bool            `json:"search,omitempty"`
	Held         *ownership.Held `json:"held,omitempty"`
	// Plan is what the plan itself keeps.
	Plan []byte `json:"plan,omitempty"`
	// Verified is what verification found, once it has, and Facts are the plan's by then: what
	// is removed after it cannot be verified again.
	Verified *workload.Verification `json:"verified,omitempty"`
	Facts    json.RawMessage        `json:"facts,omitempty"`
}

// restored is the state of the run that a session goes on with.
type restored struct {
	dead  *rundir.Dead
	crew  *crew.Kept
	notes []engine.Note
	kept  kept
}

// verified is what verification found before this session began; nil: nothing.
func (r *restored) verified() *workload.Verification {
	if r == nil {
		return nil
	}
	return r.kept.Verified
}

// Steered returns p as a run whose knobs are turned by a search, which nobody else can go on
// with. patience is how long nothing may work before the run ends; less than --drain is that.
func (p *Prepared) Steered(patience time.Duration) *Prepared {
	q := *p
	q.search, q.patience = true, patience
	return &q
}

// keep writes down what another session would need to go on, where there are workers.
// verified is what verification found; nil: nothing yet.
func (o *Opened) keep(verified *workload.Verification) error {
	if o.crew == nil {
		return nil
	}
	k := kept{
		Preset: o.Prepared.Preset, Timetable: o.Prepared.changes(), Thresholds: o.Prepared.req.Thresholds, MaxThreads: o.Prepared.req.MaxThreads,
		Cleanup: o.Prepared.Cleanup, RequireValid: o.Prepared.RequireValid, Search: o.Prepared.search, Verified: verified,
	}
	for _, f := range o.Prepared.Formats {
		k.Formats = append(k.Formats, f.ID)
	}
	if o.lease.claim != nil {
		k.Held = new(o.lease.claim.Held())
	}
	if verified != nil {
		var err error
		if k.Facts, err = json.Marshal(o.facts()); err != nil {
			return fmt.Errorf("keep what was verified: %w", err)
		}
	}
	k.Plan = o.plan.Shared.Kept()
	return o.crew.Keep(k)
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
	if p.restored == nil {
		return nil
	}
	return p.restored.dead.Release()
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
	r := &restored{dead: dead, crew: c, kept: k}
	for _, line := range lines {
		var n engine.Note
		if json.Unmarshal(line, &n) == nil {
			r.notes = append(r.notes, n)
		}
	}
	p, err := again(env, Request{Name: dead.Run.Name, Password: password, Values: workload.Values{}, Out: filepath.Dir(dead.Dir)}, &c.Order, &k)
	if err != nil {
		return nil, refuse(err)
	}
	p.Tags, p.restored = dead.Run.Tags, r
	ask, err := c.Ask()
	if err != nil {
		return nil, refuse(err)
	}
	return p.WithWorkers(ask)
}

// round is a time in seconds, to a tenth.
func round(d time.Duration) float64 { return d.Round(100 * time.Millisecond).Seconds() }
