package part

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/watch/self"
)

// takeovers are the parts of others that a worker has taken on.
type takeovers struct {
	mu     sync.Mutex
	known  map[int]bool
	closed bool
	all    sync.WaitGroup
}

// add says whether a part is new, and is to be carried out by do.
func (h *takeovers) add(number int, do func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.known[number] {
		return false
	}
	if h.known == nil {
		h.known = map[int]bool{}
	}
	h.known[number] = true
	h.all.Go(fault.Guarded(do))
	return true
}

// wait waits for those that there are, and lets no more in.
func (h *takeovers) wait() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.all.Wait()
}

// part is the number of the part.
func (p *work) part() int {
	if p.handoff != nil {
		return p.handoff.Part
	}
	return p.w.Place.Index
}

// takeOn carries out the rest of another's part beside our own, as one more worker.
func (p *work) takeOn(h *remote.Handoff) {
	p.heirs.add(h.Index, func() {
		ctx := context.Background() // whoever is to end it says so
		w, err := p.w.Beside(ctx, h.Index)
		if err != nil {
			p.env.Say(fmt.Sprintf("the part of worker %d cannot be taken on: %v", h.Part+1, err))
			return
		}
		p.env.Say(fmt.Sprintf("goes on with the part of worker %d", h.Part+1))
		heir := &work{env: p.env, w: w, handoff: h, began: p.began, free: make(chan struct{}), leave: leave{lost: make(chan struct{})}}
		heir.env.Say = func(string) {}
		defer heir.leave.end()
		if err := heir.prepare(ctx); err != nil {
			if heir.conn != nil {
				_ = heir.conn.Close()
			}
			w.Outbox.Report(remote.Report{Over: true, Err: err.Error()})
			_ = heir.say(ctx)
			return
		}
		defer func() { _ = heir.conn.Close() }()
		_ = heir.carryOut(ctx) // the coordinator was told why it failed
	})
}

// takeOver gives the plan the rest of another's part, where that is what it is for.
func (p *work) takeOver() error {
	if p.handoff == nil {
		return nil
	}
	for i, t := range p.plan.Tracks() {
		if i < len(p.handoff.Settings) {
			t.Start = p.handoff.Settings[i]
		}
	}
	return p.plan.Shared.TakeOver(p.handoff.Left)
}

// late is how the run stands for a part that is taken on; nil: all begin together.
func (p *work) late() *engine.Late {
	if p.handoff == nil {
		return nil
	}
	warmup := p.order.Inputs.Warmup
	late := &engine.Late{Began: p.began.Add(warmup), Segment: p.handoff.Segment, Phases: map[string]time.Duration{}}
	for _, ph := range p.plan.Phases {
		if len(ph.After) == 0 {
			late.Phases[ph.Name] = -warmup
		}
	}
	for name, at := range p.handoff.Phases {
		late.Phases[name] = at - warmup
	}
	return late
}

// stay waits, once the part is done, until nobody may need this worker to take on another's.
func (p *work) stay(own *self.Watcher, beside *company, cause error) {
	if !p.order.Stay || cause != nil {
		return
	}
	p.w.Outbox.Report(remote.Report{Idle: true, Ledger: p.plan.Shared.Delta()})
	p.beat(own, beside, p.free)
}

// leaves ends what stay waits for.
func (p *work) leaves() { p.release.Do(func() { close(p.free) }) }
