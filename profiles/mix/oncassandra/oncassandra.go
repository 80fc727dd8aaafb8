// Package oncassandra keeps the data of a workload in Cassandra: a table for each data set,
// with a partition for each record and a column for each field.
package oncassandra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// data is what all clients share. It is never changed.
type data struct {
	conn       cassandra.Typed
	sets       []set
	statements []statement
}

// set is a data set: its table, the name of that in statements, and the columns of its
// values.
type set struct {
	*model.Data
	table   *cassandra.Set
	name    string
	columns []string
}

// lagging are the consistencies by which a read may miss what was acknowledged.
var lagging = []string{"ANY", "ONE", "TWO", "THREE", "LOCAL_ONE"}

// New returns the data of a workload under a namespace. It changes nothing in the store. The
// error says which data Cassandra cannot keep.
func New(ctx context.Context, c cassandra.Typed, w *model.Workload, namespace string) (*model.Adapter, error) {
	if err := errors.Join(w.Kept(product, can), w.Apart(), fit(w)); err != nil {
		return nil, err
	}
	d := &data{conn: c}
	a := &model.Adapter{Lacks: lacks, Scattered: true, Tables: d, Open: func() (model.Client, error) { return &client{data: d}, nil }}
	for i := range w.Data {
		s := set{Data: &w.Data[i]}
		columns := "k text"
		switch s.Type {
		case model.Counter:
			s.columns, columns = []string{"n"}, columns+", n counter"
		case model.Hash:
			for _, f := range s.Fields {
				name := "f_" + model.ColumnName(f.Name)
				s.columns, columns = append(s.columns, name), columns+", "+name+" blob"
			}
		default:
			s.columns, columns = []string{"v"}, columns+", v blob"
		}
		table := model.ColumnName(s.Name)
		space := store.Space{Namespace: namespace, Name: "mix_" + table, Shape: store.Keys, Grouped: true}
		s.table = cassandra.New(c, space, "mix_", []cassandra.Table{{Name: table, Columns: columns, Key: "k"}})
		s.name = s.table.Text("%" + table)
		d.sets = append(d.sets, s)
		a.Spaces = append(a.Spaces, s.table.Spaces(nil)...)
	}
	for i := range w.Operations {
		o := &w.Operations[i]
		for j := range o.Steps {
			if st := &o.Steps[j]; st.Do == model.Statement {
				d.statements = append(d.statements, newStatement(d, o, st))
			}
		}
	}
	if info, err := c.Info(ctx); err == nil && slices.Contains(lagging, info.Details["consistency"]) {
		a.Lags, a.Why = func(*model.Call, bool) bool { return true }, "the consistency "+info.Details["consistency"]
	}
	return a, nil
}

const product = "Cassandra"

// fit refuses what no table can be made of.
func fit(w *model.Workload) error {
	var errs []error
	for i := range w.Data {
		if d := &w.Data[i]; d.Type == model.Counter && d.TTL.Given() {
			errs = append(errs, fault.Input(fmt.Errorf("counters of Cassandra do not expire, and %s has a ttl", d.Name), "leave ttl out"))
		}
	}
	return errors.Join(errs...)
}

// Check refuses tables that do not fit, and statements that Cassandra does not take.
func (d *data) Check(ctx context.Context, c *ownership.Claim) error {
	var errs []error
	for i := range d.sets {
		errs = append(errs, d.sets[i].table.Check(ctx, c))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return d.prepare(ctx, true)
}

// Create makes the tables that are missing, and prepares the statements that need them.
func (d *data) Create(ctx context.Context) error {
	for i := range d.sets {
		if err := d.sets[i].table.Create(ctx); err != nil {
			return err
		}
	}
	return d.prepare(ctx, false)
}

// can are the verbs for each type.
var can = map[model.Type][]model.Verb{
	model.Value:   {model.Get, model.Put, model.Insert, model.Modify, model.Delete, model.Scan},
	model.Hash:    {model.Get, model.Put, model.Insert, model.Update, model.Modify, model.Delete, model.Scan},
	model.Counter: {model.Get, model.Add},
}

func lacks(op *model.Operation, st *model.Step, d *model.Data) error {
	switch {
	case op.Atomic:
		return fault.Hint(errors.New("Cassandra has no transactions over several records"), "leave atomic out, or use a database or a single Redis")
	case st.Do == model.Statement:
		return readable(st.Text)
	case d == nil:
		return nil
	case !slices.Contains(can[d.Type], st.Do):
		return model.Unable(product, st, d, can[d.Type])
	}
	return nil
}

// list joins columns.
func list(columns []string) string { return strings.Join(columns, ", ") }
