package group

import (
	"slices"

	"github.com/perfbench/perfbench/internal/properties"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// attributes are what PadoGrid 1.0.2 makes of an operation: the values of the
// keys that its references carry over, defaults included.
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

// simulate goes through the operations as the original does: those of a group are
// made, then each copies what it lacks from the one it refers to if that is known
// already, and then gets the defaults. One pass, one level.
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

// setByFile is what the original finds set for an operation itself.
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

// listed returns the names of a group's operations as the file lists them.
func (b *builder) listed(g string) []string {
	v, ok := b.Values[g+".operations"]
	if !ok {
		return []string{"putall"}
	}
	return items(v.Text)
}

// pair finds for operations that are listed and not defined those that are defined
// and not listed: when there are as many of them, they are meant for each other, in
// their order.
func (b *builder) pair(groups []string) {
	b.stands = map[string]string{}
	var missing, listed []string
	for _, g := range groups {
		for _, op := range b.listed(g) {
			listed = append(listed, op)
			if !b.has(op) && !slices.Contains(missing, op) {
				missing = append(missing, op)
			}
		}
	}
	if len(missing) == 0 || b.Compat {
		return
	}
	spare := b.unlisted(groups, listed)
	if len(spare) != len(missing) {
		return
	}
	for i, op := range missing {
		b.stands[op] = spare[i]
		b.Warn("%s: %s is listed and not defined, %s is defined and not listed: %s does what %s says; PadoGrid would write to map1",
			b.where(spare[i]), op, spare[i], op, spare[i])
	}
}

// unlisted returns the operations that are defined and that nothing names, in the
// order of the file.
func (b *builder) unlisted(groups, listed []string) []string {
	used := append(slices.Clone(groups), listed...)
	for _, n := range b.names {
		if _, key, ok := cutOwner(n); ok && (key == "ref" || key == "factory.er.operation") {
			used = append(used, b.Values[n].Text)
		}
	}
	var out []string
	for _, owner := range b.owners() {
		if slices.Contains(used, owner) || !b.isOperation(owner) {
			continue
		}
		out = append(out, owner)
	}
	slices.SortFunc(out, func(x, y string) int { return b.line(x) - b.line(y) })
	return out
}

func (b *builder) line(owner string) int {
	return lineOf(workload.Value{Where: b.where(owner)})
}

// isOperation says whether something is defined as an operation: it has a
// structure or a test case.
func (b *builder) isOperation(owner string) bool {
	for _, k := range append(kindNames(), "testCase", "ref") {
		if _, ok := b.Values[owner+"."+k]; ok {
			return true
		}
	}
	return false
}
