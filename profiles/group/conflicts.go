package group

import "strings"

// conflicts refuses names that are used as structures of two types: on one key of
// the store only the first to write would work.
func (b *builder) conflicts() {
	first, tables := map[string]*opSpec{}, map[string]*opSpec{}
	for _, o := range b.s.order {
		if o.table {
			b.fits(o, o.start+o.total)
			if other := tables[o.factory.entity.name]; other != nil && other.factory.entity != o.factory.entity {
				b.Fail("give the object another  table:", "%s: operation %s: the table %s of %s is that of %s for operation %s too",
					o.where, o.name, o.factory.entity.name, o.factory.entity.word, other.factory.entity.word, other.name)
			}
			tables[o.factory.entity.name] = o
		}
		if o.kind == kindSleep || o.kind == kindTopic || o.kind == kindSTopic || o.table {
			continue
		}
		name := o.target
		if o.kind.many() {
			name += ":{}" // its keys are those of entries
		}
		other := first[name]
		if other == nil {
			first[name] = o
			continue
		}
		if other.kind != o.kind && (other.kind.redisType() != o.kind.redisType() || other.kind == kindCache || o.kind == kindCache || o.kind.many()) {
			b.Fail("give one of them another name", "%s: operation %s: %s is a %s here and a %s for operation %s (%s)",
				o.where, o.name, o.target, o.kind, other.kind, other.name, other.where)
		}
	}
}

// fits refuses keys that are longer than the columns of a table that hold them.
func (b *builder) fits(o *opSpec, last int64) {
	const column = 20
	if o.object() != nil {
		return // the column is as wide as the definition's keys
	}
	if key := o.factory.id(last); o.table && len(key) > column {
		b.Fail("shorten "+o.name+".key.prefix or "+o.name+".factory.key.length",
			"%s: operation %s: the key %s has %d characters, and the key of the table %s has room for %d", o.where, o.name, strings.ToValidUTF8(key, "?"), len(key), o.factory.entity.name, column)
	}
}
