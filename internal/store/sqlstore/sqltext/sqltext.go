// Package sqltext writes statements in each SQL product's dialect: its quoting, its
// placeholders, and its words for what the standard leaves to the product. It deals
// with text only and opens no connection.
package sqltext

import (
	"strconv"
	"strings"
)

// Dialect is the SQL dialect of one kind of product.
type Dialect string

// The dialects, named like the drivers.
const (
	MySQL    Dialect = "mysql" // and MariaDB
	Postgres Dialect = "postgres"
	SQLite   Dialect = "sqlite"
)

// Quote quotes the name of a table or column, which must not contain a NUL.
func (d Dialect) Quote(name string) string {
	q := `"`
	if d == MySQL {
		q = "`"
	}
	return q + strings.ReplaceAll(name, q, q+q) + q
}

// Table returns the quoted name of a namespace's table.
func (d Dialect) Table(namespace, name string) string { return d.Quote(TableName(namespace, name)) }

// TableName returns the name of a namespace's table: "perfbench_eligibility", or
// "eligibility" without a namespace.
func TableName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "_" + name
}

// Mark returns the placeholder of the i-th argument, from 1.
func (d Dialect) Mark(i int) string {
	if d == Postgres {
		return "$" + strconv.Itoa(i)
	}
	return "?"
}

// Marks returns n question marks in parentheses, for a statement that Text will
// translate.
func Marks(n int) string {
	return "(" + strings.TrimSuffix(strings.Repeat("?,", n), ",") + ")"
}

// Rows returns the placeholders of that many rows, each in parentheses.
func (d Dialect) Rows(rows, columns int) string {
	var b strings.Builder
	b.Grow(rows * (2*columns + 2))
	for i := range rows * columns {
		switch {
		case i == 0:
			b.WriteByte('(')
		case i%columns == 0:
			b.WriteString("),(")
		default:
			b.WriteByte(',')
		}
		b.WriteString(d.Mark(i + 1))
	}
	b.WriteByte(')')
	return b.String()
}

// Keep returns the end of an INSERT that leaves an existing row alone. For MySQL, key
// must be a column of the key.
func (d Dialect) Keep(key string) string {
	if d == MySQL {
		return " ON DUPLICATE KEY UPDATE " + key + " = " + key
	}
	return " ON CONFLICT DO NOTHING"
}

// Replace returns the end of an INSERT that gives columns of an existing row their new
// values; without columns it is Keep. Keys and columns must be quoted if necessary.
func (d Dialect) Replace(keys, columns []string) string {
	if len(columns) == 0 {
		return d.Keep(keys[0])
	}
	to := make([]string, len(columns))
	for i, c := range columns {
		to[i] = c + " = excluded." + c
		if d == MySQL {
			to[i] = c + " = VALUES(" + c + ")"
		}
	}
	if d == MySQL {
		return " ON DUPLICATE KEY UPDATE " + strings.Join(to, ", ")
	}
	return " ON CONFLICT (" + strings.Join(keys, ",") + ") DO UPDATE SET " + strings.Join(to, ", ")
}

// Text translates a statement into the dialect. A question mark is a placeholder, and
// braces contain a keyword:
//
//	{lock}               locks the rows that are read
//	{keep KEY}           like Keep
//	{replace KEYS: COLS} like Replace
//	{string N}           the type of a text of up to N characters, compared byte by byte
//	{name N}             {string N} for bytes that need not be text, if there is such a type
//	{text}               the type of a text of any length
//	{blob}               the type of bytes of any length
//	{serial}             the type of an auto-incremented key
//
// Quoted text is left as it is.
func (d Dialect) Text(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	n := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\'', '"', '`':
			end := closing(s, i)
			b.WriteString(s[i:end])
			i = end - 1
		case '?':
			n++
			b.WriteString(d.Mark(n))
		case '{':
			inside, _, _ := strings.Cut(s[i+1:], "}")
			word, arg, _ := strings.Cut(inside, " ")
			b.WriteString(d.word(word, arg))
			i += len(inside) + 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Placeholders returns how many placeholders a statement for Text has.
func Placeholders(s string) (n int) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\'', '"', '`':
			i = closing(s, i) - 1
		case '?':
			n++
		}
	}
	return n
}

// closing returns the position after the quoted text that begins at byte i. A doubled
// quote looks like the end of one text and the beginning of another, which has the same
// effect.
func closing(s string, i int) int {
	if n := strings.IndexByte(s[i+1:], s[i]); n >= 0 {
		return i + n + 2
	}
	return len(s)
}

// types are the column types that have a keyword; %n is a number of characters.
var types = map[string]map[Dialect]string{
	"string": {MySQL: "VARCHAR(%n) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", Postgres: `VARCHAR(%n) COLLATE "C"`, SQLite: "VARCHAR(%n)"},
	"name":   {MySQL: "VARBINARY(%n)", Postgres: `VARCHAR(%n) COLLATE "C"`, SQLite: "VARCHAR(%n)"},
	"text":   {MySQL: "MEDIUMTEXT CHARACTER SET utf8mb4", Postgres: "TEXT", SQLite: "TEXT"},
	"blob":   {MySQL: "LONGBLOB", Postgres: "BYTEA", SQLite: "BLOB"},
	"serial": {MySQL: "BIGINT AUTO_INCREMENT", Postgres: "BIGSERIAL", SQLite: "INTEGER"},
}

func (d Dialect) word(word, arg string) string {
	switch word {
	case "lock":
		if d == SQLite {
			return "" // a writer has the whole file to itself
		}
		return " FOR UPDATE"
	case "keep":
		return d.Keep(arg)
	case "replace":
		keys, columns, _ := strings.Cut(arg, ": ")
		return d.Replace(strings.Split(keys, ", "), strings.Split(columns, ", "))
	}
	if kind, ok := types[word]; ok {
		return strings.ReplaceAll(kind[d], "%n", arg)
	}
	return "{" + word + " " + arg + "}" // every server rejects that
}
