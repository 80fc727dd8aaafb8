package ingestion

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/properties"
	"github.com/perfbench/perfbench/internal/suggest"
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
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// show keeps a value in effect under the name that it has in the plan.
func (r *values) show(name, text string, from workload.Value) {
	r.shown = append(r.shown, workload.Value{Name: name, Text: text, Origin: from.Origin, Where: from.Where})
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

// decode reads an integer of a properties file.
func (r *values) decode(p workload.Param, v workload.Value, lo, hi int64) (int64, error) {
	n, err := properties.DecodeInt(v.Text, r.compat)
	if err != nil && r.compat {
		r.warn("%s: %s: %q is not an integer as Java reads it: not set, so %s (compat=on)", v.Where, v.Name, v.Text, p.Default)
		return strconv.ParseInt(p.Default, 10, 64)
	}
	if err != nil {
		return 0, fault.Input(fmt.Errorf("%s: %s: %q is not a whole number", v.Where, v.Name, v.Text),
			"PadoGrid would take its default "+p.Default+" without a word; --set compat=on does too")
	}
	if properties.IsOctal(v.Text) {
		r.warn("%s: %s: %q begins with 0 and so is octal: %d, as Java reads it", v.Where, v.Name, strings.TrimSpace(v.Text), n)
	}
	if t := strings.TrimSpace(v.Text); t != v.Text {
		r.warn("%s: %s: blanks around %q are dropped; PadoGrid would take its default %s", v.Where, v.Name, t, p.Default)
	}
	if int64(n) < lo || int64(n) > hi {
		return 0, fault.Input(fmt.Errorf("%s: %s: %d is not in %d..%d", v.Where, v.Name, n, lo, hi), "")
	}
	return int64(n), nil
}

// whole reads and shows a whole number that the plan has once.
func (r *values) whole(name string) int64 {
	p := param(name)
	v := r.pick(p, name)
	n := r.integer(p, v)
	r.show(name, strconv.FormatInt(n, 10), v)
	return n
}

// text reads and shows a text. In a properties file PadoGrid keeps trailing
// blanks, which nobody means: they are dropped, with a warning, unless compat is on.
func (r *values) text(name string) string {
	v := r.pick(param(name), name)
	s := v.Text
	if fromProperties(v) && !r.compat {
		if s = strings.TrimSpace(s); s != v.Text {
			r.warn("%s: %s: blanks around %q are dropped; PadoGrid would keep them", v.Where, name, s)
		}
	}
	r.show(name, s, v)
	return s
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

func (r *values) readCompat() {
	v := r.pick(param("compat"), "compat")
	on, err := v.Bool()
	r.problems.Add(err)
	r.compat = on
	r.show("compat", map[bool]string{true: "on", false: "off"}[on], v)
}

// mapNames reads the maps to load, each once, in the order given.
func (r *values) mapNames() []string {
	v := r.pick(param("mapNames"), "mapNames")
	asJava := fromProperties(v) && r.compat
	var out []string
	for _, item := range strings.Split(v.Text, ",") {
		word := strings.TrimSpace(item)
		name := strings.ToLower(word)
		known := slices.Contains(mapsKnown, name)
		switch {
		case word == "" && !asJava:
		case !known && asJava, known && asJava && item != word:
			r.warn("%s: mapNames: %q is no map and is left out, as PadoGrid does (compat=on)", v.Where, item)
		case !known:
			r.problems.Add(fault.Input(fmt.Errorf("mapNames: %q (%s) is not one of %s", word, v.From(), strings.Join(mapsKnown, ", ")), suggest.Hint(word, mapsKnown)))
		case !slices.Contains(out, name):
			if item != word && fromProperties(v) {
				r.warn("%s: mapNames: blanks around %q are dropped; PadoGrid would leave the map out", v.Where, word)
			}
			out = append(out, name)
		}
	}
	if len(out) == 0 && r.problems.Err() == nil {
		r.problems.Add(fault.Input(fmt.Errorf("mapNames: %q (%s) names no map", v.Text, v.From()), "name eligibility, profile or both"))
	}
	r.show("mapNames", strings.Join(out, ","), v)
	return out
}

// testCase reads what a map's loaders do: whether in batches, and the word that
// the document prints.
func (r *values) testCase(m string) (putAll bool, word string) {
	p := param("testCase")
	v := r.pick(p, m+".testCase", "testCase")
	defer func() { r.show(m+".testCase", map[bool]string{true: casePutAll, false: casePut}[putAll], v) }()
	if !fromProperties(v) {
		word, err := v.Choice(p.Choices...)
		r.problems.Add(err)
		return word != casePut, word
	}
	text := v.Text
	if !r.compat {
		text = strings.TrimSpace(text)
	}
	switch word = strings.ToLower(text); word {
	case casePut:
		return false, word
	case casePutAll:
		return true, word
	case "get", caseGetAll, "tx":
	default:
		word = caseGetAll
	}
	r.warn("%s: %s: %q is no test case of ingestion: putall is run, as PadoGrid does", v.Where, v.Name, v.Text)
	if !r.compat {
		word = casePutAll
	}
	return true, word
}

// bytesText writes a size so that it reads back as the same number.
func bytesText(n int64) string {
	if s := units.Size(n); strings.HasSuffix(s, " B") {
		return strconv.FormatInt(n, 10)
	} else if back, err := units.ParseSize(s); err == nil && back == n {
		return strings.ReplaceAll(s, " ", "")
	}
	return strconv.FormatInt(n, 10)
}
