package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// audit is the process of reading everything back: what was found of each event.
type audit struct {
	ledger *Ledger
	trail  Trail
	makers map[int]*generate.Maker
	seen   map[int]*seqset
	last   map[int]int64
	open   model.Opener
	f      report.Ledger
}

// maxExamples is how many events of each kind are named.
const maxExamples = 10

func (a *audit) example(kind string, id string) {
	if a.f.Examples == nil {
		a.f.Examples = map[string][]string{}
	}
	if len(a.f.Examples[kind]) < maxExamples {
		a.f.Examples[kind] = append(a.f.Examples[kind], id)
	}
}

// row accounts for the events of one row.
func (a *audit) row(w *model.Record) error {
	es, err := a.open.Events(w)
	if err != nil {
		a.f.Corrupt += int64(w.Count)
		a.example("corrupt", string(w.ID))
		return nil //nolint:nilerr // it is counted
	}
	// A stored status may have become failed: the status of an event with children also
	// covers theirs.
	either := a.trail.Traits.PlainSingle && w.Single && !w.OK
	for i := range es {
		a.event(&es[i], either, a.trail.Traits.PlainSingle && w.Single)
	}
	return nil
}

func (a *audit) event(e *wire.Event, either, bare bool) {
	g, seq, ok := a.trail.Authors.Of(e.ID.ID)
	if !ok || seq > a.ledger.highest(uint32(g)) {
		a.f.Unexpected++
		a.example("unexpected", string(e.ID.ID))
		return
	}
	if a.makers[g] == nil {
		a.makers[g], a.seen[g] = generate.NewMaker(a.trail.Authors.Shape, g), &seqset{}
	}
	if a.seen[g].add(seq, 1) == 0 {
		a.f.Duplicated++
		a.example("duplicated", string(e.ID.ID))
		return
	}
	if seq < a.last[g] {
		a.f.OutOfOrder++
	}
	a.last[g] = seq
	m := a.makers[g]
	right := m.Same(e, seq)
	if !right && either {
		e.Failed = !e.Failed
		right = m.Same(e, seq)
	}
	if !right || !bare && !m.SameLinks(a.open.Batch.Attached(e), seq, e.ID.Start) {
		a.f.Corrupt++
		a.example("corrupt", string(e.ID.ID))
	}
}

// missing compares what was found with what should be there.
func (a *audit) missing() {
	l := a.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	for g, b := range l.books {
		seen := a.seen[int(g)]
		if seen == nil {
			seen = &seqset{}
		}
		a.f.Once += seen.n
		if seen.n == b.generated && max(b.acked.n, b.confirmed.n) == b.generated {
			continue
		}
		for seq := int64(1); seq <= b.generated; seq++ {
			switch {
			case seen.has(seq) && !b.acked.has(seq) && !b.confirmed.has(seq) && !b.refused.has(seq):
				a.f.ThereAnyway++
			case seen.has(seq), b.refused.has(seq):
			case b.acked.has(seq) || b.confirmed.has(seq) && !b.lost:
				a.f.Missing++
				a.example("missing", fmt.Sprintf("generator %d, event %d", g, seq))
			default:
				a.f.Unconfirmed++
			}
		}
	}
	a.f.Once -= a.f.Duplicated
}

// highest returns the highest number that a generator may have used.
func (l *Ledger) highest(generator uint32) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of(generator).highest()
}

// Trail says where the events of a run can be found, and how to recognize them.
type Trail struct {
	Lookup  model.Lookup
	Traits  model.Traits
	Authors *generate.Authors
	// From and To limit the starts of all events; 0 if nothing was stored.
	From, To int64
}

// Audit reads back everything of the run and accounts for it.
func (l *Ledger) Audit(ctx context.Context, t Trail) (*report.Ledger, error) {
	a := &audit{ledger: l, trail: t, makers: map[int]*generate.Maker{}, seen: map[int]*seqset{}, last: map[int]int64{}, open: model.Opener{Traits: t.Traits}}
	began := time.Now()
	if t.From > 0 {
		if err := t.Lookup.Scan(ctx, t.From, t.To, a.row); err != nil {
			return nil, err
		}
	}
	a.missing()
	l.Sums(&a.f)
	a.f.Read, a.f.ReadNs = true, int64(time.Since(began))
	return &a.f, nil
}
