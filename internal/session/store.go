package session

import (
	"context"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/verdict"
)

// patience is how long a store may take to report what it has used.
const patience = time.Second

// counters computes, from successive readings of a store's servers, what they did in
// between.
type counters struct {
	at   time.Time
	last map[counter]float64
}

type counter struct{ node, name string }

// add takes the readings of a moment. For a counter, the growth per second is known
// from the second reading on, unless the server was restarted in between, or hardly any
// time has passed.
func (c *counters) add(second int, at time.Time, told []store.Reading) (out []rundir.Sample) {
	passed, last := at.Sub(c.at).Seconds(), c.last
	if passed < measure.ShortestRate {
		return nil
	}
	c.at, c.last = at, make(map[counter]float64, len(told))
	for _, r := range told {
		if store.OfProcess(r.Name) {
			continue
		}
		v := r.Value
		if r.Sum {
			key := counter{r.Node, r.Name}
			before, known := last[key]
			c.last[key] = v
			if v -= before; !known || v < 0 {
				continue
			}
			v /= passed
		}
		out = append(out, rundir.Sample{T: second, Source: rundir.OfStore, Node: r.Node, Name: r.Name, Value: v})
	}
	return out
}

// pooled returns how long calls waited for a connection in a second.
func (s *Sampler) pooled(second int) []rundir.Sample {
	if s.o.Pool == nil {
		return nil
	}
	p, ok := s.o.Pool()
	if !ok || p.Size == 0 {
		return nil
	}
	row := s.pool.add(second, time.Now(), []store.Reading{
		{Name: "pool_waits_per_s", Value: float64(p.Waits), Sum: true},
		{Name: "pool_wait_ms_per_s", Value: float64(p.WaitNs) / 1e6, Sum: true},
		{Name: "busy_poll_cores", Value: p.Polled.Seconds(), Sum: true},
	})
	for i := range row {
		row[i].Source = rundir.OfClient
	}
	return row
}

// usage returns what has been used so far.
func usage(ctx context.Context, m store.Metered) store.Usage {
	if m == nil {
		return store.Untold()
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return m.Usage(ctx)
}

// between returns what was used between two moments; nil if nothing is reported, as
// when a server was restarted in between.
func between(before, after store.Usage) *verdict.Used {
	grown := func(before, after int64) *int64 {
		if before < 0 || after < before {
			return nil
		}
		return new(after - before)
	}
	u := verdict.Used{Received: grown(before.Received, after.Received), Sent: grown(before.Sent, after.Sent), Asked: grown(before.Asked, after.Asked)}
	if before.CPU >= 0 && after.CPU >= before.CPU {
		u.CPU = new(after.CPU - before.CPU)
	}
	if u.Calls = grown(before.Calls, after.Calls); u.Calls != nil {
		u.Kind = after.Kind
	}
	if after.Memory >= 0 {
		u.Memory = new(after.Memory)
	}
	if u == (verdict.Used{}) {
		return nil
	}
	return &u
}
