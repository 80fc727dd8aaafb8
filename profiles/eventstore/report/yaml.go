package report

import (
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/yaml"
)

// The boxes as they were run, with every value in force, in th2's format: --file can
// read them.

// boxes builds the YAML of one box, leaving out what is unknown.
type boxes struct{ config map[string]string }

// text returns a value as a word, integer as a whole number, size in bytes, millis in
// milliseconds; nil if unknown.
func (b boxes) text(name string) *yaml.Tree {
	if v, ok := b.config[name]; ok {
		return yaml.Word(v)
	}
	return nil
}

func (b boxes) integer(name string) *yaml.Tree {
	if v, err := strconv.ParseInt(b.config[name], 10, 64); err == nil {
		return yaml.Whole(v)
	}
	return nil
}

func (b boxes) size(name string) *yaml.Tree {
	if v, err := units.ParseSize(b.config[name]); err == nil && b.config[name] != "" {
		return yaml.Whole(v)
	}
	return nil
}

func (b boxes) millis(name string) *yaml.Tree {
	if v, err := time.ParseDuration(b.config[name]); err == nil {
		return yaml.Whole(v.Milliseconds())
	}
	return nil
}

// document writes a box of the given kind and content.
func document(kind, name string, spec *yaml.Tree) string {
	if spec.Empty() {
		return "# n/a: this run has kept no configuration\n"
	}
	return string(yaml.NewMapping().Put("apiVersion", yaml.Word("th2.exactpro.com/v2")).Put("kind", yaml.Word(kind)).
		Put("metadata", yaml.NewMapping().Put("name", yaml.Word(name))).Put("spec", spec).Bytes(""))
}
