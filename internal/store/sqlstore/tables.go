package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// byGroup is the suffix of the table of a grouped space, which has an additional
// column.
const byGroup = "_by_group"

// tableName returns the name of a space's table: "perfbench_eligibility", or
// "eligibility" without a namespace.
func tableName(s store.Space) string {
	name := s.Name
	if s.Grouped {
		name += byGroup
	}
	return sqltext.TableName(s.Namespace, name)
}

// madeName returns the name of the table with the records of what was made under
// a namespace.
func madeName(namespace string) string { return own(namespace) + "_made" }

// probeName draws the name of the temporary table of a probe, of at most limit bytes.
func probeName(namespace string, limit int) string {
	drawn := "_probe_" + store.Unlikely()[:16]
	begin := own(namespace)
	return begin[:min(len(begin), limit-len(drawn))] + drawn
}

func own(namespace string) string {
	if namespace == "" {
		return "_perfbench"
	}
	return namespace
}

// tableKey identifies a table.
type tableKey struct {
	name    string
	grouped bool
}

// keptTexts is how many different statements of a table are kept prepared. Servers
// limit their number over all connections; further statements are sent as text.
const keptTexts = 48

// table is one table with its statements.
type table struct {
	texts
	key   tableKey
	mu    sync.RWMutex
	stmts map[string]*sql.Stmt
}

// tableOf returns the table of a space. Names that the product does not allow are
// refused.
func (c *Conn) tableOf(s store.Space) (*table, error) {
	name := tableName(s)
	if name == madeName(s.Namespace) {
		return nil, fault.Input(fmt.Errorf("%s: the name %s is taken by perfbench's own table", c.d.Dialect, name), "choose another name or --namespace")
	}
	return c.table(name, s.Grouped)
}

func (c *Conn) table(name string, grouped bool) (*table, error) {
	key := tableKey{name, grouped}
	if t, ok := c.tables.Load(key); ok {
		return t.(*table), nil
	}
	if len(name) > c.d.nameLimit || name == "" || strings.ContainsRune(name, 0) || strings.HasSuffix(name, " ") {
		return nil, fault.Input(fmt.Errorf("%s: %q cannot be the name of a table", c.d.Dialect, name),
			fmt.Sprintf("names have 1 to %d bytes and do not end with a space", c.d.nameLimit))
	}
	keys := []string{"k"}
	if grouped {
		keys = []string{"g", "k"}
	}
	t, _ := c.tables.LoadOrStore(key, &table{texts: c.d.texts(name, keys...), key: key, stmts: map[string]*sql.Stmt{}})
	return t.(*table), nil
}

// prepared returns a prepared statement for the table, or nil if it is to be sent as
// text because the driver caches statements itself, or because there are too many of
// them.
func (c *Conn) prepared(ctx context.Context, t *table, text string) (*sql.Stmt, error) {
	if c.d.auto {
		return nil, nil
	}
	t.mu.RLock()
	s, full := t.stmts[text], len(t.stmts) >= keptTexts
	t.mu.RUnlock()
	if s != nil || full {
		return s, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.stmts[text]; s != nil {
		return s, nil
	}
	s, err := c.sql.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	t.stmts[text] = s
	return s, nil
}

// forget closes the prepared statements of a table, or of all tables if only is nil.
func (c *Conn) forget(only *table) {
	c.tables.Range(func(_, v any) bool {
		t := v.(*table)
		if only != nil && only != t {
			return true
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		for text, s := range t.stmts {
			_ = s.Close() // the server discards them with the connection at the latest
			delete(t.stmts, text)
		}
		return true
	})
}

// exec runs a statement on a table that returns nothing.
func (c *Conn) exec(ctx context.Context, t *table, text string, args ...any) error {
	s, err := c.prepared(ctx, t, text)
	if err != nil {
		return err
	}
	if s == nil {
		_, err = c.sql.ExecContext(ctx, text, args...)
	} else {
		_, err = s.ExecContext(ctx, args...)
	}
	return err
}

// query runs a statement on a table and calls each for every row.
func (c *Conn) query(ctx context.Context, t *table, each func(*sql.Rows) error, text string, args ...any) error {
	s, err := c.prepared(ctx, t, text)
	if err != nil {
		return err
	}
	var rows *sql.Rows
	if s == nil {
		rows, err = c.sql.QueryContext(ctx, text, args...)
	} else {
		rows, err = s.QueryContext(ctx, args...)
	}
	if err != nil {
		return err
	}
	return walk(rows, each)
}

func walk(rows *sql.Rows, each func(*sql.Rows) error) error {
	defer rows.Close() // closing twice is harmless; Err reports what went wrong
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return rows.Close()
}
