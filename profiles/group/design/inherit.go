package design

import (
	"strconv"
	"strings"

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
func simulate(k *keys, groups []string) map[string]attributes {
	original := map[string]attributes{}
	var known []string
	done := map[string]bool{}
	var create func(op string)
	create = func(op string) {
		if _, ok := original[op]; ok {
			return
		}
		original[op] = k.setByFile(op)
		known = append(known, op)
		if child, ok := k.own(op, "factory.er.operation"); ok {
			create(child.Text)
		}
	}
	for _, g := range groups {
		for _, op := range k.listed(g) {
			create(op)
		}
		for _, op := range known {
			ref, ok := k.own(op, "ref")
			if k.Trims(ref) {
				ref.Text = k.Trim(ref)
			}
			if from, there := original[ref.Text]; ok && there && !done[op] {
				for _, a := range inherited {
					if v, set := from[a.key]; set {
						if _, set := original[op][a.key]; !set {
							original[op][a.key] = v
						}
					}
				}
			}
		}
		for _, op := range known {
			for _, a := range inherited {
				if _, set := original[op][a.key]; !set {
					original[op][a.key] = workload.Value{Name: op + "." + a.key, Text: a.otherwise, Origin: workload.OriginDefault}
				}
			}
			done[op] = true
		}
	}
	return original
}

// setByFile returns what the original finds set for an operation itself.
func (k *keys) setByFile(op string) attributes {
	out := attributes{}
	for _, a := range inherited {
		v, ok := k.Values[op+"."+a.key]
		if !ok {
			continue
		}
		if a.integer && values.FromProperties(v) {
			if _, err := values.DecodeInt(v.Text, true); err != nil {
				continue
			}
		}
		out[a.key] = v
	}
	return out
}

// inheritance reads the attributes of operations: an operation's own, those of the
// operations to which it refers, and the defaults.
type inheritance struct {
	*values.Reader
	keys *keys
	// original holds the inherited attributes that PadoGrid 1.0.2 would use; nil if the
	// files are not its own.
	original map[string]attributes
}

// number reads an integer attribute of an operation: its own, an inherited one, the
// value for all operations, or the default.
func (a *inheritance) number(op string, p workload.Param, all bool, keys ...string) int64 {
	v, ok := a.attribute(op, keys...)
	if all {
		if every, found := a.Values.Pick(append([]string{p.Name}, keys...)...); found && every.Origin > v.Origin {
			v, ok = every, true
		}
	}
	if !ok {
		v = workload.Value{Name: op + "." + keys[0], Text: p.Default, Origin: workload.OriginDefault}
	}
	n := a.Integer(p, v)
	text := strconv.FormatInt(n, 10)
	if p.Kind == workload.Size {
		text = values.BytesText(n)
	}
	a.Show(op+"."+keys[0], text, v)
	return n
}

// attribute returns an attribute that is inherited through references, as the original
// would find it if compat is on. A difference leads to a warning.
func (a *inheritance) attribute(op string, keys ...string) (workload.Value, bool) {
	v, depth, ok := a.keys.find(op, keys...)
	if ok && v.Origin > workload.OriginFile && depth == 0 {
		return v, true
	}
	was, known := a.original[op][keys[0]]
	if a.original != nil && known {
		if a.Compat {
			return was, was.Origin > workload.OriginDefault
		}
		if ok && depth > 0 && v.Text != was.Text && values.FromProperties(v) {
			a.Warn("%s: %s=%s also applies to %s, through its ref; PadoGrid would use %q", at(v), v.Name, strings.TrimSpace(v.Text), op, was.Text)
		}
	}
	return v, ok
}

// factoryValue returns an operation's key for its factory: its own or, unless compat is
// on, the referenced operation's.
func (a *inheritance) factoryValue(o *model.Op, key string) (workload.Value, bool) {
	v, depth, ok := a.keys.find(o.Name, key)
	if ok && depth > 0 && a.Compat {
		return workload.Value{}, false
	}
	if ok && depth > 0 && values.FromProperties(v) && key == "factory.class" {
		a.Warn("%s: %s also applies to %s, through its ref; PadoGrid does not carry factories over", at(v), v.Name, o.Name)
	}
	return v, ok
}

// javaBool parses a boolean of a factory: true in any case; the original takes
// everything else as false.
func (a *inheritance) javaBool(v workload.Value) bool {
	if a.Compat && values.FromProperties(v) {
		return strings.EqualFold(v.Text, "true")
	}
	on, err := v.Bool()
	a.Problems.Add(err)
	if t := strings.TrimSpace(v.Text); err == nil && values.FromProperties(v) && on != strings.EqualFold(v.Text, "true") {
		a.Warn("%s: %s: %q is read as true; PadoGrid would read it as false", v.Where, v.Name, t)
	}
	return on
}
