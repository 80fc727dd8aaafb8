package request

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/preset"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/workload"
)

const example = "a plan has lines such as  profile: ingestion"

// parser reads the tree of one file.
type parser struct {
	name     string
	problems workload.Problems
	unknowns int // keys that nothing is called
}

// parse reads the keys of a file; shared is nil if there are none to be read, and runs
// if the file is not a suite.
func parse(name string, data []byte) (shared *section, runs []*section, stop bool, err error) {
	p := &parser{name: name}
	top, err := document(name, data)
	if err == nil {
		err = bounded(name, top)
	}
	if err != nil {
		return nil, nil, false, err
	}
	var rest []*yaml.Node
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, val := top.Content[i], top.Content[i+1]
		switch key.Value {
		case wordRuns:
			runs = p.runs(key, val)
		case wordStop:
			v := workload.Value{Name: key.Value, Text: val.Value, Origin: workload.OriginPlan, Where: p.where(val)}
			stop, err = v.Bool()
			p.problems.Add(err)
		default:
			rest = append(rest, key, val)
		}
	}
	for i := 0; i < len(top.Content); i += 2 {
		if key := top.Content[i]; key.Value == wordStop && runs == nil {
			p.fail(key, "leave it out, or list the runs under runs:", "%s is for a file with several runs", wordStop)
		}
	}
	shared = p.section(top, rest, wordRuns, wordStop)
	if e, ok := shared.entries["name"]; ok && runs != nil {
		p.problems.Add(fault.Input(fmt.Errorf("%s: the runs of a suite cannot share a name", e.where), "write it into each item of runs"))
		delete(shared.entries, "name")
	}
	if more := p.unknowns - mostUnknown; more > 0 {
		p.problems.Add(fault.Input(fmt.Errorf("%s: %d more keys are unknown", name, more), suggest.PlanKeys))
	}
	return shared, runs, stop, p.problems.Err()
}

// document returns the mapping that a file is.
func document(name string, data []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	err := d.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && doc.Content[0].Tag == "!!null" {
		return nil, fault.Input(fmt.Errorf("%s: says nothing", name), example)
	}
	if err == nil {
		if err = d.Decode(&more); err == nil {
			return nil, fault.Input(fmt.Errorf("%s:%d: begins another document", name, more.Line), "put several runs in one list called runs")
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		return nil, fault.Input(fmt.Errorf("%s: not YAML: %w", name, preset.YAMLError(err, data)), example)
	}
	if n := doc.Content[0]; n.Kind != yaml.MappingNode {
		return nil, fault.Input(fmt.Errorf("%s:%d: expected lines of the form name: value", name, n.Line), example)
	}
	return doc.Content[0], nil
}

// bounded refuses a file with more keys than anybody would write.
func bounded(name string, n *yaml.Node) error {
	keys := 0
	for todo := []*yaml.Node{n}; len(todo) > 0; {
		n, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if n.Kind == yaml.MappingNode {
			keys += len(n.Content) / 2
		}
		if keys > infile.MaxKeys {
			return fault.Input(fmt.Errorf("%s:%d: more than %d keys", name, n.Line, infile.MaxKeys), example)
		}
		todo = append(todo, n.Content...)
	}
	return nil
}

// mostUnknown is how many keys that nothing is called are named with what may have been
// meant; the others are counted.
const mostUnknown = 20

func (p *parser) where(n *yaml.Node) string { return fmt.Sprintf("%s:%d", p.name, n.Line) }

func (p *parser) fail(n *yaml.Node, hint, format string, args ...any) {
	p.problems.Add(fault.Input(fmt.Errorf("%s: %s", p.where(n), fmt.Sprintf(format, args...)), hint))
}

// runs reads the list of runs in a suite; never nil.
func (p *parser) runs(key, n *yaml.Node) []*section {
	out := []*section{}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		p.fail(key, "write each run as an item:  - name: put", "%s is not a list of runs", wordRuns)
		return out
	}
	for _, item := range n.Content {
		if item.Kind != yaml.MappingNode {
			p.fail(item, example, "a run has lines of the form name: value")
			continue
		}
		out = append(out, p.section(item, item.Content))
	}
	return out
}

// section reads pairs of keys and values; besides are further keys that are allowed.
func (p *parser) section(at *yaml.Node, pairs []*yaml.Node, besides ...string) *section {
	s := newSection(at.Line)
	lines := map[string]int{}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, val := pairs[i], pairs[i+1]
		if first, ok := lines[key.Value]; ok {
			p.fail(key, "", "%s is already on line %d", key.Value, first)
			continue
		}
		lines[key.Value] = key.Line
		if key.Value == wordSet {
			p.set(s, val)
			continue
		}
		if i := slices.IndexFunc(parts(), func(q part) bool { return q.name == key.Value }); i >= 0 {
			p.part(s, parts()[i], key, val)
			continue
		}
		word, ok := FieldNamed(key.Value)
		if !ok || word.terminal {
			p.unknown(key, besides)
			continue
		}
		if texts, ok := p.texts(word.Param, val); ok {
			s.entries[word.Name] = entry{texts: texts, where: p.where(key), order: key.Line, null: val.Tag == "!!null"}
		}
	}
	for name, e := range s.set {
		if first, ok := s.entries[name]; ok {
			p.problems.Add(fault.Input(fmt.Errorf("%s: %s is given already, in %s", e.where, name, first.where), "leave one of them out"))
		}
	}
	return s
}

func (p *parser) unknown(key *yaml.Node, besides []string) {
	if p.unknowns++; p.unknowns > mostUnknown {
		return
	}
	words := append([]string{wordSet, wordFind, wordSweep}, besides...)
	for _, q := range Keys() {
		words = append(words, q.Name)
	}
	hint := "knobs and parameters of a profile go under set:"
	if suggest.Nearest(key.Value, words) != "" {
		hint = suggest.Hint(key.Value, words, suggest.PlanKeys)
	}
	p.fail(key, hint, "a plan has no key %q", key.Value)
}

// set reads the knobs and parameters under set.
func (p *parser) set(s *section, n *yaml.Node) {
	if n.Tag == "!!null" {
		return
	}
	values, err := preset.Values(p.name, n)
	p.problems.Add(err)
	for _, v := range values {
		if v.Name == "at" { // a list of its own here
			p.problems.Add(fault.Input(fmt.Errorf("%s: the timetable cannot be set like a value", v.Where), "write it under at:, beside set"))
			continue
		}
		s.set[v.Name] = entry{texts: []string{v.Text}, where: v.Where, order: v.Order}
	}
}

// texts reads the value of a key: one text, or several for a list.
func (p *parser) texts(word workload.Param, n *yaml.Node) ([]string, bool) {
	switch {
	case word.Name == "at":
		return p.changes(n)
	case n.Kind == yaml.ScalarNode && word.Name == "format":
		return slices.Collect(strings.SplitSeq(strings.ReplaceAll(n.Value, " ", ""), ",")), true
	case n.Kind == yaml.ScalarNode:
		return []string{n.Value}, true
	case n.Kind != yaml.SequenceNode || word.Kind != workload.List:
		p.fail(n, "", "%s takes %s", word.Name, map[bool]string{true: "a list of values", false: "one value"}[word.Kind == workload.List])
		return nil, false
	}
	var out []string
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			p.fail(item, "", "%s: an item of the list must be a plain value", word.Name)
			return nil, false
		}
		out = append(out, item.Value)
	}
	return out, len(out) > 0
}

// changes reads a timetable: either entries in the form of --at, or a mapping from
// moments to their changes.
func (p *parser) changes(n *yaml.Node) ([]string, bool) {
	var out []string
	switch n.Kind {
	case yaml.ScalarNode:
		return []string{n.Value}, true
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Kind == yaml.SequenceNode {
				p.fail(item, "", "at: an item of the list must be a change")
				return nil, false
			}
			more, ok := p.changes(item)
			if !ok {
				return nil, false
			}
			out = append(out, more...)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			moment, what := n.Content[i], n.Content[i+1]
			text := what.Value
			if what.Kind == yaml.MappingNode {
				values, err := preset.Values(p.name, what)
				p.problems.Add(err)
				var parts []string
				for _, v := range values {
					parts = append(parts, v.Name+"="+v.Text)
				}
				text = strings.Join(parts, ",")
			}
			out = append(out, moment.Value+":"+text)
		}
	default:
		p.fail(n, "", "anchors and aliases are not supported here")
		return nil, false
	}
	return out, len(out) > 0
}

// within returns the path of a file named in a plan, relative to the current folder.
func within(plan, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(plan), path)
}

// Is reports whether a file of values is a plan, that is, names its profile or lists
// runs.
func Is(data []byte) bool {
	top, err := document("", data)
	if err != nil {
		return false
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, val := top.Content[i].Value, top.Content[i+1].Kind
		if key == "profile" && val == yaml.ScalarNode || key == wordRuns && val == yaml.SequenceNode {
			return true
		}
	}
	return false
}
