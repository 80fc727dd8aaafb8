package design

import (
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/objects"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/northwind"
)

// factoryValue returns an operation's key for its factory: its own or, unless compat is
// on, the referenced operation's.
func (b *builder) factoryValue(o *model.Op, key string) (workload.Value, bool) {
	v, depth, ok := b.find(o.Name, key)
	if ok && depth > 0 && b.Compat {
		return workload.Value{}, false
	}
	if ok && depth > 0 && values.FromProperties(v) && key == "factory.class" {
		b.Warn("%s: %s also applies to %s, through its ref; PadoGrid does not carry factories over", at(v), v.Name, o.Name)
	}
	return v, ok
}

// readFactory reads how the objects of an operation are made, if it has any.
func (b *builder) readFactory(o *model.Op) {
	if v, ok := b.factoryValue(o, "object"); ok {
		b.readObject(o, v)
		return
	}
	class, ok := b.factoryValue(o, "factory.class")
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
	f := &northwind.Factory{Entity: e, Random: true, Length: -1, Coherence: northwind.IsCoherence(name) && b.s.Flavour == model.FlavourCoherence, Seed: b.s.Seed, Link: objects.None}
	f.Prefix = o.Prefix
	if v, depth, ok := b.find(o.Name, "key.prefix"); ok && depth > 0 && values.FromProperties(v) {
		if b.Compat {
			f.Prefix = "k"
		} else {
			b.Warn("%s: the keys of %s begin with %q, through its ref; PadoGrid's factory would use k", at(v), o.Name, f.Prefix)
		}
	}
	if v, ok := b.factoryValue(o, "factory.key.prefix"); ok {
		f.Prefix = b.Trim(v)
	}
	p := workload.Param{Name: "factory.key.length", Default: "-1", Min: -1 << 31, Max: 200}
	if v, ok := b.factoryValue(o, "factory.key.length"); ok {
		f.Length = b.Integer(p, v)
	}
	if v, ok := b.factoryValue(o, "factory.key.isLeadingZeros"); ok {
		f.Zeros = b.javaBool(v)
	}
	if v, ok := b.factoryValue(o, "factory.key.isRandom"); ok {
		f.Random = b.javaBool(v)
	}
	if f.Coherence {
		b.customers(o, f)
	}
	b.Show(o.Name+".factory.class", name, class)
	b.Show(o.Name+".factory.key.length", strconv.FormatInt(f.Length, 10), class)
	b.Show(o.Name+".factory.key.isLeadingZeros", strconv.FormatBool(f.Zeros), class)
	b.Show(o.Name+".factory.key.isRandom", strconv.FormatBool(f.Random), class)
	o.Factory, o.StartAdd = f, !b.Compat
	if o.Action == model.ActGetAll && o.Start != 0 && !b.Compat && values.FromProperties(class) {
		b.Warn("%s: %s reads from number %d on, its startNum; PadoGrid's getall with a factory would begin at 0", o.Where, o.Name, o.Start)
	}
}

// customers reads the foreign keys of the Coherence flavour's orders.
func (b *builder) customers(o *model.Op, f *northwind.Factory) {
	f.CustomerPrefix, f.CustomerMax = "000000-", 100
	if v, ok := b.factoryValue(o, "factory.customerId.prefix"); ok {
		f.CustomerPrefix = b.Trim(v)
	}
	if v, ok := b.factoryValue(o, "factory.customerId.max"); ok {
		f.CustomerMax = b.Integer(workload.Param{Name: "factory.customerId.max", Default: "100", Min: 1, Max: 1 << 31}, v)
	}
	if f.Entity.Word != "order" || !o.Action.Writes() {
		return
	}
	if f.Joined = b.Compat; !b.Compat {
		b.Warn("%s: %s writes orders under orderId; PadoGrid for Coherence would write them under orderId.customerId and never find them again", o.Where, o.Name)
	}
}

// relation reads which children an operation writes, and makes their operations.
func (b *builder) relation(o *model.Op) {
	v, ok := b.own(o.Name, "factory.er.operation")
	if !ok || o.Factory == nil || b.s.Flavour == model.FlavourCoherence && b.Compat {
		return
	}
	name := b.Trim(v)
	switch {
	case !b.has(name):
		b.Blame(v.Name, suggest.Hint(name, b.owners()), "%s: %s: there is no operation %q", at(v), v.Name, name)
		return
	case slices.Contains(b.making, name), name == o.Name:
		b.Blame(v.Name, "let the last of them have no children", "%s: %s: the children form a circle: %s", at(v), v.Name, strings.Join(append(slices.Clone(b.making), o.Name, name), " → "))
		return
	}
	r := b.children(o, name)
	if v, ok := b.own(o.Name, "factory.er.maxKeys"); ok {
		r.Most = b.Integer(workload.Param{Name: "factory.er.maxKeys", Default: "1", Min: 1, Max: 10000}, v)
		r.Least = min(r.Least, r.Most)
	}
	if v, ok := b.own(o.Name, "factory.er.isRandom"); ok && !b.javaBool(v) {
		r.Spread = model.ChildrenFixed
	}
	every := b.Pick(children, children.Name)
	own, found := b.own(o.Name, "factory.er.distribution")
	if !found || every.Origin > own.Origin {
		own, found = every, every.Origin > workload.OriginDefault
	}
	if found && own.Text != "file" {
		word, err := own.Choice(model.ChildrenFixed, model.ChildrenUniform, model.ChildrenGeometric, model.ChildrenZipf)
		b.Problems.Add(err)
		r.Spread = word
	}
	b.Show(o.Name+".factory.er.operation", name, v)
	b.Show(o.Name+".factory.er.maxKeys", strconv.FormatInt(r.Most, 10), v)
	b.Show(o.Name+".factory.er.distribution", r.Spread, v)
	b.making = append(b.making, o.Name)
	child := b.operation(name)
	b.making = b.making[:len(b.making)-1]
	if child == nil {
		return
	}
	b.asChild(o, child, v, r)
}

// asChild makes an operation the child of another.
func (b *builder) asChild(o, child *model.Op, v workload.Value, r *model.Relation) {
	if child.Parent != nil && child.Parent != o {
		b.Blame(v.Name, "give each parent an operation of its own", "%s: %s: %s is the child of %s already", at(v), v.Name, child.Name, child.Parent.Name)
		return
	}
	if child.Factory == nil && child.Kind != model.KindSleep {
		b.Blame(v.Name, "set "+child.Name+".factory.class", "%s: %s: the child %s has no factory", at(v), v.Name, child.Name)
		return
	}
	if o.Action.Bulk() && b.Compat {
		b.Warn("%s: %s writes no children, as PadoGrid's bulk writers do not (compat=on)", o.Where, o.Name)
		return
	}
	if !o.Action.Writes() {
		b.Warn("%s: %s reads, so it has no children to write", at(v), o.Name)
		return
	}
	if b.Compat && child.Children != nil {
		b.Warn("%s: grandchildren of %s are left out, as in PadoGrid (compat=on)", at(v), o.Name)
		child.Children = nil
	}
	child.Parent = o
	b.link(o, child, v)
	r.Child = child
	o.Children = r
}
