package request

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"
)

// Write returns a file that Read reads as f, with a comment of any number of lines at
// its top. Values of a lower origin than a plan are omitted, because presets and files
// provide them again. Paths become absolute. No secret is written: if a plan used
// variables, they stay; any other secret is omitted, with a comment that says so.
func Write(comment string, f *File) []byte {
	doc := yaml.NewMapping()
	if f.Suite {
		if f.StopOnFailure {
			doc.Put(wordStop, yaml.Bare("true"))
		}
		var runs []*yaml.Tree
		for _, r := range f.Runs {
			runs = append(runs, r.mapping())
		}
		doc.Put(wordRuns, yaml.NewList(runs...))
	} else {
		for _, r := range f.Runs {
			r.Name = ""
			doc = r.mapping()
		}
	}
	return doc.Bytes(comment)
}

// mapping returns a run in the form in which it is written.
func (r Run) mapping() *yaml.Tree {
	m := yaml.NewMapping()
	values := maps.Clone(r.Request.Values)
	maps.DeleteFunc(values, func(_ string, v workload.Value) bool { return v.Origin < workload.OriginPlan })
	for _, f := range Fields() {
		switch {
		case f.terminal:
		case f.Kind == workload.Target:
			r.secretive(m, f.Name, *f.text(&r))
		case f.text != nil && f.path:
			one(m, f.Name, absolute(*f.text(&r)))
		case f.text != nil:
			one(m, f.Name, *f.text(&r))
		case f.list != nil:
			texts := slices.Clone(*f.list(&r))
			for i := range texts {
				if f.path {
					texts[i] = absolute(texts[i])
				}
			}
			several(m, f.Name, texts)
		default:
			if v, ok := values[f.Name]; ok {
				m.Put(f.Name, scalar(v.Text))
				delete(values, f.Name)
			}
		}
	}
	r.parts(m)
	r.others(m, values)
	return m
}

// others writes the values that have no key of their own, in the order of their file.
func (r Run) others(m *yaml.Tree, values workload.Values) {
	if len(values) == 0 {
		return
	}
	set := yaml.NewMapping()
	inOrder := slices.SortedStableFunc(maps.Values(values), func(a, b workload.Value) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name))
	})
	for _, v := range inOrder {
		r.secretive(set, v.Name, v.Text)
	}
	m.Put(wordSet, set)
}

// parts writes the run's search or sweep.
func (r Run) parts(m *yaml.Tree) {
	below := yaml.NewMapping()
	switch {
	case r.Find != nil:
		several(below, "under", r.Find.Under)
		one(below, "over", r.Find.Over)
		one(below, "from", r.Find.From)
		one(below, "to", r.Find.To)
		m.Put(wordFind, below)
	case r.Sweep != nil:
		var axes []*yaml.Tree
		for _, text := range r.Sweep.Over {
			public, hidden := redacted(text)
			switch {
			case len(hidden) > 0 && r.Sweep.Spelled[text] != "":
				axes = append(axes, yaml.Bare(r.Sweep.Spelled[text]))
			case len(hidden) > 0:
				axes = append(axes, scalar(public).Under(leftOut(hidden)))
			default:
				axes = append(axes, scalar(text))
			}
		}
		if len(axes) > 0 {
			below.Put("over", yaml.NewList(axes...))
		}
		one(below, "repeat", r.Sweep.Repeat)
		one(below, "fault", r.Sweep.Fault)
		m.Put(wordSweep, below)
	}
}

func leftOut(secrets []string) string {
	return fmt.Sprintf("# A secret is left out (%s): write it as ${NAME}, or use password-file.", strings.Join(secrets, ", "))
}

// secretive writes a text that may be a URL with secrets.
func (r Run) secretive(m *yaml.Tree, name, text string) {
	t, err := store.ParseTarget(text)
	public, hidden := t.Public()
	switch {
	case text == "" && (name == "target" || name == "against"):
	case err != nil || len(hidden) == 0:
		m.Put(name, scalar(text))
	case r.Request.Spelled[name] != "":
		m.Put(name, yaml.Bare(r.Request.Spelled[name]))
	default:
		m.PutUnder(leftOut(hidden), name, scalar(public.Redacted()))
	}
}

func absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// one writes a text, unless it is empty.
func one(m *yaml.Tree, name, text string) {
	if text != "" {
		m.Put(name, scalar(text))
	}
}

func several(m *yaml.Tree, name string, texts []string) {
	if len(texts) == 0 {
		return
	}
	var items []*yaml.Tree
	for _, text := range texts {
		items = append(items, scalar(text))
	}
	m.Put(name, yaml.NewList(items...))
}

// scalar returns a text in the form that Read reads back, with ${ escaped.
func scalar(text string) *yaml.Tree { return yaml.Bare(strings.ReplaceAll(text, "${", "$${")) }
