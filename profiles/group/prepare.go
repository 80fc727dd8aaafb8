package group

import (
	"slices"

	"github.com/perfbench/perfbench/internal/objects"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// prepare makes the keys and values of one operation of an invocation. It is not
// part of any operation's time.
func (k *task) prepare(c *kept, i int, p padogrid.Piece, it *workload.Iteration) {
	o, g := c.o, k.r.g
	if c.act == actSleep {
		return
	}
	if c.stock == nil {
		k.b.place(c)
	}
	c.warm = it.Warmup
	c.payload = o.payloadOf(g, it.Settings)
	k.reset(&c.call)
	batch := o.batchOf(g, it.Settings)
	switch {
	case c.act == actPoll, c.act == actPeek, c.act == actTake:
	case c.act == actGet, c.act == actGetAll, c.act == actQuery:
		k.choose(&c.call, batch, g.first[p.Share]+p.Off)
	case c.act.bulk() && o.kind.keyed():
		k.bulk(c, i, p, batch)
	case c.act.bulk():
		for range batch {
			k.add(&c.call, o.start+g.first[p.Share]+p.Off, "", nil)
		}
	default:
		k.add(&c.call, o.start+g.first[p.Share]+p.Off, "", nil)
	}
}

// reset empties a call and keeps its buffers.
func (k *task) reset(c *call) {
	c.numbers, c.objects, c.tags, c.entries = c.numbers[:0], c.objects[:0], c.tags[:0], c.entries[:0]
}

// bulk adds the next batch of the share's slice of keys. Each run begins with its
// first one.
func (k *task) bulk(c *kept, i int, p padogrid.Piece, batch int) {
	cursors := k.r.bulk[i]
	if c.warm {
		cursors = k.r.warmBulk[i]
	}
	cur := &cursors[p.Share]
	if p.Off == 0 {
		cur.Store(0)
	}
	from, n := c.o.slice(k.r.g, p.Share)
	batch = int(min(int64(batch), n)) // keys that repeat within a batch collapse
	at := cur.Add(int64(batch)) - int64(batch)
	for j := range int64(batch) {
		k.add(&c.call, c.o.start+from+(at+j)%n, "", nil)
	}
}

// choose adds the keys that a read asks for: random ones, each once, or the next.
func (k *task) choose(c *call, batch int, invocation int64) {
	o := c.o
	first := o.start
	if o.factory != nil && c.act == actGetAll && !o.startAdd {
		first = 0
	}
	if o.sequential {
		for j := range int64(batch) {
			k.add(c, first+(invocation*int64(batch)+j)%o.total, "", nil)
		}
		return
	}
	for range batch {
		n := first + k.draw(o)
		if batch > 1 && slices.Contains(c.numbers, n) {
			continue
		}
		k.add(c, n, "", nil)
	}
}

func (k *task) draw(o *opSpec) int64 {
	if o.shared != nil && o.total <= 1<<31-1 {
		return o.shared.intn(o.total)
	}
	return k.rnd.Int64N(o.total)
}

// add puts the entry of a number into a call.
func (k *task) add(c *call, n int64, parent string, tag []byte) {
	o := c.o
	c.numbers = append(c.numbers, n)
	var e store.Entry
	if i := len(c.entries); i < cap(c.entries) {
		e = c.entries[:i+1][i]
		e.Key = e.Key[:0]
	}
	reading := c.act == actGet || c.act == actGetAll || c.act == actQuery || c.act == actRemove && o.kind.keyed()
	switch {
	case o.factory == nil:
		e.Key = o.key(e.Key, n)
		if !reading {
			e.Val = k.value(c, e.Val)
		}
	case reading:
		e.Key = k.readKey(e.Key, o, n)
	case o.factory.entity.object != nil:
		k.defined(c, &e, n, parent)
	default:
		id, r := o.factory.object(n, parent, k.b.s.today)
		e.Key = append(e.Key, id...)
		if o.table {
			c.objects = append(c.objects, r)
		} else {
			e.Val = value(r)
			if o.kind.topic() {
				e.Val = append(make([]byte, headerBytes, headerBytes+len(e.Val)), e.Val...)
			}
		}
	}
	c.entries = append(c.entries, e)
	if o.space.Grouped && !o.kind.many() {
		if tag == nil {
			tag = k.b.tag(o, n, e.Key)
		}
		c.tags = append(c.tags, tag)
	}
}

// readKey is the key of a number to read: the deterministic form, whatever isRandom
// says, as in the original; random ids are found again when compat is off, and what
// verification reads has the key under which it was written.
func (k *task) readKey(dst []byte, o *opSpec, n int64) []byte {
	if o.direct && o.factory.joined {
		id, _ := o.factory.object(n, "", k.b.s.today)
		return append(dst, id...)
	}
	if o.factory.random && (o.direct || !k.b.s.compat) {
		return append(dst, o.factory.id(n)...)
	}
	return o.factory.key(dst, n)
}

// value is what a value without factory holds.
func (k *task) value(c *call, old []byte) []byte {
	if c.o.kind.topic() { // each message has a header of its own
		if len(old) != c.payload {
			return make([]byte, c.payload)
		}
		return old
	}
	if len(k.blob) < c.payload {
		k.blob = make([]byte, c.payload)
		if k.b.s.fill == "random" {
			for i := range k.blob {
				k.blob[i] = byte(k.rnd.Uint32())
			}
		}
	}
	return k.blob[:c.payload]
}

// defined puts a defined object into a call.
func (k *task) defined(c *call, e *store.Entry, n int64, parent string) {
	o := c.o
	m := k.makers[o]
	if m == nil {
		if k.makers == nil {
			k.makers = map[*opSpec]*objects.Maker{}
		}
		m = o.maker()
		k.makers[o] = m
	}
	link := objects.None
	if parent != "" {
		link = o.factory.link
	}
	m.Make(n, link, parent, c.payload)
	e.Key = append(e.Key, m.Key()...)
	switch {
	case o.table && k.b.s.mapper == "raw":
		c.objects = append(c.objects, cells(m.Args(nil)))
	case o.table:
		c.objects = append(c.objects, gormRow{m.Struct()})
	case o.kind.topic(): // receivers keep what they were sent
		e.Val = m.AppendJSON(make([]byte, headerBytes, headerBytes+256))
	default:
		e.Val = m.AppendJSON(e.Val[:0])
	}
}
