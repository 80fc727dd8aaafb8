package pbm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Share gives process i of n its clients: those that follow the clients of the processes
// before it, with what they would do in one process.
func (s *Spec) Share(p *workload.Plan, i, n int) error {
	if s.load == loadOnly {
		return fault.Hint(errors.New("load=only loads before the run begins, which one process does"), "leave --workers out")
	}
	q := *s
	q.maps = slices.Clone(s.maps)
	workload.Own(p)
	for k := range q.maps {
		m := &q.maps[k]
		var err error
		if m.from, m.to, err = workload.Divide(&p.Phases[0].Tracks[k], "map "+m.name, m.start.Threads, i, n, n*len(q.maps)); err != nil {
			return err
		}
	}
	p.Binder = &q
	return nil
}

// found is what the coordinator has found in the store that clients go by.
type found struct {
	Layout string           `json:"layout"`
	Left   []padogrid.Share `json:"left,omitempty"`
	Had    bool             `json:"had_summaries,omitempty"`
}

func (b *run) found() []byte {
	data, err := json.Marshal(found{b.s.layout, b.s.left, b.s.hadSummaries})
	if err != nil {
		panic(err) // plain data
	}
	return data
}

func (b *run) adopt(data []byte) error {
	var f found
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("tx: read what was found in the store: %w", err)
	}
	b.s.layout, b.s.left, b.s.hadSummaries = f.Layout, f.Left, f.Had
	return nil
}

// kept is what was loaded before the run.
func (b *run) kept() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return workload.Ledger(b.loaded)
}

// resume takes the maps that another process has loaded for complete.
func (b *run) resume(ctx context.Context, p workload.Restored) error {
	b.mu.Lock()
	err := workload.ReadLedger(p.Kept, &b.loaded)
	b.mu.Unlock()
	if err != nil {
		return err
	}
	for _, name := range b.missing {
		if err := b.claim.Update(ctx, b.s.space(name), b.params(name, "")); err != nil {
			return err
		}
	}
	return nil
}

// delta is what a process tells of its part of one map.
type delta struct {
	Work    padogrid.Delta
	Sizes   []int `told:"payload"`
	Touched padogrid.Bits
}

func (c *counts) list() []*atomic.Int64 {
	return []*atomic.Int64{&c.missing, &c.conflicts, &c.gaveUp}
}

// ledger tells what became of the part since the last call.
func (b *run) ledger() []byte {
	var all []delta
	for _, w := range b.works {
		all = append(all, delta{w.Export((*counts).list), w.sizes.All(), padogrid.TellBits(w.touched, &w.told)})
	}
	return workload.Ledger(all)
}

// credit takes in what another process has told.
func (b *run) credit(ledger []byte) error {
	var all []delta
	if err := workload.ReadTold(ledger, &all); err != nil {
		return err
	}
	if len(all) != len(b.works) {
		return workload.ErrAnotherRun
	}
	for i, w := range b.works {
		if !w.Credit(all[i].Work, (*counts).list) || !padogrid.CreditBits(w.touched, all[i].Touched) || !w.sizes.Credit(all[i].Sizes) {
			return workload.ErrAnotherRun
		}
	}
	return nil
}

// Passes says that any client can do what another has left.
func (s *Spec) Passes() error { return nil }

// rest tells what process i of n has left to do.
func (b *run) rest(p *workload.Plan, i, n int, did []workload.Did) []byte {
	var all []padogrid.Rest
	for k, w := range b.works {
		from, to := workload.Stretch(w.m.start.Threads, n, i)
		all = append(all, w.Rest(from, to, p.Of(did, k, int(opWork)).Units))
	}
	return workload.Ledger(all)
}

// takeOver goes on with what another process has left to do.
func (b *run) takeOver(rest []byte) error {
	var all []padogrid.Rest
	if err := workload.ReadLedger(rest, &all); err != nil {
		return err
	}
	if len(all) != len(b.works) {
		return workload.ErrAnotherRun
	}
	for k, w := range b.works {
		if !w.TakeOver(all[k]) {
			return workload.ErrAnotherRun
		}
	}
	return nil
}

// lost takes all that process i of n was to do for attempted.
func (b *run) lost(i, n int) {
	for _, w := range b.works {
		w.Lost(workload.Stretch(w.m.start.Threads, n, i))
		w.sizes.Note(w.m.start.Payload)
	}
}
