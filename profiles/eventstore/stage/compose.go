package stage

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// composer turns deliveries into records: it validates, encodes and compresses. It
// belongs to one goroutine, and reuses all its memory.
type composer struct {
	st     *Stage
	b      wire.Batch
	valid  *validator
	comp   *wire.Compressor
	lc     *wire.Compressor // of links
	link   wire.Linker
	pieces []piece
	raw    []byte
	rawL   []byte
}

func newComposer(st *Stage) (*composer, error) {
	c := &composer{st: st, valid: newValidator()}
	var err error
	if c.comp, err = wire.NewCompressor(st.Options.Codec); err == nil {
		c.lc, err = wire.NewCompressor(st.Options.Codec)
	}
	if err != nil {
		return nil, fmt.Errorf("compression: %w", err)
	}
	return c, nil
}

// work works on one delivery until all its items have been passed to the writers. It
// returns an error if ctx ends first.
func (c *composer) work(ctx context.Context, d *transport.Delivery) error {
	st := c.st
	began := st.Clock()
	err := c.b.Decode(d.Body)
	inner := false
	if err == nil {
		inner, err = c.valid.check(&c.b, st.Wall())
	}
	if err == nil && st.Options.Compat && c.b.Parent.Set && wire.ContentSize(c.b.Events) > st.Options.BatchLimit {
		st.Failures.Lose(func(l *report.Losses) { l.Oversized += int64(d.Count) })
		err = invalid("%d bytes of content are over the limit of %d", wire.ContentSize(c.b.Events), st.Options.BatchLimit)
	}
	if err != nil {
		st.reject(d, err)
		return nil
	}
	if len(c.b.Events) == 0 {
		return st.Receiver.Ack(d)
	}
	c.pieces = cut(c.pieces, &c.b, inner, st.Options.BatchLimit)
	j := &job{d: d, from: st.Receiver}
	j.left.Store(int32(len(c.pieces)))
	worked := st.Clock() - began
	for i, p := range c.pieces {
		es := c.b.Events[p.from:p.to]
		size := int64(wire.ContentSize(es))
		from := st.Clock()
		if err := st.Gate.enter(ctx, size); err != nil {
			return err
		}
		entered := st.Clock()
		if blocked := entered - from; blocked > 0 {
			st.Counts.blocked(d.Warm, blocked)
		}
		r, err := c.item(j, p, es)
		if err != nil { // cannot happen: content is always compressible
			st.Gate.leave(size)
			st.giveUp(j, err)
			continue
		}
		r.size, r.worked = size, st.Clock()-entered
		if i == 0 {
			r.worked += worked
		}
		st.count(es)
		if err := st.pass(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// pass passes an item to the writers, in parts if it exceeds the limit.
func (st *Stage) pass(ctx context.Context, r *item) error {
	parts := []*item{r}
	if r.Single && !st.Traits.PlainSingle && len(r.Body) > st.Options.BatchLimit {
		parts = r.divide(st.Options.BatchLimit)
		r.job.left.Add(int32(len(parts) - 1))
	}
	for _, p := range parts {
		select {
		case st.items <- p:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// item makes the item for a piece.
func (c *composer) item(j *job, p piece, es []wire.Event) (*item, error) {
	r := newItem()
	first := &es[0]
	r.job, r.Count, r.Single, r.OK = j, len(es), p.single, true
	r.Start, r.Last, r.End = first.ID.Start.NS(), first.ID.Start.NS(), first.End.NS()
	for i := range es {
		e := &es[i]
		r.Start, r.Last, r.End = min(r.Start, e.ID.Start.NS()), max(r.Last, e.ID.Start.NS()), max(r.End, e.End.NS())
		if e.Failed {
			r.OK, r.failed = false, r.failed+1
		}
	}
	parent := &c.b.Parent
	switch {
	case p.single:
		parent = &first.Parent
		r.ID = append(r.ID, first.ID.ID...)
		r.Name, r.Kind = append(r.Name, first.Name...), append(r.Kind, first.Kind...)
	case c.st.Options.RandomID:
		r.ID = c.st.nextID(r.ID)
	default:
		r.ID = appendBatchID(r.ID, es)
	}
	if parent.Set {
		r.Parent = wire.AppendFullID(r.Parent, parent)
	}
	t := &c.st.Traits
	c.raw, c.rawL = c.raw[:0], c.rawL[:0]
	if p.single && t.PlainSingle {
		c.raw = append(c.raw, first.Body...)
		c.rawL = wire.AppendSingleLinks(c.rawL, c.b.Attached(first))
	} else {
		c.raw = wire.AppendContent(c.raw, es)
		c.rawL = c.link.AppendLinks(c.rawL, &c.b, es)
	}
	r.Raw, r.rawLinks = len(c.raw), len(c.rawL)
	return r, c.squeeze(r)
}

// squeeze compresses content, and links unless they are stored as they are.
func (c *composer) squeeze(r *item) error {
	var err error
	if r.Raw <= c.st.Options.CompressOver || c.st.Options.Codec == wire.None {
		r.Body = append(r.Body, c.raw...)
		r.Links = append(r.Links, c.rawL...)
		return nil
	}
	r.Codec = c.st.Options.Codec
	if r.Body, err = c.comp.Append(r.Body, c.raw); err != nil {
		return err
	}
	if c.st.Traits.LinksRaw || r.rawLinks == 0 {
		r.Links = append(r.Links, c.rawL...)
		return nil
	}
	r.Links, err = c.lc.Append(r.Links, c.rawL)
	return err
}
