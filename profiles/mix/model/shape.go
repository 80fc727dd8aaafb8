package model

import "slices"

// Shape is what the statement of a call depends on, beside the fields that it names.
type Shape struct {
	Do        Verb
	Set, Rows int
	// Variant tells statements apart that differ in something else.
	Variant int
}

// Statements keeps what an adapter has made of the calls of a client, so that it makes each
// statement once. The zero value is empty. It belongs to one goroutine.
type Statements[T any] struct {
	// N is how many are kept.
	N    int
	kept map[shapeOfFields][]statementOf[T]
}

type shapeOfFields struct {
	Shape
	// n and first tell most choices of fields apart.
	n, first int
}

type statementOf[T any] struct {
	fields []int
	is     T
}

// Of returns what was made for a shape and these fields, of which nil stands for all; false
// if nothing was.
func (s *Statements[T]) Of(sh Shape, fields []int) (is T, ok bool) {
	for _, one := range s.kept[keyOf(sh, fields)] {
		if slices.Equal(one.fields, fields) {
			return one.is, true
		}
	}
	return is, false
}

// Keep keeps what was made for a shape and fields.
func (s *Statements[T]) Keep(sh Shape, fields []int, is T) {
	if s.kept == nil {
		s.kept = map[shapeOfFields][]statementOf[T]{}
	}
	key := keyOf(sh, fields)
	s.kept[key] = append(s.kept[key], statementOf[T]{slices.Clone(fields), is})
	s.N++
}

func keyOf(sh Shape, fields []int) shapeOfFields {
	key := shapeOfFields{Shape: sh, n: len(fields)}
	if key.n > 0 {
		key.first = fields[0]
	}
	return key
}

// Picked returns those of all that a call names by its fields.
func (c *Call) Picked(all []string) []string {
	if c.Fields == nil {
		return all
	}
	out := make([]string, len(c.Fields))
	for i, f := range c.Fields {
		out[i] = all[f]
	}
	return out
}

// Room makes room for n values of a row; the memory of those that it had is there to be
// used again.
func (r *Row) Room(n int) {
	if n > cap(r.Vals) {
		vals := make([][]byte, n)
		copy(vals, r.Vals[:cap(r.Vals)])
		r.Vals = vals
	}
	r.Vals = r.Vals[:n]
}

// More appends a row to those that a Scan has found. Its memory is that of an earlier one,
// if there was one.
func (c *Call) More() *Row {
	n := len(c.Got)
	if n == cap(c.Got) {
		c.Got = append(c.Got, Row{})
	}
	c.Got = c.Got[:n+1]
	c.Got[n].Found = true
	return &c.Got[n]
}

// Batched returns for each data set whether it is both read and written by several entries at a
// time.
func (w *Workload) Batched() []bool {
	read, written := make([]bool, len(w.Data)), make([]bool, len(w.Data))
	for i := range w.Operations {
		for j := range w.Operations[i].Steps {
			st := &w.Operations[i].Steps[j]
			at := w.Index(st.Data)
			if at < 0 || !st.Batch.Given() && st.Pipeline <= 1 {
				continue
			}
			read[at] = read[at] || st.Do == Get || st.Do == Modify
			written[at] = written[at] || st.Do.Writes()
		}
	}
	for i := range read {
		read[i] = read[i] && written[i]
	}
	return read
}
