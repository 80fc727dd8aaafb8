package tx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/properties"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// values reads the values of a run, by the rules of the place where each stood.
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
	return all[slices.IndexFunc(all, func(p workload.Param) bool { return p.Name == name })]
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

func (r *values) bad(hint, format string, args ...any) {
	r.problems.Add(fault.Input(fmt.Errorf(format, args...), hint))
}

func (r *values) show(name, text string, from workload.Value) {
	r.shown = append(r.shown, workload.Value{Name: name, Text: text, Origin: from.Origin, Where: from.Where})
}

// integer reads a whole number or size of a parameter; of a bad one it keeps the
// problem and returns the default.
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
	n32, err := properties.DecodeInt(v.Text, r.compat)
	n := int64(n32)
	switch {
	case err != nil && r.compat:
		r.warn("%s: %s: %q is not an integer as Java reads it: not set, so %s (compat=on)", v.Where, v.Name, v.Text, p.Default)
		return strconv.ParseInt(p.Default, 10, 64)
	case err != nil:
		return 0, fault.Input(fmt.Errorf("%s: %s: %q is not a whole number", v.Where, v.Name, v.Text),
			"PadoGrid would take its default "+p.Default+" without a word; --set compat=on does too")
	case n < lo || n > hi:
		return 0, fault.Input(fmt.Errorf("%s: %s: %d is not in %d..%d", v.Where, v.Name, n, lo, hi), "")
	}
	if properties.IsOctal(v.Text) {
		r.warn("%s: %s: %q begins with 0 and so is octal: %d, as Java reads it", v.Where, v.Name, strings.TrimSpace(v.Text), n)
	}
	if t := strings.TrimSpace(v.Text); t != v.Text {
		r.warn("%s: %s: blanks around %q are dropped; PadoGrid would take its default %s", v.Where, v.Name, t, p.Default)
	}
	return n, nil
}

// whole reads and shows a whole number or size.
func (r *values) whole(name string) int64 {
	p := param(name)
	v := r.pick(p, name)
	n := r.integer(p, v)
	text := strconv.FormatInt(n, 10)
	if p.Kind == workload.Size {
		text = bytesText(n)
	}
	r.show(name, text, v)
	return n
}

// number reads and shows a number.
func (r *values) number(name string) float64 {
	p := param(name)
	v := r.pick(p, name)
	n, err := v.Float(p.Min, p.Max)
	r.problems.Add(err)
	r.show(name, strconv.FormatFloat(n, 'g', -1, 64), v)
	return n
}

// duration reads and shows a duration.
func (r *values) duration(name string) time.Duration {
	v := r.pick(param(name), name)
	d, err := v.Duration()
	r.problems.Add(err)
	r.show(name, d.String(), v)
	return d
}

// onOff reads and shows a switch.
func (r *values) onOff(name string) bool {
	v := r.pick(param(name), name)
	on, err := v.Bool()
	r.problems.Add(err)
	r.show(name, map[bool]string{true: "on", false: "off"}[on], v)
	return on
}

// text reads and shows a text. In a properties file PadoGrid keeps blanks around
// it, which nobody means: they are dropped, with a warning, unless compat is on.
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

// settings reads the live knobs that a mode has: threads and rate.
func (r *values) settings(threads int) workload.Settings {
	s := workload.Settings{Threads: threads}
	if v, ok := r.vs["threads"]; ok {
		n, err := v.Int(1, workload.MaxThreads)
		r.problems.Add(err)
		s.Threads = int(n)
	}
	if v, ok := r.vs["rate"]; ok {
		n, err := v.Float(0, workload.MaxRate)
		r.problems.Add(err)
		s.Rate = n
	}
	return s
}

// bytesText writes a size so that it reads back as the same number.
func bytesText(n int64) string {
	text := strings.ReplaceAll(units.Size(n), " ", "")
	if back, err := units.ParseSize(text); err == nil && back == n && n >= 1024 {
		return text
	}
	return strconv.FormatInt(n, 10)
}
