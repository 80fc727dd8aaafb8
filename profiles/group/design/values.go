package design

import (
	"strings"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// at names the place of a value for messages: file and line, if known.
func at(v workload.Value) string {
	if v.Where == "" {
		return v.Origin.String()
	}
	return v.Where
}

// javaBool parses a boolean of a factory: true in any case; the original takes
// everything else as false.
func (b *builder) javaBool(v workload.Value) bool {
	if b.Compat && values.FromProperties(v) {
		return strings.EqualFold(v.Text, "true")
	}
	on, err := v.Bool()
	b.Problems.Add(err)
	if t := strings.TrimSpace(v.Text); err == nil && values.FromProperties(v) && on != strings.EqualFold(v.Text, "true") {
		b.Warn("%s: %s: %q is read as true; PadoGrid would read it as false", v.Where, v.Name, t)
	}
	return on
}
