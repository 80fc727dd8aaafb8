package fleet

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// State is how it stands with a worker.
type State string

// States of a worker.
const (
	// Working: it joined and is heard of.
	Working State = "working"
	// Stalled: it is connected, and silent.
	Stalled State = "stalled"
	// Gone: its connection ended, and it is silent.
	Gone State = "gone"
	// Ended: its work is done and all of its figures are here.
	Ended State = "ended"
)

// Member is a worker as reports show it.
type Member struct {
	Hello
	State State
	// Offset is how far its clock is ahead of the coordinator's, known to half of Trip, the
	// fastest way there and back.
	Offset, Trip time.Duration
	// Skew is how much later than the moment agreed on it began; negative: earlier.
	Skew time.Duration
	// Last is the last second that it told of, Count the units that it did, Errors the
	// calls that failed.
	Last          int
	Count, Errors int64
	// LostAt is when it was found to be gone, since the start of the run; 0: it was not.
	LostAt time.Duration
	// Stalls is how often it was silent for a while and came back.
	Stalls int
	// Slowest is the longest that a change of settings took to get there.
	Slowest time.Duration
	Doubts  []string
	Err     string
}

// worker is a member as the coordinator knows it; guarded by Coordinator.mu.
type worker struct {
	Hello Hello
	ready bool
	state State
	beat  time.Time

	Offset, Trip, Skew, LostAt, Slowest time.Duration

	began         bool
	number        int64 // of its last report
	last          int
	count, errors int64
	gauges        []measure.Gauge
	unstarted     [][]int64
	spans         []measure.Span
	stalls        int
	doubts        []string
	err           string
}

func (w *worker) done() bool { return w.state == Ended || w.state == Gone }

// Members tells of all workers.
func (c *Coordinator) Members() []Member {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Member
	for _, w := range c.workers {
		m := Member{
			Hello: w.Hello, State: w.state, Offset: w.Offset, Trip: w.Trip, Skew: w.Skew, Last: w.last, Count: w.count, Errors: w.errors,
			LostAt: w.LostAt, Stalls: w.stalls, Slowest: w.Slowest, Doubts: slices.Clone(w.doubts), Err: w.err,
		}
		if m.State == "" {
			m.State = Working
		}
		out = append(out, m)
	}
	return out
}

func (c *Coordinator) beat(m *nats.Msg) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, w := c.of(m.Subject)
	if w == nil {
		return
	}
	w.beat = time.Now()
	if w.state == Stalled || w.state == Gone {
		w.stalls++
		c.notice(i, w, Working)
		w.state = ""
	}
}

// notice puts a worker in another state, and says so. The caller holds c.mu.
func (c *Coordinator) notice(i int, w *worker, now State) {
	if w.state != now && c.o.Noticed != nil && !c.at.IsZero() {
		go c.o.Noticed(i, w.Hello.Host, now) // it may ask us
	}
	w.state = now
}

// figures takes a report. What was sent twice counts once.
func (c *Coordinator) figures(m jetstream.Msg) {
	var r Report
	c.mu.Lock()
	i, w := c.of(m.Subject())
	c.mu.Unlock()
	if w == nil {
		return
	}
	err := gob.NewDecoder(bytes.NewReader(m.Data())).Decode(&r)
	if err == nil {
		if r.N <= w.number { // only this goroutine writes it
			return
		}
		err = c.o.Take(i, &r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w.number = max(w.number, r.N)
	if err != nil {
		w.err = fmt.Sprintf("what it sent cannot be used: %v", err)
		w.state = Ended
		c.end()
		return
	}
	w.beat = time.Now()
	if r.Began != 0 && !w.began {
		w.began, w.Skew = true, time.Duration(r.Began-c.at.Add(w.Offset).UnixNano())
	}
	if p := r.Part; p != nil {
		w.last = p.T
		w.gauges, w.unstarted, w.spans = p.Gauges, p.Unstarted, p.Spans
		if p.T >= 0 {
			count, errors := p.Sums()
			w.count, w.errors = w.count+count, w.errors+errors
		}
	}
	if r.Over {
		w.state, w.err, w.doubts = Ended, r.Err, r.Doubts
		c.end()
	}
}

// end closes over when nobody works any more. The caller holds c.mu.
func (c *Coordinator) end() {
	if len(c.workers) < c.o.Workers || slices.ContainsFunc(c.workers, func(w *worker) bool { return !w.done() }) {
		return
	}
	select {
	case <-c.over:
	default:
		close(c.over)
	}
}

// look finds out who is silent, and who is gone.
func (c *Coordinator) look(ctx context.Context) {
	tick := time.NewTicker(beatEvery / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.mu.Lock()
		quiet := slices.ContainsFunc(c.workers, func(w *worker) bool { return w.state != Ended && time.Since(w.beat) > silent })
		c.mu.Unlock()
		if quiet {
			c.sortOut()
		}
	}
}

// sortOut tells those that are stalled from those that are gone.
func (c *Coordinator) sortOut() {
	there := map[string]bool{}
	if conns, err := c.srv.Connz(&server.ConnzOptions{Limit: MaxWorkers * 2}); err == nil {
		for _, i := range conns.Conns {
			there[i.Name] = true
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, w := range c.workers {
		if w.done() || time.Since(w.beat) <= silent {
			continue
		}
		if there[w.Hello.ID] {
			c.notice(i, w, Stalled)
			continue
		}
		c.notice(i, w, Gone)
		if !c.at.IsZero() {
			w.LostAt = time.Since(c.at)
		}
		c.tell()
		c.end()
	}
}

// Complete says whether all workers that work have told of a second.
func (c *Coordinator) Complete(second int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(c.workers, func(w *worker) bool { return w.state == "" && w.last < second })
}

// Seen tells how many units of a track are due and not begun, over all workers, and when
// the last of them ended it, since measurement began; 0: one has not.
func (c *Coordinator) Seen(track int) (backlog int64, ended time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := true
	for _, w := range c.workers {
		if track < len(w.gauges) && !w.done() {
			backlog += w.gauges[track].Backlog
		}
		known = known && w.done()
		if track < len(w.spans) {
			ended = max(ended, time.Duration(w.spans[track].To))
		}
	}
	if !known {
		ended = 0
	}
	return backlog, ended
}

// Unstarted is how many units of a track were due in a segment and never begun.
func (c *Coordinator) Unstarted(segment, track int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var n int64
	for _, w := range c.workers {
		if segment < len(w.unstarted) && track < len(w.unstarted[segment]) {
			n += w.unstarted[segment][track]
		}
	}
	return n
}

// Change tells each worker its settings; of gives them. It does not wait for the answers:
// how long they took stands in Members.
func (c *Coordinator) Change(ctx context.Context, segment int, of func(worker int) []workload.Settings) {
	for i := range c.o.Workers {
		c.command(ctx, i, Command{Settings: of(i), Segment: segment})
	}
}

// Stop tells all workers to end.
func (c *Coordinator) Stop(ctx context.Context, why string) {
	for i := range c.o.Workers {
		c.command(ctx, i, Command{Stop: why})
	}
}

func (c *Coordinator) command(ctx context.Context, i int, cmd Command) {
	data, sent := encoded(cmd), time.Now()
	go func() { // ends with the answer, or its patience
		answer, err := c.ask(ctx, i, "control", data)
		var a applied
		if err != nil || json.Unmarshal(answer, &a) != nil {
			return // it is silent, which look finds out
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if w := c.workers[i]; cmd.Stop == "" {
			w.Slowest = max(w.Slowest, time.Duration(a.At-sent.Add(w.Offset).UnixNano()))
		}
	}()
}
