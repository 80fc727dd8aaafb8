package ingestion

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// binding is the plan at work on one store.
type binding struct {
	s     *spec
	conn  store.Conn
	claim *ownership.Claim
	w     writer
	read  reader
	loads []*load
	// shared is what processes share.
	shared *workload.Shared
}

// Connector connects a plan to stores of every kind by their shapes.
func (s *spec) Connector(string) workload.Connector { return s.bind }

// bind connects a plan to a store. It changes nothing there.
func (s *spec) bind(_ context.Context, p *workload.Bound) error {
	b := &binding{s: s, conn: p.Conn, shared: p.Shared}
	if err := b.capabilities(); err != nil {
		return fault.Store(fmt.Errorf("ingestion: %w", err), "use redis:// or embedded:")
	}
	for i := range s.maps {
		l := newLoad(s, &s.maps[i])
		b.loads = append(b.loads, l)
		p.Phases[0].Tracks[i].NewTask = func(worker int) (workload.Task, error) {
			return newTask(l, b.conn, b.w, worker), nil
		}
	}
	for _, l := range b.loads {
		p.Claims = append(p.Claims, ownership.Space{Space: l.space, Kind: "hash", Parts: padogrid.GroupForms(l.space, s.prefix)})
	}
	p.Parts = workload.Parts{b}
	b.share(p.Shared)
	return nil
}

// capabilities asks the connection for what the plan needs, and no more.
func (b *binding) capabilities() error {
	var err error
	need := func(e error) { err = errors.Join(err, e) }
	var e error
	b.read.count, e = store.As[store.Counter](b.conn)
	need(e)
	if b.s.grouped {
		b.w.grouped, e = store.As[store.GroupPutter](b.conn)
		need(e)
		b.read.grouped = b.w.grouped
		return err
	}
	b.read.getAll, e = store.As[store.BatchGetter](b.conn)
	need(e)
	for _, m := range b.s.maps {
		if m.putAll {
			b.w.putAll, e = store.As[store.BatchPutter](b.conn)
		} else {
			b.w.put, e = store.As[store.Putter](b.conn)
		}
		need(e)
	}
	return err
}

// Admit looks at what the maps hold, and says what is to be recorded of them.
func (b *binding) Admit(ctx context.Context, c *ownership.Claim) error {
	b.claim = c
	for _, l := range b.loads {
		if err := b.admitMap(ctx, c, l); err != nil {
			return err
		}
	}
	return nil
}

// admitMap refuses a map that is there in the other layout.
func (b *binding) admitMap(ctx context.Context, c *ownership.Claim, l *load) error {
	other := l.space
	other.Grouped = !other.Grouped
	if _, ok := c.Earlier(other); ok {
		found, err := c.Inspect(ctx, other)
		if err != nil {
			return fmt.Errorf("map %s: %w", l.m.name, err)
		}
		if found.Exists && found.Size != 0 {
			return fault.Input(fmt.Errorf("map %s exists in the other layout: an earlier run made it with layout=%s", l.m.name, layoutWord(other)),
				fmt.Sprintf("delete it with  %s,  keep that layout, or use another --namespace", ownership.DeleteCommand(b.s.namespace)))
		}
	}
	return c.Update(ctx, l.space, b.params(l, c.Spot(l.space)))
}

func layoutWord(s store.Space) string {
	if s.Grouped {
		return layoutGroup
	}
	return layoutMap
}

// params is what is recorded of a map: what a later run must know to read it, and
// which sets of keys have been written, so that a later verification knows how many
// there may be.
func (b *binding) params(l *load, spot ownership.Spot) map[string]string {
	s, m, sets := b.s, l.m, &keySets{}
	existed := spot.State != ownership.Fresh || spot.Found.Size > 0 // a grouped map has groups of others among its own
	switch {
	case existed && spot.Recorded:
		sets = parseKeySets(spot.Earlier.Params["keysets"])
	case existed:
		sets.add("others", max(spot.Found.Size, 0))
	}
	sets.add(m.keySet(s), m.entries())
	l.mu.Lock()
	l.existed, l.before = existed, sets.total()
	l.mu.Unlock()
	return map[string]string{
		"layout":        s.layout(),
		"prefix":        s.prefix,
		"memberSetSize": strconv.FormatInt(s.members, 10),
		"totalEntries":  strconv.FormatInt(m.entries(), 10),
		"threads":       strconv.Itoa(m.start.Threads),
		"perThread":     strconv.FormatInt(m.per, 10),
		"payload":       strconv.Itoa(m.start.Payload),
		"baseDateMs":    strconv.FormatInt(s.base, 10),
		"seed":          strconv.FormatInt(s.seed, 10),
		"keysets":       sets.String(),
	}
}
