package request

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// Write returns a file that Read reads as f, with a comment of any number of lines at
// its top. Values of a lower origin than a plan are omitted, because presets and files
// provide them again. Paths become absolute. No secret is written: if a plan used
// variables, they stay; any other secret is omitted, with a comment that says so.
func Write(comment string, f *File) []byte {
	doc := &yaml.Node{Kind: yaml.MappingNode}
	if f.Suite {
		if f.StopOnFailure {
			add(doc, wordStop, plain("true"))
		}
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, r := range f.Runs {
			list.Content = append(list.Content, r.mapping())
		}
		add(doc, wordRuns, list)
	} else {
		for _, r := range f.Runs {
			r.Name = ""
			doc = r.mapping()
		}
	}
	var b bytes.Buffer
	for line := range strings.Lines(comment) {
		b.WriteString(strings.TrimSpace("# "+strings.TrimSpace(line)) + "\n")
	}
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	_ = e.Encode(doc) // cannot fail: plain text nodes, into memory
	_ = e.Close()
	return b.Bytes()
}

// mapping returns a run in the form in which it is written.
func (r Run) mapping() *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	one := func(name, text string) {
		if text != "" {
			add(m, name, scalar(text))
		}
	}
	values := maps.Clone(r.Request.Values)
	maps.DeleteFunc(values, func(_ string, v workload.Value) bool { return v.Origin < workload.OriginPlan })
	for _, f := range Fields() {
		switch {
		case f.terminal:
		case f.Kind == workload.Target:
			r.secretive(m, f.Name, *f.text(&r))
		case f.text != nil && f.path:
			one(f.Name, absolute(*f.text(&r)))
		case f.text != nil:
			one(f.Name, *f.text(&r))
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
				add(m, f.Name, scalar(v.Text))
				delete(values, f.Name)
			}
		}
	}
	r.parts(m)
	r.rest(m, values)
	return m
}

// rest writes the values that have no key of their own, in the order of their file.
func (r Run) rest(m *yaml.Node, values workload.Values) {
	if len(values) == 0 {
		return
	}
	set := &yaml.Node{Kind: yaml.MappingNode}
	inOrder := slices.SortedStableFunc(maps.Values(values), func(a, b workload.Value) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name))
	})
	for _, v := range inOrder {
		r.secretive(set, v.Name, v.Text)
	}
	add(m, wordSet, set)
}

// parts writes the run's search or sweep.
func (r Run) parts(m *yaml.Node) {
	below := &yaml.Node{Kind: yaml.MappingNode}
	one := func(name, text string) {
		if text != "" {
			add(below, name, scalar(text))
		}
	}
	switch {
	case r.Find != nil:
		several(below, "under", r.Find.Under)
		one("over", r.Find.Over)
		one("from", r.Find.From)
		one("to", r.Find.To)
		add(m, wordFind, below)
	case r.Sweep != nil:
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, text := range r.Sweep.Over {
			public, hidden := redacted(text)
			n := scalar(text)
			switch {
			case len(hidden) > 0 && r.Sweep.Spelled[text] != "":
				n = literal(r.Sweep.Spelled[text])
			case len(hidden) > 0:
				n = scalar(public)
				n.HeadComment = leftOut(hidden)
			}
			list.Content = append(list.Content, n)
		}
		if len(list.Content) > 0 {
			add(below, "over", list)
		}
		one("repeat", r.Sweep.Repeat)
		add(m, wordSweep, below)
	}
}

func leftOut(secrets []string) string {
	return fmt.Sprintf("# A secret is left out (%s): write it as ${NAME}, or use password-file.", strings.Join(secrets, ", "))
}

// secretive writes a text that may be a URL with secrets.
func (r Run) secretive(m *yaml.Node, name, text string) {
	t, err := store.ParseTarget(text)
	public, hidden := t.Public()
	switch {
	case text == "" && (name == "target" || name == "against"):
	case err != nil || len(hidden) == 0:
		add(m, name, scalar(text))
	case r.Request.Spelled[name] != "":
		add(m, name, literal(r.Request.Spelled[name]))
	default:
		n := scalar(public.Redacted())
		add(m, name, n)
		m.Content[len(m.Content)-2].HeadComment = leftOut(hidden)
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

func add(m *yaml.Node, name string, n *yaml.Node) {
	m.Content = append(m.Content, plain(name), n)
}

func several(m *yaml.Node, name string, texts []string) {
	if len(texts) == 0 {
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, text := range texts {
		list.Content = append(list.Content, scalar(text))
	}
	add(m, name, list)
}

func plain(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

// scalar returns a text in the form that Read reads back, with ${ escaped.
func scalar(text string) *yaml.Node { return literal(strings.ReplaceAll(text, "${", "$${")) }

// literal returns a text, without quotes if YAML allows it.
func literal(text string) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err == nil && len(doc.Content) == 1 {
		if n := doc.Content[0]; n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == text && n.Tag != "!!null" && strconv.Quote(text) == `"`+text+`"` {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: n.Tag, Value: text}
		}
	}
	n := &yaml.Node{}
	n.SetString(text)
	return n
}
