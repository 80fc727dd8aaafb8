package group

import (
	"slices"

	"github.com/perfbench/perfbench/internal/objects"
)

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

func (o *opSpec) objectBytes() int64 {
	if o.factory == nil {
		return 0
	}
	return o.factory.bytes(o.payload)
}

// refersTo says whether rows of an operation's table cannot be there without those of
// an object.
func (o *opSpec) refersTo(d *objects.Object) bool {
	own := o.object()
	return own != nil && d != nil && slices.ContainsFunc(own.Fields, func(f *objects.Field) bool { return f.ForeignKey && f.Parent == d })
}

// childAction is what is done with a child, whatever its own test case reads or
// writes in bulk.
func (o *opSpec) childAction() action {
	switch {
	case o.act == actSleep, o.act.writes() && !o.act.bulk():
		return o.act
	case o.kind == kindQueue:
		return actOffer
	case o.kind.topic():
		return actPublish
	case o.kind == kindList, o.kind == kindSet, o.kind == kindZSet:
		return actAdd
	}
	return actPut
}

// count returns how many children the parent of number n has, from the same seed
// always the same.
func (r *relation) count(seed int64, parent string, n int64) int64 {
	if r.spread == childrenFixed || r.most == r.least {
		return r.most
	}
	d := objects.NewDice(seed, parent, n, "children")
	switch r.spread {
	case childrenGeometric:
		k := r.least
		for k < r.most && d.Bits()&1 == 0 {
			k++
		}
		return k
	case childrenZipf:
		return r.least - 1 + d.Zipf(r.most-r.least+1)
	}
	return r.least + d.Below(r.most-r.least+1)
}
