package sqlstore

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"golang.org/x/sync/errgroup"

	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// Copied is what a copy of tables has.
type Copied struct {
	Tables int
	Rows   int64
	// Left says what the tables had that was not copied.
	Left []string
}

// Copy copies those tables and views into the schema of a session that wanted names, and those that
// they refer to: with their columns, rows, keys, constraints, indexes and sequences, and without
// triggers, functions and rights. They are those of the database that from is in, in PostgreSQL of
// the first schema of its search path, as they were at one moment; there it only reads. progress
// gets the number of rows.
func Copy(ctx context.Context, from Typed, to *Session, wanted func(name string) bool, progress func(rows int64)) (Copied, error) {
	conn, err := from.SQL().Conn(ctx)
	if err != nil {
		return Copied{}, err
	}
	defer conn.Close() //nolint:errcheck // it was only read
	c := &copier{from: conn, to: to, d: from.Dialect(), progress: progress}
	begin, copyAll := "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", c.mysql
	if c.d == sqltext.Postgres {
		begin, copyAll = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", c.postgres
	}
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return Copied{}, err
	}
	err = copyAll(ctx, wanted)
	_, end := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	return c.done, errors.Join(err, end)
}

// copier copies tables. It belongs to one goroutine.
type copier struct {
	from     *sql.Conn
	to       *Session
	d        sqltext.Dialect
	progress func(rows int64)
	done     Copied
}

// texts asks a question whose answer has one column.
func (c *copier) texts(ctx context.Context, question string, args ...any) (out []string, err error) {
	err = c.each(ctx, func(v []string) error { out = append(out, v[0]); return nil }, question, args...)
	return out, err
}

// each asks a question and calls f with each row; NULL is "".
func (c *copier) each(ctx context.Context, f func(v []string) error, question string, args ...any) error {
	rows, err := c.from.QueryContext(ctx, question, args...)
	if err != nil {
		return err
	}
	names, err := rows.Columns()
	if err != nil {
		return errors.Join(err, rows.Close())
	}
	var all [][]string
	err = walk(rows, func(rows *sql.Rows) error {
		vals, dest := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range vals {
			dest[i] = &vals[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		row := make([]string, len(names))
		for i := range vals {
			row[i] = vals[i].String
		}
		all = append(all, row)
		return nil
	})
	for _, row := range all { // f may ask, too
		if err != nil {
			break
		}
		err = f(row)
	}
	return err
}

// make carries out a statement where the copy goes.
func (c *copier) make(ctx context.Context, text string) error {
	if _, err := c.to.Do(ctx, text, nil, false, nil); err != nil {
		return fmt.Errorf("%w, of: %s", err, text[:min(len(text), 200)])
	}
	return nil
}

// postgres copies tables of PostgreSQL.
func (c *copier) postgres(ctx context.Context, wanted func(name string) bool) error {
	kinds, names := map[string]string{}, map[string]string{} // by object identifier
	var set []string
	add := func(oid string) {
		if _, there := names[oid]; there && !slices.Contains(set, oid) {
			set = append(set, oid)
		}
	}
	err := c.each(ctx, func(v []string) error {
		kinds[v[0]], names[v[0]] = v[2], v[1]
		return nil
	}, "SELECT oid, relname, relkind FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r','p','v','m','S') ORDER BY oid")
	if err != nil {
		return err
	}
	for oid, name := range names {
		if wanted(name) {
			add(oid)
		}
	}
	for i := 0; i < len(set); i++ { // what these refer to
		more, err := c.texts(ctx, `SELECT confrelid FROM pg_constraint WHERE contype = 'f' AND conrelid = $1::oid
			UNION SELECT d.refobjid FROM pg_rewrite r JOIN pg_depend d ON d.objid = r.oid WHERE r.ev_class = $1::oid AND d.refclassid = 'pg_class'::regclass
			UNION SELECT d.refobjid FROM pg_attrdef a JOIN pg_depend d ON d.objid = a.oid AND d.classid = 'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass WHERE a.adrelid = $1::oid`, set[i])
		if err != nil {
			return err
		}
		for _, oid := range more {
			add(oid)
		}
	}
	outside, err := c.texts(ctx, "SELECT DISTINCT r.ev_class FROM pg_rewrite r JOIN pg_depend x ON x.classid = 'pg_rewrite'::regclass AND x.objid = r.oid WHERE r.ev_class = ANY($1::oid[]) AND "+beyond, "{"+strings.Join(set, ",")+"}")
	if err != nil {
		return err
	}
	for i := 0; i < len(outside); i++ { // and what shows them
		more, err := c.texts(ctx, `SELECT DISTINCT r.ev_class FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
			WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = $1::oid`, outside[i])
		if err != nil {
			return err
		}
		for _, oid := range more {
			if !slices.Contains(outside, oid) {
				outside = append(outside, oid)
			}
		}
	}
	set = slices.DeleteFunc(set, func(oid string) bool {
		if !slices.Contains(outside, oid) {
			return false
		}
		c.done.Left = append(c.done.Left, "the view "+names[oid]+" is not copied: it is of another schema, too")
		return true
	})
	slices.SortFunc(set, cmpOID) // views were made behind what they show
	of := func(which string) (out []string) {
		for _, oid := range set {
			if strings.Contains(which, kinds[oid]) {
				out = append(out, oid)
			}
		}
		return out
	}
	tables := of("rp")
	all := "{" + strings.Join(tables, ",") + "}"
	q := sqltext.Postgres.Quote
	var makes, later []string
	collect := func(to *[]string, question string, args ...any) error {
		texts, err := c.texts(ctx, question, args...)
		*to = append(*to, texts...)
		return err
	}
	err = errors.Join(
		collect(&makes, `SELECT 'CREATE TYPE ' || quote_ident(t.typname) || ' AS ENUM (' || string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) || ')' FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid
			WHERE t.typnamespace = current_schema()::regnamespace AND EXISTS (SELECT 1 FROM pg_attribute a JOIN pg_type x ON x.oid = a.atttypid WHERE a.attrelid = ANY($1::oid[]) AND t.oid IN (x.oid, x.typelem, x.typbasetype)) GROUP BY t.typname`, all),
		collect(&makes, `SELECT 'CREATE DOMAIN ' || quote_ident(t.typname) || ' AS ' || format_type(t.typbasetype, t.typtypmod) || coalesce(' DEFAULT ' || t.typdefault, '') || CASE WHEN t.typnotnull THEN ' NOT NULL' ELSE '' END ||
			coalesce((SELECT string_agg(' ' || pg_get_constraintdef(k.oid), '') FROM pg_constraint k WHERE k.contypid = t.oid AND k.contype = 'c'), '') FROM pg_type t
			WHERE t.typtype = 'd' AND t.typnamespace = current_schema()::regnamespace AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = ANY($1::oid[]) AND a.atttypid = t.oid)`, all),
		collect(&makes, `SELECT 'CREATE SEQUENCE ' || quote_ident(c.relname) || ' AS ' || format_type(s.seqtypid, NULL) || ' INCREMENT BY ' || s.seqincrement || ' MINVALUE ' || s.seqmin || ' MAXVALUE ' || s.seqmax || ' START WITH ' || s.seqstart ||
			' CACHE ' || s.seqcache || CASE WHEN s.seqcycle THEN ' CYCLE' ELSE '' END FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
			WHERE c.oid = ANY($1::oid[]) AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'i')`, "{"+strings.Join(of("S"), ",")+"}"),
		collect(&later, `SELECT 'ALTER TABLE ' || quote_ident(c.relname) || ' ADD CONSTRAINT ' || quote_ident(k.conname) || ' ' || pg_get_constraintdef(k.oid, true) FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
			WHERE k.conrelid = ANY($1::oid[]) AND (k.contype IN ('p','u','c','x') OR k.contype = 'f' AND k.confrelid = ANY($1::oid[])) ORDER BY k.contype = 'f', k.contype <> 'p', k.oid`, all),
		collect(&later, `SELECT pg_get_indexdef(i.indexrelid, 0, true) FROM pg_index i WHERE i.indrelid = ANY($1::oid[]) AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p','u','x')) ORDER BY i.indexrelid`, all),
	)
	columns := map[string][]string{}
	for _, t := range tables {
		var defs []string
		err = errors.Join(err, c.each(ctx, func(v []string) error {
			defs = append(defs, v[0])
			if v[1] == "" {
				columns[t] = append(columns[t], v[2])
			}
			return nil
		}, `SELECT quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attcollation <> y.typcollation AND a.attcollation <> 0 THEN ' COLLATE ' || quote_ident(l.collname) ELSE '' END ||
			CASE WHEN a.attgenerated = 's' THEN ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED' WHEN a.attidentity = 'a' THEN ' GENERATED ALWAYS AS IDENTITY' WHEN a.attidentity = 'd' THEN ' GENERATED BY DEFAULT AS IDENTITY'
			WHEN d.adbin IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pg_depend x WHERE x.classid = 'pg_attrdef'::regclass AND x.objid = d.oid AND `+beyond+`) THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) ELSE '' END || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END, a.attgenerated, quote_ident(a.attname)
			FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum LEFT JOIN pg_collation l ON l.oid = a.attcollation
			WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`, t))
		makes = append(makes, "CREATE TABLE "+q(names[t])+" ("+strings.Join(defs, ", ")+")")
	}
	for i := 0; i < len(makes) && err == nil; i++ {
		err = c.make(ctx, makes[i])
	}
	for i := 0; i < len(tables) && err == nil; i++ {
		if list := strings.Join(columns[tables[i]], ", "); list != "" {
			err = c.stream(ctx, "COPY (SELECT "+list+" FROM "+q(names[tables[i]])+") TO STDOUT", "COPY "+q(names[tables[i]])+" ("+list+") FROM STDIN")
		}
		c.done.Tables++
	}
	for i := 0; i < len(later) && err == nil; i++ {
		err = c.make(ctx, later[i])
	}
	for _, oid := range of("S") {
		if err == nil {
			err = c.each(ctx, func(v []string) error { return c.make(ctx, fmt.Sprintf("SELECT setval(%s, %s, %s)", v[0], v[1], v[2])) },
				"SELECT quote_literal(quote_ident('"+strings.ReplaceAll(names[oid], "'", "''")+"')), last_value, is_called FROM "+q(names[oid])+
					" WHERE NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = "+oid+" AND d.deptype = 'i')")
		}
	}
	if err == nil {
		err = c.each(ctx, func(v []string) error {
			return c.each(ctx, func(s []string) error {
				return c.make(ctx, fmt.Sprintf("SELECT setval(pg_get_serial_sequence(%s, %s), %s, %s)", v[0], v[1], s[0], s[1]))
			}, "SELECT last_value, is_called FROM "+v[2])
		}, `SELECT quote_literal(quote_ident(c.relname)), quote_literal(a.attname), pg_get_serial_sequence(quote_ident(c.relname), a.attname) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.attrelid = ANY($1::oid[]) AND a.attidentity <> ''`, all)
	}
	for _, oid := range of("vm") {
		if err == nil {
			err = c.each(ctx, func(v []string) error { return c.make(ctx, v[0]) },
				"SELECT 'CREATE "+map[string]string{"v": "", "m": "MATERIALIZED "}[kinds[oid]]+"VIEW ' || quote_ident($1) || ' AS ' || pg_get_viewdef($2::oid, true)", names[oid], oid)
			c.done.Tables++
		}
	}
	for i := 0; i < len(tables) && err == nil; i++ {
		err = c.make(ctx, "ANALYZE "+q(names[tables[i]]))
	}
	if err == nil {
		err = c.each(ctx, func(v []string) error {
			c.done.Left = append(c.done.Left, fmt.Sprintf("the default of %s.%s is not copied: it is of another schema, too", v[0], v[1]))
			return nil
		}, "SELECT DISTINCT t.relname, a.attname FROM pg_attrdef d JOIN pg_class t ON t.oid = d.adrelid JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum"+
			" JOIN pg_depend x ON x.classid = 'pg_attrdef'::regclass AND x.objid = d.oid WHERE a.attgenerated = '' AND d.adrelid = ANY($1::oid[]) AND "+beyond+" ORDER BY 1, 2", all)
	}
	if err == nil {
		var triggers []string
		triggers, err = c.texts(ctx, "SELECT tgname FROM pg_trigger WHERE tgrelid = ANY($1::oid[]) AND NOT tgisinternal", all)
		c.left(triggers)
	}
	return err
}

// beyond is a condition on rows of pg_depend named x: it leads to something of another schema, through
// which a statement that names only copies could reach data of others.
const beyond = `EXISTS (SELECT 1 FROM pg_class o WHERE x.refclassid = 'pg_class'::regclass AND o.oid = x.refobjid AND o.relnamespace NOT IN (current_schema()::regnamespace, 'pg_catalog'::regnamespace)
	UNION ALL SELECT 1 FROM pg_proc o WHERE x.refclassid = 'pg_proc'::regclass AND o.oid = x.refobjid AND o.pronamespace NOT IN (current_schema()::regnamespace, 'pg_catalog'::regnamespace))`

// left notes the triggers that were not copied.
func (c *copier) left(triggers []string) {
	if len(triggers) > 0 {
		c.done.Left = append(c.done.Left, "triggers of the tables are not copied: "+strings.Join(triggers, ", "))
	}
}

// cmpOID compares two numbers written in decimals.
func cmpOID(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// stream copies what one COPY writes into another.
func (c *copier) stream(ctx context.Context, from, to string) error {
	if err := c.to.connect(ctx); err != nil {
		return err
	}
	return c.from.Raw(func(src any) error {
		return c.to.conn.Raw(func(dst any) error {
			a, b := direct(src), direct(dst)
			if a == nil || b == nil {
				return errWay
			}
			r, w := io.Pipe()
			var both errgroup.Group
			both.Go(func() error {
				_, err := a.PgConn().CopyTo(ctx, w, from)
				return errors.Join(err, w.CloseWithError(err))
			})
			tag, err := b.PgConn().CopyFrom(ctx, r, to)
			_ = r.CloseWithError(err) // the other one has failed by it
			if other := both.Wait(); err == nil {
				err = other
			}
			c.done.Rows += tag.RowsAffected()
			c.progress(c.done.Rows)
			return err
		})
	})
}

// direct returns the connection of pgx below one of database/sql; nil: there is none.
func direct(conn any) *pgx.Conn {
	switch p := conn.(type) {
	case *stdlib.Conn:
		return p.Conn()
	case interface{ Conn() *pgx.Conn }:
		return p.Conn()
	}
	return nil
}

// rowsAtOnce is about how many bytes of rows one statement inserts.
const rowsAtOnce = 1 << 19

// keepsRows are the engines of MySQL and MariaDB that keep the rows of a table themselves. A table of
// another one, such as FEDERATED, CONNECT or MERGE, may stand for one of somebody else's.
var keepsRows = map[string]bool{"innodb": true, "myisam": true, "aria": true, "memory": true, "rocksdb": true, "archive": true}

// mysql copies tables of MySQL and MariaDB.
func (c *copier) mysql(ctx context.Context, wanted func(name string) bool) error {
	var set []string
	elsewhere := map[string]string{} // the engines of tables whose rows are in another server or file, by table
	err := c.each(ctx, func(v []string) error {
		if !keepsRows[strings.ToLower(v[1])] {
			elsewhere[v[0]] = v[1]
		} else if wanted(v[0]) {
			set = append(set, v[0])
		}
		return nil
	}, "SELECT table_name, coalesce(engine, '') FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name")
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(elsewhere)) {
		if wanted(name) {
			c.done.Left = append(c.done.Left, fmt.Sprintf("the table %s is not copied: its engine %s keeps rows elsewhere, where a replay would write, too", name, elsewhere[name]))
		}
	}
	for i := 0; i < len(set); i++ { // what these refer to
		more, err := c.texts(ctx, "SELECT DISTINCT referenced_table_name FROM information_schema.key_column_usage WHERE table_schema = DATABASE() AND referenced_table_schema = DATABASE() AND table_name = ?", set[i])
		if err != nil {
			return err
		}
		for _, name := range more {
			if _, is := elsewhere[name]; !is && !slices.Contains(set, name) {
				set = append(set, name)
			}
		}
	}
	for _, text := range []string{"SET SESSION foreign_key_checks = 0", "SET SESSION unique_checks = 0", "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'"} {
		if err := c.make(ctx, text); err != nil {
			return err
		}
	}
	defer c.to.Close() // with these settings, nobody else uses it
	for _, name := range set {
		var how string
		err := c.each(ctx, func(v []string) error { how = v[1]; return nil }, "SHOW CREATE TABLE "+c.d.Quote(name))
		if err == nil {
			err = c.make(ctx, within(how))
		}
		if err == nil {
			err = c.rows(ctx, name)
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
		c.done.Tables++
	}
	triggers, err := c.texts(ctx, "SELECT trigger_name FROM information_schema.triggers WHERE event_object_schema = DATABASE()")
	c.left(triggers)
	views, err2 := c.texts(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'VIEW'")
	for _, v := range views {
		if wanted(v) {
			c.done.Left = append(c.done.Left, "the view "+v+" is not copied")
		}
	}
	return errors.Join(err, err2)
}

// within leaves out of the definition of a table what refers to other databases.
func within(how string) string {
	lines := strings.Split(how, "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool {
		return strings.Contains(l, " FOREIGN KEY ") && strings.Contains(l, " REFERENCES `") && strings.Contains(l[strings.Index(l, " REFERENCES `"):], "`.`")
	})
	for i := range lines { // the last one has no comma behind it
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], ")") {
			lines[i] = strings.TrimSuffix(lines[i], ",")
		}
	}
	return strings.Join(lines, "\n")
}

// rows copies the rows of a table of MySQL's.
func (c *copier) rows(ctx context.Context, table string) error {
	var columns []string
	var binary []bool
	err := c.each(ctx, func(v []string) error {
		if !strings.Contains(strings.ToUpper(v[2]), "GENERATED") || strings.EqualFold(v[2], "DEFAULT_GENERATED") {
			columns = append(columns, c.d.Quote(v[0]))
			kind := strings.ToLower(v[1])
			binary = append(binary, strings.Contains(kind, "binary") || strings.Contains(kind, "blob") || kind == "bit" || strings.Contains(kind, "geometry") || kind == "point")
		}
		return nil
	}, "SELECT column_name, data_type, extra FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position", table)
	if err != nil || len(columns) == 0 {
		return err
	}
	list := strings.Join(columns, ", ")
	as := make([]string, len(columns))
	for i := range columns {
		if as[i] = columns[i]; !binary[i] {
			as[i] = "CAST(" + columns[i] + " AS CHAR)" // as the server writes it, whatever its type
		}
	}
	rows, err := c.from.QueryContext(ctx, "SELECT "+strings.Join(as, ", ")+" FROM "+c.d.Quote(table))
	if err != nil {
		return err
	}
	begin := "INSERT INTO " + c.d.Quote(table) + " (" + list + ") VALUES "
	b := []byte(begin)
	n := int64(0)
	flush := func() error {
		if n == 0 {
			return nil
		}
		_, err := c.to.Do(ctx, string(b), nil, false, nil)
		c.done.Rows += n
		c.progress(c.done.Rows)
		b, n = append(b[:0], begin...), 0
		return err
	}
	vals, dest := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i := range vals {
		dest[i] = &vals[i]
	}
	err = walk(rows, func(rows *sql.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if n++; n > 1 {
			b = append(b, ", "...)
		}
		sep := byte('(')
		for i, v := range vals {
			b = append(b, sep)
			sep = ','
			switch {
			case v == nil:
				b = append(b, "NULL"...)
			case binary[i]:
				b = append(append(hex.AppendEncode(append(b, "X'"...), v), '\''), ' ')
			default:
				b = append(b, '\'')
				for _, x := range v {
					switch x {
					case '\'', '\\':
						b = append(b, '\\')
					case 0:
						b = append(b, '\\')
						x = '0'
					}
					b = append(b, x)
				}
				b = append(b, '\'')
			}
		}
		b = append(b, ')')
		if len(b) < rowsAtOnce {
			return nil
		}
		return flush()
	})
	return errors.Join(err, flush())
}
