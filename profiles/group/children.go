package group

import (
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/objects"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// factoryValue returns a factory's key of an operation: its own or, unless compat
// is on, the referenced operation's.
func (b *builder) factoryValue(o *opSpec, key string) (workload.Value, bool) {
	v, depth, ok := b.find(o.name, key)
	if ok && depth > 0 && b.Compat {
		return workload.Value{}, false
	}
	if ok && depth > 0 && values.FromProperties(v) && key == "factory.class" {
		b.Warn("%s: %s holds for %s too, through its ref; PadoGrid does not carry factories over", at(v), v.Name, o.name)
	}
	return v, ok
}

// readFactory reads what makes the objects of an operation, if anything does.
func (b *builder) readFactory(o *opSpec) {
	if v, ok := b.factoryValue(o, "object"); ok {
		b.readObject(o, v)
		return
	}
	class, ok := b.factoryValue(o, "factory.class")
	if !ok {
		return
	}
	name := b.Trim(class)
	e, known := entityOfClass(name)
	if e == nil {
		hint := "one of " + strings.Join(known, ", ")
		if b.s.model.Find(name) != nil {
			hint = "say  object: " + name + "  for what the file defines"
		}
		b.Blame(class.Name, hint, "%s: %s: there is no data object factory %q", at(class), class.Name, name)
		return
	}
	if !o.kind.keyed() && !o.kind.topic() && o.kind != kindList && o.kind != kindQueue {
		return
	}
	f := &factory{entity: e, random: true, length: -1, coherence: isCoherence(name) && b.s.flavour == flavourCoherence, seed: b.s.seed, link: objects.None}
	f.prefix = o.prefix
	if v, depth, ok := b.find(o.name, "key.prefix"); ok && depth > 0 && values.FromProperties(v) {
		if b.Compat {
			f.prefix = "k"
		} else {
			b.Warn("%s: the keys of %s begin with %q, through its ref; PadoGrid's factory would use k", at(v), o.name, f.prefix)
		}
	}
	if v, ok := b.factoryValue(o, "factory.key.prefix"); ok {
		f.prefix = b.Trim(v)
	}
	p := workload.Param{Name: "factory.key.length", Default: "-1", Min: -1 << 31, Max: 200}
	if v, ok := b.factoryValue(o, "factory.key.length"); ok {
		f.length = b.Integer(p, v)
	}
	if v, ok := b.factoryValue(o, "factory.key.isLeadingZeros"); ok {
		f.zeros = b.javaBool(v)
	}
	if v, ok := b.factoryValue(o, "factory.key.isRandom"); ok {
		f.random = b.javaBool(v)
	}
	if f.coherence {
		b.customers(o, f)
	}
	b.Show(o.name+".factory.class", name, class)
	b.Show(o.name+".factory.key.length", strconv.FormatInt(f.length, 10), class)
	b.Show(o.name+".factory.key.isLeadingZeros", strconv.FormatBool(f.zeros), class)
	b.Show(o.name+".factory.key.isRandom", strconv.FormatBool(f.random), class)
	o.factory, o.startAdd = f, !b.Compat
	if o.act == actGetAll && o.start != 0 && !b.Compat && values.FromProperties(class) {
		b.Warn("%s: %s reads from number %d on, its startNum; PadoGrid's getall with a factory would begin at 0", o.where, o.name, o.start)
	}
}

// customers reads the foreign keys of the Coherence flavour's orders.
func (b *builder) customers(o *opSpec, f *factory) {
	f.customerPrefix, f.customerMax = "000000-", 100
	if v, ok := b.factoryValue(o, "factory.customerId.prefix"); ok {
		f.customerPrefix = b.Trim(v)
	}
	if v, ok := b.factoryValue(o, "factory.customerId.max"); ok {
		f.customerMax = b.Integer(workload.Param{Name: "factory.customerId.max", Default: "100", Min: 1, Max: 1 << 31}, v)
	}
	if f.entity.word != "order" || !o.act.writes() {
		return
	}
	if f.joined = b.Compat; !b.Compat {
		b.Warn("%s: %s writes orders under orderId; PadoGrid for Coherence would write them under orderId.customerId and never find them again", o.where, o.name)
	}
}

// relation reads what children an operation writes, and makes their operations.
func (b *builder) relation(o *opSpec) {
	v, ok := b.own(o.name, "factory.er.operation")
	if !ok || o.factory == nil || b.s.flavour == flavourCoherence && b.Compat {
		return
	}
	name := b.Trim(v)
	switch {
	case !b.has(name):
		b.Blame(v.Name, suggest.Hint(name, b.owners()), "%s: %s: there is no operation %q", at(v), v.Name, name)
		return
	case slices.Contains(b.making, name), name == o.name:
		b.Blame(v.Name, "let the last of them have no children", "%s: %s: the children run in a circle: %s", at(v), v.Name, strings.Join(append(slices.Clone(b.making), o.name, name), " → "))
		return
	}
	r := b.children(o, name)
	if v, ok := b.own(o.name, "factory.er.maxKeys"); ok {
		r.most = b.Integer(workload.Param{Name: "factory.er.maxKeys", Default: "1", Min: 1, Max: 10000}, v)
		r.least = min(r.least, r.most)
	}
	if v, ok := b.own(o.name, "factory.er.isRandom"); ok && !b.javaBool(v) {
		r.spread = childrenFixed
	}
	every := b.Pick(b.Param("children"), "children")
	own, found := b.own(o.name, "factory.er.distribution")
	if !found || every.Origin > own.Origin {
		own, found = every, every.Origin > workload.OriginDefault
	}
	if found && own.Text != "file" {
		word, err := own.Choice(childrenFixed, childrenUniform, childrenGeometric, childrenZipf)
		b.Problems.Add(err)
		r.spread = word
	}
	b.Show(o.name+".factory.er.operation", name, v)
	b.Show(o.name+".factory.er.maxKeys", strconv.FormatInt(r.most, 10), v)
	b.Show(o.name+".factory.er.distribution", r.spread, v)
	b.making = append(b.making, o.name)
	child := b.operation(name)
	b.making = b.making[:len(b.making)-1]
	if child == nil {
		return
	}
	b.asChild(o, child, v, r)
}

// asChild makes an operation the child of another.
func (b *builder) asChild(o, child *opSpec, v workload.Value, r *relation) {
	if child.parent != nil && child.parent != o {
		b.Blame(v.Name, "give each parent an operation of its own", "%s: %s: %s is the child of %s already", at(v), v.Name, child.name, child.parent.name)
		return
	}
	if child.factory == nil && child.kind != kindSleep {
		b.Blame(v.Name, "set "+child.name+".factory.class", "%s: %s: the child %s has no factory", at(v), v.Name, child.name)
		return
	}
	if o.act.bulk() && b.Compat {
		b.Warn("%s: %s writes no children, as PadoGrid's bulk writers do not (compat=on)", o.where, o.name)
		return
	}
	if !o.act.writes() {
		b.Warn("%s: %s reads, so that it has no children to write", at(v), o.name)
		return
	}
	if b.Compat && child.er != nil {
		b.Warn("%s: grandchildren of %s are left out, as in PadoGrid (compat=on)", at(v), o.name)
		child.er = nil
	}
	child.parent = o
	b.link(o, child, v)
	r.child = child
	o.er = r
}
