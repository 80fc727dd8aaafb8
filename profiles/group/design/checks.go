package design

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// conflicts rejects names that are used as structures of two types: only the first one
// to write to that key of the store would work.
func conflicts(s *model.Spec, r *values.Reader) {
	first, tables := map[string]*model.Op{}, map[string]*model.Op{}
	for _, o := range s.Order {
		if o.Table {
			fits(r, o, o.Start+o.Total)
			if other := tables[o.Factory.Entity.Name]; other != nil && other.Factory.Entity != o.Factory.Entity {
				r.Fail("give the object another  table:", "%s: operation %s: the table %s of %s is that of %s for operation %s too",
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
			r.Fail("give one of them another name", "%s: operation %s: %s is a %s here and a %s for operation %s (%s)",
				o.Where, o.Name, o.Target, o.Kind, other.Kind, other.Name, other.Where)
		}
	}
}

// fits rejects keys that are longer than the table columns that are to hold them.
func fits(r *values.Reader, o *model.Op, last int64) {
	const column = 20
	if o.Object() != nil {
		return // the column is as wide as the definition's keys
	}
	if key := o.Factory.ID(last); o.Table && len(key) > column {
		r.Fail("shorten "+o.Name+".key.prefix or "+o.Name+".factory.key.length",
			"%s: operation %s: the key %s has %d characters, and the key of the table %s has room for %d", o.Where, o.Name, strings.ToValidUTF8(key, "?"), len(key), o.Factory.Entity.Name, column)
	}
}

// checkResume rejects what cannot be resumed, and names groups that are started over.
func checkResume(s *model.Spec, r *values.Reader) {
	if !s.Resume {
		return
	}
	switch {
	case s.Compat:
		r.Blame("resume", "leave one of them out", "resume=on: with compat=on the number of children comes from a generator that all threads share, so what an earlier run did cannot be known")
	case s.Wrap:
		r.Blame("resume", "give --count, or let the file's counts end the run", "resume=on: a run that only --duration ends writes its keys again and again")
	}
	some := false
	for _, g := range s.Groups {
		if g.Resumable() {
			some = true
		} else {
			r.Warn("%s: resume=on has no effect on group %s, which does more than write rows of tables", g.Where, g.Name)
		}
	}
	if !some {
		r.Blame("resume", "use mysql://, postgres:// or sqlite: with operations that have a factory", "resume=on: no group only writes rows of tables")
	}
}

// idle names definitions that are not used.
func idle(s *model.Spec, r *values.Reader) {
	var used []*datagen.Object
	var use func(d *datagen.Object)
	use = func(d *datagen.Object) {
		if d == nil || slices.Contains(used, d) {
			return
		}
		used = append(used, d)
		for _, f := range d.Fields {
			use(f.Parent)
		}
	}
	for _, o := range s.Order {
		use(o.Object())
	}
	for _, d := range s.Model.Objects {
		if !slices.Contains(used, d) {
			r.Warn("%s: object %s is defined, but no operation works with it", d.Where, d.Name)
		}
	}
}

// leftovers names what is set but has no effect.
func leftovers(s *model.Spec, k *keys, groups []string) {
	for _, n := range k.names {
		v := k.Values[n]
		if v.Origin != workload.OriginFile {
			continue
		}
		owner, key, ok := cutOwner(n)
		switch {
		case slices.ContainsFunc(Params(), func(p workload.Param) bool { return p.Name == n }), slices.Contains(runNames, n):
		case ok && slices.Contains(groups, owner) && slices.Contains(groupKeys, key):
		case ok && s.Ops[owner] != nil && slices.Contains(ownedKeys, key), ok && k.referred(owner, s.Ops) && slices.Contains(ownedKeys, key):
		case ok && slices.Contains(ownedKeys, key) && k.isOperation(owner):
			k.Warn("%s: operation %s is defined, but no group of groupNames lists it", k.where(owner), owner)
		case ok && slices.Contains(groupKeys, key):
			k.Warn("%s: group %s is defined, but groupNames does not name it", k.where(owner), owner)
		case ok && (s.Ops[owner] != nil || slices.Contains(groups, owner)):
			said := fmt.Sprintf("%s: %s is unknown and has no effect", at(v), n)
			if near := fault.Nearest(key, ownedKeys); near != "" {
				said += "; did you mean " + owner + "." + near + "?"
			}
			unknown(k.Reader, v, said)
		default:
			said := fmt.Sprintf("%s: %s is unknown and has no effect", at(v), n)
			if near := fault.Nearest(n, plainNames()); near != "" {
				said += "; did you mean " + near + "?"
			}
			unknown(k.Reader, v, said)
		}
	}
}

// plainNames returns the names that belong neither to a group nor to an operation.
func plainNames() []string {
	out := slices.Clone(runNames)
	for _, p := range Params() {
		out = append(out, p.Name)
	}
	return out
}

// unknown warns about a key in others' files, and rejects one in ours.
func unknown(r *values.Reader, v workload.Value, sentence string) {
	if values.FromProperties(v) {
		r.Warn("%s", sentence)
		return
	}
	r.Problems.Add(fault.Field(v.Name, fault.Input(errors.New(sentence), "")))
}
