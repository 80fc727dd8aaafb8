package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"

	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// Table describes a table of a profile.
type Table struct {
	Name string // without the namespace and the prefix
	// Columns are written as in a statement, "name type, name type", with the words of
	// sqltext for types.
	Columns string
	// Key are the columns of the primary key, Unique those of a unique constraint.
	Key, Unique string
	Index       Index
	// Later are the columns that tables of an older version may lack. They are added to
	// tables of ours.
	Later []string
	// Packed is a column whose content is already compressed, so that PostgreSQL does
	// not try to.
	Packed string
}

// Index is an index in addition to the primary key; the zero value means none.
type Index struct{ Name, Columns string }

// Tables is the tables of one profile under one namespace: the profile lists them as data, and
// Tables creates them, refuses those of another version, and leaves those of others alone. It is safe for use by several
// goroutines once Look has returned.
type Tables struct {
	Conn      Typed
	Dialect   sqltext.Dialect
	namespace string
	prefix    string // of spaces: "authz_"
	tables    []Table
	claim     *ownership.Claim // since Look
	texts     sync.Map         // argument of Text → the dialect's statement
	stmts     sync.Map         // the same argument → *sql.Stmt
}

// NewTables returns the tables of a namespace, whose names begin with prefix. It changes
// nothing in the database.
func NewTables(c Typed, namespace, prefix string, tables []Table) *Tables {
	return &Tables{Conn: c, Dialect: c.Dialect(), namespace: namespace, prefix: prefix, tables: tables}
}

// Name returns the name of a table in the database.
func (s *Tables) Name(table string) string { return sqltext.TableName(s.namespace, s.prefix+table) }

// Quoted returns the quoted name of a table, for a statement.
func (s *Tables) Quoted(table string) string { return s.Dialect.Quote(s.Name(table)) }

// Space returns the space that stands for a table.
func (s *Tables) Space(table string) store.Space {
	return store.Space{Namespace: s.namespace, Name: s.prefix + table, Shape: store.Keys}
}

// Spaces returns the tables, each as a space, to be recorded with params.
func (s *Tables) Spaces(params map[string]string) []ownership.Space {
	out := make([]ownership.Space, 0, len(s.tables))
	for _, t := range s.tables {
		columns := store.Columns(t.Columns)
		for i := range columns {
			columns[i].Later = slices.Contains(t.Later, columns[i].Name)
		}
		out = append(out, ownership.Space{Space: s.Space(t.Name), Params: params, Tables: map[string]store.Table{
			"": {Columns: columns, Key: strings.Split(t.Key, ", ")},
		}})
	}
	return out
}

var tableWord = regexp.MustCompile(`%[a-z_][a-z0-9_]*`)

// Text translates a statement into the dialect, see sqltext; %name stands for a table.
// All results are cached, so there should be few different statements.
func (s *Tables) Text(text string) string {
	if v, ok := s.texts.Load(text); ok {
		return v.(string)
	}
	out := s.Dialect.Text(tableWord.ReplaceAllStringFunc(text, func(word string) string { return s.Quoted(word[1:]) }))
	s.texts.Store(text, out)
	return out
}

// Stmt returns a prepared statement, which is written as for Text and cached.
func (s *Tables) Stmt(ctx context.Context, text string) (*sql.Stmt, error) {
	if v, ok := s.stmts.Load(text); ok {
		return v.(*sql.Stmt), nil
	}
	p, err := s.Conn.SQL().PrepareContext(ctx, s.Text(text))
	if err != nil {
		return nil, err
	}
	if v, loaded := s.stmts.LoadOrStore(text, p); loaded {
		return v.(*sql.Stmt), p.Close()
	}
	return p, nil
}

// Check makes sure that those of our tables that exist are of this version.
func (s *Tables) Check(ctx context.Context, c *ownership.Claim) error {
	s.claim = c
	for _, t := range s.tables {
		if !c.Spot(s.Space(t.Name)).Found.Exists || s.theirs(t) {
			continue
		}
		if _, err := s.lacking(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// theirs reports whether others have made a table. Such a table is never altered, and
// was checked when it was claimed.
func (s *Tables) theirs(t Table) bool { return s.claim != nil && s.claim.Theirs(s.Space(t.Name), "") }

// Create creates the tables that are missing, and the database if necessary.
func (s *Tables) Create(ctx context.Context) error {
	if err := s.Conn.EnsureDatabase(ctx, s.namespace); err != nil {
		return err
	}
	for _, t := range s.tables {
		if s.theirs(t) {
			continue
		}
		if err := s.exec(ctx, s.definition(t)); err != nil {
			return fmt.Errorf("create table %s: %w", s.Name(t.Name), err)
		}
		later, err := s.lacking(ctx, t)
		if err != nil {
			return err
		}
		for _, text := range slices.Concat(later, s.extras(t)) {
			if err := s.exec(ctx, text); err != nil {
				return fmt.Errorf("complete table %s: %w", s.Name(t.Name), err)
			}
		}
	}
	return nil
}

// exec runs a statement that creates a table or an index.
func (s *Tables) exec(ctx context.Context, text string) error {
	return Make(func() error {
		_, err := s.Conn.SQL().ExecContext(ctx, text)
		return err
	})
}

func (s *Tables) definition(t Table) string {
	text := "CREATE TABLE IF NOT EXISTS %" + t.Name + " (" + t.Columns + ", PRIMARY KEY (" + t.Key + ")"
	if t.Unique != "" {
		text += ", UNIQUE (" + t.Unique + ")"
	}
	if s.Dialect == sqltext.MySQL && t.Index.Name != "" { // MySQL has no IF NOT EXISTS for indexes
		text += ", INDEX " + t.Index.Name + " (" + t.Index.Columns + ")"
	}
	return s.Text(text + ")")
}

// extras returns the statements that follow the creation of a table.
func (s *Tables) extras(t Table) (texts []string) {
	if t.Index.Name != "" && s.Dialect != sqltext.MySQL {
		texts = append(texts, "CREATE INDEX IF NOT EXISTS "+s.Quoted(t.Name+"_"+t.Index.Name)+" ON "+s.Quoted(t.Name)+" ("+t.Index.Columns+")")
	}
	if t.Packed != "" && s.Dialect == sqltext.Postgres {
		texts = append(texts, "ALTER TABLE "+s.Quoted(t.Name)+" ALTER COLUMN "+t.Packed+" SET STORAGE EXTERNAL")
	}
	return texts
}

// lacking returns the statements that add the columns missing in an older version's
// table. If that is not possible, it returns an error.
func (s *Tables) lacking(ctx context.Context, t Table) (texts []string, err error) {
	got, err := s.columns(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", s.Name(t.Name), err)
	}
	want := store.Columns(t.Columns)
	fits := true
	for _, c := range want {
		if slices.Contains(got, c.Name) {
			continue
		}
		fits = fits && slices.Contains(t.Later, c.Name)
		texts = append(texts, s.Text("ALTER TABLE %"+t.Name+" ADD COLUMN "+c.Name+" "+c.Type))
	}
	if !fits || len(got)+len(texts) != len(want) {
		return nil, fault.Store(fmt.Errorf("the table %s has columns other than this version's: an older version made it", s.Name(t.Name)),
			"delete it with  perfbench data delete,  or use another --namespace")
	}
	return texts, nil
}

// columnsOf queries the names of a table's columns. Where the driver caches prepared
// statements, a statement on the table itself would not survive a change of its
// columns.
var columnsOf = map[sqltext.Dialect]string{
	sqltext.MySQL:    "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?",
	sqltext.Postgres: "SELECT attname FROM pg_catalog.pg_attribute WHERE attrelid = to_regclass(quote_ident(?)) AND attnum > 0 AND NOT attisdropped",
	sqltext.SQLite:   "SELECT name FROM pragma_table_info(?)",
}

func (s *Tables) columns(ctx context.Context, t Table) (names []string, err error) {
	err = s.Conn.DB().WithContext(ctx).Raw(columnsOf[s.Dialect], s.Name(t.Name)).Scan(&names).Error
	return names, err
}
