package model

import (
	"errors"
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
)

// Kept says which data sets a store does not keep, of which can has what it does with each
// type of data. The error has the code of bad input.
func (w *Workload) Kept(store string, can map[Type][]Verb) error {
	var errs []error
	for i := range w.Data {
		if d := &w.Data[i]; len(can[d.Type]) == 0 {
			errs = append(errs, fault.Input(fmt.Errorf("data set %s: %s keeps no %s", d.Name, store, d.Type.Plural()), "use redis:// or embedded:"))
		}
	}
	return errors.Join(errs...)
}

// ColumnName makes the name of a data set or field one of a table or column, whose case does
// not matter.
func ColumnName(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

// Apart says which data sets would have the same table, and which fields the same column. The
// error has the code of bad input.
func (w *Workload) Apart() error {
	var errs []error
	differ := func(what string, n int, name func(i int) string) {
		seen := map[string]string{}
		for i := range n {
			column := ColumnName(name(i))
			if other, there := seen[column]; there {
				errs = append(errs, fault.Input(fmt.Errorf("%s %s and %s: in a database both are %s", what, other, name(i), column), "choose names that differ in more than case, - and _"))
			}
			seen[column] = name(i)
		}
	}
	differ("data sets", len(w.Data), func(i int) string { return w.Data[i].Name })
	for i := range w.Data {
		d := &w.Data[i]
		differ("data set "+d.Name+": fields", len(d.Fields), func(j int) string { return d.Fields[j].Name })
	}
	return errors.Join(errs...)
}
