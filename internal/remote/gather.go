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
	p := Slot{Of: c.o.Workers, Run: c.o.Run, Coordinator: c.id, Key: c.o.Key.Public(), Line: c.o.Line}
	err := decoded(m.Data, mostHello, &h)
	if err == nil {
		err = h.check()
	}
	if err == nil && !strings.HasSuffix(m.Subject, "."+h.ID) {
		err = errors.New("it gives another's id for its own")
	}
	if err != nil {
		p.Refused = "it says nothing that this coordinator understands: " + err.Error()
		c.respond(m, h.ID, "place", encoded(p))
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
		c.wake()
	}
	c.respond(m, h.ID, "place", encoded(p))
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

// wake wakes who waits for workers. The caller holds c.mu.
func (c *Coordinator) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *Coordinator) ready(m *nats.Msg) {
	var r ready
	c.mu.Lock()
	defer c.mu.Unlock()
	if i, w := c.of(m.Subject); w != nil {
		if err := decoded(m.Data, mostReady, &r); err != nil {
			r.Err = "what it says of itself cannot be used: " + err.Error()
		}
		r.Err = workload.PlainText(r.Err, mostText)
		w.ready = true
		if r.Err != "" && c.failed == nil {
			c.failed = fault.Code(fmt.Errorf("worker %d (%s) cannot take part: %s", i+1, w.Hello.Host, r.Err), fault.CodeStore)
		}
		c.wake()
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
			missing = "still waiting for " + c.missing()
		case <-enough.C:
			return fault.Code(fault.Hint(fmt.Errorf("no worker has joined or become ready for %s: there is no %s", units.Duration(limit), c.missing()), "start the missing workers within that time"), fault.CodeOther)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// missing says which workers a run that has not begun is waiting for.
func (c *Coordinator) missing() string {
	var quiet, busy []int
	c.mu.Lock()
	joined := len(c.workers)
	for i, w := range c.workers {
		switch {
		case w.ready:
		case w.state == Stalled:
			quiet = append(quiet, i+1)
		default:
			busy = append(busy, i+1)
		}
	}
	c.mu.Unlock()
	left := c.o.Workers - joined
	out := fmt.Sprintf("%d of %s: ", left+len(quiet)+len(busy), units.Plural(c.o.Workers, "worker"))
	var why []string
	add := func(workers []int, one, several string) {
		switch len(workers) {
		case 0:
		case 1:
			why = append(why, units.Numbered("worker", workers)+" "+one)
		default:
			why = append(why, units.Numbered("worker", workers)+" "+several)
		}
	}
	if cut := c.Cut(); cut != "" {
		why = append(why, cut)
	}
	switch {
	case left == 1:
		why = append(why, "1 has not joined")
	case left > 1:
		why = append(why, fmt.Sprintf("%d have not joined", left))
	}
	add(busy, "has joined and is not ready", "have joined and are not ready")
	add(quiet, "has joined and is silent", "have joined and are silent")
	return out + strings.Join(why, ", ")
}

// together is the error of what was done with each worker: one sentence for all that failed for
// the same reason. doing is what, as in "compare clocks with".
func (c *Coordinator) together(doing string, errs []error) error {
	var order []string
	of := map[string][]int{}
	for i, err := range errs {
		if err == nil {
			continue
		}
		if of[err.Error()] == nil {
			order = append(order, err.Error())
		}
		of[err.Error()] = append(of[err.Error()], i)
	}
	var out []error
	for _, text := range order {
		who := of[text]
		numbers := make([]int, len(who))
		for k, i := range who {
			numbers[k] = i + 1
		}
		name := units.Numbered("worker", numbers)
		if len(who) == 1 {
			c.mu.Lock()
			name += " (" + c.workers[who[0]].Hello.Host + ")"
			c.mu.Unlock()
		}
		out = append(out, fmt.Errorf("%s %s: %w", doing, name, errs[who[0]]))
	}
	return errors.Join(out...)
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
	if err := c.together("compare clocks with", errs); err != nil {
		return time.Time{}, err
	}
	at := time.Now().Add(max(soon, 2*time.Since(began)))
	for i, w := range workers {
		all.Go(func() {
			c.mu.Lock()
			theirs := at.Add(w.Offset).UnixNano()
			c.mu.Unlock()
			_, errs[i] = c.ask(ctx, i, "start", c.number(), encoded(start{At: theirs}))
		})
	}
	all.Wait()
	if err := c.together("tell the moment of the start to", errs); err != nil {
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
		m, err := c.ask(ctx, i, "clock", "", nil)
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
	c.mu.Lock()
	defer c.mu.Unlock()
	w.Offset, w.Trip = offset, best
	return nil
}

// patience is how long a worker may take to answer.
const patience = 10 * time.Second

// ask asks a worker for something, or tells it something, under a number; without one nothing
// comes of it there, and it is not signed.
func (c *Coordinator) ask(ctx context.Context, i int, what, number string, data []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	q := &nats.Msg{Subject: c.to(i, what), Data: data}
	if number != "" {
		c.mu.Lock()
		to := c.workers[i].Hello.ID + "." + strconv.Itoa(i)
		c.mu.Unlock()
		q.Header = c.o.Key.seal(c.o.Run, to, what, number, data)
	}
	m, err := c.nc.RequestMsgWithContext(ctx, q)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return m.Data, nil
}
