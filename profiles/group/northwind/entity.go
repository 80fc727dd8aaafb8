package northwind

import (
	"reflect"
	"strings"

	"github.com/perfbench/perfbench/internal/store"
)

// RowType returns the struct type for a row.
func (e *Entity) RowType() reflect.Type {
	if e.Object != nil {
		return e.Object.Type()
	}
	return reflect.TypeOf(e.blank()).Elem()
}

// northwindBytes is the approximate length of a Northwind object.
const northwindBytes = 500

// Bytes returns the approximate length of an object.
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

// Args is never called, because our own statements use Cells.
func (g GormRow) Args(dst []any) []any { return dst }

// RowOf returns what to pass to gorm for an object.
func RowOf(r Record) any {
	if g, ok := r.(GormRow); ok {
		return g.Row
	}
	return r
}

// ColumnsOf returns the columns of a struct, in the order of Args.
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

// Search returns the column that query searches, empty if there is none.
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

// Needs describes what a table must have to hold the objects.
func (e *Entity) Needs() store.Table {
	t := store.Table{Key: e.PK}
	for _, name := range ColumnsOf(e.RowType()) {
		t.Columns = append(t.Columns, store.Column{Name: name})
	}
	return t
}
