package session

import (
	"fmt"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

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

// offer returns the count with which a plan stores no more than so many bytes, after some words;
// "" if its work has no count.
func offer(p *workload.Plan, room int64, before string) string {
	var total int64
	for _, t := range p.Tracks() {
		total += t.Total
	}
	n := int64(float64(total) * float64(room) / float64(max(p.Bytes, 1)))
	if n < 1 {
		return ""
	}
	for tens := int64(1); ; tens *= 10 { // two digits say enough
		if n/tens < 100 {
			return before + fmt.Sprintf("--count %d", n/tens*tens)
		}
	}
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

// freeIn returns how many bytes a store has for data; 0 if unknown.
func freeIn(info *store.Info) int64 {
	if info.NoFigure != "" {
		return info.FreeBytes / 2 // the other half is for garbage that is still to be collected
	}
	return info.FreeBytes
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
			continue // a pause, or how calls come
		}
		now = workload.Turned(tracks, now, at.Track, at.Knob, at.Value)
		if err := roomFor(p, starts, now, machine, free); err != nil {
			return fault.Field("at", fmt.Errorf("at: %s: %w", at.After, err))
		}
	}
	return nil
}
