// Package onsql keeps the data of a workload in an SQL database: a table for each data set,
// with a row for each record and a column for each field.
package onsql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store/sqlstore"

	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// data is what all clients share. It is safe for use by several goroutines.
type data struct {
	conn       sqlstore.Typed
	tables     *sqlstore.Tables
	sets       []set
	statements []*statement
}

// set is a data set: its table and the columns of its values.
type set struct {
	*model.Data
	table   string
	columns []string
}

// longestKey is the longest that keys can be: a prefix, and the number of a record.
const longestKey = model.LongestKey + 20

const (
	product = "an SQL database"
	// longestName is how long the name of a table may be: PostgreSQL cuts off the rest.
	longestName = 63
)

// New returns the data of a workload under a namespace. It changes nothing in the store. The
// error says which data a database cannot keep.
func New(c sqlstore.Typed, w *model.Workload, namespace string) (*model.Adapter, error) {
	if err := errors.Join(w.Kept(product, can), w.Apart()); err != nil {
		return nil, err
	}
	d := &data{conn: c}
	var tables []sqlstore.Table
	for i := range w.Data {
		s := set{Data: &w.Data[i], table: model.ColumnName(w.Data[i].Name)}
		columns := fmt.Sprintf("k {name %d} NOT NULL", longestKey)
		switch s.Type {
		case model.Counter:
			s.columns = []string{"n"}
			columns += ", n BIGINT NOT NULL"
		case model.Hash:
			for _, f := range s.Fields {
				name := "f_" + model.ColumnName(f.Name)
				s.columns = append(s.columns, name)
				columns += ", " + name + " {blob}"
			}
		default:
			s.columns = []string{"v"}
			columns += ", v {blob} NOT NULL"
		}
		d.sets = append(d.sets, s)
		tables = append(tables, sqlstore.Table{Name: s.table, Columns: columns, Key: "k"})
	}
	d.tables = sqlstore.NewTables(c, namespace, "mix_", tables)
	if err := d.fit(); err != nil {
		return nil, err
	}
	for i := range w.Operations {
		o := &w.Operations[i]
		for j := range o.Steps {
			if st := &o.Steps[j]; st.Do == model.Statement {
				d.statements = append(d.statements, newStatement(d, o, st))
			}
		}
	}
	return &model.Adapter{
		Spaces: d.tables.Spaces(nil), Tables: d, Lacks: lacks,
		Open: func() (model.Client, error) { return newClient(d), nil },
	}, nil
}

// fit refuses what no table can be made of.
func (d *data) fit() error {
	var errs []error
	for i := range d.sets {
		s := &d.sets[i]
		if name := d.tables.Name(s.table); len(name) > longestName {
			errs = append(errs, fault.Input(fmt.Errorf("data set %s: the name of its table, %s, has %d bytes, and %d are the most", s.Name, name, len(name), longestName), "use a shorter one, or a shorter --namespace"))
		}
		if s.TTL.Given() {
			errs = append(errs, fault.Input(never(s.Data), fault.HintOf(never(s.Data))))
		}
	}
	return errors.Join(errs...)
}

// never says that nothing of a data set expires.
func never(d *model.Data) error {
	return fault.Hint(fmt.Errorf("rows of an SQL database do not expire, and %s has a ttl", d.Name), "leave ttl out, or use redis://, embedded: or cassandra://")
}

// Check refuses tables that do not fit, and statements that the database does not take.
func (d *data) Check(ctx context.Context, c *ownership.Claim) error {
	if err := d.tables.Check(ctx, c); err != nil {
		return err
	}
	return d.prepare(ctx, true)
}

// Create makes the tables that are missing, and prepares the statements that need them.
func (d *data) Create(ctx context.Context) error {
	if err := d.tables.Create(ctx); err != nil {
		return err
	}
	return d.prepare(ctx, false)
}

// prepare prepares the statements of the workload; early means that tables may be missing.
func (d *data) prepare(ctx context.Context, early bool) error {
	var errs []error
	for _, s := range d.statements {
		if _, err := s.prepared(ctx, d.conn); err != nil && (!early || !sqlstore.Absent(err)) {
			errs = append(errs, s.refusal(d.conn, err))
		}
	}
	return errors.Join(errs...)
}

// can are the verbs for each type.
var can = map[model.Type][]model.Verb{
	model.Value:   {model.Get, model.Put, model.Insert, model.Modify, model.Delete, model.Scan},
	model.Hash:    {model.Get, model.Put, model.Insert, model.Update, model.Modify, model.Delete, model.Scan},
	model.Counter: {model.Get, model.Put, model.Insert, model.Add, model.Delete, model.Scan},
}

func lacks(_ *model.Operation, st *model.Step, d *model.Data) error {
	switch {
	case st.Do == model.Statement:
		if n := sqltext.Placeholders(st.Text); n != len(st.Args) {
			return fault.Hint(fmt.Errorf("the statement has %s, and %s", units.Plural(n, "placeholder"), units.Plural(len(st.Args), "argument")), "write a question mark in the text for each of args")
		}
		return nil
	case d == nil:
		return nil
	case !slices.Contains(can[d.Type], st.Do):
		return model.Unable(product, st, d, can[d.Type])
	case st.TTL.Given():
		return never(d)
	}
	return nil
}

// list joins columns.
func list(columns []string) string { return strings.Join(columns, ", ") }
