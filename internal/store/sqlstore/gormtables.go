package sqlstore

import (
	"database/sql"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"
)

// gormTables creates tables, and adds columns to them. Everything that it does not override
// is standard SQL, or is not used by us.
type gormTables struct{ migrator.Migrator }

// HasTable reports whether there is a table.
func (t gormTables) HasTable(value any) bool {
	return t.has(value, "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?")
}

// HasIndex reports whether a table has an index with that name.
func (t gormTables) HasIndex(value any, name string) bool {
	return t.has(value, "SELECT COUNT(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND name = ?", name)
}

// has reports whether a counting query about a table, whose name is its first argument,
// returns more than 0.
func (t gormTables) has(value any, question string, rest ...any) bool {
	var n int
	err := t.RunWithValue(value, func(stmt *gorm.Statement) error {
		return t.DB.Raw(question, append([]any{stmt.Table}, rest...)...).Scan(&n).Error
	})
	return err == nil && n > 0
}

// MigrateColumn leaves an existing column as it is: SQLite stores any value in it.
func (gormTables) MigrateColumn(any, *schema.Field, gorm.ColumnType) error { return nil }

// ColumnTypes returns the columns of a table.
func (t gormTables) ColumnTypes(value any) (columns []gorm.ColumnType, err error) {
	var keys int // columns in the primary key
	err = t.RunWithValue(value, func(stmt *gorm.Statement) error {
		rows, err := t.DB.Raw("SELECT name, type, `notnull`, dflt_value, pk, (SELECT COUNT(*) FROM pragma_table_info(?) WHERE pk > 0) FROM pragma_table_info(?)",
			stmt.Table, stmt.Table).Rows()
		if err != nil {
			return err
		}
		defer rows.Close() // Err reports what went wrong
		for rows.Next() {
			var c migrator.ColumnType
			var must bool
			var key int
			if err := rows.Scan(&c.NameValue, &c.DataTypeValue, &must, &c.DefaultValueValue, &key, &keys); err != nil {
				return err
			}
			isKey := key > 0
			c.PrimaryKeyValue = sql.NullBool{Bool: isKey, Valid: true}
			c.NullableValue = sql.NullBool{Bool: !must, Valid: true}
			// A primary key of one integer is the row number, which SQLite assigns.
			c.AutoIncrementValue = sql.NullBool{Bool: isKey && keys == 1 && strings.EqualFold(c.DataTypeValue.String, "integer"), Valid: true}
			columns = append(columns, c)
		}
		return rows.Err()
	})
	return columns, err
}
