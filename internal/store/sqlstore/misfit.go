package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/perfbench/perfbench/internal/store"
)

// Misfit says why our rows cannot be read from the table of a space, or written into
// it. Types are not compared.
func (c *Conn) Misfit(ctx context.Context, s store.Space, _ string, want store.Table) (store.Misfit, error) {
	t, err := c.tableOf(s)
	if err != nil {
		return store.Misfit{}, err
	}
	if s.Shape == store.Map {
		want = store.Table{Columns: []store.Column{{Name: "k"}, {Name: "v"}}, Key: []string{"k"}}
		if t.key.grouped {
			want.Columns, want.Key = append(want.Columns, store.Column{Name: "g"}), []string{"g", "k"}
		}
	}
	columns, err := c.DB().WithContext(ctx).Migrator().ColumnTypes(t.key.name)
	if err != nil {
		return store.Misfit{}, wrap("look at", t, err)
	}
	same := strings.EqualFold
	if c.Dialect() == DialectPostgres {
		same = func(a, b string) bool { return a == b }
	}
	m := store.Misfit{Table: t.key.name}
	m.Read, m.Write = misfit(columns, same, want)
	return m, nil
}

// misfit names the column for which rows cannot be read from a table with these
// columns, and that for which they cannot be written into it.
func misfit(columns []gorm.ColumnType, same func(a, b string) bool, want store.Table) (read, write string) {
	for _, w := range want.Columns {
		if !slices.ContainsFunc(columns, func(c gorm.ColumnType) bool { return same(c.Name(), w.Name) }) {
			read = "it has no column " + w.Name
			break
		}
	}
	for _, c := range columns {
		name := c.Name()
		isKey, known := c.PrimaryKey()
		wanted := slices.ContainsFunc(want.Key, func(s string) bool { return same(s, name) })
		if known && isKey != wanted && len(want.Key) > 0 {
			return read, fmt.Sprintf("its primary key is not (%s), see column %s", strings.Join(want.Key, ", "), name)
		}
		ours := slices.ContainsFunc(want.Columns, func(w store.Column) bool { return same(w.Name, name) })
		nullable, told := c.Nullable()
		_, filled := c.DefaultValue()
		if counts, _ := c.AutoIncrement(); told && !nullable && !filled && !counts && !ours {
			return read, fmt.Sprintf("it has a column %s that must be filled and that our rows do not have", name)
		}
	}
	return read, ""
}
