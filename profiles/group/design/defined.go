package design

import (
	"slices"

	"github.com/perfbench/perfbench/internal/objects"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/northwind"
)

// Objects defined in a file replace those of a factory: see internal/objects.

// readObject makes an operation use objects of a definition.
func (b *builder) readObject(o *model.Op, v workload.Value) {
	name := b.Trim(v)
	d := b.s.Model.Find(name)
	if d == nil {
		hint := suggest.Hint(name, b.s.Model.Names())
		if e, _ := northwind.EntityOfClass(name); e != nil && len(b.s.Model.Objects) == 0 {
			hint = "write  factory.class: " + e.Word + "  for Northwind's"
		}
		if len(b.s.Model.Objects) == 0 && hint == "" {
			hint = "define it under  objects:"
		}
		b.Blame(v.Name, hint, "%s: %s: there is no object %q", at(v), v.Name, name)
		return
	}
	if !o.Kind.Keyed() && !o.Kind.Topic() && o.Kind != model.KindList && o.Kind != model.KindQueue {
		return
	}
	for _, key := range []string{"factory.class", "factory.key.prefix", "factory.key.length", "factory.key.isLeadingZeros", "factory.key.isRandom", "key.prefix"} {
		if other, ok := b.own(o.Name, key); ok && !values.FromProperties(other) {
			b.Fail("leave it out: the keys of an object are in its definition, objects."+name+".key", "%s: %s does not go with object: %s", at(other), other.Name, name)
		}
	}
	o.Factory = &northwind.Factory{Entity: b.entityOf(d), Seed: b.s.Seed, Link: objects.None, Today: b.s.Today}
	o.StartAdd = true
	b.Show(o.Name+".object", name, v)
}

// entityOf returns the table of a definition, the same for all its operations.
func (b *builder) entityOf(d *objects.Object) *northwind.Entity {
	for _, o := range b.s.Order {
		if o.Object() == d {
			return o.Factory.Entity
		}
	}
	return &northwind.Entity{Word: d.Name, Name: d.Table, PK: []string{d.Key().Name}, Object: d}
}

// objectOf returns the definition that an operation names, whether or not the operation
// has been made.
func (b *builder) objectOf(op string) *objects.Object {
	v, _, ok := b.find(op, "object")
	if !ok {
		return nil
	}
	return b.s.Model.Find(b.Trim(v))
}

// children returns how many children the entries of an operation have unless its own
// keys say otherwise: what the child's definition says, or one.
func (b *builder) children(o *model.Op, child string) *model.Relation {
	r := &model.Relation{Least: 1, Most: 1, Spread: model.ChildrenUniform}
	d, parent := b.objectOf(child), o.Object()
	if d == nil || parent == nil {
		return r
	}
	if i := d.Link(parent); i >= 0 {
		if c := d.Fields[i].Children; c.Given {
			r.Least, r.Most, r.Spread = c.Least, c.Most, c.Spread
		}
	}
	return r
}

// link finds the field of a child that holds the key of its parent.
func (b *builder) link(o, child *model.Op, v workload.Value) {
	d := child.Object()
	if d == nil {
		return
	}
	if child.Factory.Link = d.Link(o.Object()); child.Factory.Link >= 0 {
		return
	}
	parent := o.Factory.Entity.Word
	b.Blame(v.Name, "give it a field with  parent: "+parent, "%s: %s: the object %s of %s has no field that refers to the object %s of %s", at(v), v.Name, d.Name, child.Name, parent, o.Name)
}

// idle names definitions that are not used.
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
	for _, o := range b.s.Order {
		use(o.Object())
	}
	for _, d := range b.s.Model.Objects {
		if !slices.Contains(used, d) {
			b.Warn("%s: object %s is defined, but no operation works with it", d.Where, d.Name)
		}
	}
}
