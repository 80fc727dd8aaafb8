package onsql

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// Prepare creates the tables that are missing, and adds missing columns to those that
// are ours. Those of others are left alone.
func (r *Adapter) Prepare(ctx context.Context, claim *ownership.Claim) error {
	if err := r.db.EnsureDatabase(ctx, r.Spec.Namespace); err != nil {
		return err
	}
	for _, o := range r.tables() {
		if claim != nil && claim.Spot(o.Space).State == ownership.Shared {
			continue
		}
		t := r.textsOf(o)
		row := reflect.New(o.Factory.Entity.RowType()).Interface()
		err := r.constrained(ctx, o, t, row)
		if err == nil {
			err = sqlstore.Make(func() error { return r.db.DB().WithContext(ctx).Table(t.name).AutoMigrate(row) })
		}
		if fault.CodeOf(err) == fault.CodeInput {
			return err
		}
		if err != nil {
			err = fmt.Errorf("make table %s: %w", t.name, err)
			if r.db.Classify(err) == store.Refused {
				return fault.Store(err, "the user needs CREATE on this database; or let somebody else make the table, and grant SELECT, INSERT, UPDATE and DELETE")
			}
			return fault.Code(err, fault.CodeStore)
		}
	}
	return nil
}

// tables returns an operation for each table, parents before their children.
func (r *Adapter) tables() []*model.Op {
	var out []*model.Op
	var add func(o *model.Op)
	add = func(o *model.Op) {
		if slices.ContainsFunc(out, func(x *model.Op) bool { return x.Space == o.Space }) {
			return
		}
		if d := o.Object(); d != nil {
			for _, f := range d.Fields {
				for _, p := range r.Spec.Order {
					if f.Parent != nil && f.Parent != d && p.Table && p.Object() == f.Parent {
						add(p)
					}
				}
			}
		}
		out = append(out, o)
	}
	for _, o := range r.Spec.Order {
		if o.Table {
			add(o)
		}
	}
	return out
}

// constrained creates the table of a definition with foreign keys, which gorm supports
// only for relations between named types. Column types are gorm's.
func (r *Adapter) constrained(ctx context.Context, o *model.Op, t *sqlTexts, row any) error {
	d := o.Object()
	if d == nil || !slices.ContainsFunc(d.Fields, func(f *datagen.Field) bool { return f.ForeignKey }) {
		return nil
	}
	db := r.db.DB().WithContext(ctx)
	if db.Migrator().HasTable(t.name) {
		return nil
	}
	stmt := &gorm.Statement{DB: db}
	if err := stmt.ParseWithSpecialTableName(row, t.name); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("CREATE TABLE " + t.table + " (")
	for _, f := range stmt.Schema.Fields {
		b.WriteString(t.Quote(f.DBName) + " " + db.Migrator().FullDataTypeOf(f).SQL + ",")
	}
	b.WriteString("PRIMARY KEY (" + t.Quote(d.Key().Name) + ")")
	for _, f := range d.Fields {
		if !f.ForeignKey {
			continue
		}
		parent := sqltext.TableName(o.Space.Namespace, f.Parent.Table)
		if !db.Migrator().HasTable(parent) {
			return fault.Input(fmt.Errorf("object %s: field %s: foreignKey: there is no table %s of the object %s", d.Name, f.Name, parent, f.Parent.Name),
				"run a group that writes it before, or leave foreignKey out")
		}
		b.WriteString(", FOREIGN KEY (" + t.Quote(f.Name) + ") REFERENCES " + t.Quote(parent) + " (" + t.Quote(f.Parent.Key().Name) + ")")
	}
	return db.Exec(b.String() + ")").Error
}

// Fits rejects a table of ours, made for an earlier definition, that does not fit the
// objects. Columns may be missing, since those are added.
func (r *Adapter) Fits(ctx context.Context, o *model.Op) error {
	tables, err := store.As[store.Tabular](r.db)
	if err != nil {
		return err
	}
	m, err := tables.Misfit(ctx, o.Space, "", o.Factory.Entity.Needs())
	if err != nil || m.Write == "" {
		return fault.Code(err, fault.CodeStore)
	}
	return fault.Input(fmt.Errorf("%s: operation %s: the table %s was made from another definition than that of object %s: %s", o.Where, o.Name, m.Table, o.Object().Name, m.Write),
		"use another --namespace or  table:, or delete it with perfbench data delete")
}
