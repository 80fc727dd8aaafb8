// Package cqltable keeps the tables of a profile in Cassandra. They are listed as data;
// making them, refusing those of another version and leaving alone those of others is
// done here, once.
package cqltable

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
)

// Table is a table as data.
type Table struct {
	Name string // behind the namespace and the prefix
	// Columns are written as a statement lists them, "name type, name type", Key as
	// the primary key is, "(a, b), c".
	Columns, Key string
	// With are the options of the table, if any.
	With string
}

// Set is the tables of one profile under one namespace, which are one space. It is safe
// for use by several goroutines once Look has returned.
type Set struct {
	Conn     cassandra.Typed
	Keyspace string
	space    store.Space
	prefix   string // of tables: "perfbench_authz_"
	tables   []Table
	claim    *place.Claim // since Look
	texts    sync.Map     // what is given to Text → the statement
}

// New returns the tables of a space, whose names begin with its namespace, if it has
// one, and prefix. It changes nothing in Cassandra.
func New(c cassandra.Typed, space store.Space, prefix string, tables []Table) *Set {
	if space.Namespace != "" {
		prefix = cassandra.Name(space.Namespace) + "_" + prefix
	}
	return &Set{Conn: c, Keyspace: c.KeyspaceFor(space.Namespace), space: space, prefix: prefix, tables: tables}
}

// Name is the name of a table in its keyspace.
func (s *Set) Name(table string) string { return s.prefix + table }

// Spaces are the tables, one space, recorded with params.
func (s *Set) Spaces(params map[string]string) []place.Space {
	out := place.Space{Space: s.space, Params: params, Tables: map[string]store.Table{}}
	for _, t := range s.tables {
		out.Parts = append(out.Parts, s.Name(t.Name))
		key := strings.NewReplacer("(", "", ")", "").Replace(t.Key)
		out.Tables[s.Name(t.Name)] = store.Table{Columns: store.Columns(t.Columns), Key: strings.Split(key, ", ")}
	}
	return []place.Space{out}
}

var tableWord = regexp.MustCompile(`%[a-z_]+`)

// Text puts the places of tables into a statement: %name is a table. All are kept: there
// should be few.
func (s *Set) Text(text string) string {
	if v, ok := s.texts.Load(text); ok {
		return v.(string)
	}
	out := tableWord.ReplaceAllStringFunc(text, func(word string) string { return `"` + s.Keyspace + `"."` + s.Name(word[1:]) + `"` })
	s.texts.Store(text, out)
	return out
}

// Theirs says whether others have made a table: it is never altered.
func (s *Set) Theirs(table string) bool {
	return s.claim != nil && s.claim.Theirs(s.space, s.Name(table))
}

// Look makes sure that the tables of ours that are there are of this version.
func (s *Set) Look(ctx context.Context, c *place.Claim) error {
	s.claim = c
	_, err := s.missing(ctx)
	return err
}

// Create makes the tables that are missing, in a keyspace that it makes if need be. It
// has seen before that those which are there will do.
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

// missing lists the tables that are yet to be made, unless one that is there will not
// do.
func (s *Set) missing(ctx context.Context) (out []Table, err error) {
	for _, t := range s.tables {
		name := s.Name(t.Name)
		if len(name) > cassandra.NameLimit {
			return nil, fault.Input(fmt.Errorf("cassandra: %s cannot be the name of a table: it has more than %d characters", name, cassandra.NameLimit), "use a shorter --namespace")
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
			return nil, fault.Store(fmt.Errorf("cassandra: the table %s.%s has other columns than this version's: an older one made it", s.Keyspace, name),
				"delete it with  perfbench data delete,  or use another --namespace")
		}
	}
	return out, nil
}
