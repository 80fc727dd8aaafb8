package datagen

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
)

// relate reads what the fields refer to.
func (d *draft) relate(r *values.Reader, m *Model) {
	zipfs := 0
	for _, part := range d.parts {
		if part.f.Generator != genParent {
			continue
		}
		p := &reading{part, r, d.o}
		p.parent(m)
		p.counts()
		if part.f.spread == spreadZipf {
			part.f.zipf = zipfs
			zipfs++
		}
	}
}

// parent reads what a field refers to, and the distribution.
func (p *reading) parent(m *Model) {
	f := p.f
	v, ok := p.keys["parent"]
	name := strings.TrimSpace(v.Text)
	if f.Parent = m.Find(name); f.Parent == nil {
		if !ok {
			v = p.at
		}
		p.fail(v, fault.Suggest(name, m.Names()), "parent: there is no object %q", name)
		return
	}
	if p.o.index(f.Name) == p.o.key {
		return // already rejected as a key
	}
	if f.Parent == p.o && f.ForeignKey {
		p.fail(p.keys["foreignKey"], "leave foreignKey out", "refers to its own table, where the row that it refers to may not exist yet")
	}
	f.spread, f.first, f.each, f.skew = spreadSequential, 1, 1, 0.99
	if v, ok := p.keys["spread"]; ok {
		words := []string{spreadSequential, spreadUniform, spreadZipf}
		if f.spread = strings.TrimSpace(v.Text); !slices.Contains(words, f.spread) {
			p.fail(v, fault.Meant(f.spread, words), "spread: %q is not one of %s", v.Text, strings.Join(words, ", "))
			f.spread = spreadSequential
		}
	}
	if _, ok := p.keys["among"]; ok {
		f.hi, _ = p.integers("among", 1, 1, 1, 1<<50)
	} else if f.spread != spreadSequential {
		p.fail(p.keys["spread"], "for example  among: 1000", "spread %s needs  among: how many of the object %s there are", f.spread, name)
		f.hi = 1
	}
	if _, ok := p.keys["first"]; ok {
		f.first, _ = p.integers("first", 1, 1, 0, 1<<50)
	}
	for _, only := range []struct{ key, spread string }{{"skew", spreadZipf}, {"each", spreadSequential}} {
		if v, ok := p.keys[only.key]; ok && f.spread != only.spread {
			p.fail(v, "", "%s is of spread: %s, not %s", only.key, only.spread, f.spread)
		}
	}
	if v, ok := p.keys["skew"]; ok {
		f.skew = p.float(v, 0, 10)
	}
	if _, ok := p.keys["each"]; ok {
		f.each, _ = p.integers("each", 1, 1, 1, 1<<40)
	}
}

var countWords = []string{"fixed", "uniform", "geometric", "zipf"}

// counts reads how many children a parent has.
func (p *reading) counts() {
	f := p.f
	f.Children = Count{Least: 1, Most: 1, Spread: countWords[0]}
	if _, ok := p.keys["children"]; ok {
		lo, hi := p.integers("children", 1, 1, 0, 10000)
		f.Children = Count{Least: lo, Most: hi, Spread: countWords[0], Given: true}
		if lo != hi {
			f.Children.Spread = countWords[1]
		}
		if hi == 0 {
			p.fail(p.keys["children"], "", "children: 0 means none at all")
		}
	}
	v, ok := p.keys["childrenSpread"]
	if !ok {
		return
	}
	word := strings.TrimSpace(v.Text)
	switch {
	case !slices.Contains(countWords, word):
		p.fail(v, fault.Meant(word, countWords), "childrenSpread: %q is not one of %s", v.Text, strings.Join(countWords, ", "))
	case !f.Children.Given:
		p.fail(v, "for example  children: 1..5", "childrenSpread says how children are spread, and children is not set")
	case word == countWords[0] && f.Children.Least != f.Children.Most:
		p.fail(v, "children: 5, or another word", "childrenSpread: fixed does not go with children: %s", p.keys["children"].Text)
	default:
		f.Children.Spread = word
	}
}

// finish orders the templates, computes sizes, and makes the type for databases.
func (d *draft) finish(r *values.Reader) {
	o := d.o
	state := make([]int, len(o.Fields)) // 1: in progress, 2: done
	var visit func(i int) bool
	visit = func(i int) bool {
		f := o.Fields[i]
		if state[i] != 0 {
			return state[i] == 2
		}
		state[i] = 1
		if f.Generator == genTemplate {
			f.hi = 0
			for _, p := range f.parts {
				if p.field < 0 {
					f.hi += int64(utf8.RuneCountInString(p.text))
					continue
				}
				if !visit(p.field) {
					r.Fail("take one of these references out", "%v", fail(f.where, o.Name, f.Name, "template: uses %s, which uses it in turn", o.Fields[p.field].Name))
					return false
				}
				f.hi += int64(o.Fields[p.field].plainSize())
			}
		}
		state[i] = 2
		o.order = append(o.order, i)
		return true
	}
	for i := range o.Fields {
		if !visit(i) {
			return
		}
	}
	for _, part := range d.parts {
		if f := part.f; f.Index && f.Kind == Text && f.size() > maxIndexed {
			p := &reading{part, r, o}
			p.fail(p.keys["index"], "index a shorter text", "index: texts of up to %d characters cannot be indexed everywhere", f.size())
		}
	}
	o.typ = structOf(o)
}
