package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
)

// join gives a worker its place, or says why it has none.
func (c *Coordinator) join(m *nats.Msg) {
	var h Hello
	p := Place{Of: c.o.Workers, Run: c.o.Run, Coordinator: c.id, Line: c.o.Line}
	if err := json.Unmarshal(m.Data, &h); err != nil {
		p.Refused = "it says nothing that this coordinator understands"
		_ = m.Respond(encoded(p))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p.More = c.o.More
	_, zone := time.Now().Zone()
	ahead := time.Duration(h.Now - time.Now().UnixNano())
	known := -1
	for i, w := range c.workers {
		if w.Hello.ID == h.ID {
			known = i
		}
	}
	switch {
	case h.Protocol != Protocol || h.Version != c.o.Version:
		p.Refused = fmt.Sprintf("this worker is perfbench %s (protocol %d) and the coordinator %s (protocol %d): use the same version for both", h.Version, h.Protocol, c.o.Version, Protocol)
	case h.ZoneS != zone:
		p.Refused = fmt.Sprintf("the time zone of this worker is %s ahead of UTC and that of the coordinator %s, and keys may hold dates: set TZ to the same for both",
			time.Duration(h.ZoneS)*time.Second, time.Duration(zone)*time.Second)
	case ahead.Abs() > clockMost:
		p.Refused = fmt.Sprintf("the clock of this worker is %s, and keys may hold times: set it right, as by NTP", side(ahead))
	case known < 0 && len(c.workers) >= c.o.Workers:
		p.Full, p.Refused = true, fmt.Sprintf("this run has its %s already", units.Plural(c.o.Workers, "worker"))
	case known >= 0:
		p.Index, p.Order = known, c.o.Order
	default:
		p.Index, p.Order = len(c.workers), c.o.Order
		w := newWorker(h)
		w.part = p.Index
		c.workers = append(c.workers, w)
		c.tell()
	}
	_ = m.Respond(encoded(p))
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

// tell wakes who waits for workers. The caller holds c.mu.
func (c *Coordinator) tell() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// of finds the worker that a subject ends with. The caller holds c.mu.
func (c *Coordinator) of(subject string) (int, *worker) {
	i, err := strconv.Atoi(subject[strings.LastIndex(subject, ".")+1:])
	if err != nil || i < 0 || i >= len(c.workers) {
		return 0, nil
	}
	return i, c.workers[i]
}

func (c *Coordinator) ready(m *nats.Msg) {
	var r ready
	if json.Unmarshal(m.Data, &r) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i, w := c.of(m.Subject); w != nil {
		w.ready = true
		if r.Err != "" && c.failed == nil {
			c.failed = fault.Code(fmt.Errorf("worker %d (%s) cannot take part: %s", i+1, w.Hello.Host, r.Err), fault.CodeStore)
		}
		c.tell()
	}
	_ = m.Respond(nil)
}

// Gather waits until all workers have joined and are ready; tell is told how many have
// joined, and how many of these are ready.
func (c *Coordinator) Gather(ctx context.Context, tell func(joined, ready int)) error {
	for {
		c.mu.Lock()
		joined, ready, err, changed := len(c.workers), 0, c.failed, c.changed
		for _, w := range c.workers {
			if w.ready {
				ready++
			}
			if w.state == Gone && err == nil {
				err = fault.Code(fmt.Errorf("a worker (%s) went away before the run began", w.Hello.Host), fault.CodeOther)
			}
		}
		c.mu.Unlock()
		tell(joined, ready)
		switch {
		case err != nil:
			return err
		case ready == c.o.Workers:
			return nil
		}
		select {
		case <-changed:
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
	c.mu.Lock()
	workers := c.workers
	c.mu.Unlock()
	errs := make([]error, len(workers))
	var all sync.WaitGroup
	began := time.Now()
	for i, w := range workers {
		all.Go(func() { errs[i] = c.compare(ctx, i, w) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return time.Time{}, err
	}
	at := time.Now().Add(max(soon, 2*time.Since(began)))
	for i, w := range workers {
		all.Go(func() {
			c.mu.Lock()
			theirs := at.Add(w.Offset).UnixNano()
			c.mu.Unlock()
			if _, err := c.ask(ctx, i, "start", encoded(start{At: theirs})); err != nil {
				errs[i] = fmt.Errorf("tell worker %d (%s) to begin: %w", i+1, w.Hello.Host, err)
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return time.Time{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
	return at, nil
}

// compare finds how far a worker's clock is ahead of ours.
func (c *Coordinator) compare(ctx context.Context, i int, w *worker) error {
	best := time.Duration(1<<63 - 1)
	var offset time.Duration
	for range pings {
		sent := time.Now()
		m, err := c.ask(ctx, i, "clock", nil)
		if err != nil {
			return fmt.Errorf("compare clocks with worker %d (%s): %w", i+1, w.Hello.Host, err)
		}
		trip := time.Since(sent)
		theirs, err := strconv.ParseInt(string(m), 10, 64)
		if err != nil {
			return fmt.Errorf("compare clocks with worker %d (%s): it does not tell the time", i+1, w.Hello.Host)
		}
		if trip < best {
			best, offset = trip, time.Duration(theirs-sent.Add(trip/2).UnixNano())
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w.Offset, w.Trip = offset, best
	return nil
}

// patience is how long a worker may take to answer.
const patience = 10 * time.Second

func (c *Coordinator) ask(ctx context.Context, i int, what string, data []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m, err := c.nc.RequestWithContext(ctx, c.on.worker+"."+strconv.Itoa(i)+"."+what, data)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return m.Data, nil
}
