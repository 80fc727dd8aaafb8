package session

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session/timetable"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch"
	"github.com/perfbench/perfbench/internal/watch/self"
	"github.com/perfbench/perfbench/internal/workload"
)

// environmentFacts returns what is known of the machine before a run.
func environmentFacts(version string) map[string]any {
	return map[string]any{
		"perfbench": version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
		"cpus": runtime.NumCPU(), "gomaxprocs": runtime.GOMAXPROCS(0),
	}
}

// environment returns what is known of the machine after the run.
func (l *Live) environment(o *verdict.Observed) map[string]any {
	facts := environmentFacts(l.env.Version)
	if o == nil {
		return facts
	}
	facts["cpu_share"] = float64(int(o.CPU/float64(runtime.NumCPU())*1000)) / 1000
	if o.PoolSize > 0 {
		facts["pool_size"], facts["pool_waits"], facts["pool_wait_ns"] = o.PoolSize, o.PoolWaits, o.PoolWaitNs
	}
	return facts
}

// mask hides the password in a text.
func (p *Prepared) mask(s string) string {
	if len(p.Target.Password) < minSecret {
		return s
	}
	return strings.ReplaceAll(s, p.Target.Password, "***")
}

// minSecret is the shortest password that is masked in texts from elsewhere: masking
// "a" would make every message unreadable.
const minSecret = 4

// hide returns err with the password masked in its message, in case a driver has put it
// there. If a limit of this process caused the error, a hint says how to raise it.
func (p *Prepared) hide(err error) error {
	if hint := fault.LimitHint(err, self.FileLimit()); hint != "" {
		err = fault.Hint(err, hint)
	}
	if err == nil || p.mask(err.Error()) == err.Error() {
		return err
	}
	return fault.Code(fault.Hint(errors.New(p.mask(err.Error())), p.mask(fault.HintOf(err))), fault.CodeOf(err))
}

// Mask returns s, a text from a store, without the target's password.
func (p *Prepared) Mask(s string) string { return p.mask(s) }

// FormatSetting formats the value of a live setting, named as in the change log, the
// way users type it.
func (p *Prepared) FormatSetting(name string, v float64) string {
	k, _ := p.Plan.Knob(name[strings.LastIndex(name, ".")+1:])
	return timetable.FormatKnob(k, v)
}

// WantsPassword reports whether a store refused a connection because there was no
// password.
func WantsPassword(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "NOAUTH") || strings.Contains(err.Error(), "wants a password"))
}

// roomFor says why there is no room for the settings after, given that the tracks of a
// plan have the settings now: either in the memory of this machine for what is in
// progress at once, of which half may be used, or in the store for what is stored at
// that size. machine and free are in bytes, 0 if unknown; a nil now stands for nothing.
// Settings that need less than now are always accepted.
func roomFor(p *workload.Plan, now, after []workload.Settings, machine, free int64) error {
	was, wants := underWay(p, now), underWay(p, after)
	if machine > 0 && wants > was && wants > float64(machine/2) {
		return fault.Input(fmt.Errorf("payload: %s would be under way at once, and this machine has %s free", sizeOf(wants), units.Size(machine)), "lower threads, batch or payload")
	}
	var began, is, comes float64
	for i, t := range p.Tracks() {
		began += float64(t.Start.Payload)
		comes += float64(after[i].Payload)
		if now != nil {
			is += float64(now[i].Payload)
		}
	}
	if began == 0 || comes <= max(is, began) || free == 0 {
		return nil
	}
	if data := float64(p.Bytes) * comes / began; data > float64(free) {
		return fault.Input(fmt.Errorf("payload: %s of data, and the store has room for %s", sizeOf(data), units.Size(free)), "use a smaller payload")
	}
	return nil
}

// underWay returns how many bytes are in progress at once when all workers of the
// busiest phase are in a call.
func underWay(p *workload.Plan, of []workload.Settings) float64 {
	most, i := 0.0, 0
	for _, ph := range p.Phases {
		sum := 0.0
		for _, t := range ph.Tracks {
			if i < len(of) {
				s := of[i]
				values := max(s.Batch, 1)
				if t.Units != nil {
					values = t.Units(&s)
				}
				sum += float64(s.Threads) * float64(s.Payload) * float64(values)
			}
			i++
		}
		most = max(most, sum)
	}
	return most
}

// sizeOf formats a number of bytes that may be more than any machine has.
func sizeOf(bytes float64) string { return units.Size(int64(min(bytes, 1<<62))) }

// Room says why there is no room for these settings of the tracks, in the memory of
// this machine or of the store; nil if there is. The error has the code of bad input.
func (l *Live) Room(after []workload.Settings) error {
	now := make([]workload.Settings, len(after))
	for i := range now {
		now[i] = l.Settings(i)
	}
	return roomFor(l.Plan, now, after, store.FreeMemory(), l.room())
}

// room returns how many bytes the store has for data; 0 if unknown.
func (l *Live) room() int64 {
	if l.Info.NoFigure != "" {
		return l.Info.FreeBytes / 2 // the other half is for garbage that is still to be collected
	}
	return l.Info.FreeBytes
}

// foresee says why there is no room for the settings that tracks begin with, or for
// those that the timetable leads to. The error has the code of bad input.
func foresee(p *workload.Plan, table []engine.At, machine, free int64) error {
	tracks := p.Tracks()
	starts := make([]workload.Settings, len(tracks))
	for i, t := range tracks {
		starts[i] = t.Start
	}
	if err := roomFor(p, nil, starts, machine, 0); err != nil {
		return err
	}
	now := starts
	for _, at := range table {
		if at.Knob.Get == nil {
			continue // a pause
		}
		now = workload.Turned(tracks, now, at.Track, at.Knob, at.Value)
		if err := roomFor(p, starts, now, machine, free); err != nil {
			return fault.Field("at", fmt.Errorf("at: %s: %w", at.After, err))
		}
	}
	return nil
}

// heapPatience is how long a JVM may take to report its heap before a run.
const heapPatience = 2 * time.Second

// muchHeap is how much a plan must store to be worth a notice if the heap is unknown: a
// quarter of the heap that servers are commonly tried with.
const muchHeap = 128 << 20

// heapNow asks the JVM of a store that keeps all data in its heap how large that is. It
// returns 0 if it cannot be asked: only servers of the lab have an agent for this.
func (l *Live) heapNow(ctx context.Context) (free, limit int64) {
	if !l.Info.InHeap || l.Inputs.Agent == "" {
		return 0, 0
	}
	ctx, cancel := context.WithTimeout(ctx, heapPatience)
	defer cancel()
	h, err := watch.NewJVM(l.Inputs.Agent).Heap(ctx)
	if err != nil || h.Limit == nil || h.Used == nil {
		l.env.Log.Debug("The heap of the store is not known", "error", err)
		return 0, 0
	}
	return max(*h.Limit-*h.Used, 1), *h.Limit
}

// heapNotice compares what the plan stores with the heap that is to hold it; "" if
// there is enough room.
func (l *Live) heapNotice(ctx context.Context) string {
	if !l.Info.InHeap {
		return ""
	}
	free, limit := l.heapNow(ctx)
	size := units.Size(l.Plan.Bytes)
	switch {
	case limit > 0:
		l.heap = limit
		l.Info.Details["heap"] = fmt.Sprintf("%s, %s of it free at the start", units.Size(limit), units.Size(free))
		if l.Plan.Bytes > free/2 {
			return fmt.Sprintf("this run stores %s in the heap of %s, which is %s and has %s free; a server whose heap is full dies", size, l.Info.Name, units.Size(limit), units.Size(free))
		}
	case l.Plan.Bytes >= muchHeap:
		return fmt.Sprintf("this run stores %s in the heap of %s, and a client cannot ask how large that is; a server whose heap is full dies", size, l.Info.Name)
	}
	return ""
}

// diedOfHeap says what became of a store that keeps all data in its heap and went away
// during the run; "" if it did not.
func (l *Live) diedOfHeap(run *rundir.Run) string {
	if !l.Info.InHeap {
		return ""
	}
	gone, said := false, ""
	for _, e := range run.Errors {
		gone = gone || e.Class == store.Unreachable.String()
		if e.Class == store.OutOfMemory.String() {
			gone, said = true, first(e.Messages)
		}
	}
	if gone && said == "" && l.env.OutOfHeap != nil {
		said = l.env.OutOfHeap(l.Target.Redacted())
	}
	size := units.Size(l.Plan.Bytes)
	heap := ""
	if l.heap > 0 {
		heap = " of " + units.Size(l.heap)
	}
	switch {
	case !gone:
		return ""
	case said != "":
		return fmt.Sprintf("%s ran out of its heap%s mid-run (%s): this run stores %s there; give it more heap, or store less", l.Info.Name, heap, said, size)
	}
	return fmt.Sprintf("%s went away mid-run, and a client cannot tell whether its heap%s was full: this run stores %s there; see its log", l.Info.Name, heap, size)
}

func first(list []string) string {
	if len(list) == 0 {
		return store.OutOfMemory.String()
	}
	return list[0]
}
