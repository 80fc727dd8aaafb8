package design

import (
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// relation reads which children an operation writes, and makes their operations.
func (b *operations) relation(o *model.Op) {
	v, ok := b.keys.own(o.Name, "factory.er.operation")
	if !ok || o.Factory == nil || b.s.Flavour == model.FlavourCoherence && b.Compat {
		return
	}
	name := b.Trim(v)
	switch {
	case !b.keys.has(name):
		b.Blame(v.Name, fault.Suggest(name, b.keys.owners()), "%s: %s: there is no operation %q", at(v), v.Name, name)
		return
	case slices.Contains(b.making, name), name == o.Name:
		b.Blame(v.Name, "let the last of them have no children", "%s: %s: the children form a circle: %s", at(v), v.Name, strings.Join(append(slices.Clone(b.making), o.Name, name), " → "))
		return
	}
	r := b.factories.children(o, name)
	most, spread := v, v
	if v, ok := b.keys.own(o.Name, "factory.er.maxKeys"); ok {
		r.Most = b.Integer(workload.Param{Name: "factory.er.maxKeys", Default: "1", Min: 1, Max: 10000}, v)
		r.Least, most = min(r.Least, r.Most), v
	}
	if v, ok := b.keys.own(o.Name, "factory.er.isRandom"); ok {
		spread = v
		if !b.attributes.javaBool(v) {
			r.Spread = model.ChildrenFixed
		}
	}
	every := b.Pick(children, children.Name)
	own, found := b.keys.own(o.Name, "factory.er.distribution")
	if !found || every.Origin > own.Origin {
		own, found = every, every.Origin > workload.OriginDefault
	}
	if found && own.Text != "file" {
		word, err := own.Choice(model.ChildrenFixed, model.ChildrenUniform, model.ChildrenGeometric, model.ChildrenZipf)
		b.Problems.Add(err)
		r.Spread, spread = word, own
	}
	b.Show(o.Name+".factory.er.operation", name, v)
	b.Show(o.Name+".factory.er.maxKeys", strconv.FormatInt(r.Most, 10), most)
	b.Show(o.Name+".factory.er.distribution", r.Spread, spread)
	b.making = append(b.making, o.Name)
	child := b.operation(name)
	b.making = b.making[:len(b.making)-1]
	if child == nil {
		return
	}
	b.asChild(o, child, v, r)
}

// asChild makes an operation the child of another.
func (b *operations) asChild(o, child *model.Op, v workload.Value, r *model.Relation) {
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
	link(b.Reader, o, child, v)
	r.Child = child
	o.Children = r
}

// link finds the field of a child that holds the key of its parent.
func link(r *values.Reader, o, child *model.Op, v workload.Value) {
	d := child.Object()
	if d == nil {
		return
	}
	if child.Factory.Link = d.Link(o.Object()); child.Factory.Link >= 0 {
		return
	}
	parent := o.Factory.Entity.Word
	r.Blame(v.Name, "give it a field with  parent: "+parent, "%s: %s: the object %s of %s has no field that refers to the object %s of %s", at(v), v.Name, d.Name, child.Name, parent, o.Name)
}
