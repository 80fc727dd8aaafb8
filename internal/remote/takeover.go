package remote

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// How the rest of a part is done by another, where Options.Pass is set: a worker that nobody
// waits for any longer has an heir, which is one more worker, in the process of one that is
// there. What the lost one told counts up to its last message, and whatever comes of it later
// does not: should it be back, it is told to end. So that somebody is there to take on a
// part, a worker that is through with its own stays until all are.

// Handoff is the rest of a part, as another takes it on.
type Handoff struct {
	// Index is the number of the worker that does it, Part that of the part.
	Index int `json:"index"`
	Part  int `json:"part"`
	// Rest is what is left, in the profile's own words.
	Rest []byte `json:"rest"`
	// Phases have begun, that long after the run.
	Phases map[string]time.Duration `json:"phases,omitempty"`
	// Settings are those of the part's tracks, in force in the segment of that number.
	Segment  int                 `json:"segment"`
	Settings []workload.Settings `json:"settings"`
}

// Returned is that a worker is back whose part was dealt to another. Only notices say it.
const Returned State = "returned"

// tallyUp takes in what a part says of each operation.
func (w *worker) tallyUp(p *measure.Part) {
	at := func(op uint16) *workload.Did {
		for len(w.did) <= int(op) {
			w.did = append(w.did, workload.Did{})
		}
		return &w.did[op]
	}
	if p.T >= 0 {
		for _, r := range p.Rows {
			at(r.Op).Units += r.Times.Count
		}
	}
	for _, f := range p.Classes { // of warm-up there are none
		at(f.Op).Failed += f.Count
	}
}

// pass gives the rest of the part of a worker that nobody waits for to an heir, whom nobody
// hosts yet. The caller holds c.mu.
func (c *Coordinator) pass(i int, w *worker) {
	if c.o.Pass == nil || w.idle || w.given {
		return
	}
	w.given, w.heir = true, len(c.workers)
	heir := newWorker(Hello{})
	heir.part, heir.host = w.part, -1
	c.workers = append(c.workers, heir)
	go c.handOver(i, w.heir)
}

// handOver has a worker take on the part of another, as its heir of that number.
func (c *Coordinator) handOver(from, number int) {
	c.taking.Lock() // what it told has been taken, and nothing more is
	c.mu.Lock()
	h := Handoff{Index: number, Part: c.workers[from].part, Phases: maps.Clone(c.phases)}
	heir := c.workers[number]
	heir.did = slices.Clone(c.workers[from].did)
	c.mu.Unlock()
	rest := c.o.Pass(h.Part, slices.Clone(heir.did))
	c.taking.Unlock()
	h.Rest, h.Segment, h.Settings = rest.Rest, rest.Segment, rest.Settings
	c.mu.Lock()
	defer c.mu.Unlock()
	heir.host = c.idlest()
	if heir.host < 0 {
		heir.away, heir.state, heir.LostAt = true, Gone, max(time.Since(c.at), 1)
		c.end()
		return
	}
	host := c.workers[heir.host]
	heir.Hello, heir.Offset, heir.Trip, heir.beat = host.Hello, host.Offset, host.Trip, time.Now()
	if c.o.Passed != nil {
		go c.o.Passed(from, number, heir.host)
	}
	go c.command(heir.host, Command{Handoff: &h}, false)
}

// idlest is the number of a worker that can take on a part, of those that have taken on the
// fewest; -1: there is none. The caller holds c.mu.
func (c *Coordinator) idlest() int {
	best, least := -1, 0
	for i, w := range c.workers[:min(c.o.Workers, len(c.workers))] {
		if w.done() || w.given {
			continue
		}
		load := 0
		for _, heir := range c.workers[c.o.Workers:] {
			if heir.host == i && !heir.done() {
				load++
			}
		}
		if w.state != "" {
			load += MaxWorkers // it is silent, and may be lost itself
		}
		if best < 0 || load < least {
			best, least = i, load
		}
	}
	return best
}

// returned tells a worker that is back to end: its part is another's. The caller holds c.mu.
func (c *Coordinator) returned(i int, w *worker) {
	if w.dismissed {
		return
	}
	w.dismissed = true
	go c.command(i, Command{Stop: fmt.Sprintf("the rest of its part was dealt to worker %d", w.heir+1)}, false)
	if c.o.Noticed != nil {
		go c.o.Noticed(i, w.Hello.Host, Returned)
	}
}

// letGo lets workers leave that have stayed for the parts of others, once all are through.
// The caller holds c.mu.
func (c *Coordinator) letGo() {
	if slices.ContainsFunc(c.workers, func(w *worker) bool { return !w.idle && !w.done() }) {
		return
	}
	for i, w := range c.workers {
		if w.idle && !w.done() && !w.released {
			w.released = true
			go c.command(i, Command{Release: true}, false)
		}
	}
}

// all is how many workers there are, heirs included.
func (c *Coordinator) all() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.workers)
}

// Parts is the part of each worker that is there, -1 of one whose part is done by another.
func (c *Coordinator) Parts() (out []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.workers {
		if w.given {
			out = append(out, -1)
			continue
		}
		out = append(out, w.part)
	}
	return out
}
