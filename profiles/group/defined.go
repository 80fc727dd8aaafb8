package group

import (
	"reflect"
	"slices"

	"github.com/perfbench/perfbench/internal/objects"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// Objects that a file defines take the place of a factory's: see internal/objects.

// typ is the struct that a row is kept in.
func (e *entity) typ() reflect.Type {
	if e.object != nil {
		return e.object.Type()
	}
	return reflect.TypeOf(e.blank()).Elem()
}

// object is the definition of an operation's objects, nil when it has none.
func (o *opSpec) object() *objects.Object {
	if o.factory == nil {
		return nil
	}
	return o.factory.entity.object
}

// maker returns what makes the defined objects of an operation, for one goroutine.
func (o *opSpec) maker() *objects.Maker {
	born := o.factory.born
	if born.IsZero() {
		born = o.factory.today
	}
	return o.object().NewMaker(o.factory.seed, born)
}

// northwindBytes is about how long an object of Northwind is.
const northwindBytes = 500

// bytes is about how long an object is.
func (f *factory) bytes(payload int) int64 {
	if d := f.entity.object; d != nil {
		return int64(d.Bytes(payload))
	}
	return northwindBytes
}

func (o *opSpec) objectBytes() int64 {
	if o.factory == nil {
		return 0
	}
	return o.factory.bytes(o.payload)
}

// readObject has an operation work with objects of a definition.
func (b *builder) readObject(o *opSpec, v workload.Value) {
	name := b.Trim(v)
	d := b.s.model.Find(name)
	if d == nil {
		hint := suggest.Hint(name, b.s.model.Names())
		if e, _ := entityOfClass(name); e != nil && len(b.s.model.Objects) == 0 {
			hint = "say  factory.class: " + e.word + "  for Northwind's"
		}
		if len(b.s.model.Objects) == 0 && hint == "" {
			hint = "define it under  objects:"
		}
		b.Blame(v.Name, hint, "%s: %s: there is no object %q", at(v), v.Name, name)
		return
	}
	if !o.kind.keyed() && !o.kind.topic() && o.kind != kindList && o.kind != kindQueue {
		return
	}
	for _, key := range []string{"factory.class", "factory.key.prefix", "factory.key.length", "factory.key.isLeadingZeros", "factory.key.isRandom", "key.prefix"} {
		if other, ok := b.own(o.name, key); ok && !values.FromProperties(other) {
			b.Fail("leave it out: the keys of an object are in its definition, objects."+name+".key", "%s: %s does not go with object: %s", at(other), other.Name, name)
		}
	}
	o.factory = &factory{entity: b.entityOf(d), seed: b.s.seed, link: objects.None, today: b.s.today}
	o.startAdd = true
	b.Show(o.name+".object", name, v)
}

// entityOf is the table of a definition, the same one for all its operations.
func (b *builder) entityOf(d *objects.Object) *entity {
	for _, o := range b.s.order {
		if o.object() == d {
			return o.factory.entity
		}
	}
	return &entity{word: d.Name, name: d.Table, pk: []string{d.Key().Name}, object: d}
}

// objectOf is the definition that an operation names, whether it was made or not.
func (b *builder) objectOf(op string) *objects.Object {
	v, _, ok := b.find(op, "object")
	if !ok {
		return nil
	}
	return b.s.model.Find(b.Trim(v))
}

// children is how many children the entries of an operation have as long as its own
// keys say nothing else: what the child's definition says, or one.
func (b *builder) children(o *opSpec, child string) *relation {
	r := &relation{least: 1, most: 1, spread: childrenUniform}
	d, parent := b.objectOf(child), o.object()
	if d == nil || parent == nil {
		return r
	}
	if i := d.Link(parent); i >= 0 {
		if c := d.Fields[i].Children; c.Given {
			r.least, r.most, r.spread = c.Least, c.Most, c.Spread
		}
	}
	return r
}

// link finds the field of a child that holds the key of its parent.
func (b *builder) link(o, child *opSpec, v workload.Value) {
	d := child.object()
	if d == nil {
		return
	}
	if child.factory.link = d.Link(o.object()); child.factory.link >= 0 {
		return
	}
	parent := o.factory.entity.word
	b.Blame(v.Name, "give it a field with  parent: "+parent, "%s: %s: the object %s of %s has no field that refers to the object %s of %s", at(v), v.Name, d.Name, child.name, parent, o.name)
}

// idle names definitions that nothing uses.
func (b *builder) idle() {
	var used []*objects.Object
	var use func(d *objects.Object)
	use = func(d *objects.Object) {
		if d == nil || slices.Contains(used, d) {
			return
		}
		used = append(used, d)
		for _, f := range d.Fields {
			use(f.Parent)
		}
	}
	for _, o := range b.s.order {
		use(o.object())
	}
	for _, d := range b.s.model.Objects {
		if !slices.Contains(used, d) {
			b.Warn("%s: object %s is defined and no operation works with it", d.Where, d.Name)
		}
	}
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

// cells are the values of a row for a statement.
type cells []any

func (c cells) args(dst []any) []any { return append(dst, c...) }

// gormRow is a pointer to a struct of a definition's type, which has no methods.
type gormRow struct{ row any }

// args is not called: statements of our own are given cells.
func (g gormRow) args(dst []any) []any { return dst }

// rowOf is what gorm is given of an object.
func rowOf(r record) any {
	if g, ok := r.(gormRow); ok {
		return g.row
	}
	return r
}

// refersTo says whether rows of an operation's table cannot be there without those of
// an object.
func (o *opSpec) refersTo(d *objects.Object) bool {
	own := o.object()
	return own != nil && d != nil && slices.ContainsFunc(own.Fields, func(f *objects.Field) bool { return f.ForeignKey && f.Parent == d })
}

// soughtBy returns what tells the value whose rows a query asks for: of Northwind's
// tables a state, of others what the object of the call's number has.
func soughtBy(o *opSpec) func(c *call) any {
	d := o.object()
	if d == nil || o.act != actQuery {
		return func(c *call) any { return objects.StateOf(c.numbers[0]) }
	}
	m, at := o.maker(), slices.Index(d.Columns(), d.Search().Name)
	return func(c *call) any {
		m.Make(c.numbers[0], objects.None, "", 0)
		return m.Arg(at)
	}
}
