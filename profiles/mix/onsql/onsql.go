// Package onsql keeps the data of a workload in an SQL database: a table for each data set,
// with a row for each record and a column for each field.
package onsql

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltable"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// data is what all clients share. It is safe for use by several goroutines.
type data struct {
	conn       sqlstore.Typed
	tables     *sqltable.Set
	sets       []set
	statements []statement
	retried    atomic.Int64
}

// set is a data set: its table and the columns of its values.
type set struct {
	*model.Data
	table   string
	columns []string
}

// statement is one of the user's own.
type statement struct {
	*model.Step
	text string
	rows bool // it returns rows
}

// New returns the data of a workload under a namespace. It changes nothing in the store.
func New(c sqlstore.Typed, w *model.Workload, namespace string) *model.Adapter {
	d := &data{conn: c}
	var tables []sqltable.Table
	for i := range w.Data {
		s := set{Data: &w.Data[i], table: tableOf(w.Data[i].Name)}
		columns := "k {name 255} NOT NULL"
		switch {
		case s.Type == model.Counter:
			s.columns = []string{"n"}
			columns += ", n BIGINT NOT NULL"
		case s.Type == model.Hash:
			for _, f := range s.Fields {
				name := "f_" + tableOf(f.Name)
				s.columns = append(s.columns, name)
				columns += ", " + name + " {blob}"
			}
		default:
			s.columns = []string{"v"}
			columns += ", v {blob} NOT NULL"
		}
		d.sets = append(d.sets, s)
		tables = append(tables, sqltable.Table{Name: s.table, Columns: columns, Key: "k"})
	}
	d.tables = sqltable.New(c, namespace, "mix_", tables)
	for _, st := range w.Statements() {
		word, _, _ := strings.Cut(strings.TrimSpace(strings.ToUpper(st.Text)), " ")
		rows := slices.Contains([]string{"SELECT", "WITH", "SHOW", "VALUES", "EXPLAIN", "TABLE"}, word) || strings.Contains(strings.ToUpper(st.Text), "RETURNING")
		d.statements = append(d.statements, statement{st, d.tables.Dialect.Text(st.Text), rows})
	}
	return &model.Adapter{
		Spaces: d.tables.Spaces(nil), Tables: d.tables, Lacks: lacks,
		Open: func() (model.Client, error) { return &client{data: d}, nil },
	}
}

// tableOf makes a name one of a table or column.
func tableOf(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

// can are the verbs for each type.
var can = map[model.Type][]model.Verb{
	model.Value:   {model.Get, model.Put, model.Insert, model.Modify, model.Delete, model.Scan},
	model.Hash:    {model.Get, model.Put, model.Insert, model.Update, model.Modify, model.Delete, model.Scan},
	model.Counter: {model.Get, model.Put, model.Insert, model.Add, model.Delete, model.Scan},
}

func lacks(_ *model.Operation, st *model.Step, d *model.Data) error {
	switch {
	case st.Do == model.Statement && strings.TrimSpace(st.Text) == "":
		return errors.New("a statement is empty")
	case st.Do == model.Statement, d == nil:
		return nil
	case !slices.Contains(can[d.Type], st.Do):
		return model.Unable("an SQL database", st, d, can[d.Type])
	case d.TTL.Given() || st.TTL.Given():
		return fault.Hint(fmt.Errorf("rows of an SQL database do not expire, and %s has a ttl", d.Name), "leave ttl out, or use redis://, embedded: or cassandra://")
	}
	return nil
}

// list joins columns.
func list(columns []string) string { return strings.Join(columns, ", ") }

// marks returns n placeholders.
func marks(n int) string { return sqltext.Marks(n) }
