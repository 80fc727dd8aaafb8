package cassandra

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// madeKey returns the key of a space in the records.
func madeKey(s store.Space) []byte {
	if s.Grouped {
		return []byte(s.Name + ":{}")
	}
	return []byte(s.Name)
}

// Inspect looks at the table of a space. One of ours that is empty counts as
// nothing; of one that has other columns the kind says so.
func (c *Conn) Inspect(ctx context.Context, s store.Space) (store.Found, error) {
	if s.Shape == store.Keys {
		return c.inspectTables(ctx, s)
	}
	t, err := c.tableOf(s)
	if err != nil {
		return store.Found{}, err
	}
	columns, err := c.Columns(ctx, t.keyspace, t.name)
	if err != nil || len(columns) == 0 {
		return store.Found{}, wrap("look for", t, err)
	}
	if !t.fits(columns) {
		return store.Found{Exists: true, Kind: "table with other columns", Size: -1}, nil
	}
	found := store.Found{Exists: true, Kind: "table"}
	if found.Size, err = c.count(ctx, t); err != nil {
		return store.Found{}, wrap("count", t, err)
	}
	if found.Size == 0 {
		if recorded, err := c.recorded(ctx, s); recorded || err != nil {
			return store.Found{}, err
		}
	}
	return found, nil
}

// inspectTables looks for the tables of a space that a profile has laid out itself,
// when it is recorded as ours. Their rows are not counted.
func (c *Conn) inspectTables(ctx context.Context, s store.Space) (store.Found, error) {
	if recorded, err := c.recorded(ctx, s); err != nil || !recorded {
		return store.Found{}, err
	}
	_, names, err := c.tablesOf(ctx, s)
	if err != nil || len(names) == 0 {
		return store.Found{}, err
	}
	return store.Found{Exists: true, Kind: "tables", Size: -1}, nil
}

// fits says whether a table has our columns.
func (t *table) fits(columns map[string]string) bool {
	want := map[string]string{"k": "blob", "v": "blob"}
	if t.grouped {
		want["g"] = "blob"
	}
	return maps.Equal(want, columns)
}

// recorded says whether a space is written down as ours.
func (c *Conn) recorded(ctx context.Context, s store.Space) (bool, error) {
	made, err := c.made(s.Namespace)
	if err != nil {
		return false, err
	}
	_, ok, err := c.get(ctx, made, nil, madeKey(s))
	if absent(err) {
		return false, nil
	}
	return ok, wrap("read", made, err)
}

// Record makes the keyspace and the table of a space, unless they are there, and
// writes down that we made them. Of a space of shape Keys the profile makes the
// tables itself.
func (c *Conn) Record(ctx context.Context, m store.Made) error {
	made, err := c.made(m.Namespace)
	if err != nil {
		return err
	}
	if _, err := c.EnsureKeyspace(ctx, m.Namespace); err != nil {
		return err
	}
	tables := []*table{made}
	if m.Shape != store.Keys {
		t, err := c.tableOf(m.Space)
		if err != nil {
			return err
		}
		tables = append(tables, t)
	}
	for _, t := range tables {
		if err := c.create(ctx, t); err != nil {
			return err
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("record of %s: %w", m.Name, err)
	}
	return wrap("write", made, c.Query(made.set, madeKey(m.Space), text).ExecContext(ctx))
}

// create makes a table unless it is there. It looks first: a change of the schema
// is dear, and who may use a table may still not be allowed to make one.
func (c *Conn) create(ctx context.Context, t *table) error {
	columns, err := c.Columns(ctx, t.keyspace, t.name)
	if err != nil || len(columns) > 0 {
		return wrap("look for", t, err)
	}
	if err := c.session.Query(t.create).ExecContext(ctx); err != nil {
		return c.explain(ctx, wrap("create table", t, err))
	}
	return nil
}

// Made lists what is recorded under a namespace, by name.
func (c *Conn) Made(ctx context.Context, namespace string) ([]store.Made, error) {
	made, err := c.made(namespace)
	if err != nil {
		return nil, err
	}
	iter := c.session.Query("SELECT k, v FROM " + made.full()).IterContext(ctx)
	var out []store.Made
	var key, text []byte
	for iter.Scan(&key, &text) {
		var m store.Made
		if err := json.Unmarshal(text, &m); err != nil || string(madeKey(m.Space)) != string(key) {
			return nil, errors.Join(fault.Store(fmt.Errorf("cassandra: %q in %s is no record of perfbench", key, made.name), "use another --namespace"), iter.Close())
		}
		m.Namespace = namespace
		out = append(out, m)
		key, text = nil, nil
	}
	if err := iter.Close(); err != nil && !absent(err) {
		return nil, wrap("read", made, err)
	}
	slices.SortFunc(out, func(a, b store.Made) int {
		return strings.Compare(string(madeKey(a.Space)), string(madeKey(b.Space)))
	})
	return out, nil
}

// Drop removes the table of a space that is recorded as ours, or of one of shape
// Keys all tables whose names begin with the space's, and the record. It tells
// how many rows are gone; of shape Keys how many tables.
func (c *Conn) Drop(ctx context.Context, s store.Space, progress func(done int64)) (int64, error) {
	recorded, err := c.recorded(ctx, s)
	if err != nil {
		return 0, err
	}
	if !recorded {
		return 0, fault.Input(fmt.Errorf("cassandra: %s was not made by perfbench", s.Name), "only what perfbench made is deleted")
	}
	var n int64
	if s.Shape == store.Keys {
		n, err = c.dropTables(ctx, s)
	} else {
		n, err = c.dropTable(ctx, s)
	}
	if err != nil {
		return 0, err
	}
	if progress != nil {
		progress(n)
	}
	made, err := c.made(s.Namespace)
	if err != nil {
		return n, err
	}
	return n, wrap("write", made, c.Query("DELETE FROM "+made.full()+" WHERE k = ?", madeKey(s)).ExecContext(ctx))
}

func (c *Conn) dropTable(ctx context.Context, s store.Space) (int64, error) {
	t, err := c.tableOf(s)
	if err != nil {
		return 0, err
	}
	n, err := c.count(ctx, t)
	if err != nil && !absent(err) {
		return 0, wrap("count", t, err)
	}
	return n, wrap("drop", t, c.session.Query("DROP TABLE IF EXISTS "+t.full()).ExecContext(ctx))
}

// tablesOf lists the tables of a space that a profile has laid out itself: they begin
// with the namespace, the space's name and "_".
func (c *Conn) tablesOf(ctx context.Context, s store.Space) (keyspace string, names []string, err error) {
	keyspace = c.KeyspaceFor(s.Namespace)
	prefix := Name(s.Name) + "_"
	if s.Namespace != "" {
		prefix = Name(s.Namespace) + "_" + prefix
	}
	iter := c.session.Query("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", keyspace).Consistency(gocql.One).IterContext(ctx)
	var name string
	for iter.Scan(&name) {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	if err := iter.Close(); err != nil {
		return "", nil, fmt.Errorf("list the tables of %s: %w", keyspace, err)
	}
	return keyspace, names, nil
}

// dropTables removes the tables of a space that a profile has laid out itself.
func (c *Conn) dropTables(ctx context.Context, s store.Space) (int64, error) {
	keyspace, names, err := c.tablesOf(ctx, s)
	if err != nil {
		return 0, err
	}
	for i, name := range names {
		if err := c.session.Query("DROP TABLE IF EXISTS " + quoted(keyspace) + "." + quoted(name)).ExecContext(ctx); err != nil {
			return int64(i), fmt.Errorf("drop %s: %w", name, err)
		}
	}
	return int64(len(names)), nil
}

// Probe tells whether the server would take the writes of a run into s. Where the
// table is there it writes a row and deletes it; else it sees to the keyspace.
func (c *Conn) Probe(ctx context.Context, s store.Space) error {
	if _, err := c.EnsureKeyspace(ctx, s.Namespace); err != nil {
		return err
	}
	if s.Shape == store.Keys {
		return nil
	}
	t, err := c.tableOf(s)
	if err != nil {
		return err
	}
	columns, err := c.Columns(ctx, t.keyspace, t.name)
	if err != nil || len(columns) == 0 {
		return c.explain(ctx, err)
	}
	if !t.fits(columns) {
		return fault.Store(fmt.Errorf("cassandra: %s: the table %s has other columns than ours: another program or an older version made it", c.where(), t.name),
			"use another --namespace")
	}
	args, where := []any{[]byte("\x00perfbench-probe"), []byte{}}, "k = ?"
	if t.grouped {
		args, where = []any{[]byte("\x00perfbench-probe"), []byte{}, []byte{}}, "g = ? AND k = ?"
	}
	if err := c.Query(t.set, args...).ExecContext(ctx); err != nil {
		return c.explain(ctx, err)
	}
	return c.explain(ctx, c.Query("DELETE FROM "+t.full()+" WHERE "+where, args[:len(args)-1]...).ExecContext(ctx))
}
