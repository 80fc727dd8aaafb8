package run

import (
	"slices"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/northwind"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// prepare makes the keys and values for one operation of an invocation. It is not part
// of any operation's time.
func (k *task) prepare(c *kept, i int, p padogrid.Piece, it *workload.Iteration) {
	o, g := c.Op, k.r.g
	if c.Action == model.ActSleep {
		return
	}
	if c.stock == nil {
		k.w.place(c)
	}
	c.Warm = it.Warmup
	c.Payload = o.PayloadOf(g, it.Settings)
	k.reset(&c.Call)
	batch := o.BatchOf(g, it.Settings)
	switch {
	case c.Action == model.ActPoll, c.Action == model.ActPeek, c.Action == model.ActTake:
	case c.Action == model.ActGet, c.Action == model.ActGetAll, c.Action == model.ActQuery:
		k.choose(&c.Call, batch, g.First[p.Share]+p.Off)
	case c.Action.Bulk() && o.Kind.Keyed():
		k.bulk(c, i, p, batch)
	case c.Action.Bulk():
		for range batch {
			k.add(&c.Call, o.Start+g.First[p.Share]+p.Off, "", nil)
		}
	default:
		k.add(&c.Call, o.Start+g.First[p.Share]+p.Off, "", nil)
	}
}

// reset empties a call and keeps its buffers.
func (k *task) reset(c *model.Call) {
	c.Numbers, c.Objects, c.Tags, c.Entries = c.Numbers[:0], c.Objects[:0], c.Tags[:0], c.Entries[:0]
}

// bulk adds the next batch of the share's slice of keys. Each run starts at the first
// one.
func (k *task) bulk(c *kept, i int, p padogrid.Piece, batch int) {
	cursors := k.r.bulk[i]
	if c.Warm {
		cursors = k.r.warmBulk[i]
	}
	cur := &cursors[p.Share]
	if p.Off == 0 {
		cur.Store(0)
	}
	from, n := c.Op.Slice(k.r.g, p.Share)
	batch = int(min(int64(batch), n)) // keys that repeat within a batch collapse into one
	at := cur.Add(int64(batch)) - int64(batch)
	for j := range int64(batch) {
		k.add(&c.Call, c.Op.Start+from+(at+j)%n, "", nil)
	}
}

// choose adds the keys that a read requests: distinct random ones, or the next ones.
func (k *task) choose(c *model.Call, batch int, invocation int64) {
	o := c.Op
	first := o.Start
	if o.Factory != nil && c.Action == model.ActGetAll && !o.StartAdd {
		first = 0
	}
	if o.Sequential {
		for j := range int64(batch) {
			k.add(c, first+(invocation*int64(batch)+j)%o.Total, "", nil)
		}
		return
	}
	for range batch {
		n := first + k.draw(o)
		if batch > 1 && slices.Contains(c.Numbers, n) {
			continue
		}
		k.add(c, n, "", nil)
	}
}

func (k *task) draw(o *model.Op) int64 {
	if o.Shared != nil && o.Total <= 1<<31-1 {
		return o.Shared.Intn(o.Total)
	}
	return k.rnd.Int64N(o.Total)
}

// add adds the entry with a number to a call.
func (k *task) add(c *model.Call, n int64, parent string, tag []byte) {
	o := c.Op
	c.Numbers = append(c.Numbers, n)
	var e store.Entry
	if i := len(c.Entries); i < cap(c.Entries) {
		e = c.Entries[:i+1][i]
		e.Key = e.Key[:0]
	}
	reading := c.Action == model.ActGet || c.Action == model.ActGetAll || c.Action == model.ActQuery || c.Action == model.ActRemove && o.Kind.Keyed()
	switch {
	case o.Factory == nil:
		e.Key = o.Key(e.Key, n)
		if !reading {
			e.Val = k.value(c, e.Val)
		}
	case reading:
		e.Key = k.readKey(e.Key, o, n)
	case o.Factory.Entity.Object != nil:
		k.defined(c, &e, n, parent)
	default:
		id, r := o.Factory.Object(n, parent, k.w.s.Today)
		e.Key = append(e.Key, id...)
		if o.Table {
			c.Objects = append(c.Objects, r)
		} else {
			e.Val = northwind.Value(r)
			if o.Kind.Topic() {
				e.Val = append(make([]byte, headerBytes, headerBytes+len(e.Val)), e.Val...)
			}
		}
	}
	c.Entries = append(c.Entries, e)
	if o.Space.Grouped && !o.Kind.Many() {
		if tag == nil {
			tag = tagOf(k.w.s, o, n, e.Key)
		}
		c.Tags = append(c.Tags, tag)
	}
}

// readKey appends the key with a number, for reading: the deterministic form, whatever
// isRandom says, as in the original. Random ids can be found again if compat is off,
// and verification uses the key under which an entry was written.
func (k *task) readKey(dst []byte, o *model.Op, n int64) []byte {
	if o.Direct && o.Factory.Joined {
		id, _ := o.Factory.Object(n, "", k.w.s.Today)
		return append(dst, id...)
	}
	if o.Factory.Random && (o.Direct || !k.w.s.Compat) {
		return append(dst, o.Factory.ID(n)...)
	}
	return o.Factory.Key(dst, n)
}

// value returns the contents of a value without a factory.
func (k *task) value(c *model.Call, old []byte) []byte {
	if c.Op.Kind.Topic() { // each message has its own header
		if len(old) != c.Payload {
			return make([]byte, c.Payload)
		}
		return old
	}
	if len(k.blob) < c.Payload {
		k.blob = make([]byte, c.Payload)
		if k.w.s.Fill == "random" {
			for i := range k.blob {
				k.blob[i] = byte(k.rnd.Uint32())
			}
		}
	}
	return k.blob[:c.Payload]
}

// defined adds a defined object to a call.
func (k *task) defined(c *model.Call, e *store.Entry, n int64, parent string) {
	o := c.Op
	m := k.makers[o]
	if m == nil {
		if k.makers == nil {
			k.makers = map[*model.Op]*datagen.Maker{}
		}
		m = o.Maker()
		k.makers[o] = m
	}
	link := datagen.None
	if parent != "" {
		link = o.Factory.Link
	}
	m.Make(n, link, parent, c.Payload)
	e.Key = append(e.Key, m.Key()...)
	switch {
	case o.Table && k.w.s.Mapper == "raw":
		c.Objects = append(c.Objects, northwind.Cells(m.Args(nil)))
	case o.Table:
		c.Objects = append(c.Objects, northwind.GormRow{Row: m.Struct()})
	case o.Kind.Topic(): // receivers keep what they receive
		e.Val = m.AppendJSON(make([]byte, headerBytes, headerBytes+256))
	default:
		e.Val = m.AppendJSON(e.Val[:0])
	}
}
