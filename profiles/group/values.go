package group

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/properties"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// values reads the values of a run by the rules of the place where each stood.
// It belongs to one call of Design.
type values struct {
	vs       workload.Values
	compat   bool
	problems workload.Problems
	warnings []string
	// shown are the values in effect, in the order in which they were read.
	shown []workload.Value
}

func param(name string) workload.Param {
	all := params()
	i := slices.IndexFunc(all, func(p workload.Param) bool { return p.Name == name })
	return all[i]
}

// pick returns the value with the best origin of those names, or the default of
// the parameter.
func (r *values) pick(p workload.Param, names ...string) workload.Value {
	if v, ok := r.vs.Pick(names...); ok {
		return v
	}
	return workload.Value{Name: names[0], Text: p.Default, Origin: workload.OriginDefault}
}

func (r *values) warn(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !slices.Contains(r.warnings, s) {
		r.warnings = append(r.warnings, s)
	}
}

func (r *values) fail(hint, format string, args ...any) {
	r.problems.Add(fault.Input(fmt.Errorf(format, args...), hint))
}

// show keeps a value in effect under the name that it has in the plan.
func (r *values) show(name, text string, from workload.Value) {
	r.shown = append(r.shown, workload.Value{Name: name, Text: text, Origin: from.Origin, Where: from.Where})
}

// at names the place of a value for messages: file and line where there is one.
func at(v workload.Value) string {
	if v.Where == "" {
		return v.Origin.String()
	}
	return v.Where
}

func isYAML(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	return ext == ".yaml" || ext == ".yml"
}

// fromProperties says whether a value stood in a properties file, and so is
// written as Java reads it.
func fromProperties(v workload.Value) bool {
	if v.Origin != workload.OriginFile {
		return false
	}
	i := strings.LastIndexByte(v.Where, ':')
	return !isYAML(v.Where[:max(i, 0)])
}

// integer reads a whole number or size of a parameter. Problems are kept, and the
// default returned instead.
func (r *values) integer(p workload.Param, v workload.Value) int64 {
	lo, hi := int64(p.Min), int64(p.Max)
	var n int64
	var err error
	switch {
	case fromProperties(v):
		n, err = r.decode(p, v, lo, hi)
	case p.Kind == workload.Size:
		n, err = v.Size(lo, hi)
	default:
		n, err = v.Int(lo, hi)
	}
	r.problems.Add(err)
	if err != nil {
		n, _ = strconv.ParseInt(p.Default, 10, 64)
	}
	return n
}

// decode reads an integer of a properties file. What Java would silently take for
// not set is read as it was meant, with a warning.
func (r *values) decode(p workload.Param, v workload.Value, lo, hi int64) (int64, error) {
	n, err := properties.DecodeInt(v.Text, r.compat)
	if err != nil && r.compat {
		r.warn("%s: %s: %q is not an integer as Java reads it: not set, so %s (compat=on)", v.Where, v.Name, v.Text, p.Default)
		return strconv.ParseInt(p.Default, 10, 64)
	}
	if err != nil {
		meant, ok := meantNumber(v.Text)
		if !ok {
			return 0, fault.Input(fmt.Errorf("%s: %s: %q is not a whole number", v.Where, v.Name, v.Text),
				"PadoGrid would take its default "+p.Default+" without a word; --set compat=on does too")
		}
		r.warn("%s: %s: %q is taken for %d; PadoGrid would take its default %s", v.Where, v.Name, v.Text, meant, p.Default)
		return meant, inRange(v, meant, lo, hi)
	}
	if properties.IsOctal(v.Text) {
		r.warn("%s: %s: %q begins with 0 and so is octal: %d, as Java reads it", v.Where, v.Name, strings.TrimSpace(v.Text), n)
	}
	if t := strings.TrimSpace(v.Text); t != v.Text {
		r.warn("%s: %s: blanks around %q are dropped; PadoGrid would take its default %s", v.Where, v.Name, t, p.Default)
	}
	return int64(n), inRange(v, int64(n), lo, hi)
}

func inRange(v workload.Value, n, lo, hi int64) error {
	if n < lo || n > hi {
		return fault.Input(fmt.Errorf("%s: %s: %d is not in %d..%d", v.Where, v.Name, n, lo, hi), "")
	}
	return nil
}

// meantNumber reads numbers that people write and Java does not: 1_000, 1e3, 08.
func meantNumber(text string) (int64, bool) {
	t := strings.ReplaceAll(strings.TrimSpace(text), "_", "")
	if n, err := strconv.ParseInt(t, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil || f != float64(int64(f)) || f > 1e15 || f < -1e15 {
		return 0, false
	}
	return int64(f), true
}

// text returns a text; blanks around one of a properties file are dropped, with a
// warning, unless compat is on.
func (r *values) text(v workload.Value) string {
	if !fromProperties(v) || r.compat {
		return v.Text
	}
	s := strings.TrimSpace(v.Text)
	if s != v.Text {
		r.warn("%s: %s: blanks around %q are dropped; PadoGrid would keep them", v.Where, v.Name, s)
	}
	return s
}

// whole reads and shows a whole number that the plan has once.
func (r *values) whole(name string) int64 {
	p := param(name)
	v := r.pick(p, name)
	n := r.integer(p, v)
	r.show(name, strconv.FormatInt(n, 10), v)
	return n
}

// choice reads and shows one of some words.
func (r *values) choice(name string) string {
	p := param(name)
	v := r.pick(p, name)
	word, err := v.Choice(p.Choices...)
	r.problems.Add(err)
	r.show(name, word, v)
	return word
}

// onOff reads and shows a switch.
func (r *values) onOff(name string) bool {
	v := r.pick(param(name), name)
	on, err := v.Bool()
	r.problems.Add(err)
	r.show(name, map[bool]string{true: "on", false: "off"}[on], v)
	return on
}

// javaBool reads a boolean of a factory: true in any letter case, everything else
// is false to the original.
func (r *values) javaBool(v workload.Value) bool {
	if r.compat && fromProperties(v) {
		return strings.EqualFold(v.Text, "true")
	}
	on, err := v.Bool()
	r.problems.Add(err)
	if t := strings.TrimSpace(v.Text); err == nil && fromProperties(v) && on != strings.EqualFold(v.Text, "true") {
		r.warn("%s: %s: %q is taken for true; PadoGrid would take it for false", v.Where, v.Name, t)
	}
	return on
}

// items cuts a list at its commas, blanks dropped.
func items(text string) []string {
	var out []string
	for s := range strings.SplitSeq(text, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// bytesText writes a size so that it reads back as the same number.
func bytesText(n int64) string {
	s := units.Size(n)
	if back, err := units.ParseSize(s); err == nil && back == n && !strings.HasSuffix(s, " B") {
		return strings.ReplaceAll(s, " ", "")
	}
	return strconv.FormatInt(n, 10)
}
