package request

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"
)

// form is what a plan looks like.
var form = yaml.Form{
	Example: "a plan has lines such as  profile: ingestion", Several: "put several runs in one list called runs", Keys: fault.SeePlanKeys,
}

// parse reads the keys of a file; shared is nil if there are none to be read, and runs
// if the file is not a suite.
func parse(name string, data []byte) (shared *section, runs []*section, stop bool, err error) {
	top, err := form.Parse(name, data)
	switch {
	case err != nil:
		return nil, nil, false, err
	case top.Kind() == yaml.Nothing:
		return nil, nil, false, fault.Input(fmt.Errorf("%s: says nothing", name), form.Example)
	}
	var stops yaml.Node
	shared = readSection(top, map[string]func(key, val yaml.Node){
		wordRuns: func(key, val yaml.Node) { runs = readRuns(key, val) },
		wordStop: func(key, val yaml.Node) {
			var err error
			stops = key
			stop, err = val.Value(wordStop, workload.OriginPlan).Bool()
			top.Note(ahead(err))
		},
	})
	if stops.Kind() != yaml.Nothing && runs == nil {
		stops.Fail("leave it out, or list the runs under runs:", "%s is for a file with several runs", wordStop)
	}
	if e, ok := shared.entries["name"]; ok && runs != nil {
		top.Note(fault.Input(fmt.Errorf("%s: the runs of a suite cannot share a name", e.where), "write it into each item of runs"))
		delete(shared.entries, "name")
	}
	return shared, runs, stop, top.Err()
}

// readRuns reads the list of runs in a suite; never nil.
func readRuns(key, n yaml.Node) []*section {
	out := []*section{}
	items := n.Items()
	if len(items) == 0 {
		key.Fail("write each run as an item:  - name: put", "%s is not a list of runs", wordRuns)
	}
	for _, item := range items {
		if item.Kind() != yaml.Mapping {
			item.Fail(form.Example, "a run has lines of the form name: value")
			continue
		}
		out = append(out, readSection(item, nil))
	}
	return out
}

// readSection reads what a mapping says about runs; besides are further keys that are
// allowed, with what reads them.
func readSection(n yaml.Node, besides map[string]func(key, val yaml.Node)) *section {
	s := newSection(n.Line())
	read := map[string]func(key, val yaml.Node){wordSet: func(_, val yaml.Node) { s.readSet(val) }}
	maps.Copy(read, besides)
	for _, q := range parts() {
		read[q.name] = func(key, val yaml.Node) { s.readPart(q, key, val) }
	}
	for _, word := range Keys() {
		read[word.Name] = func(key, val yaml.Node) {
			if texts, lines, ok := readTexts(word, val); ok {
				s.entries[word.Name] = entry{texts: texts, lines: lines, where: key.Where(), order: key.Line(), null: val.IsNull()}
			}
		}
	}
	names := slices.Collect(maps.Keys(read))
	n.Each(yaml.Keys{What: "a plan", Names: names, Hint: func(key, _ yaml.Node) string { return wrongKey(key.Text(), names) }}, func(key, val yaml.Node) { read[key.Text()](key, val) })
	for name, e := range s.set {
		if first, ok := s.entries[name]; ok {
			n.Note(fault.Input(fmt.Errorf("%s: %s is given already, in %s", e.where, name, first.where), "leave one of them out"))
		}
	}
	return s
}

// readSet reads the knobs and parameters under set.
func (s *section) readSet(n yaml.Node) {
	if n.IsNull() {
		return
	}
	for _, v := range n.Values() {
		if v.Name == "at" { // a list of its own here
			n.Note(fault.Input(fmt.Errorf("%s: the timetable cannot be set like a value", v.Where), "write it under at:, beside set"))
			continue
		}
		s.set[v.Name] = entry{texts: []string{v.Text}, where: v.Where, order: v.Order}
	}
}

// readTexts reads the value of a key: one text, or several for a list, each with its file and line.
func readTexts(word workload.Param, n yaml.Node) (texts, lines []string, ok bool) {
	switch {
	case word.Name == "at":
		return readChanges(n)
	case n.Kind() == yaml.Scalar && word.Name == "format":
		return slices.Collect(strings.SplitSeq(strings.ReplaceAll(n.Text(), " ", ""), ",")), nil, true
	case n.Kind() == yaml.Scalar:
		return []string{n.Text()}, nil, true
	case n.Kind() != yaml.List || word.Kind != workload.List:
		n.Fail("", "%s takes %s", word.Name, map[bool]string{true: "a list of values", false: "one value"}[word.Kind == workload.List])
		return nil, nil, false
	}
	texts, ok = n.Texts(word.Name)
	for _, item := range n.Items() {
		lines = append(lines, item.Where())
	}
	return texts, lines, ok && len(texts) > 0
}

// readChanges reads a timetable: either entries in the form of --at, or a mapping from
// moments to their changes.
func readChanges(n yaml.Node) (texts, lines []string, ok bool) {
	switch n.Kind() {
	case yaml.Scalar:
		return []string{n.Text()}, []string{n.Where()}, true
	case yaml.List:
		for _, item := range n.Items() {
			if item.Kind() == yaml.List {
				item.Fail("", "at: an item of the list must be a change")
				return nil, nil, false
			}
			more, at, ok := readChanges(item)
			if !ok {
				return nil, nil, false
			}
			texts, lines = append(texts, more...), append(lines, at...)
		}
	case yaml.Mapping:
		for moment, what := range n.Pairs() {
			text := what.Text()
			if what.Kind() == yaml.Mapping {
				var parts []string
				for _, v := range what.Values() {
					parts = append(parts, v.Name+"="+v.Text)
				}
				text = strings.Join(parts, ",")
			}
			texts, lines = append(texts, moment.Text()+":"+text), append(lines, moment.Where())
		}
	default:
		n.Fail("", "anchors and aliases are not supported here")
		return nil, nil, false
	}
	return texts, lines, len(texts) > 0
}

// within returns the path of a file named in a plan, relative to the current folder.
func within(plan, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(plan), path)
}

// IsName reports whether a file may be a plan by its name: it ends in .yaml or .yml.
func IsName(path string) bool {
	ending := strings.ToLower(filepath.Ext(path))
	return ending == ".yaml" || ending == ".yml"
}

// looksLike finds a line with which plans begin.
var looksLike = regexp.MustCompile(`(?m)^(profile|runs):`)

// Is reports whether a file of values is a plan, that is, names its profile or lists
// runs. One that cannot be read is a plan if a line of it begins so.
func Is(data []byte) bool {
	top, err := form.Parse("", data)
	if err != nil {
		return looksLike.Match(data)
	}
	for key, val := range top.Pairs() {
		if key.Text() == "profile" && val.Kind() == yaml.Scalar || key.Text() == wordRuns && val.Kind() == yaml.List {
			return true
		}
	}
	return false
}
