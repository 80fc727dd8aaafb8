// Package yaml reads YAML, ours and that of others, as nodes that know their place in
// their file, and collects what is wrong with the file: every error names file, line and
// column, and an unknown key brings the nearest right one. It also writes YAML. No other
// package of ours uses the library below it.
package yaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	lib "go.yaml.in/yaml/v3"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Form is what a kind of file looks like, for advice about one that does not.
type Form struct {
	// Example is for a file that is not a mapping, Several for one of several documents,
	// and Keys says where all keys are shown. Each may be empty.
	Example, Several, Keys string
}

// Kind is what a node is.
type Kind uint8

// The kinds of nodes.
const (
	Nothing Kind = iota // a file that says nothing
	Scalar
	List
	Mapping
	Alias
)

// Node is a value in a file, or a key.
type Node struct {
	file *file
	node *lib.Node
}

// file is what is shared by all nodes of a file.
type file struct {
	path     string
	form     Form
	problems workload.Problems
	unknown  int // keys that nothing is called
	walked   int // keys that were handed out
}

// mostUnknown is how many unknown keys are named with what may have been meant; the
// others are counted.
const mostUnknown = 20

// Parse parses a file that is one mapping; Kind is Nothing if it says nothing. Errors
// have the code of bad input.
func (f Form) Parse(path string, data []byte) (Node, error) {
	d := lib.NewDecoder(bytes.NewReader(data))
	n, err := f.next(path, data, d)
	if err != nil || n.Kind() == Nothing {
		return n, err
	}
	switch more, err := f.document(path, data, d); {
	case err != nil:
		return n, err
	case more != nil:
		return n, Node{n.file, more}.wrong(f.Several, "begins another document")
	case n.Kind() != Mapping:
		return n, n.wrong(f.Example, "expected lines of the form name: value")
	}
	if err := n.bounded(); err != nil {
		return n, err
	}
	n.swallowed(data)
	return n, nil
}

// swallowed notes items of lists that are indented deeper than those before them, since YAML reads
// them as more text of the item above.
func (n Node) swallowed(data []byte) {
	var lines [][]byte
	for todo := []*lib.Node{n.node}; len(todo) > 0; {
		next := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], next.Content...)
		if next.Kind != lib.SequenceNode || next.Style&lib.FlowStyle != 0 {
			continue
		}
		for _, item := range next.Content {
			if item.Kind != lib.ScalarNode || item.Style != 0 || !strings.Contains(item.Value, " - ") {
				continue
			}
			if lines == nil {
				lines = bytes.Split(data, []byte("\n"))
			}
			if item.Line >= len(lines) {
				continue
			}
			below := lines[item.Line] // that after its first
			if text := bytes.TrimLeft(below, " "); bytes.HasPrefix(text, []byte("- ")) {
				at := &lib.Node{Line: item.Line + 1, Column: len(below) - len(text) + 1}
				item.Value, _, _ = strings.Cut(item.Value, " - ") // without it, the rest can be checked
				Node{n.file, at}.Fail(fmt.Sprintf("let its - begin in column %d, as those of the others do", next.Column),
					"this item of the list is indented deeper than the one above it, of which it would be a part")
			}
		}
	}
}

// First parses the first document of a file of others, whatever it is.
func (f Form) First(path string, data []byte) (Node, error) {
	return f.next(path, data, lib.NewDecoder(bytes.NewReader(data)))
}

// next returns what the next document of a file says.
func (f Form) next(path string, data []byte, d *lib.Decoder) (Node, error) {
	n := Node{file: &file{path: path, form: f}}
	doc, err := f.document(path, data, d)
	if doc != nil && doc.Content[0].Tag != "!!null" {
		n.node = doc.Content[0]
	}
	return n, err
}

// document parses the next document of a file; nil if there is none.
func (f Form) document(path string, data []byte, d *lib.Decoder) (*lib.Node, error) {
	var doc lib.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, fault.Input(problem(path, err, data), f.Example)
	}
	return &doc, nil
}

// bounded refuses a file with more keys than anybody would write.
func (n Node) bounded() error {
	keys := 0
	for todo := []*lib.Node{n.node}; len(todo) > 0; {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if next.Kind == lib.MappingNode {
			keys += len(next.Content) / 2
		}
		if keys > infile.MaxKeys {
			return Node{n.file, next}.tooMany()
		}
		todo = append(todo, next.Content...)
	}
	return nil
}

func (n Node) tooMany() error {
	return n.wrong(n.file.form.Example, "more than %d keys", infile.MaxKeys)
}

// wrong returns an error about a node.
func (n Node) wrong(hint, format string, args ...any) error {
	return fault.Input(fmt.Errorf("%s:%d: %s", n.Where(), n.node.Column, fmt.Sprintf(format, args...)), hint)
}

// Fail notes that something is wrong with a node; hint may be empty.
func (n Node) Fail(hint, format string, args ...any) {
	n.file.problems.Add(n.wrong(hint, format, args...))
}

// Note notes an error that was found elsewhere; nil is none.
func (n Node) Note(err error) { n.file.problems.Add(err) }

// Err returns all that is wrong with the file of a node, as far as it was read.
func (n Node) Err() error {
	if more := n.file.unknown - mostUnknown; more > 0 {
		n.Note(fault.Input(fmt.Errorf("%s: %d more keys are unknown", n.file.path, more), n.file.form.Keys))
		n.file.unknown = 0
	}
	return n.file.problems.Err()
}

// Kind returns what the node is.
func (n Node) Kind() Kind {
	if n.node == nil {
		return Nothing
	}
	switch n.node.Kind {
	case lib.ScalarNode:
		return Scalar
	case lib.SequenceNode:
		return List
	case lib.MappingNode:
		return Mapping
	default:
		return Alias
	}
}

// Text returns a scalar as it is written, without quotes; "" for any other node.
func (n Node) Text() string { return n.node.Value }

// IsNull reports whether there is no value.
func (n Node) IsNull() bool { return n.node.Kind == lib.ScalarNode && n.node.Tag == "!!null" }

// IsFlow reports whether the node is written with braces or brackets.
func (n Node) IsFlow() bool { return n.node.Style&lib.FlowStyle != 0 }

// Line is the line of a node, from 1.
func (n Node) Line() int { return n.node.Line }

// Where returns the file and line of a node, which values show as their origin.
func (n Node) Where() string { return fmt.Sprintf("%s:%d", n.file.path, n.node.Line) }

// Value returns a scalar as a value of a run, which is read by the kind of its parameter.
func (n Node) Value(name string, from workload.Origin) workload.Value {
	return workload.Value{Name: name, Text: n.node.Value, Origin: from, Where: n.Where()}
}

// Whole reads a whole number in [lo, hi]. If it is none, that is noted, and lo returned.
func (n Node) Whole(what string, lo, hi int64) int64 {
	v, err := units.ParseWhole(n.node.Value)
	if n.Kind() == Scalar && err == nil && v >= lo && v <= hi {
		return v
	}
	if hi == math.MaxInt64 {
		n.Fail("", "%s: %q is not a whole number of %d or more", what, n.node.Value, lo)
	} else {
		n.Fail("", "%s: %q is not a whole number of %d to %d", what, n.node.Value, lo, hi)
	}
	return lo
}

// Items returns the items of a list; none of any other node.
func (n Node) Items() []Node {
	if n.Kind() != List {
		return nil
	}
	out := make([]Node, 0, len(n.node.Content))
	for _, item := range n.node.Content {
		out = append(out, Node{n.file, item})
	}
	return out
}

// Texts returns the scalars of a list. If an item is none, that is noted with the name of
// the list.
func (n Node) Texts(name string) ([]string, bool) {
	out := make([]string, 0, len(n.node.Content))
	for _, item := range n.Items() {
		if item.Kind() != Scalar {
			item.Fail("", "%s: an item of a list must be a plain value", name)
			return nil, false
		}
		out = append(out, item.Text())
	}
	return out, true
}

// Pairs returns the keys of a mapping with their values, in order; none of any other
// node. An alias is followed, and the keys of a file are bounded all the same.
func (n Node) Pairs() iter.Seq2[Node, Node] {
	if n.Kind() == Alias {
		n.node = n.node.Alias
	}
	return func(yield func(key, value Node) bool) {
		if n.Kind() != Mapping {
			return
		}
		for i := 0; i+1 < len(n.node.Content); i += 2 {
			key, value := Node{n.file, n.node.Content[i]}, Node{n.file, n.node.Content[i+1]}
			if n.file.walked++; n.file.walked > infile.MaxKeys {
				if n.file.walked == infile.MaxKeys+1 {
					n.Note(key.tooMany())
				}
				return
			}
			if !yield(key, value) {
				return
			}
		}
	}
}

// IsMapping reports whether a node is a mapping or the alias of one.
func (n Node) IsMapping() bool {
	return n.Kind() == Mapping || n.Kind() == Alias && n.node.Alias.Kind == lib.MappingNode
}

// Keys are the keys that a mapping may have.
type Keys struct {
	// What has them, in words: "a plan".
	What  string
	Names []string
	// Hint is what to say of a key that is not among Names; if it is nil, or says
	// nothing, the nearest ones are named.
	Hint func(key, value Node) string
}

// Each calls f for each key of a mapping that it may have. It is noted if the node is not
// a mapping, and if a key is unknown or there twice. One that is only misspelt is passed on in its right
// spelling, so that what is wrong with its value is found as well.
func (n Node) Each(k Keys, f func(key, value Node)) {
	if !n.IsMapping() {
		n.Fail("", "%s is not a mapping of names to values", k.What)
		return
	}
	lines := map[string]int{}
	for key, value := range n.Pairs() {
		switch first, twice := lines[key.Text()]; {
		case !slices.Contains(k.Names, key.Text()):
			k.stranger(key, value)
			if right := fault.Misspelt(key.Text(), k.Names); right != "" && !n.has(right) && lines[right] == 0 {
				lines[right] = key.Line()
				f(key.spelled(right), value)
			}
		case twice:
			key.Fail("", "%s is already on line %d", key.Text(), first)
		default:
			lines[key.Text()] = key.Line()
			f(key, value)
		}
	}
}

// has reports whether a mapping has a key of that name.
func (n Node) has(name string) bool {
	node := n.node
	if n.Kind() == Alias {
		node = node.Alias
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return true
		}
	}
	return false
}

// spelled returns a key, in its place, by another name.
func (n Node) spelled(name string) Node {
	other := *n.node
	other.Value = name
	n.node = &other
	return n
}

// stranger notes an unknown key.
func (k Keys) stranger(key, value Node) {
	hint := ""
	if k.Hint != nil {
		hint = k.Hint(key, value)
	}
	if hint == "" {
		hint = key.Nearest(k.Names)
	}
	key.Unknown(hint, "%s has no key %q", k.What, key.Text())
}

// Unknown is Fail for a key that nothing is called. The first of them are named, and the
// others counted.
func (n Node) Unknown(hint, format string, args ...any) {
	if n.file.unknown++; n.file.unknown <= mostUnknown {
		n.Fail(hint, format, args...)
	}
}

// Nearest returns advice about an unknown key: the nearest names, and where all are shown.
func (n Node) Nearest(names []string) string {
	if n.file.form.Keys == "" {
		return fault.Suggest(n.Text(), names)
	}
	return fault.Suggest(n.Text(), names, n.file.form.Keys)
}
