package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// join gives a worker its place, or says why it has none.
func (c *Coordinator) join(m *nats.Msg) {
	var h Hello
	p := Slot{Of: c.o.Workers, Run: c.o.Run, Coordinator: c.Connection.id, Key: c.o.Key.Public(), Line: c.o.Line}
	err := decoded(m.Data, mostHello, &h)
	if err == nil {
		err = h.check()
	}
	if err == nil && !strings.HasSuffix(m.Subject, "."+h.ID) {
		err = errors.New("it gives another's id for its own")
	}
	if err != nil {
		p.Refused = "it says nothing that this coordinator understands: " + err.Error()
		c.sign.respond(m, h.ID, "place", encoded(p))
		return
	}
	_, p.More = c.line.stands()
	c.Roster.mu.Lock()
	defer c.Roster.mu.Unlock()
	if p.Refused = c.unfit(&h); p.Refused == "" {
		if i, ok := c.Roster.enrol(h); ok {
			p.Index, p.Order = i, c.o.Order
		} else {
			p.Full, p.Refused = true, fmt.Sprintf("this run has its %s already", units.Plural(c.o.Workers, "worker"))
		}
	}
	c.sign.respond(m, h.ID, "place", encoded(p))
}

// unfit says why a worker cannot take part, whether or not there is a place for it; empty: it
// can.
func (c *Coordinator) unfit(h *Hello) string {
	_, zone := time.Now().Zone()
	ahead := time.Duration(h.Now - time.Now().UnixNano())
	switch {
	case h.Protocol != Protocol || h.Version != c.o.Version:
		return fmt.Sprintf("this worker is perfbench %s (protocol %d) and the coordinator %s (protocol %d): use the same version for both", h.Version, h.Protocol, c.o.Version, Protocol)
	case h.ZoneS != zone:
		return fmt.Sprintf("the time zone of this worker is %s ahead of UTC and that of the coordinator %s, and keys may hold dates: set TZ to the same for both",
			time.Duration(h.ZoneS)*time.Second, time.Duration(zone)*time.Second)
	case ahead.Abs() > clockMost:
		return fmt.Sprintf("the clock of this worker is %s, and keys may hold times: set it right, as by NTP", side(ahead))
	}
	return ""
}

// clockMost is how far the clock of a worker may be off: seconds of drift do no harm, as all
// begin by how far it is off.
const clockMost = time.Minute

// side says in words how far a clock is off.
func side(ahead time.Duration) string {
	if ahead < 0 {
		return units.Duration(-ahead.Round(time.Second)) + " behind that of the coordinator"
	}
	return units.Duration(ahead.Round(time.Second)) + " ahead of that of the coordinator"
}

// ready takes that a worker can begin, or why it cannot.
func (c *Coordinator) ready(m *nats.Msg) {
	var r ready
	c.Roster.mu.Lock()
	defer c.Roster.mu.Unlock()
	if i, w := c.Roster.find(m.Subject); w != nil {
		if err := decoded(m.Data, mostReady, &r); err != nil {
			r.Err = "what it says of itself cannot be used: " + err.Error()
		}
		r.Err = workload.PlainText(r.Err, mostText)
		w.ready = true
		if r.Err != "" && c.Roster.failed == nil {
			c.Roster.failed = fault.Code(fmt.Errorf("worker %d (%s) cannot take part: %s", i+1, w.Hello.Host, r.Err), fault.CodeStore)
		}
		c.Roster.wake()
	}
	answer(m, nil)
}

// remind is how often Gather says for whom it waits.
const remind = 30 * time.Second

// DefaultWait is for how long a coordinator waits for workers while none joins or gets ready.
const DefaultWait = 10 * time.Minute

// Gather waits until all workers have joined and are ready; tell is told how many have
// joined, and how many of these are ready, and each half minute for whom it waits. When nothing
// has come of that for Options.Wait, it says who is missing in its error.
func (c *Coordinator) Gather(ctx context.Context, tell func(joined, ready int, missing string)) error {
	limit := cmp.Or(c.o.Wait, DefaultWait)
	word := time.NewTicker(cmp.Or(c.o.Remind, remind))
	defer word.Stop()
	enough := time.NewTimer(limit)
	defer enough.Stop()
	was, missing := [2]int{}, ""
	for {
		joined, ready, changed, err := c.Roster.gathered()
		tell(joined, ready, missing)
		switch {
		case err != nil:
			return err
		case ready == c.o.Workers:
			return nil
		}
		if now := [2]int{joined, ready}; now != was {
			was = now
			enough.Reset(limit)
		}
		missing = ""
		select {
		case <-changed:
		case <-word.C:
			missing = "still waiting for " + c.Roster.missing(c.Connection.Cut())
		case <-enough.C:
			return fault.Code(fault.Hint(fmt.Errorf("no worker has joined or become ready for %s: there is no %s", units.Duration(limit), c.Roster.missing(c.Connection.Cut())), "start the missing workers within that time"), fault.CodeOther)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// pings is how often a worker is asked for the time: the answer that came fastest says it
// best.
const pings = 25

// soon is how long after the clocks were compared the run begins at least: long enough for
// all to be told. Where comparing took longer, telling may, too.
const soon = 300 * time.Millisecond

// Start compares clocks, tells all workers when to begin, and returns that moment. Who is
// told too late begins late, which stands in its Skew.
func (c *Coordinator) Start(ctx context.Context) (time.Time, error) {
	c.Roster.mu.Lock()
	workers := c.Roster.members
	c.Roster.mu.Unlock()
	errs := make([]error, len(workers))
	var all sync.WaitGroup
	began := time.Now()
	for i, w := range workers {
		all.Go(fault.Guarded(func() { errs[i] = c.compare(ctx, i, w) }))
	}
	all.Wait()
	if err := c.Roster.together("compare clocks with", errs); err != nil {
		return time.Time{}, err
	}
	at := time.Now().Add(max(soon, 2*time.Since(began)))
	for i, w := range workers {
		all.Go(fault.Guarded(func() {
			c.Roster.mu.Lock()
			theirs := at.Add(w.Offset).UnixNano()
			c.Roster.mu.Unlock()
			_, errs[i] = c.Commands.ask(ctx, i, "start", c.sign.number(), encoded(start{At: theirs}))
		}))
	}
	all.Wait()
	if err := c.Roster.together("tell the moment of the start to", errs); err != nil {
		return time.Time{}, err
	}
	c.Roster.mu.Lock()
	defer c.Roster.mu.Unlock()
	c.Roster.at = at
	return at, nil
}

// compare finds how far a worker's clock is ahead of ours.
func (c *Coordinator) compare(ctx context.Context, i int, w *member) error {
	best := time.Duration(1<<63 - 1)
	var offset time.Duration
	for range pings {
		sent := time.Now()
		m, err := c.Commands.ask(ctx, i, "clock", "", nil)
		if err != nil {
			return err
		}
		trip := time.Since(sent)
		theirs, err := strconv.ParseInt(string(m[:min(len(m), 32)]), 10, 64)
		if err != nil || theirs <= 0 || theirs > math.MaxInt64/2 {
			return errors.New("it does not tell the time")
		}
		if trip < best {
			best, offset = trip, time.Duration(theirs-sent.Add(trip/2).UnixNano())
		}
	}
	if offset.Abs() > 2*clockMost {
		return fmt.Errorf("its clock has moved since it joined, and is %s", side(offset))
	}
	c.Roster.mu.Lock()
	defer c.Roster.mu.Unlock()
	w.Offset, w.Trip = offset, best
	return nil
}
