package sqlstore

import (
	"strconv"
	"strings"

	"gorm.io/gorm"
)

// dialect is how one product wants to be spoken to, as data.
type dialect struct {
	name  string
	title string // for messages
	quote string // around identifiers; doubled inside
	// keyType and valType are the column types of keys and values.
	keyType, valType string
	// upsert is what follows the rows of an INSERT; %k stands for the key columns.
	upsert string
	// nameLimit is the most bytes an identifier may have, maxVars the most
	// placeholders a statement may have.
	nameLimit, maxVars int
	// arrays says that a batch is passed as one array for each column.
	arrays bool
	// swap says that one statement can replace a value and return the old one.
	swap bool
	// auto says that the driver keeps prepared statements by itself.
	auto bool
	// tables counts the tables of that name in the database in use.
	tables string
	// now asks for the server's time in Unix milliseconds.
	now       string
	dialector func(gorm.ConnPool) gorm.Dialector
}

var dialects = map[string]*dialect{
	"mysql": {
		name: DialectMySQL, title: "MariaDB or MySQL", quote: "`", keyType: "VARBINARY(512)", valType: "LONGBLOB",
		upsert: " ON DUPLICATE KEY UPDATE v = VALUES(v)", nameLimit: 64, maxVars: 65535,
		tables:    "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?",
		now:       "SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)",
		dialector: mysqlDialector,
	},
	"postgres": {
		name: DialectPostgres, title: "PostgreSQL", quote: `"`, keyType: "BYTEA", valType: "BYTEA",
		upsert: " ON CONFLICT (%k) DO UPDATE SET v = excluded.v", nameLimit: 63, maxVars: 65535,
		arrays: true, swap: true, auto: true,
		tables: "SELECT COUNT(*) FROM pg_catalog.pg_class c WHERE c.relname = $1 AND c.relkind IN ('r','p','v','m','f') AND pg_table_is_visible(c.oid)",

		now:       "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint",
		dialector: postgresDialector,
	},
	"sqlite": {
		name: DialectSQLite, title: "SQLite", quote: `"`, keyType: "BLOB", valType: "BLOB",
		upsert: " ON CONFLICT (%k) DO UPDATE SET v = excluded.v", nameLimit: 255, maxVars: 32766,
		tables:    "SELECT COUNT(*) FROM sqlite_master WHERE type IN ('table','view') AND name = ?",
		now:       "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
		dialector: sqliteDialector,
	},
}

// dialectOf returns the dialect that the targets of a scheme want.
func dialectOf(scheme string) *dialect {
	switch scheme {
	case "mariadb":
		scheme = "mysql"
	case "postgresql":
		scheme = "postgres"
	}
	return dialects[scheme]
}

// ident quotes an identifier. It must not hold a NUL.
func (d *dialect) ident(name string) string {
	return d.quote + strings.ReplaceAll(name, d.quote, d.quote+d.quote) + d.quote
}

// mark is the placeholder of the i-th argument, from 1.
func (d *dialect) mark(i int) string {
	if d.arrays {
		return "$" + strconv.Itoa(i)
	}
	return "?"
}

// marks are n placeholders from the first-th on, in brackets.
func (d *dialect) marks(first, n int) string {
	var b strings.Builder
	b.Grow(2*n + 1)
	for i := range n {
		if i == 0 {
			b.WriteByte('(')
		} else {
			b.WriteByte(',')
		}
		b.WriteString(d.mark(first + i))
	}
	b.WriteByte(')')
	return b.String()
}

// texts are the statements about one table.
type texts struct {
	create, drop, count string
	get, set, swap      string
	// insert and conflict go around the rows of a batch; many is the whole of it
	// where a batch is passed as arrays.
	insert, conflict, many string
	// getMany goes before the keys of a batch.
	getMany string
	remove  string
}

// texts writes the statements about a table with the given key columns.
func (d *dialect) texts(table string, keys ...string) texts {
	name, list := d.ident(table), strings.Join(keys, ",")
	columns := append(append([]string{}, keys...), "v")
	var defs, where []string
	for i, k := range keys {
		defs = append(defs, k+" "+d.keyType+" NOT NULL")
		where = append(where, k+" = "+d.mark(i+1))
	}
	last := len(keys)
	t := texts{
		create:   "CREATE TABLE IF NOT EXISTS " + name + " (" + strings.Join(defs, ", ") + ", v " + d.valType + " NOT NULL, PRIMARY KEY (" + list + "))",
		drop:     "DROP TABLE IF EXISTS " + name,
		count:    "SELECT COUNT(*) FROM " + name,
		get:      "SELECT v FROM " + name + " WHERE " + strings.Join(where, " AND "),
		remove:   "DELETE FROM " + name + " WHERE " + strings.Join(where, " AND "),
		insert:   "INSERT INTO " + name + " (" + strings.Join(columns, ",") + ") VALUES ",
		conflict: strings.ReplaceAll(d.upsert, "%k", list),
		getMany:  "SELECT k,v FROM " + name + " WHERE " + strings.Join(append(append([]string{}, where[:last-1]...), "k IN "), " AND "),
	}
	t.set = t.insert + d.marks(1, len(columns)) + t.conflict
	if d.swap {
		t.swap = "WITH old AS (" + t.get + ") " + t.set + " RETURNING (SELECT v FROM old)"
	}
	if d.arrays {
		var arrays []string
		for i := range columns {
			arrays = append(arrays, d.mark(i+1)+"::bytea[]")
		}
		t.many = "INSERT INTO " + name + " (" + strings.Join(columns, ",") + ") SELECT * FROM unnest(" + strings.Join(arrays, ",") + ")" + t.conflict
		t.getMany = strings.TrimSuffix(t.getMany, "k IN ") + "k = ANY(" + d.mark(last) + "::bytea[])"
	}
	return t
}
