package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/perfbench/perfbench/internal/units"
)

// The boxes as they were run, with every value in force, in th2's format: --file can
// read them.

// boxes builds the YAML of one box, leaving out what is unknown.
type boxes struct{ config map[string]string }

// mapping is an ordered mapping of YAML.
type mapping struct{ n yaml.Node }

func newMapping() *mapping { return &mapping{yaml.Node{Kind: yaml.MappingNode}} }

func (m *mapping) put(key string, value *yaml.Node) *mapping {
	if value != nil && (value.Kind != yaml.MappingNode || len(value.Content) > 0) {
		k := &yaml.Node{}
		k.SetString(key)
		m.n.Content = append(m.n.Content, k, value)
	}
	return m
}

func word(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	return n
}

func whole64(v int64) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v, 10)}
}

// text returns a value as a word, integer as a whole number, size in bytes, millis in
// milliseconds; nil if unknown.
func (b boxes) text(name string) *yaml.Node {
	if v, ok := b.config[name]; ok {
		return word(v)
	}
	return nil
}

func (b boxes) integer(name string) *yaml.Node {
	if v, err := strconv.ParseInt(b.config[name], 10, 64); err == nil {
		return whole64(v)
	}
	return nil
}

func (b boxes) size(name string) *yaml.Node {
	if v, err := units.ParseSize(b.config[name]); err == nil && b.config[name] != "" {
		return whole64(v)
	}
	return nil
}

func (b boxes) millis(name string) *yaml.Node {
	if v, err := time.ParseDuration(b.config[name]); err == nil {
		return whole64(v.Milliseconds())
	}
	return nil
}

// document writes a box of the given kind and content.
func document(kind, name string, spec *mapping) string {
	if len(spec.n.Content) == 0 {
		return "# n/a: this run has kept no configuration\n"
	}
	doc := newMapping().put("apiVersion", word("th2.exactpro.com/v2")).put("kind", word(kind)).
		put("metadata", &newMapping().put("name", word(name)).n).put("spec", &spec.n)
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&doc.n); err != nil { // cannot happen: words and numbers can always be encoded
		return fmt.Sprintf("# n/a: %v\n", err)
	}
	return b.String()
}
