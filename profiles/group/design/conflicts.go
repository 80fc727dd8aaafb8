package design

import (
	"strings"

	"github.com/perfbench/perfbench/profiles/group/model"
)

// conflicts rejects names that are used as structures of two types: only the first one
// to write to that key of the store would work.
func (b *builder) conflicts() {
	first, tables := map[string]*model.Op{}, map[string]*model.Op{}
	for _, o := range b.s.Order {
		if o.Table {
			b.fits(o, o.Start+o.Total)
			if other := tables[o.Factory.Entity.Name]; other != nil && other.Factory.Entity != o.Factory.Entity {
				b.Fail("give the object another  table:", "%s: operation %s: the table %s of %s is that of %s for operation %s too",
					o.Where, o.Name, o.Factory.Entity.Name, o.Factory.Entity.Word, other.Factory.Entity.Word, other.Name)
			}
			tables[o.Factory.Entity.Name] = o
		}
		if o.Kind == model.KindSleep || o.Kind == model.KindTopic || o.Kind == model.KindSTopic || o.Table {
			continue
		}
		name := o.Target
		if o.Kind.Many() {
			name += ":{}" // it has one key per entry
		}
		other := first[name]
		if other == nil {
			first[name] = o
			continue
		}
		if other.Kind != o.Kind && (other.Kind.RedisType() != o.Kind.RedisType() || other.Kind == model.KindCache || o.Kind == model.KindCache || o.Kind.Many()) {
			b.Fail("give one of them another name", "%s: operation %s: %s is a %s here and a %s for operation %s (%s)",
				o.Where, o.Name, o.Target, o.Kind, other.Kind, other.Name, other.Where)
		}
	}
}

// fits rejects keys that are longer than the table columns that are to hold them.
func (b *builder) fits(o *model.Op, last int64) {
	const column = 20
	if o.Object() != nil {
		return // the column is as wide as the definition's keys
	}
	if key := o.Factory.ID(last); o.Table && len(key) > column {
		b.Fail("shorten "+o.Name+".key.prefix or "+o.Name+".factory.key.length",
			"%s: operation %s: the key %s has %d characters, and the key of the table %s has room for %d", o.Where, o.Name, strings.ToValidUTF8(key, "?"), len(key), o.Factory.Entity.Name, column)
	}
}
