// Package own reads and writes a workload as a YAML file of ours: data, operations and how
// often each is called. docs/mix.md describes it.
package own

import (
	"fmt"
	"regexp"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/yaml"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// Form is what the file looks like.
var Form = yaml.Form{Example: "a workload is as short as  operations: {read: {get: product}}", Keys: "docs/mix.md shows all"}

// The top keys of a workload; a file may have values of a run beside them.
const (
	keyName       = "workload"
	keyData       = "data"
	keyOperations = "operations"
	keyMix        = "mix"
	keySession    = "session"
)

// Keys are the top keys of a workload.
var Keys = []string{keyName, keyData, keyOperations, keyMix, keySession}

// Read reads a workload from a text that has no other keys. Errors have the code of bad
// input, and name the place in the file of that path.
func Read(path, text string) (*model.Workload, error) {
	top, err := Form.Parse(path, []byte(text))
	if err != nil {
		return nil, err
	}
	if top.Kind() == yaml.Nothing {
		return nil, fault.Input(fmt.Errorf("%s: says nothing", path), Form.Example)
	}
	r := NewReader()
	top.Each(yaml.Keys{What: "a workload", Names: Keys}, r.Key)
	w := r.Workload(top)
	return w, top.Err()
}

// Reader reads the top keys of a workload, one by one and in any order. What is wrong is
// noted with the nodes.
type Reader struct {
	w    *model.Workload
	name map[string]yaml.Node // of data sets and operations, where they are
	mix  []weight
}

// weight is the weight of an operation, which may come later in the file.
type weight struct {
	name string
	key  yaml.Node
	of   float64
}

// NewReader returns a reader that has read nothing.
func NewReader() *Reader { return &Reader{w: &model.Workload{}} }

// Key reads one of Keys.
func (r *Reader) Key(key, value yaml.Node) {
	switch key.Text() {
	case keyName:
		r.w.Name = text(value, keyName)
	case keyData:
		named(value, keyData, func(name string, _, n yaml.Node) { r.data(name, n) })
	case keyOperations:
		named(value, keyOperations, func(name string, _, n yaml.Node) { r.operation(name, n) })
	case keyMix:
		named(value, keyMix, func(name string, key, n yaml.Node) {
			r.mix = append(r.mix, weight{name, key, real(n, "the weight of "+name, 0, 1e6)})
		})
	case keySession:
		r.session(value)
	}
}

// names are what data sets and operations may be called: they become names of tables and
// keys, and of knobs.
var names = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,39}$`)

// named calls f for each name of a mapping.
func named(n yaml.Node, what string, f func(name string, key, n yaml.Node)) {
	if !n.IsMapping() {
		n.Fail("", "%s is not a mapping of names to what they are", what)
		return
	}
	lines := map[string]int{}
	for key, value := range n.Pairs() {
		name := key.Text()
		switch first, twice := lines[name]; {
		case twice:
			key.Fail("", "%s is already on line %d", name, first)
		case !names.MatchString(name):
			key.Fail("use letters, digits, _ and -, beginning with a letter", "%q is not a name in %s", name, what)
		default:
			lines[name] = key.Line()
			f(name, key, value)
		}
	}
}

// Workload returns the workload, once all its keys have been read. What does not fit
// together is noted with the top of the file.
func (r *Reader) Workload(top yaml.Node) *model.Workload {
	w := r.w
	for _, m := range r.mix {
		found := false
		var known []string
		for i := range w.Operations {
			known = append(known, w.Operations[i].Name)
			if w.Operations[i].Name == m.name {
				w.Operations[i].Weight, found = m.of, true
			}
		}
		if !found {
			m.key.Fail(fault.Suggest(m.name, known), "mix: there is no operation %q", m.name)
		}
	}
	for i := range w.Operations {
		if len(r.mix) == 0 {
			w.Operations[i].Weight = 1
		}
	}
	if top.Err() == nil { // else it would be about what is wrong already
		top.Note(w.Complete())
	}
	return w
}
