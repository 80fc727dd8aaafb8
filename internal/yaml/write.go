package yaml

import (
	"bytes"
	"strconv"
	"strings"

	lib "go.yaml.in/yaml/v3"
)

// Tree is what is to be written; nil is nothing.
type Tree struct{ node lib.Node }

// NewMapping returns a mapping without keys.
func NewMapping() *Tree { return &Tree{lib.Node{Kind: lib.MappingNode}} }

// NewList returns a list.
func NewList(items ...*Tree) *Tree {
	t := &Tree{lib.Node{Kind: lib.SequenceNode}}
	for _, item := range items {
		t.node.Content = append(t.node.Content, &item.node)
	}
	return t
}

// Word returns a text that stays one: a number is quoted.
func Word(text string) *Tree {
	t := &Tree{}
	t.node.SetString(text)
	return t
}

// Bare returns a text whose kind its reader knows: it has quotes only where YAML cannot do
// without.
func Bare(text string) *Tree {
	var doc lib.Node
	if err := lib.Unmarshal([]byte(text), &doc); err == nil && len(doc.Content) == 1 {
		if n := doc.Content[0]; n.Kind == lib.ScalarNode && n.Style == 0 && n.Value == text && n.Tag != "!!null" && strconv.Quote(text) == `"`+text+`"` {
			return &Tree{lib.Node{Kind: lib.ScalarNode, Tag: n.Tag, Value: text}}
		}
	}
	return Word(text)
}

// Whole returns a whole number.
func Whole(v int64) *Tree {
	return &Tree{lib.Node{Kind: lib.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v, 10)}}
}

// Empty reports whether there is nothing in it.
func (t *Tree) Empty() bool {
	return t == nil || t.node.Kind != lib.ScalarNode && len(t.node.Content) == 0
}

// Put adds a key to a mapping and returns the mapping.
func (t *Tree) Put(name string, value *Tree) *Tree { return t.PutUnder("", name, value) }

// Maybe is Put, unless the value is nothing, or has nothing in it.
func (t *Tree) Maybe(name string, value *Tree) *Tree {
	if value.Empty() {
		return t
	}
	return t.Put(name, value)
}

// PutUnder is Put with a comment above the key.
func (t *Tree) PutUnder(comment, name string, value *Tree) *Tree {
	key := Word(name)
	key.node.HeadComment = comment
	t.node.Content = append(t.node.Content, &key.node, &value.node)
	return t
}

// Under puts a comment above an item of a list.
func (t *Tree) Under(comment string) *Tree {
	t.node.HeadComment = comment
	return t
}

// Bytes returns the file, with a comment of any number of lines at its top.
func (t *Tree) Bytes(comment string) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(comment) {
		b.WriteString(strings.TrimSpace("# "+strings.TrimSpace(line)) + "\n")
	}
	e := lib.NewEncoder(&b)
	e.SetIndent(2)
	_ = e.Encode(&t.node) // cannot fail: texts and numbers, into memory
	_ = e.Close()
	return b.Bytes()
}
