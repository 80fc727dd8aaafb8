package design

import (
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/properties"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// attributes are the values, defaults included, that PadoGrid 1.0.2 would use for those
// keys of an operation that are inherited through references.
type attributes map[string]workload.Value

var inherited = []struct {
	key, otherwise string
	integer        bool
}{
	{"testCase", "", false},
	{"payloadSize", "1024", true},
	{"batchSize", "100", true},
	{"totalEntryCount", "10000", true},
	{"key.prefix", "k", false},
	{"key.startNum", "1", true},
	{"randomSeed", "1", true},
}

// simulate handles the operations as the original does: those of a group are made, then
// each copies what it lacks from the one it refers to if that is already known, and
// then gets the defaults. There is one pass over one level.
func (b *builder) simulate(groups []string) {
	b.original = map[string]attributes{}
	var known []string
	done := map[string]bool{}
	var create func(op string)
	create = func(op string) {
		if _, ok := b.original[op]; ok {
			return
		}
		b.original[op] = b.setByFile(op)
		known = append(known, op)
		if child, ok := b.own(op, "factory.er.operation"); ok {
			create(child.Text)
		}
	}
	for _, g := range groups {
		for _, op := range b.listed(g) {
			create(op)
		}
		for _, op := range known {
			ref, ok := b.own(op, "ref")
			if b.Trims(ref) {
				ref.Text = b.Trim(ref)
			}
			if from, there := b.original[ref.Text]; ok && there && !done[op] {
				for _, a := range inherited {
					if v, set := from[a.key]; set {
						if _, set := b.original[op][a.key]; !set {
							b.original[op][a.key] = v
						}
					}
				}
			}
		}
		for _, op := range known {
			for _, a := range inherited {
				if _, set := b.original[op][a.key]; !set {
					b.original[op][a.key] = workload.Value{Name: op + "." + a.key, Text: a.otherwise, Origin: workload.OriginDefault}
				}
			}
			done[op] = true
		}
	}
}

// setByFile returns what the original finds set for an operation itself.
func (b *builder) setByFile(op string) attributes {
	out := attributes{}
	for _, a := range inherited {
		v, ok := b.Values[op+"."+a.key]
		if !ok {
			continue
		}
		if a.integer && values.FromProperties(v) {
			if _, err := properties.DecodeInt(v.Text, true); err != nil {
				continue
			}
		}
		out[a.key] = v
	}
	return out
}

// listed returns the names of a group's operations as listed in the file.
func (b *builder) listed(g string) []string {
	v, ok := b.Values[g+".operations"]
	if !ok {
		return []string{"putall"}
	}
	return model.Items(v.Text)
}

// undefined handles an operation that is listed but for which nothing is set. In a file
// of PadoGrid's it gets all the defaults, as in the original; in a file of ours it is a
// mistake.
func (b *builder) undefined(g *model.Group, name string) bool {
	if b.has(name) || b.Compat {
		return true
	}
	v := b.Values[g.Name+".operations"]
	if !values.FromProperties(v) {
		b.Fail(suggest.Hint(name, b.owners()), "%s: %s.operations: there is no operation %q", g.Where, g.Name, name)
		return false
	}
	said := fmt.Sprintf("%s: %s.operations: %s is listed but not defined, so it gets PadoGrid's defaults: putall on map1", g.Where, g.Name, name)
	if near := suggest.Nearest(name, b.owners()); near != "" && !slices.Contains(b.listed(g.Name), near) {
		said += "; was " + near + " meant?"
	}
	b.Warn("%s", said)
	return true
}

// isOperation reports whether something is defined as an operation: it has a structure
// or a test case.
func (b *builder) isOperation(owner string) bool {
	for _, k := range append(kindNames(), "testCase", "ref") {
		if _, ok := b.Values[owner+"."+k]; ok {
			return true
		}
	}
	return false
}

// checkResume rejects what cannot be resumed, and names groups that are started over.
func (b *builder) checkResume() {
	s := b.s
	if !s.Resume {
		return
	}
	switch {
	case s.Compat:
		b.Blame("resume", "leave one of them out", "resume=on: with compat=on the number of children comes from a generator that all threads share, so what an earlier run did cannot be known")
	case s.Wrap:
		b.Blame("resume", "give --count, or let the file's counts end the run", "resume=on: a run that only --duration ends writes its keys again and again")
	}
	some := false
	for _, g := range s.Groups {
		if g.Resumable() {
			some = true
		} else {
			b.Warn("%s: resume=on has no effect on group %s, which does more than write rows of tables", g.Where, g.Name)
		}
	}
	if !some {
		b.Blame("resume", "use mysql://, postgres:// or sqlite: with operations that have a factory", "resume=on: no group only writes rows of tables")
	}
}
