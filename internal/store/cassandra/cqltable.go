package cassandra

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
)

// Table describes a table.
type Table struct {
	Name string // without the namespace and the prefix
	// Columns are written as in a statement, "name type, name type", and Key like a
	// primary key, "(a, b), c".
	Columns, Key string
	// With are the options of the table, if any.
	With string
}

// Set is the tables of one profile under one namespace, which form one space. It is
// safe for use by several goroutines once Look has returned.
type Set struct {
	Conn     Typed
	Keyspace string
	space    store.Space
	prefix   string // of tables: "perfbench_authz_"
	tables   []Table
	claim    *ownership.Claim // since Look
	texts    sync.Map         // argument of Text → the statement
}

// New returns the tables of a space, whose names begin with its namespace, if it has
// one, and prefix. It changes nothing in Cassandra.
func New(c Typed, space store.Space, prefix string, tables []Table) *Set {
	if space.Namespace != "" {
		prefix = Name(space.Namespace) + "_" + prefix
	}
	return &Set{Conn: c, Keyspace: c.KeyspaceFor(space.Namespace), space: space, prefix: prefix, tables: tables}
}

// Name returns the name of a table in its keyspace.
func (s *Set) Name(table string) string { return s.prefix + table }

// Spaces returns the tables as one space, to be recorded with params.
func (s *Set) Spaces(params map[string]string) []ownership.Space {
	out := ownership.Space{Space: s.space, Params: params, Tables: map[string]store.Table{}}
	for _, t := range s.tables {
		out.Parts = append(out.Parts, s.Name(t.Name))
		key := strings.NewReplacer("(", "", ")", "").Replace(t.Key)
		out.Tables[s.Name(t.Name)] = store.Table{Columns: store.Columns(t.Columns), Key: strings.Split(key, ", ")}
	}
	return []ownership.Space{out}
}

var tableWord = regexp.MustCompile(`%[a-z_][a-z0-9_]*`)

// Text inserts the names of tables into a statement, where %name stands for a table.
// All results are cached, so there should be few different statements.
func (s *Set) Text(text string) string {
	if v, ok := s.texts.Load(text); ok {
		return v.(string)
	}
	out := tableWord.ReplaceAllStringFunc(text, func(word string) string { return `"` + s.Keyspace + `"."` + s.Name(word[1:]) + `"` })
	s.texts.Store(text, out)
	return out
}

// Theirs reports whether others have made a table: such a table is never altered.
func (s *Set) Theirs(table string) bool {
	return s.claim != nil && s.claim.Theirs(s.space, s.Name(table))
}

// Check makes sure that those of our tables that exist are of this version.
func (s *Set) Check(ctx context.Context, c *ownership.Claim) error {
	s.claim = c
	_, err := s.missing(ctx)
	return err
}

// Create creates the tables that are missing, and the keyspace if necessary. Before
// that, it checks that existing tables are suitable.
func (s *Set) Create(ctx context.Context) error {
	if _, err := s.Conn.EnsureKeyspace(ctx, s.space.Namespace); err != nil {
		return err
	}
	missing, err := s.missing(ctx)
	if err != nil {
		return err
	}
	for _, t := range missing {
		text := s.Text("CREATE TABLE IF NOT EXISTS %"+t.Name) + " (" + t.Columns + ", PRIMARY KEY (" + t.Key + "))"
		if t.With != "" {
			text += " WITH " + t.With
		}
		if err := s.Conn.Session().Query(text).ExecContext(ctx); err != nil {
			return fmt.Errorf("create table %s: %w", s.Name(t.Name), err)
		}
	}
	return nil
}

// missing lists the tables still to be created. The error says if an existing one is
// unsuitable.
func (s *Set) missing(ctx context.Context) (out []Table, err error) {
	for _, t := range s.tables {
		name := s.Name(t.Name)
		if len(name) > NameLimit {
			return nil, fault.Input(fmt.Errorf("cassandra: %s cannot be the name of a table: it has more than %d characters", name, NameLimit), "use a shorter --namespace")
		}
		got, err := s.Conn.Columns(ctx, s.Keyspace, name)
		if err != nil {
			return nil, err
		}
		if len(got) == 0 {
			out = append(out, t)
			continue
		}
		want := map[string]string{}
		for _, c := range store.Columns(t.Columns) {
			want[c.Name] = c.Type
		}
		if !s.Theirs(t.Name) && !maps.Equal(want, got) {
			return nil, fault.Store(fmt.Errorf("cassandra: the table %s.%s has columns other than this version's: an older version made it", s.Keyspace, name),
				"delete it with  perfbench data delete,  or use another --namespace")
		}
	}
	return out, nil
}
