package group

import (
	"slices"

	"github.com/perfbench/perfbench/internal/objects"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// Objects that a file defines take the place of a factory's: see internal/objects.

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
