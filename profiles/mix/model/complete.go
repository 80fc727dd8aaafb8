package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

// KeyLength is how long keys are unless a file says otherwise, LongestKey how long they may
// be.
const (
	KeyLength  = 10
	LongestKey = 250
)

// MostBytes is the largest value.
const MostBytes = workload.MaxPayload

// mostSteps is how many steps an operation may have.
const mostSteps = 64

// types are the types of data that each verb is for, the first one unless a file says
// otherwise.
var types = map[Verb][]Type{
	Get: {Value, Hash, Counter}, Put: {Value, Hash, Counter}, Insert: {Value, Hash, Counter}, Update: {Hash}, Modify: {Value, Hash}, Add: {Counter},
	Delete: Types, Scan: {Value, Hash, Counter}, Push: {List}, Pop: {List}, Range: {List, Sorted, Stream},
	Include: {Set, Sorted}, Exclude: {Set, Sorted}, Has: {Set, Sorted}, Members: {Set, Sorted}, Append: {Stream},
}

// usualSize is the size of a value of which nothing is said.
const usualSize = 1024

// Complete fills in what a file may leave out: data sets that only steps name, and sizes. The
// error says what does not fit together, with the code of bad input.
func (w *Workload) Complete() error {
	var problems workload.Problems
	if len(w.Operations) == 0 {
		problems.Add(fault.Input(errors.New("there are no operations"), "for example  operations: {read: {get: product}}"))
	}
	sum := 0.0
	for i := range w.Operations {
		o := &w.Operations[i]
		sum += o.Weight
		if len(o.Steps) > mostSteps {
			problems.Add(fault.Input(fmt.Errorf("operation %s has %d steps, and %d are the most", o.Name, len(o.Steps), mostSteps), ""))
		}
		for j := range o.Steps {
			problems.Add(w.completeStep(o, &o.Steps[j]))
		}
	}
	if len(w.Operations) > 0 && sum <= 0 {
		problems.Add(fault.Input(errors.New("no operation has a weight above 0"), "for example  mix: {"+w.Operations[0].Name+": 100}"))
	}
	same := map[string]string{}
	for i := range w.Data {
		d := &w.Data[i]
		problems.Add(d.complete())
		plain := ColumnName(d.Name)
		if first, twice := same[plain]; twice {
			problems.Add(fault.Input(fmt.Errorf("data sets %s and %s would be the same table", first, d.Name), "give one of them another name"))
		}
		same[plain] = d.Name
	}
	if _, err := w.Pipelined(); err != nil {
		problems.Add(err)
	}
	return problems.Err()
}

// Pipelined returns how many calls a client sends before it waits for the first answer: the
// same of all operations, which then have one step each.
func (w *Workload) Pipelined() (int, error) {
	depth := 0
	for i := range w.Operations {
		o := &w.Operations[i]
		for j := range o.Steps {
			p := max(o.Steps[j].Pipeline, 1)
			if depth == 0 {
				depth = p
			}
			switch {
			case p != depth:
				return 1, fault.Input(fmt.Errorf("operation %s: a pipeline of %d, and others have one of %d", o.Name, p, depth), "give all steps the same")
			case p > 1 && len(o.Steps) > 1:
				return 1, fault.Input(fmt.Errorf("operation %s: its %d steps wait for each other, so there is no pipeline", o.Name, len(o.Steps)), "leave pipeline out, or make each an operation")
			case p > 1 && !slices.Contains([]Verb{Get, Put, Insert, Update, Delete, Add}, o.Steps[j].Do):
				return 1, fault.Input(fmt.Errorf("operation %s: there is no pipeline of %s", o.Name, o.Steps[j].Do), "use a pipeline of 1")
			}
		}
	}
	return max(depth, 1), nil
}

func (w *Workload) completeStep(o *Operation, st *Step) error {
	where := "operation " + o.Name
	if st.Where != "" {
		where = st.Where + ": " + where
	}
	wrong := func(hint, format string, args ...any) error {
		return fault.Input(fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...)), hint)
	}
	if st.Do == Think || st.Do == Statement {
		return w.completeArgs(o, st, wrong)
	}
	fit := types[st.Do]
	if len(fit) == 0 {
		return wrong("", "a step does nothing that is known")
	}
	i := w.Index(st.Data)
	if i < 0 {
		d := Data{Name: st.Data, Type: fit[0], Key: KeyForm{Length: KeyLength}}
		if d.Type == Hash {
			return wrong("say under data how many fields it has", "there is no data set %q, of which %s writes fields", st.Data, st.Do)
		}
		if st.Do != Insert {
			var names []string
			for k := range w.Data {
				names = append(names, w.Data[k].Name)
			}
			hint := "say under data how many records it has"
			if len(names) > 0 {
				hint = fault.Suggest(st.Data, names)
			}
			return wrong(hint, "there is no data set %q", st.Data)
		}
		w.Data = append(w.Data, d)
		i = len(w.Data) - 1
	}
	d := &w.Data[i]
	switch {
	case !slices.Contains(fit, d.Type):
		var can []string
		for v, ts := range types {
			if slices.Contains(ts, d.Type) {
				can = append(can, string(v))
			}
		}
		slices.Sort(can)
		return wrong("on a "+string(d.Type)+" there are "+strings.Join(can, ", "), "there is no %s on a %s, which %s is", st.Do, d.Type, d.Name)
	case o.Atomic && !slices.Contains([]Verb{Get, Put, Insert, Update, Add, Delete}, st.Do):
		return wrong("leave atomic out, or use get, put, insert, update, add and delete", "a transaction has no %s", st.Do)
	case st.Fill && (st.Do != Get || o.Atomic):
		return wrong("use it with get, outside transactions", "there is no fill of a %s", st.Do)
	case st.Hit != nil && st.Do != Get:
		return wrong("use it with get", "there is no hit of a %s", st.Do)
	case d.Records == 0 && st.Do != Insert && !w.inserts(d.Name):
		return wrong("say under data how many it has, or use --records", "%s has no records", d.Name)
	case st.Keys.To > 0 && st.Keys.From >= st.Keys.To, st.Keys.From > 0 && st.Keys.From >= d.Records:
		return wrong("", "records %d to %d are not among the %d of %s", st.Keys.From, st.Keys.To-1, d.Records, d.Name)
	}
	for _, name := range st.Names {
		if !slices.ContainsFunc(d.Fields, func(f Field) bool { return f.Name == name }) {
			var names []string
			for _, f := range d.Fields {
				names = append(names, f.Name)
			}
			return wrong(fault.Suggest(name, names), "%s has no field %q", d.Name, name)
		}
	}
	if st.Do == Add && !st.By.Given() {
		st.By = One(1)
	}
	if (st.Do == Scan || st.Do == Range) && !st.Count.Given() {
		st.Count = One(10)
	}
	return nil
}

func (w *Workload) completeArgs(o *Operation, st *Step, wrong func(hint, format string, args ...any) error) error {
	if st.Do == Think {
		if o.Atomic {
			return wrong("leave atomic out", "a transaction does not think")
		}
		return nil
	}
	for i := range st.Args {
		a := &st.Args[i]
		if a.Kind != ArgKey && a.Kind != ArgRecord {
			continue
		}
		if a.Data == "" {
			a.Data = st.Data
		}
		if w.Index(a.Data) < 0 {
			return wrong("", "there is no data set %q", a.Data)
		}
		if st.Data == "" {
			st.Data = a.Data
		}
	}
	if st.Data != "" && w.Index(st.Data) < 0 {
		return wrong("", "there is no data set %q", st.Data)
	}
	return nil
}

// inserts reports whether there is an insert into a data set.
func (w *Workload) inserts(data string) bool {
	return slices.ContainsFunc(w.Operations, func(o Operation) bool {
		return slices.ContainsFunc(o.Steps, func(s Step) bool { return s.Do == Insert && s.Data == data })
	})
}

func (d *Data) complete() error {
	if !d.Size.Given() && d.Type != Counter && d.Type != Set && d.Type != Sorted {
		d.Size = One(usualSize)
		if d.Type == Hash {
			d.Size = One(max(usualSize/int64(len(d.Fields)), 1))
		}
	}
	most := d.Size.Most()
	for _, f := range d.Fields {
		most = max(most, f.Size.Most())
	}
	switch {
	case most > MostBytes:
		return fault.Input(fmt.Errorf("data set %s: a value of %d bytes is larger than %d", d.Name, most, MostBytes), "")
	case len(d.Key.Prefix) > LongestKey:
		return fault.Input(fmt.Errorf("data set %s: a prefix of %d bytes is longer than %d", d.Name, len(d.Key.Prefix), LongestKey), "")
	case d.Type == Hash && len(d.Fields) == 0:
		return fault.Input(fmt.Errorf("data set %s is a hash, and has no fields", d.Name), "for example  fields: 10")
	}
	return nil
}
