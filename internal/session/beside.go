package session

import (
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// order is what leads others to the plan of this run.
func (o *Opened) order() remote.Order {
	p := o.Prepared
	public, _ := p.Target.Public()
	return remote.Order{Profile: p.Profile.Name, Target: public.String(), Inputs: p.Inputs, Sum: remote.Sum(p.Plan), Leased: o.lease.leased(), Faults: p.proxied(false)}
}

// admit lets the user who began this run watch and change it from other processes of this
// machine, with workers or without, if the session allows it. Without a socket, such as where the
// file system of the folder has none, the run goes on alone.
func (d *Driven) admit() {
	p := d.Opened.Prepared
	if !p.env.Beside {
		return
	}
	if d.Opened.crew == nil { // else it has been shown since it waited for workers
		run := d.Opened.journal.Run()
		d.Opened.shown = crew.View{
			Version: p.env.Version, ID: run.ID, Order: d.Opened.order(), Store: p.Driver.Name, Target: p.Target.Redacted(), Started: run.Started,
			Shared: p.Shares(), Planned: p.Planned(), Verdict: rundir.Verdict{State: verdict.Valid},
		}
	}
	l, err := crew.Listen(d.Opened.Dir(), d.view, d.changeBeside)
	if err != nil {
		if p.env.Log != nil {
			p.env.Log.Debug("No other process can watch this run", "error", err)
		}
		return
	}
	d.beside = l
}

// changeBeside does what another process asks for. Errors have the code of bad input.
func (d *Driven) changeBeside(c crew.Change) error {
	plan := d.Opened.plan
	tracks := plan.Tracks()
	if c.Track < workload.AllTracks || c.Track >= len(tracks) {
		return fmt.Errorf("there is no track %d", c.Track)
	}
	if c.Mark != "" && c.MarkAt != nil {
		d.MarkAt(*c.MarkAt, c.Mark)
		return nil
	}
	if c.Mark != "" {
		d.Mark(c.Mark)
		return nil
	}
	select {
	case <-d.run.Done():
		return errors.New("the run is ending: its knobs no longer turn")
	default:
	}
	if why := d.held.Load(); why != nil {
		return errors.New(*why)
	}
	after := make([]workload.Settings, len(tracks))
	for i := range after {
		after[i] = d.Settings(i)
	}
	for _, k := range plan.Knobs {
		if to := k.Get(c.To); to != k.Get(c.From) {
			after = workload.Turned(tracks, after, c.Track, k, to)
		}
	}
	if err := d.Room(after); err != nil {
		return err
	}
	switch c.By {
	case measure.ByUndo, measure.ByReset:
	default:
		c.By = measure.ByWatcher
	}
	d.Change(c.By, c.Track, func(s workload.Settings) workload.Settings {
		for _, k := range plan.Knobs {
			if to := k.Get(c.To); to != k.Get(c.From) {
				s = k.Set(s, k.Clamp(to))
			}
		}
		if c.To.Paused != c.From.Paused {
			s.Paused = c.To.Paused
		}
		if c.To.Coming != c.From.Coming {
			s.Coming = c.To.Coming
		}
		return s
	})
	return nil
}
