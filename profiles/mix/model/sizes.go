package model

import (
	"slices"
	"strconv"
	"strings"
)

// Text writes the number, with write for what it is made of; empty for the zero value.
func (n *Number) Text(write func(int64) string) string {
	span := func(lo, hi int64) string {
		if lo == hi {
			return write(lo)
		}
		return write(lo) + ".." + write(hi)
	}
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	switch n.Kind {
	case "":
		return ""
	case Weighted:
		var all []string
		for _, c := range n.Table {
			all = append(all, span(c.Min, c.Max)+": "+short(c.Weight))
		}
		return "{" + strings.Join(all, ", ") + "}"
	case Normal:
		text := "normal " + span(n.Min, n.Max)
		if n.Deviation > 0 {
			text += " around " + short(n.Mean) + "±" + short(n.Deviation)
		}
		return text
	case Skewed:
		return "zipf " + short(n.Exponent) + " " + span(n.Min, n.Max)
	}
	return span(n.Min, n.Max)
}

// Field returns how large field i of a record is.
func (d *Data) Field(i int) Number {
	if i < len(d.Fields) && d.Fields[i].Size.Given() {
		return d.Fields[i].Size
	}
	return d.Size
}

// Sizes are how large the values of a data set are that is loaded with a payload, and then those that
// the workload's own steps write, each once; with payload 0 it is the workload that says so. There
// are none where a record has no values of a size.
func (w *Workload) Sizes(d *Data, payload int) []string {
	if !d.Size.Given() {
		return nil
	}
	bytes := func(n int64) string { return strconv.FormatInt(n, 10) }
	if payload > 0 {
		return []string{bytes(int64(payload))}
	}
	var each []string
	for i := range d.Columns() {
		n := d.Field(i)
		each = append(each, n.Text(bytes))
	}
	if !slices.ContainsFunc(each, func(s string) bool { return s != each[0] }) {
		each = each[:1]
	}
	out := []string{strings.Join(each, " + ")}
	for s := range w.Writers(d) {
		if text := s.Size.Text(bytes); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// Does reports whether operations do one of some things to a data set.
func (w *Workload) Does(d *Data, verbs ...Verb) bool {
	return slices.ContainsFunc(w.Operations, func(o Operation) bool {
		return slices.ContainsFunc(o.Steps, func(st Step) bool { return st.Data == d.Name && slices.Contains(verbs, st.Do) })
	})
}

// Expires reports whether records of a data set expire.
func (w *Workload) Expires(d *Data) bool {
	return d.TTL.Given() || slices.ContainsFunc(w.Operations, func(o Operation) bool {
		return slices.ContainsFunc(o.Steps, func(st Step) bool { return st.Data == d.Name && st.TTL.Given() })
	})
}

// Writers are the steps that write values into a data set.
func (w *Workload) Writers(d *Data) func(yield func(*Step) bool) {
	return func(yield func(*Step) bool) {
		for i := range w.Operations {
			for j := range w.Operations[i].Steps {
				s := &w.Operations[i].Steps[j]
				if s.Data == d.Name && (s.Fill || slices.Contains(writing, s.Do)) && !yield(s) {
					return
				}
			}
		}
	}
}

// writing are the verbs that write values of a size.
var writing = []Verb{Put, Insert, Update, Modify, Push, Append}
