package sqlstore

import (
	"strings"

	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// dialect describes what is specific to one product, as data.
type dialect struct {
	sqltext.Dialect
	title string // for messages
	// keyType and valType are the column types of keys and values.
	keyType, valType string
	// nameLimit is the greatest length of an identifier in bytes, maxVars the largest
	// number of placeholders in a statement.
	nameLimit, maxVars int
	// arrays means that a batch is passed as one array per column.
	arrays bool
	// swap means that one statement can replace a value and return the old one.
	swap bool
	// auto means that the driver caches prepared statements itself.
	auto bool
	// tables counts the tables with a given name in the current database.
	tables string
	// records lists the tables that may hold records of a namespace, as far as the server
	// counts the statements on them with ours: database or schema, name, and whether a name
	// without it means this table. It is empty if nothing is counted.
	records string
	// now queries the server's time in Unix milliseconds.
	now       string
	dialector func(gorm.ConnPool) gorm.Dialector
}

var dialects = map[string]*dialect{
	"mysql": {
		Dialect: sqltext.MySQL, title: "MariaDB or MySQL", keyType: "VARBINARY(512)", valType: "LONGBLOB",
		nameLimit: 64, maxVars: 65535,
		tables: "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?",
		records: "SELECT table_schema, table_name, COALESCE(table_schema = DATABASE(), FALSE) FROM information_schema.columns" +
			" WHERE table_name LIKE '%\\_made' AND column_name = 'k' AND column_key = 'PRI' AND data_type = 'varbinary'",
		now:       "SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)",
		dialector: func(pool gorm.ConnPool) gorm.Dialector { return mysql.New(mysql.Config{Conn: pool}) },
	},
	"postgres": {
		Dialect: sqltext.Postgres, title: "PostgreSQL", keyType: "BYTEA", valType: "BYTEA",
		nameLimit: 63, maxVars: 65535,
		arrays: true, swap: true, auto: true,
		tables: "SELECT COUNT(*) FROM pg_catalog.pg_class c WHERE c.relname = $1 AND c.relkind IN ('r','p','v','m','f') AND pg_table_is_visible(c.oid)",
		records: "SELECT n.nspname, c.relname, pg_table_is_visible(c.oid) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace" +
			" JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'k' AND a.atttypid = 'bytea'::regtype" +
			" WHERE c.relkind IN ('r','p') AND c.relname LIKE '%\\_made'",
		now:       "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint",
		dialector: func(pool gorm.ConnPool) gorm.Dialector { return postgres.New(postgres.Config{Conn: pool}) },
	},
	"sqlite": {
		Dialect: sqltext.SQLite, title: "SQLite", keyType: "BLOB", valType: "BLOB",
		nameLimit: 255, maxVars: 32766,
		tables:    "SELECT COUNT(*) FROM sqlite_master WHERE type IN ('table','view') AND name = ?",
		now:       "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
		dialector: gormSQLite,
	},
}

// dialectOf returns the dialect for the targets of a scheme.
func dialectOf(scheme string) *dialect {
	switch scheme {
	case "mariadb":
		scheme = "mysql"
	case "postgresql":
		scheme = "postgres"
	}
	return dialects[scheme]
}

// texts are the statements about one table.
type texts struct {
	// create makes the table unless it exists; make fails if it does.
	create, make, drop, count string
	get, set, swap            string
	// insert and conflict enclose the rows of a batch; many is the whole statement if a
	// batch is passed as arrays.
	insert, conflict, many string
	// getMany precedes the keys of a batch.
	getMany string
	remove  string
}

// texts writes the statements about a table with the given key columns.
func (d *dialect) texts(table string, keys ...string) texts {
	name, list := d.Quote(table), strings.Join(keys, ",")
	columns := append(append([]string{}, keys...), "v")
	var defs, where []string
	for i, k := range keys {
		defs = append(defs, k+" "+d.keyType+" NOT NULL")
		where = append(where, k+" = "+d.Mark(i+1))
	}
	last := len(keys)
	as := " (" + strings.Join(defs, ", ") + ", v " + d.valType + " NOT NULL, PRIMARY KEY (" + list + "))"
	t := texts{
		create:   "CREATE TABLE IF NOT EXISTS " + name + as,
		make:     "CREATE TABLE " + name + as,
		drop:     "DROP TABLE IF EXISTS " + name,
		count:    "SELECT COUNT(*) FROM " + name,
		get:      "SELECT v FROM " + name + " WHERE " + strings.Join(where, " AND "),
		remove:   "DELETE FROM " + name + " WHERE " + strings.Join(where, " AND "),
		insert:   "INSERT INTO " + name + " (" + strings.Join(columns, ",") + ") VALUES ",
		conflict: d.Replace(keys, []string{"v"}),
		getMany:  "SELECT k,v FROM " + name + " WHERE " + strings.Join(append(append([]string{}, where[:last-1]...), "k IN "), " AND "),
	}
	t.set = t.insert + d.Rows(1, len(columns)) + t.conflict
	if d.swap {
		t.swap = "WITH old AS (" + t.get + ") " + t.set + " RETURNING (SELECT v FROM old)"
	}
	if d.arrays {
		var arrays []string
		for i := range columns {
			arrays = append(arrays, d.Mark(i+1)+"::bytea[]")
		}
		t.many = "INSERT INTO " + name + " (" + strings.Join(columns, ",") + ") SELECT * FROM unnest(" + strings.Join(arrays, ",") + ")" + t.conflict
		t.getMany = strings.TrimSuffix(t.getMany, "k IN ") + "k = ANY(" + d.Mark(last) + "::bytea[])"
	}
	return t
}
