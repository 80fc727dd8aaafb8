package northwind

import (
	"reflect"
	"strings"

	"github.com/perfbench/perfbench/internal/store"
)

// RowType is the struct that a row is kept in.
func (e *Entity) RowType() reflect.Type {
	if e.Object != nil {
		return e.Object.Type()
	}
	return reflect.TypeOf(e.blank()).Elem()
}

// northwindBytes is about how long an object of Northwind is.
const northwindBytes = 500

// Bytes is about how long an object is.
func (f *Factory) Bytes(payload int) int64 {
	if d := f.Entity.Object; d != nil {
		return int64(d.Bytes(payload))
	}
	return northwindBytes
}

// Cells are the values of a row for a statement.
type Cells []any

// Args appends the values of the columns.
func (c Cells) Args(dst []any) []any { return append(dst, c...) }

// GormRow is a pointer to a struct of a definition's type, which has no methods.
type GormRow struct{ Row any }

// Args is not called: statements of our own are given cells.
func (g GormRow) Args(dst []any) []any { return dst }

// RowOf is what gorm is given of an object.
func RowOf(r Record) any {
	if g, ok := r.(GormRow); ok {
		return g.Row
	}
	return r
}

// ColumnsOf lists the columns of a struct, in the order of args.
func ColumnsOf(t reflect.Type) []string {
	var out []string
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		for f := range t.Fields() {
			if f.Anonymous {
				walk(f.Type)
				continue
			}
			for part := range strings.SplitSeq(f.Tag.Get("gorm"), ";") {
				if c, ok := strings.CutPrefix(part, "column:"); ok {
					out = append(out, c)
				}
			}
		}
	}
	walk(t)
	return out
}

// Search is the column that query looks for, empty when there is none.
func (e *Entity) Search() string {
	if e.Object != nil {
		if f := e.Object.Search(); f != nil {
			return f.Name
		}
		return ""
	}
	for _, c := range ColumnsOf(e.RowType()) {
		if c == "region" || c == "shipRegion" {
			return c
		}
	}
	return ""
}

// Needs is what a table must have that objects go into.
func (e *Entity) Needs() store.Table {
	t := store.Table{Key: e.PK}
	for _, name := range ColumnsOf(e.RowType()) {
		t.Columns = append(t.Columns, store.Column{Name: name})
	}
	return t
}
