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

// Apart says which fields of a data set would be the same column. The error has the code of
// bad input.
func (w *Workload) Apart() error {
	var errs []error
	for i := range w.Data {
		d := &w.Data[i]
		seen := map[string]string{}
		for _, f := range d.Fields {
			column := ColumnName(f.Name)
			if first, twice := seen[column]; twice {
				errs = append(errs, fault.Input(fmt.Errorf("data set %s: fields %s and %s would be the same column", d.Name, first, f.Name), "give one of them another name"))
			}
			seen[column] = f.Name
		}
	}
	return errors.Join(errs...)
}
