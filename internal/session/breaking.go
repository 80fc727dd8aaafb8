package session

import (
	"errors"
	"fmt"
	"sort"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// mostBroken is the longest that a fault by hand lasts.
const mostBroken = time.Hour

// Faults returns examples, as --at has them, of the faults that Break can have happen to this run, and
// of those that it could have if its connections were breakable. If there are neither, the error says
// what a run needs for it.
func (d *Driven) Faults() (ready, breakable []string, err error) {
	for _, k := range workload.FaultKinds() {
		for _, text := range k.Examples {
			switch e := d.CanBreak(text, time.Second); {
			case e == nil, k.Name == workload.Exec && d.Opened.Prepared.env.AllowExec:
				ready = append(ready, text)
			case errors.Is(e, workload.ErrDirect):
				breakable = append(breakable, text)
			case err == nil:
				err = e
			}
		}
	}
	if len(ready)+len(breakable) > 0 {
		return ready, breakable, nil
	}
	return nil, nil, err
}

// CanBreak returns why a fault, as --at has it, cannot happen now for that long: an error of bad
// input.
func (d *Driven) CanBreak(text string, long time.Duration) error {
	_, _, err := d.fault(text, long, &workload.Commands{})
	return err
}

// Break has a fault happen, as --at has it, from now on for that long. Its errors are those of
// CanBreak; by names who does it in the log of changes.
func (d *Driven) Break(by, text string, long time.Duration) error {
	p := d.Opened.Prepared
	kind, v, err := d.fault(text, long, p.Plan.Commands)
	if err != nil {
		return err
	}
	d.Opened.journal.Update(func(r *rundir.Run) { r.Commands = p.Plan.Commands.All() })
	set := func(from, to float64) {
		d.Change(by, workload.AllTracks, func(s workload.Settings) workload.Settings {
			if s.Faults[kind] == from {
				s.Faults[kind] = to
			}
			return s
		})
	}
	name := workload.FaultKinds()[kind].Setting()
	d.byHand.add(measure.Change{At: d.run.Snapshot().At + long, Name: name, By: by})
	set(0, v)
	time.AfterFunc(long, func() { set(v, 0) }) // a run that has ended is whole again
	return nil
}

// healings are the ends of faults that were begun by hand. Any goroutine may use them.
type healings struct {
	mu  sync.Mutex
	all []measure.Change
}

func (h *healings) add(c measure.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, c)
}

// Planned returns what will still change by itself, or has: Planned of the timetable, and the ends of
// faults that were begun by hand, in order of time. Any goroutine may call it.
func (d *Driven) Planned() []measure.Change {
	out := d.Opened.Prepared.Planned()
	d.byHand.mu.Lock()
	out = append(out, d.byHand.all...)
	d.byHand.mu.Unlock()
	sort.SliceStable(out, func(i, k int) bool { return out[i].At < out[k].At })
	return out
}

// fault reads a fault that is to happen now, whose commands are added to those.
func (d *Driven) fault(text string, long time.Duration, commands *workload.Commands) (kind int, v float64, err error) {
	if long <= 0 || long > mostBroken {
		return 0, 0, fault.Input(fmt.Errorf("fault: %s is not a time up to %s", long, mostBroken), "for example 10s")
	}
	a, err := d.Opened.Prepared.allowed()
	if err != nil {
		return 0, 0, err
	}
	a.servers, a.plan = d.servers, &workload.Plan{Commands: commands, Via: a.plan.Via}
	if kind, v, err = a.parse(text, commands); err != nil {
		return 0, 0, err
	}
	if k := &workload.FaultKinds()[kind]; d.Settings(workload.AllTracks).Faults[kind] != 0 {
		return 0, 0, fault.Input(fmt.Errorf("fault: one of the kind %s is in force", k.Name), "wait until it ends")
	}
	return kind, v, nil
}
