package stage

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// item is a record on its way through the store stage. Items are pooled.
type item struct {
	model.Record
	job      *job
	failed   int // how many of its events have status FAILED
	rawLinks int // length of the links before compression
	// size is what it counts for at the gate; worked is how long it took to make.
	size, worked int64
}

var items = sync.Pool{New: func() any { return new(item) }}

func newItem() *item { return items.Get().(*item) }

func (r *item) release() {
	*r = item{Record: model.Record{ID: r.ID[:0], Parent: r.Parent[:0], Name: r.Name[:0], Kind: r.Kind[:0], Body: r.Body[:0], Links: r.Links[:0]}}
	items.Put(r)
}

// job is one delivery in the store stage; it is settled when all its items are.
type job struct {
	d      *transport.Delivery
	from   transport.Receiver
	left   atomic.Int32
	failed atomic.Bool
}

// appendBatchID appends an id derived from the first and the last event of a batch and
// their number: a UUID of their hash, and the number.
func appendBatchID(dst []byte, es []wire.Event) []byte {
	h := func(seed uint64) uint64 {
		d := generate.Dice(seed)
		for _, id := range [][]byte{es[0].ID.ID, es[len(es)-1].ID.ID} {
			for _, c := range id {
				d = (d ^ generate.Dice(c)) * 0x100000001B3
			}
			d ^= generate.Dice(len(id)) << 32
		}
		d ^= generate.Dice(es[0].ID.Start.NS())
		return d.Next()
	}
	dst = generate.AppendUUID(dst, h(0xCBF29CE484222325), h(0x84222325CBF29CE4))
	return strconv.AppendInt(append(dst, '-'), int64(len(es)), 10)
}

// divide splits an item into as many as its body needs under the limit; r becomes the
// first.
func (r *item) divide(limit int) []*item {
	body := r.Body
	of := (len(body) + limit - 1) / limit
	if of < 2 {
		return []*item{r}
	}
	out := make([]*item, of)
	for i := range out {
		p := r
		if i > 0 {
			p = newItem()
			id, parent, links, whole := p.ID, p.Parent, p.Links, p.Body
			*p = *r
			p.ID = append(id[:0], model.Trunk(r.ID)...) //nolint:gocritic // into its own buffer again
			p.Parent = append(parent[:0], r.Parent...)  //nolint:gocritic // as above
			p.Links, p.Name, p.Kind = links[:0], nil, nil
			p.Body = append(whole[:0], body[i*limit:min((i+1)*limit, len(body))]...) //nolint:gocritic // as above
			p.Count, p.failed, p.rawLinks, p.size, p.Raw = 0, 0, 0, 0, 0
		}
		p.ID = fmt.Appendf(p.ID, "%c%04d.%04d", model.PartMark, i+1, of)
		out[i] = p
	}
	r.Body = body[:limit]
	return out
}
