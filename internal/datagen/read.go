package datagen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// prefix is how the names of all values of a model begin.
const prefix = "objects."

// Owns reports whether a value belongs to a model: one from YAML, flags or the
// environment, since PadoGrid's properties files cannot define any.
func Owns(v workload.Value) bool {
	return strings.HasPrefix(v.Name, prefix) && !values.FromProperties(v)
}

// Limits of a model.
const (
	maxFields = 200
	maxName   = 60
	// maxIndexed is the length of the longest text, in characters, that every database
	// can index.
	maxIndexed = 700
)

var nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// Read reads the objects defined by values. Everything that is wrong goes to
// r.Problems, and each value, along with the order of the fields, to r.Shown.
func Read(r *values.Reader) *Model {
	m := &Model{}
	drafts := gather(r, m)
	for _, d := range drafts {
		d.read(r)
		m.Objects = append(m.Objects, d.o)
	}
	for _, d := range drafts {
		d.relate(r, m)
	}
	if r.Problems.Err() != nil {
		return m
	}
	circles(r, m)
	tables(r, m)
	if r.Problems.Err() != nil {
		return m
	}
	for _, d := range drafts {
		d.finish(r)
	}
	return m
}

// draft is an object that is being read.
type draft struct {
	o     *Object
	own   map[string]workload.Value // key, table, order
	parts []*fieldDraft             // in the order of the file
}

// fieldDraft is a field that is being read.
type fieldDraft struct {
	f    *Field
	at   workload.Value // its first value
	keys map[string]workload.Value
}

func place(v workload.Value) string {
	if v.Where == "" {
		return v.Origin.String()
	}
	return v.Where
}

var objectKeys = []string{"key", "table", "order", "fields"}

// gather groups the values by object and field, both in the order of the file.
func gather(r *values.Reader, m *Model) []*draft {
	var own []workload.Value
	for _, n := range r.Values.Names() {
		if v := r.Values[n]; Owns(v) {
			own = append(own, v)
			m.Taken = append(m.Taken, n)
		}
	}
	slices.SortStableFunc(own, func(a, b workload.Value) int { return orderOf(a) - orderOf(b) })
	var out []*draft
	for _, v := range own {
		r.Show(v.Name, v.Text, v)
		name, rest, _ := strings.Cut(strings.TrimPrefix(v.Name, prefix), ".")
		i := slices.IndexFunc(out, func(d *draft) bool { return d.o.Name == name })
		if i < 0 {
			i = len(out)
			out = append(out, &draft{o: &Object{Name: name, Table: name, Where: place(v)}, own: map[string]workload.Value{}})
			if !nameForm.MatchString(name) || len(name) > maxName {
				r.Fail("begin with a letter and go on with letters, digits and _", "%s: objects: %q cannot be the name of an object", place(v), name)
			}
		}
		out[i].set(r, rest, v)
	}
	return out
}

// orderOf returns the order of a value; values that are not from a file come last.
func orderOf(v workload.Value) int {
	if v.Order == 0 {
		return 1 << 30
	}
	return v.Order
}

// set puts a value where it belongs.
func (d *draft) set(r *values.Reader, rest string, v workload.Value) {
	if slices.Contains(objectKeys[:3], rest) {
		d.own[rest] = v
		return
	}
	fields, field, _ := strings.Cut(rest, ".")
	field, key, _ := strings.Cut(field, ".")
	if fields != "fields" || field == "" {
		r.Fail(fault.Meant(fields, objectKeys), "%v", fail(place(v), d.o.Name, "", "there is no %q: it has %s", rest, strings.Join(objectKeys, ", ")))
		return
	}
	i := slices.IndexFunc(d.parts, func(p *fieldDraft) bool { return p.f.Name == field })
	if i < 0 {
		i = len(d.parts)
		d.parts = append(d.parts, &fieldDraft{f: &Field{Name: field, where: place(v)}, at: v, keys: map[string]workload.Value{}})
	}
	d.parts[i].keys[key] = v
}

// read reads the fields, and the key.
func (d *draft) read(r *values.Reader) {
	key, ok := d.own["key"]
	if text := strings.TrimSpace(key.Text); ok && strings.Contains(text, "#") { // a pattern: a field of its own
		if i := slices.IndexFunc(d.parts, func(p *fieldDraft) bool { return p.f.Name == "id" }); i >= 0 {
			r.Fail("write  key: id  and give the field id the pattern", "%v", fail(place(key), d.o.Name, "", "key: %q is a pattern, which makes a field id, and there is one", text))
			return
		}
		p := &fieldDraft{f: &Field{Name: "id", where: place(key)}, at: key, keys: map[string]workload.Value{
			"generator": {Name: key.Name, Text: genSequence, Origin: key.Origin, Where: key.Where}, "pattern": key,
		}}
		d.parts = slices.Insert(d.parts, 0, p)
		key.Text = "id"
	}
	d.arrange(r)
	seen := map[string]string{}
	for i, p := range d.parts {
		f := p.f
		f.self = i
		if !nameForm.MatchString(f.Name) || len(f.Name) > maxName {
			r.Fail("begin with a letter and go on with letters, digits and _", "%v", fail(f.where, d.o.Name, "", "%q cannot be the name of a field", f.Name))
		}
		if other, twice := seen[strings.ToLower(f.Name)]; twice {
			r.Fail("give one of them another name", "%v", fail(f.where, d.o.Name, f.Name, "differs from %s in the case of letters only, which columns do not", other))
		}
		seen[strings.ToLower(f.Name)] = f.Name
		f.hash = hashOf(d.o.Name, f.Name)
		d.o.Fields = append(d.o.Fields, f)
	}
	if len(d.parts) > maxFields {
		r.Fail(fmt.Sprintf("at most %d", maxFields), "%v", fail(d.o.Where, d.o.Name, "", "has %d fields", len(d.parts)))
	}
	d.o.key = d.o.index(strings.TrimSpace(key.Text))
	switch {
	case !ok:
		r.Fail("for example  key: "+d.o.Name[:1]+"-######  or the name of a field", "%v", fail(d.o.Where, d.o.Name, "", "has no key"))
	case d.o.key < 0:
		r.Fail(fault.Suggest(key.Text, d.o.Columns()), "%v", fail(place(key), d.o.Name, "", "key: %q is neither one of its fields nor a pattern with #", key.Text))
	}
	for i, p := range d.parts {
		p.read(r, d.o, i == d.o.key)
	}
	if d.o.key >= 0 {
		d.unique(r, key)
	}
	if len(d.parts) < 2 && ok {
		r.Fail("add fields", "%v", fail(d.o.Where, d.o.Name, "", "has no field besides its key"))
	}
	if t, ok := d.own["table"]; ok {
		d.o.Table = strings.TrimSpace(t.Text)
		if !nameForm.MatchString(d.o.Table) || len(d.o.Table) > maxName-20 {
			r.Fail("begin with a letter and go on with letters, digits and _", "%v", fail(place(t), d.o.Name, "", "table: %q cannot be the name of a table", t.Text))
		}
	}
	d.showOrder(r)
}

// arrange puts the fields into the order that the definition requests.
func (d *draft) arrange(r *values.Reader) {
	v, ok := d.own["order"]
	if !ok {
		return
	}
	var names []string
	for _, n := range strings.Split(v.Text, ",") {
		names = append(names, strings.TrimSpace(n))
	}
	at := func(name string) int { return slices.Index(names, name) }
	for _, n := range names {
		if !slices.ContainsFunc(d.parts, func(p *fieldDraft) bool { return p.f.Name == n }) {
			r.Fail("", "%v", fail(place(v), d.o.Name, "", "order: there is no field %q", n))
		}
	}
	for _, p := range d.parts {
		if at(p.f.Name) < 0 {
			r.Fail("name every field, or leave order out: then it is that of the file", "%v", fail(place(v), d.o.Name, "", "order: the field %s is missing", p.f.Name))
		}
	}
	slices.SortStableFunc(d.parts, func(a, b *fieldDraft) int { return at(a.f.Name) - at(b.f.Name) })
}

// showOrder records the order, which is that of the file: a run that is continued from
// its record takes it from there.
func (d *draft) showOrder(r *values.Reader) {
	if _, given := d.own["order"]; !given {
		r.Show(prefix+d.o.Name+".order", strings.Join(d.o.Columns(), ","), workload.Value{Origin: workload.OriginDefault})
	}
}

// unique rejects a key that two objects may share.
func (d *draft) unique(r *values.Reader, key workload.Value) {
	f := d.o.Key()
	if f.Generator == genSequence || f.Generator == genUUID || f.Generator == "" {
		return
	}
	r.Fail("use a field with the generator sequence or uuid", "%v", fail(place(key), d.o.Name, f.Name, "is the key, and with the generator %s two objects may have the same one", f.Generator))
}

// circles rejects objects that are each other's parents.
func circles(r *values.Reader, m *Model) {
	var path []*Object
	done := map[*Object]bool{}
	var visit func(o *Object)
	visit = func(o *Object) {
		if i := slices.Index(path, o); i >= 0 {
			var names []string
			for _, p := range append(slices.Clone(path[i:]), o) {
				names = append(names, p.Name)
			}
			r.Fail("let one of them have no parent", "%s: objects: the parents form a circle: %s", o.Where, strings.Join(names, " → "))
			return
		}
		if done[o] {
			return
		}
		done[o] = true
		path = append(path, o)
		for _, f := range o.Fields {
			if f.Parent != nil && f.Parent != o {
				visit(f.Parent)
			}
		}
		path = path[:len(path)-1]
	}
	for _, o := range m.Objects {
		visit(o)
	}
}

// tables rejects two objects in one table.
func tables(r *values.Reader, m *Model) {
	seen := map[string]*Object{}
	for _, o := range m.Objects {
		if other := seen[strings.ToLower(o.Table)]; other != nil {
			r.Fail("give one of them another  table:", "%v", fail(o.Where, o.Name, "", "table %s is that of the object %s too", o.Table, other.Name))
		}
		seen[strings.ToLower(o.Table)] = o
	}
}
