package group

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
)

// makeTables makes the tables that are missing, and adds missing columns to those that
// are ours. Those of others stay as they are.
func (r *sqlRoom) makeTables(ctx context.Context) error {
	if err := r.db.EnsureDatabase(ctx, r.b.s.namespace); err != nil {
		return err
	}
	done := map[string]bool{}
	for _, o := range r.b.s.order {
		if !o.table || done[o.space.Name] {
			continue
		}
		done[o.space.Name] = true
		if r.b.claim != nil && r.b.claim.Spot(o.space).State == place.Shared {
			continue
		}
		t := r.textsOf(o)
		if err := r.db.DB().WithContext(ctx).Table(t.name).AutoMigrate(o.factory.entity.blank()); err != nil {
			err = fmt.Errorf("make table %s: %w", t.name, err)
			if r.db.Classify(err) == store.Refused {
				return fault.Store(err, "the user needs CREATE on this database; or let somebody else make the table, and grant SELECT, INSERT, UPDATE and DELETE")
			}
			return fault.Code(err, fault.CodeStore)
		}
	}
	return nil
}

// fits refuses a table of others into or from which objects do not go as it is.
func (r *sqlRoom) fits(ctx context.Context, o *opSpec, writes bool) error {
	t := r.textsOf(o)
	columns, err := r.db.DB().WithContext(ctx).Migrator().ColumnTypes(t.name)
	if err != nil {
		return fault.Code(fmt.Errorf("look at the columns of %s: %w", t.name, err), fault.CodeStore)
	}
	same := strings.EqualFold
	if r.db.Dialect() == sqlstore.DialectPostgres {
		same = func(a, b string) bool { return a == b }
	}
	if why := t.misfit(columns, same, writes); why != "" {
		return fault.Input(fmt.Errorf("%s: operation %s: the table %s was not made by perfbench and %s", o.where, o.name, t.name, why),
			"use another --namespace; a table of others is never altered")
	}
	return nil
}

// misfit names the column for which objects do not go into a table with these columns,
// or from it; "" all fit.
func (t *sqlTexts) misfit(columns []gorm.ColumnType, same func(a, b string) bool, writes bool) string {
	for _, want := range t.columns {
		if !slices.ContainsFunc(columns, func(c gorm.ColumnType) bool { return same(c.Name(), want) }) {
			return "has no column " + want
		}
	}
	if !writes {
		return ""
	}
	for _, c := range columns {
		name := c.Name()
		is := func(s string) bool { return same(s, name) }
		isKey, known := c.PrimaryKey()
		if known && isKey != slices.ContainsFunc(t.e.pk, is) {
			return fmt.Sprintf("its primary key is not (%s), see column %s", strings.Join(t.e.pk, ", "), name)
		}
		nullable, told := c.Nullable()
		if _, filled := c.DefaultValue(); told && !nullable && !filled && !slices.ContainsFunc(t.columns, is) {
			return fmt.Sprintf("has a column %s that must be filled and that objects do not have", name)
		}
	}
	return ""
}
