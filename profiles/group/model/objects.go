package model

import (
	"slices"

	"github.com/perfbench/perfbench/internal/datagen"
)

// Object returns the definition of an operation's objects, nil if it has none.
func (o *Op) Object() *datagen.Object {
	if o.Factory == nil {
		return nil
	}
	return o.Factory.Entity.Object
}

// Maker returns a maker for the defined objects of an operation, for one goroutine.
func (o *Op) Maker() *datagen.Maker {
	born := o.Factory.Born
	if born.IsZero() {
		born = o.Factory.Today
	}
	return o.Object().NewMaker(o.Factory.Seed, born)
}

// Writes reports whether the operation stores values, also those that refer to others.
func (o *Op) Writes() bool { return o.Action.Writes() || o.Parent != nil }

// Removes reports whether values go because of the operation: taken by it, or at the end of their time.
func (o *Op) Removes() bool { return o.Action.Takes() || o.TTL > 0 }

// Sized reports whether the payload has a part in how large the operation's values are.
func (o *Op) Sized() bool {
	return o.Kind != KindSleep && !o.Kind.Topic() && (o.Factory == nil || o.Factory.Bytes(1) != o.Factory.Bytes(1<<20))
}

func (o *Op) objectBytes() int64 {
	if o.Factory == nil {
		return 0
	}
	return o.Factory.Bytes(o.Payload)
}

// RefersTo reports whether rows of an operation's table require those of an object.
func (o *Op) RefersTo(d *datagen.Object) bool {
	own := o.Object()
	return own != nil && d != nil && slices.ContainsFunc(own.Fields, func(f *datagen.Field) bool { return f.ForeignKey && f.Parent == d })
}

// ChildAction returns what is done with a child, even if its own test case reads or
// writes in bulk.
func (o *Op) ChildAction() Action {
	switch {
	case o.Action == ActSleep, o.Action.Writes() && !o.Action.Bulk():
		return o.Action
	case o.Kind == KindQueue:
		return ActOffer
	case o.Kind.Topic():
		return ActPublish
	case o.Kind == KindList, o.Kind == KindSet, o.Kind == KindZSet:
		return ActAdd
	}
	return ActPut
}

// Count returns how many children the parent with number n has, which is always the
// same for the same seed.
func (r *Relation) Count(seed int64, parent string, n int64) int64 {
	if r.Spread == ChildrenFixed || r.Most == r.Least {
		return r.Most
	}
	d := datagen.NewDice(seed, parent, n, "children")
	switch r.Spread {
	case ChildrenGeometric:
		k := r.Least
		for k < r.Most && d.Bits()&1 == 0 {
			k++
		}
		return k
	case ChildrenZipf:
		return r.Least - 1 + d.Zipf(r.Most-r.Least+1)
	}
	return r.Least + d.Below(r.Most-r.Least+1)
}
