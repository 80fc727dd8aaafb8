// Package values reads the named values of a run for profiles: typed, within the range
// of their parameters, by the rules of the place where each was given. It collects
// everything that is wrong, so that users see all of it at once. It also reads the
// --file files that contain such values: YAML, and Java's properties as PadoGrid has them,
// of which it keeps what such a reader usually loses: order, line numbers, earlier lines of
// a repeated key and trailing blanks.
package values

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Reader reads values as described by their parameters. It belongs to one call of a
// profile's Design, and so to one goroutine. It collects in its fields what it reads
// and what is wrong.
type Reader struct {
	// Values are all the values that the run was given.
	Values workload.Values
	// Compat reads a properties file as the original does, including its quirks.
	Compat bool
	// Lenient reads integers of a properties file that Java would silently treat as not
	// set, such as 1_000 and 1e3, in the way they were meant, with a warning.
	Lenient  bool
	Problems workload.Problems
	Warnings []string
	// Shown are the values in effect, in the order in which they were read.
	Shown []workload.Value

	flavour string // set by Flavour
}

// New returns a reader of vs. Nothing has been read yet.
func New(vs workload.Values) *Reader { return &Reader{Values: vs} }

// Pick returns the value of the highest origin among those names, or the default of the
// parameter.
func (r *Reader) Pick(p workload.Param, names ...string) workload.Value {
	if v, ok := r.Values.Pick(names...); ok {
		return v
	}
	return workload.Value{Name: names[0], Text: p.Default, Origin: workload.OriginDefault}
}

// Warn adds a sentence for the user, without repetition.
func (r *Reader) Warn(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(r.Warnings, s) {
		r.Warnings = append(r.Warnings, s)
	}
}

// Fail adds a problem, which is bad input; hint may be empty. It is one with the value that its sentence begins with,
// if that was read.
func (r *Reader) Fail(hint, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if at := strings.IndexAny(err.Error(), ":="); at > 0 {
		name := err.Error()[:at]
		if slices.ContainsFunc(r.Shown, func(v workload.Value) bool { return v.Name == name }) {
			err = fault.Field(name, err)
		}
	}
	r.Problems.Add(fault.Input(err, hint))
}

// Blame is Fail for a problem with one input, given by the name that users type. The
// sentence must name it as well.
func (r *Reader) Blame(input, hint, format string, args ...any) {
	r.Problems.Add(fault.Field(input, fault.Input(fmt.Errorf(format, args...), hint)))
}

// Show adds a value in effect, under its name in the plan.
func (r *Reader) Show(name, text string, from workload.Value) {
	r.Shown = append(r.Shown, workload.Value{Name: name, Text: text, Origin: from.Origin, Where: from.Where})
}

// Whole reads and shows a whole number or size.
func (r *Reader) Whole(p workload.Param) int64 {
	v := r.Pick(p, p.Name)
	n := r.Integer(p, v)
	text := strconv.FormatInt(n, 10)
	if p.Kind == workload.Size {
		text = BytesText(n)
	}
	r.Show(p.Name, text, v)
	return n
}

// Number reads and shows a number.
func (r *Reader) Number(p workload.Param) float64 {
	v := r.Pick(p, p.Name)
	n, err := v.Float(p.Min, p.Max)
	r.Problems.Add(err)
	r.Show(p.Name, strconv.FormatFloat(n, 'g', -1, 64), v)
	return n
}

// Duration reads and shows a duration.
func (r *Reader) Duration(p workload.Param) time.Duration {
	v := r.Pick(p, p.Name)
	d, err := v.Duration()
	r.Problems.Add(err)
	r.Show(p.Name, units.Typed(d), v)
	return d
}

// OnOff reads and shows a boolean.
func (r *Reader) OnOff(p workload.Param) bool {
	v := r.Pick(p, p.Name)
	on, err := v.Bool()
	r.Problems.Add(err)
	r.Show(p.Name, onOff(on), v)
	return on
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// Choice reads and shows one of the words of a parameter.
func (r *Reader) Choice(p workload.Param) string {
	v := r.Pick(p, p.Name)
	word, err := v.Choice(p.Choices...)
	r.Problems.Add(err)
	r.Show(p.Name, word, v)
	return word
}

// Text reads and shows a text, trimmed by Trim.
func (r *Reader) Text(p workload.Param) string {
	v := r.Pick(p, p.Name)
	s := r.Trim(v)
	r.Show(p.Name, s, v)
	return s
}

// Trim returns the text of a value. In a properties file PadoGrid keeps surrounding
// blanks, which nobody intends: they are dropped with a warning, unless Compat is set.
// If PadoGrid for Coherence drops them itself, there is no warning.
func (r *Reader) Trim(v workload.Value) string {
	switch {
	case r.Trims(v):
		return strings.TrimSpace(v.Text)
	case !FromProperties(v) || r.Compat:
		return v.Text
	}
	s := strings.TrimSpace(v.Text)
	if s != v.Text {
		r.Warn("%s: %s: blanks around %q are dropped; PadoGrid would keep them", v.Where, v.Name, s)
	}
	return s
}

// Settings reads the live knobs that every profile has: threads, with the given
// default, and rate.
func (r *Reader) Settings(threads int) workload.Settings {
	s := workload.Settings{Threads: threads}
	if v, ok := r.Values["threads"]; ok {
		n, err := v.Int(1, workload.MaxThreads)
		r.Problems.Add(err)
		s.Threads = int(n)
	}
	if v, ok := r.Values["rate"]; ok {
		n, err := v.Rate()
		r.Problems.Add(err)
		s.Rate = n
	}
	return s
}

// Payload reads the initial value of a size knob: the value of the highest origin among
// those names, or the default.
func (r *Reader) Payload(k workload.Knob, otherwise int, names ...string) int {
	v, ok := r.Values.Pick(names...)
	if !ok {
		return otherwise
	}
	n, err := v.Size(int64(k.Min), int64(k.Max))
	r.Problems.Add(err)
	return int(n)
}

// FromProperties reports whether a value is from a properties file, and so is in Java's
// notation.
func FromProperties(v workload.Value) bool {
	at := strings.LastIndexByte(v.Where, ':')
	return v.Origin == workload.OriginFile && !IsYAML(v.Where[:max(at, 0)])
}

// IsYAML reports whether a file is one of ours, by its extension.
func IsYAML(file string) bool {
	ext := strings.ToLower(path.Ext(file))
	return ext == ".yaml" || ext == ".yml"
}

// BytesText formats a size so that it is parsed as the same number.
func BytesText(n int64) string {
	text := strings.ReplaceAll(units.Size(n), " ", "")
	if back, err := units.ParseSize(text); err == nil && back == n && n >= 1024 {
		return text
	}
	return strconv.FormatInt(n, 10)
}
