package design

import (
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/northwind"
)

// factories finds out how the objects of operations are made: as a factory of PadoGrid's
// makes them, or as the file defines them.
type factories struct {
	*values.Reader
	s          *model.Spec
	keys       *keys
	attributes *inheritance
}

// readFactory reads how the objects of an operation are made, if it has any.
func (b *factories) read(o *model.Op) {
	if v, ok := b.attributes.factoryValue(o, "object"); ok {
		b.readObject(o, v)
		return
	}
	class, ok := b.attributes.factoryValue(o, "factory.class")
	if !ok {
		return
	}
	name := b.Trim(class)
	e, known := northwind.EntityOfClass(name)
	if e == nil {
		hint := "one of " + strings.Join(known, ", ")
		if b.s.Model.Find(name) != nil {
			hint = "write  object: " + name + "  for what the file defines"
		}
		b.Blame(class.Name, hint, "%s: %s: there is no data object factory %q", at(class), class.Name, name)
		return
	}
	if !o.Kind.Keyed() && !o.Kind.Topic() && o.Kind != model.KindList && o.Kind != model.KindQueue {
		return
	}
	f := &northwind.Factory{Entity: e, Random: true, Length: -1, Coherence: northwind.IsCoherence(name) && b.s.Flavour == model.FlavourCoherence, Seed: b.s.Seed, Link: datagen.None}
	f.Prefix = o.Prefix
	if v, depth, ok := b.keys.find(o.Name, "key.prefix"); ok && depth > 0 && values.FromProperties(v) {
		if b.Compat {
			f.Prefix = "k"
		} else {
			b.Warn("%s: the keys of %s begin with %q, through its ref; PadoGrid's factory would use k", at(v), o.Name, f.Prefix)
		}
	}
	if v, ok := b.attributes.factoryValue(o, "factory.key.prefix"); ok {
		f.Prefix = b.Trim(v)
	}
	length, zeros, random := class, class, class
	p := workload.Param{Name: "factory.key.length", Default: "-1", Min: -1 << 31, Max: 200}
	if v, ok := b.attributes.factoryValue(o, "factory.key.length"); ok {
		f.Length, length = b.Integer(p, v), v
	}
	if v, ok := b.attributes.factoryValue(o, "factory.key.isLeadingZeros"); ok {
		f.Zeros, zeros = b.attributes.javaBool(v), v
	}
	if v, ok := b.attributes.factoryValue(o, "factory.key.isRandom"); ok {
		f.Random, random = b.attributes.javaBool(v), v
	}
	if f.Coherence {
		b.customers(o, f)
	}
	b.Show(o.Name+".factory.class", name, class)
	b.Show(o.Name+".factory.key.length", strconv.FormatInt(f.Length, 10), length)
	b.Show(o.Name+".factory.key.isLeadingZeros", strconv.FormatBool(f.Zeros), zeros)
	b.Show(o.Name+".factory.key.isRandom", strconv.FormatBool(f.Random), random)
	o.Factory, o.StartAdd = f, !b.Compat
	if o.Action == model.ActGetAll && o.Start != 0 && !b.Compat && values.FromProperties(class) {
		b.Warn("%s: %s reads from number %d on, its startNum; PadoGrid's getall with a factory would begin at 0", o.Where, o.Name, o.Start)
	}
}

// customers reads the foreign keys of the Coherence flavour's orders.
func (b *factories) customers(o *model.Op, f *northwind.Factory) {
	f.CustomerPrefix, f.CustomerMax = "000000-", 100
	if v, ok := b.attributes.factoryValue(o, "factory.customerId.prefix"); ok {
		f.CustomerPrefix = b.Trim(v)
	}
	if v, ok := b.attributes.factoryValue(o, "factory.customerId.max"); ok {
		f.CustomerMax = b.Integer(workload.Param{Name: "factory.customerId.max", Default: "100", Min: 1, Max: 1 << 31}, v)
	}
	if f.Entity.Word != "order" || !o.Action.Writes() {
		return
	}
	if f.Joined = b.Compat; !b.Compat {
		b.Warn("%s: %s writes orders under orderId; PadoGrid for Coherence would write them under orderId.customerId and never find them again", o.Where, o.Name)
	}
}

// readObject makes an operation use objects of a definition.
func (b *factories) readObject(o *model.Op, v workload.Value) {
	name := b.Trim(v)
	d := b.s.Model.Find(name)
	if d == nil {
		hint := fault.Suggest(name, b.s.Model.Names())
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
		if other, ok := b.keys.own(o.Name, key); ok && !values.FromProperties(other) {
			b.Fail("leave it out: the keys of an object are in its definition, objects."+name+".key", "%s: %s does not go with object: %s", at(other), other.Name, name)
		}
	}
	o.Factory = &northwind.Factory{Entity: entityOf(b.s, d), Seed: b.s.Seed, Link: datagen.None, Today: b.s.Today}
	o.StartAdd = true
	b.Show(o.Name+".object", name, v)
}

// entityOf returns the table of a definition, the same for all its operations.
func entityOf(s *model.Spec, d *datagen.Object) *northwind.Entity {
	for _, o := range s.Order {
		if o.Object() == d {
			return o.Factory.Entity
		}
	}
	return &northwind.Entity{Word: d.Name, Name: d.Table, PK: []string{d.Key().Name}, Object: d}
}

// objectOf returns the definition that an operation names, whether or not the operation
// has been made.
func (b *factories) objectOf(op string) *datagen.Object {
	v, _, ok := b.keys.find(op, "object")
	if !ok {
		return nil
	}
	return b.s.Model.Find(b.Trim(v))
}

// children returns how many children the entries of an operation have unless its own
// keys say otherwise: what the child's definition says, or one.
func (b *factories) children(o *model.Op, child string) *model.Relation {
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
