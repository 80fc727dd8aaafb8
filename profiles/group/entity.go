package group

import (
	"reflect"
	"strings"

	"github.com/perfbench/perfbench/internal/store"
)

// typ is the struct that a row is kept in.
func (e *entity) typ() reflect.Type {
	if e.object != nil {
		return e.object.Type()
	}
	return reflect.TypeOf(e.blank()).Elem()
}

// northwindBytes is about how long an object of Northwind is.
const northwindBytes = 500

// bytes is about how long an object is.
func (f *factory) bytes(payload int) int64 {
	if d := f.entity.object; d != nil {
		return int64(d.Bytes(payload))
	}
	return northwindBytes
}

// cells are the values of a row for a statement.
type cells []any

func (c cells) args(dst []any) []any { return append(dst, c...) }

// gormRow is a pointer to a struct of a definition's type, which has no methods.
type gormRow struct{ row any }

// args is not called: statements of our own are given cells.
func (g gormRow) args(dst []any) []any { return dst }

// rowOf is what gorm is given of an object.
func rowOf(r record) any {
	if g, ok := r.(gormRow); ok {
		return g.row
	}
	return r
}

// columnsOf lists the columns of a struct, in the order of args.
func columnsOf(t reflect.Type) []string {
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

// search is the column that query looks for, empty when there is none.
func (e *entity) search() string {
	if e.object != nil {
		if f := e.object.Search(); f != nil {
			return f.Name
		}
		return ""
	}
	for _, c := range columnsOf(e.typ()) {
		if c == "region" || c == "shipRegion" {
			return c
		}
	}
	return ""
}

// needs is what a table must have that objects go into.
func (e *entity) needs() store.Table {
	t := store.Table{Key: e.pk}
	for _, name := range columnsOf(e.typ()) {
		t.Columns = append(t.Columns, store.Column{Name: name})
	}
	return t
}
