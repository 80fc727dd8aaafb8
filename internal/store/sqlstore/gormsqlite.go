package sqlstore

import (
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"
)

// gormSQLite returns gorm's dialect for an open database, which must be SQLite 3.35 or
// newer.
func gormSQLite(pool gorm.ConnPool) gorm.Dialector { return gormDialect{pool} }

// gormDialect is a gorm dialect for SQLite. gorm's own dialect imports SQLite in C, which,
// if there is a C compiler, would be compiled and linked into everything in addition to the
// SQLite in Go that we use.
type gormDialect struct{ pool gorm.ConnPool }

// Name returns the name under which gorm knows it.
func (gormDialect) Name() string { return "sqlite" }

// Initialize gives gorm the connections, and the clauses that SQLite supports.
func (d gormDialect) Initialize(db *gorm.DB) error {
	db.ConnPool = d.pool
	callbacks.RegisterDefaultCallbacks(db, &callbacks.Config{
		CreateClauses:        []string{"INSERT", "VALUES", "ON CONFLICT", "RETURNING"},
		UpdateClauses:        []string{"UPDATE", "SET", "FROM", "WHERE", "RETURNING"},
		DeleteClauses:        []string{"DELETE", "FROM", "WHERE", "RETURNING"},
		LastInsertIDReversed: true,
	})
	return nil
}

// Migrator returns what creates tables.
func (d gormDialect) Migrator(db *gorm.DB) gorm.Migrator {
	return gormTables{migrator.Migrator{Config: migrator.Config{DB: db, Dialector: d, CreateIndexAfterCreateTable: true}}}
}

// DataTypeOf returns the type of a field's column. Sizes mean nothing to SQLite.
func (gormDialect) DataTypeOf(f *schema.Field) string {
	switch f.DataType {
	case schema.Bool:
		return "numeric"
	case schema.Int, schema.Uint:
		return "integer"
	case schema.Float:
		return "real"
	case schema.String:
		return "text"
	case schema.Time:
		if as, ok := f.TagSettings["TYPE"]; ok {
			return as
		}
		return "datetime"
	case schema.Bytes:
		return "blob"
	}
	return string(f.DataType)
}

// DefaultValueOf returns what stands for a value that a row leaves out.
func (gormDialect) DefaultValueOf(*schema.Field) clause.Expression { return clause.Expr{SQL: "NULL"} }

// BindVarTo writes a placeholder.
func (gormDialect) BindVarTo(w clause.Writer, _ *gorm.Statement, _ any) {
	_ = w.WriteByte('?') // into memory
}

// QuoteTo writes a name, or several with dots between them.
func (gormDialect) QuoteTo(w clause.Writer, name string) {
	for i, part := range strings.Split(name, ".") {
		if i > 0 {
			_ = w.WriteByte('.')
		}
		_, _ = w.WriteString("`" + strings.ReplaceAll(part, "`", "``") + "`")
	}
}

// Explain formats a statement for people to read.
func (gormDialect) Explain(text string, values ...any) string {
	return logger.ExplainSQL(text, nil, `'`, values...)
}
