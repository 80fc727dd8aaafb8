package run

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/layer"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Share gives process i of n its callers of each group: those that follow the callers of
// the processes before it, with the invocations that they would have in one process. It
// returns what that process goes by.
func Share(s *model.Spec, p *workload.Plan, i, n int) (*model.Spec, error) {
	if err := undivided(s); err != nil {
		return nil, err
	}
	q := *s
	q.Groups, q.Steps = nil, nil
	workload.Own(p)
	for k, step := range s.Steps {
		var mine []*model.Group
		for j, g := range step {
			part := *g
			var err error
			if part.From, part.To, err = workload.Divide(&p.Phases[k].Tracks[j], "group "+g.Track, len(g.Shares), i, n, n); err != nil {
				return nil, err
			}
			mine = append(mine, &part)
		}
		q.Steps, q.Groups = append(q.Steps, mine), append(q.Groups, mine...)
	}
	return &q, nil
}

// undivided says why the work of a plan is that of one process.
func undivided(s *model.Spec) error {
	refuse := func(why, hint string) error { return fault.Hint(errors.New(why), hint) }
	switch {
	case s.Load == model.LoadOnly:
		return refuse("load=only loads before the run begins, which one process does", "leave --workers out")
	case s.Resume:
		return refuse("resume=on leaves out what an earlier run has done, which one process finds out", "leave --workers or resume=on out")
	case s.Near:
		return refuse("nearCache=on measures the cache of one client", "leave --workers or nearCache=on out")
	}
	for k := range s.Steps {
		if len(s.Topics(k)) > 0 {
			return refuse("deliveries of a topic are timed in the process that sends them", "leave --workers out, or use subscribers=0")
		}
	}
	for _, o := range s.Order {
		if o.Shared != nil && o.Children != nil && o.Children.Spread == model.ChildrenUniform && o.Children.Least == 1 {
			return refuse("operation "+o.Name+" draws numbers of children from one sequence (compat=on), so they would differ", "use compat=off, or leave --workers out")
		}
	}
	return nil
}

// keptOf is what was in a structure when the run began, and what of it had been loaded.
type keptOf struct{ Before, Loaded int64 }

// kept is what was in the structures when the run began.
func (b *binding) kept() []byte {
	var all []keptOf
	for _, st := range b.inOrder() {
		all = append(all, keptOf{st.before, st.loaded})
	}
	return workload.Ledger(all)
}

// goOn takes the structures for such as another process has loaded, whose places are claimed
// as it found them.
func (b *binding) goOn(ctx context.Context, p workload.Restored) error {
	var all []keptOf
	if err := workload.ReadLedger(p.Kept, &all); err != nil {
		return err
	}
	stocks := b.inOrder()
	if len(all) != len(stocks) {
		return workload.ErrAnotherRun
	}
	if r, ok := b.layer.(layer.Preparer); ok {
		if err := r.Prepare(ctx, b.claim); err != nil {
			return err
		}
	}
	for i, st := range stocks {
		st.before, st.loaded = all[i].Before, all[i].Loaded
		if b.loads(st) {
			if err := b.record(ctx, st, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// delta is what a process tells of its part.
type delta struct {
	Runs   []padogrid.Delta
	Stocks []stockTold
}

// stockTold is what became of one structure since it was told of the last time.
type stockTold struct {
	Moved   [4]int64 `told:"signed"` // what is under way is taken back when it has failed
	Ledgers map[string]ledgerTold
}

type ledgerTold struct {
	Tried, Acked padogrid.Bits
	Spilled      bool
	Payloads     []int `told:"payload"`
}

func (c *counts) list() (out []*atomic.Int64) {
	for i := range c.ops {
		o := &c.ops[i]
		out = append(out, &o.calls, &o.entries, &o.misses, &o.failed)
	}
	return out
}

func (st *stock) moved() [4]*atomic.Int64 {
	return [4]*atomic.Int64{&st.pushed, &st.popped, &st.maybePushed, &st.maybePopped}
}

// ledger tells what became of the part since the last call.
func (b *binding) ledger() []byte {
	var all delta
	for _, r := range b.runs {
		all.Runs = append(all.Runs, r.Export((*counts).list))
	}
	for _, st := range b.inOrder() {
		one := stockTold{Ledgers: map[string]ledgerTold{}}
		for i, n := range st.moved() {
			now := n.Load()
			one.Moved[i], st.told[i] = now-st.told[i], now
		}
		for form, l := range st.ledgers {
			one.Ledgers[form] = l.export()
		}
		all.Stocks = append(all.Stocks, one)
	}
	return workload.Ledger(all)
}

func (l *ledger) export() ledgerTold {
	// What is acknowledged was tried before: so the first row is told first.
	acked := padogrid.TellBits(l.acked, &l.told[1])
	out := ledgerTold{Acked: acked, Tried: padogrid.TellBits(l.tried, &l.told[0]), Spilled: l.spilled.Load()}
	l.mu.Lock()
	defer l.mu.Unlock()
	for size := range l.payloads {
		out.Payloads = append(out.Payloads, size)
	}
	slices.Sort(out.Payloads)
	return out
}

// credit takes in what another process has told.
func (b *binding) credit(ledger []byte) error {
	var all delta
	if err := workload.ReadTold(ledger, &all); err != nil {
		return err
	}
	stocks := b.inOrder()
	if len(all.Runs) != len(b.runs) || len(all.Stocks) != len(stocks) {
		return workload.ErrAnotherRun
	}
	for i, r := range b.runs {
		if !r.Credit(all.Runs[i], (*counts).list) {
			return workload.ErrAnotherRun
		}
	}
	for i, st := range stocks {
		for k, n := range st.moved() {
			if more := all.Stocks[i].Moved[k]; more > mostMoved || more < -mostMoved {
				return workload.ErrAnotherRun
			}
			n.Add(all.Stocks[i].Moved[k])
		}
		for form, more := range all.Stocks[i].Ledgers {
			if l := st.ledgers[form]; l == nil || !l.credit(more) {
				return workload.ErrAnotherRun
			}
		}
	}
	return nil
}

func (l *ledger) credit(more ledgerTold) bool {
	if more.Spilled {
		l.spilled.Store(true)
	}
	for _, size := range more.Payloads {
		if l.note(size) > mostPayloads {
			return false
		}
	}
	return padogrid.CreditBits(l.tried, more.Tried) && padogrid.CreditBits(l.acked, more.Acked)
}

// rest tells which invocations process i of n has left. The tracks of groups come in their
// order, before those of the topics of a step, of which there are none.
func (b *binding) rest(p *workload.Plan, i, n int, did []workload.Did) []byte {
	var all []padogrid.Rest
	for k, r := range b.runs {
		from, to := workload.Stretch(len(r.g.Shares), n, i)
		all = append(all, r.Rest(from, to, p.Of(did, k, 0).Units))
	}
	return workload.Ledger(all)
}

// takeOver goes on with the invocations that another process has left.
func (b *binding) takeOver(rest []byte) error {
	var all []padogrid.Rest
	if err := workload.ReadLedger(rest, &all); err != nil {
		return err
	}
	if len(all) != len(b.runs) {
		return workload.ErrAnotherRun
	}
	for k, r := range b.runs {
		if !r.TakeOver(all[k]) {
			return workload.ErrAnotherRun
		}
		r.goOn(&all[k])
	}
	return nil
}

// mostPayloads is how many sizes of values other processes may tell of.
const mostPayloads = 1 << 12

// unknown is how many elements a process that was lost may have pushed or popped: any
// number.
const unknown = 1 << 40

// mostMoved is how many elements other processes may tell of: those of a coordinator that
// died hold what is unknown of each that it lost.
const mostMoved = workload.MaxProcesses * 2 * unknown

// lost takes for attempted whatever process i of n may have done.
func (b *binding) lost(i, n int) {
	for _, r := range b.runs {
		r.Lost(workload.Stretch(len(r.g.Shares), n, i))
		for _, o := range r.g.Ops {
			for _, of := range o.Family() {
				if of.Kind != model.KindSleep {
					b.stocks[of.Space].lose()
				}
			}
		}
	}
}

// lose takes for attempted all that may be done to a structure.
func (st *stock) lose() {
	if st.writes {
		st.maybePushed.Add(unknown)
	}
	if st.removes {
		st.maybePopped.Add(unknown)
	}
	for _, l := range st.ledgers {
		for n := range l.n {
			l.set(l.tried, l.lo+n)
		}
	}
}
