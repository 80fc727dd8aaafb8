package values

import (
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
)

// Fields are the parameters of a profile, each declared in one line together with the
// field that receives its value. They are listed and read in the order of declaration.
type Fields struct{ all []field }

type field struct {
	workload.Param
	read func(r *Reader, p workload.Param)
}

func (f *Fields) add(p workload.Param, read func(r *Reader, p workload.Param)) {
	f.all = append(f.all, field{p, read})
}

// Params returns the parameters.
func (f *Fields) Params() []workload.Param {
	var out []workload.Param
	for _, x := range f.all {
		out = append(out, x.Param)
	}
	return out
}

// Read reads every parameter into its field and shows it.
func (f *Fields) Read(r *Reader) {
	for _, x := range f.all {
		if x.read != nil {
			x.read(r, x.Param)
		}
	}
}

// whole returns a function that reads a whole number or size into a field.
func whole[N ~int | ~int64](to *N) func(*Reader, workload.Param) {
	return func(r *Reader, p workload.Param) { *to = N(r.Whole(p)) }
}

func integer(name string, otherwise, lo, hi int64, unit, help string) workload.Param {
	return workload.Param{Name: name, Kind: workload.Integer, Default: strconv.FormatInt(otherwise, 10), Unit: unit, Min: float64(lo), Max: float64(hi), Help: help}
}

// Int declares a whole number in [lo, hi]; unit may be empty. otherwise is the default.
func (f *Fields) Int(to *int, name string, otherwise, lo, hi int64, unit, help string) {
	f.add(integer(name, otherwise, lo, hi, unit, help), whole(to))
}

// Int64 is Int for a field of 64 bits.
func (f *Fields) Int64(to *int64, name string, otherwise, lo, hi int64, unit, help string) {
	f.add(integer(name, otherwise, lo, hi, unit, help), whole(to))
}

// Size declares a number of bytes in [lo, hi]; the default is given as a user would
// type it.
func (f *Fields) Size(to *int, name, otherwise string, lo, hi int64, help string) {
	f.add(workload.Param{Name: name, Kind: workload.Size, Default: otherwise, Min: float64(lo), Max: float64(hi), Help: help}, whole(to))
}

// Size64 is Size for a field of 64 bits.
func (f *Fields) Size64(to *int64, name, otherwise string, lo, hi int64, help string) {
	f.add(workload.Param{Name: name, Kind: workload.Size, Default: otherwise, Min: float64(lo), Max: float64(hi), Help: help}, whole(to))
}

// Float declares a number in [lo, hi]; unit may be empty.
func (f *Fields) Float(to *float64, name string, otherwise, lo, hi float64, unit, help string) {
	p := workload.Param{Name: name, Kind: workload.Number, Default: strconv.FormatFloat(otherwise, 'g', -1, 64), Unit: unit, Min: lo, Max: hi, Help: help}
	f.add(p, func(r *Reader, p workload.Param) { *to = r.Number(p) })
}

// Duration declares a duration; the default is given as a user would type it.
func (f *Fields) Duration(to *time.Duration, name, otherwise, help string) {
	p := workload.Param{Name: name, Kind: workload.Duration, Default: otherwise, Help: help}
	f.add(p, func(r *Reader, p workload.Param) { *to = r.Duration(p) })
}

// Millis declares a whole number of milliseconds in [0, hi].
func (f *Fields) Millis(to *time.Duration, name string, otherwise, hi int64, help string) {
	f.add(integer(name, otherwise, 0, hi, "ms", help), func(r *Reader, p workload.Param) { *to = time.Duration(r.Whole(p)) * time.Millisecond })
}

// Switch declares a boolean that is on or off.
func (f *Fields) Switch(to *bool, name string, otherwise bool, help string) {
	p := workload.Param{Name: name, Kind: workload.Switch, Default: onOff(otherwise), Help: help}
	f.add(p, func(r *Reader, p workload.Param) { *to = r.OnOff(p) })
}

// Choice declares one of several words.
func (f *Fields) Choice(to *string, name, otherwise string, words []string, help string) {
	p := workload.Param{Name: name, Kind: workload.Choice, Default: otherwise, Choices: words, Help: help}
	f.add(p, func(r *Reader, p workload.Param) { *to = r.Choice(p) })
}

// Is declares a choice among several words, the default first, and sets the field to
// whether word was chosen.
func (f *Fields) Is(to *bool, word, name string, words []string, help string) {
	p := workload.Param{Name: name, Kind: workload.Choice, Default: words[0], Choices: words, Help: help}
	f.add(p, func(r *Reader, p workload.Param) { *to = r.Choice(p) == word })
}

// Period declares a duration above 0; the default is given as a user would type it.
func (f *Fields) Period(to *time.Duration, name, otherwise, help string) {
	p := workload.Param{Name: name, Kind: workload.Duration, Default: otherwise, Help: help}
	f.add(p, func(r *Reader, p workload.Param) {
		if *to = r.Duration(p); *to <= 0 {
			r.Blame(name, "for example "+otherwise, "%s: must be more than 0", name)
		}
	})
}

// Text declares a text.
func (f *Fields) Text(to *string, name, otherwise, help string) {
	p := workload.Param{Name: name, Kind: workload.Text, Default: otherwise, Help: help}
	f.add(p, func(r *Reader, p workload.Param) { *to = r.Text(p) })
}

// Target declares a URL as for --target, but of something other than the store, or a
// word.
func (f *Fields) Target(to *string, name, otherwise, help string) {
	p := workload.Param{Name: name, Kind: workload.Target, Default: otherwise, Help: help}
	f.add(p, func(r *Reader, p workload.Param) { *to = r.Text(p) })
}

// Own declares a parameter that the profile reads in its own way; with a nil read, the
// profile reads it elsewhere, once it has what it needs for that.
func (f *Fields) Own(p workload.Param, read func(r *Reader, p workload.Param)) { f.add(p, read) }
