package run

import (
	"bytes"
	"fmt"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// sameness returns a function that compares an entry read back with what was written:
// defined objects are compared completely; of others it is enough that they exist.
func (v *verification) sameness(l *ledger) func(c *model.Call, n int64) string {
	d := l.op.Object()
	writers, alone := v.writersOf(l)
	if d == nil || !alone {
		return func(*model.Call, int64) string { return "" }
	}
	m := l.op.Maker()
	sizes := l.payloads.All()
	if !d.Live() || len(sizes) == 0 {
		sizes = []int{0}
	}
	return func(c *model.Call, n int64) string {
		if c.Got == nil && c.Row == nil {
			return "" // a structure that keeps no values
		}
		why := ""
		for _, w := range writers {
			for _, size := range sizes {
				m.Make(n, w.link(), w.parentOf(n), size)
				if why = differs(m, c); why == "" {
					return ""
				}
			}
		}
		return why
	}
}

// differs says in what an entry differs from the object just made.
func differs(m *datagen.Maker, c *model.Call) string {
	if c.Row != nil {
		if column := m.Differs(c.Row); column != "" {
			return fmt.Sprintf("its column %s is not what was written", column)
		}
		return ""
	}
	if bytes.Equal(c.Got, m.AppendJSON(nil)) {
		return ""
	}
	return "its value is not what was written"
}

// writer is how an operation writes: on its own, or after its parent.
type writer struct {
	o       *model.Op
	asChild bool
}

// writersOf returns how the objects of a ledger are made, and whether nobody else
// writes to their structure.
func (v *verification) writersOf(l *ledger) (out []writer, alone bool) {
	alone = true
	form := l.op.Form()
	for _, o := range v.w.s.Order {
		if o.Space != l.op.Space || !o.Action.Writes() && o.Parent == nil {
			continue
		}
		if o.Form() != form {
			alone = false
			continue
		}
		out = append(out, writer{o, false})
		if o.Parent != nil {
			out = append(out, writer{o, true})
		}
	}
	return out, alone
}

func (w writer) link() int {
	if w.asChild {
		return w.o.Factory.Link
	}
	return datagen.None
}

// parentOf returns the key of the parent after which the child with a number was
// written.
func (w writer) parentOf(n int64) string {
	if !w.asChild {
		return ""
	}
	p := w.o.Parent
	nth := (n - 1) / p.Children.Most
	if p.Parent == nil {
		nth += p.Start - 1
	}
	return p.Factory.ID(nth)
}
