package cassandra

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// madeKey returns the key of a space in the records, as a column has it.
func madeKey(s store.Space) []byte { return []byte(store.RecordKey(s)) }

// Records are what was made under each namespace, in a table next to the data.
type Records struct {
	cluster *cluster
	tables  *tables
}

// Inspect looks for the table of a space, or for the tables of its parts. If a table
// has columns other than those of a map, the kind says so.
func (r *Records) Inspect(ctx context.Context, s store.Space, parts ...string) (store.Found, error) {
	if s.Shape == store.Keys {
		return r.inspectTables(ctx, s, parts)
	}
	t, err := r.tables.tableOf(s)
	if err != nil {
		return store.Found{}, err
	}
	columns, err := r.cluster.Columns(ctx, t.keyspace, t.name)
	if err != nil || len(columns) == 0 {
		return store.Found{}, wrap("look for", t, err)
	}
	if !t.fits(columns) {
		return store.Found{Exists: true, Kind: "table with other columns", Size: -1}, nil
	}
	found := store.Found{Exists: true, Kind: "table"}
	switch found.Size, err = r.tables.count(ctx, t); {
	case absent(err): // somebody is creating or dropping it right now
		found.Size = -1
	case err != nil:
		return store.Found{}, wrap("count", t, err)
	}
	return found, nil
}

// inspectTables looks for the tables of a space that a profile has laid out itself.
// Their rows are not counted.
func (r *Records) inspectTables(ctx context.Context, s store.Space, parts []string) (store.Found, error) {
	if len(parts) == 0 { // what an older version has recorded
		if recorded, err := r.recorded(ctx, s); err != nil || !recorded {
			return store.Found{}, err
		}
		_, names, err := r.tablesOf(ctx, s)
		return store.Found{Exists: len(names) > 0, Kind: "tables", Size: -1}, err
	}
	keyspace := r.cluster.KeyspaceFor(s.Namespace)
	found := store.Found{Kind: "tables", Size: -1}
	for _, name := range parts {
		columns, err := r.cluster.Columns(ctx, keyspace, name)
		if err != nil {
			return store.Found{}, fmt.Errorf("look for %s: %w", name, err)
		}
		if len(columns) > 0 {
			found.Exists, found.Parts = true, append(found.Parts, name)
		}
	}
	if !found.Exists {
		return store.Found{}, nil
	}
	return found, nil
}

// recorded reports whether a space is recorded as ours.
func (r *Records) recorded(ctx context.Context, s store.Space) (bool, error) {
	_, ok, err := r.recordOf(ctx, s)
	return ok, err
}

// recordOf returns the record of a space, false if it is not ours.
func (r *Records) recordOf(ctx context.Context, s store.Space) (m store.Made, ok bool, err error) {
	made, err := r.tables.made(s.Namespace)
	if err != nil {
		return m, false, err
	}
	text, ok, err := read(ctx, r.cluster.own.Query(made.get, madeKey(s)), nil)
	if absent(err) {
		return m, false, nil
	}
	if !ok || err != nil {
		return m, false, wrap("read", made, err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, false, store.NotOurs(fmt.Sprintf("cassandra: %q in %s", madeKey(s), made.name), "record")
	}
	return m, true, nil
}

// Record creates the keyspace if it does not exist, records that we made a space, and
// creates the table of a map. For other shapes, the profile creates the tables.
func (r *Records) Record(ctx context.Context, m store.Made) error {
	made, err := r.tables.made(m.Namespace)
	if err != nil {
		return err
	}
	if _, err := r.cluster.EnsureKeyspace(ctx, m.Namespace); err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("record of %s: %w", m.Name, err)
	}
	err = r.tables.inMade(ctx, made, func() error { return r.cluster.own.Query(made.set, madeKey(m.Space), text).ExecContext(ctx) })
	if err != nil || m.Shape == store.Keys {
		return wrap("write", made, err)
	}
	t, err := r.tables.tableOf(m.Space)
	if err != nil {
		return err
	}
	return r.tables.create(ctx, t)
}

// Made lists what is recorded under a namespace, by name.
func (r *Records) Made(ctx context.Context, namespace string) ([]store.Made, error) {
	made, err := r.tables.made(namespace)
	if err != nil {
		return nil, err
	}
	iter := r.cluster.own.Query("SELECT k, v FROM " + made.full()).IterContext(ctx)
	texts := map[string][]byte{}
	var key, text []byte
	for iter.Scan(&key, &text) {
		texts[string(key)] = text
		key, text = nil, nil
	}
	if err := iter.Close(); err != nil && !absent(err) {
		return nil, wrap("read", made, err)
	}
	out, wrong := store.AppendRecords(nil, namespace, texts, store.RecordKey)
	if wrong != "" {
		return nil, store.NotOurs(fmt.Sprintf("cassandra: %q in %s", wrong, made.name), "record")
	}
	return out, nil
}

// Drop removes the table of a space recorded as ours or, for shape Keys, exactly the
// tables that the record names, and then the record. It returns how many rows were
// removed or, for shape Keys, how many tables.
func (r *Records) Drop(ctx context.Context, s store.Space, progress func(done int64)) (int64, error) {
	m, recorded, err := r.recordOf(ctx, s)
	if err != nil {
		return 0, err
	}
	if !recorded {
		return 0, fault.Input(fmt.Errorf("cassandra: %s was not made by perfbench", s.Name), "only what perfbench made is deleted")
	}
	var n int64
	if m.Shape == store.Keys {
		n, err = r.dropTables(ctx, s, m)
	} else {
		n, err = r.dropTable(ctx, s)
	}
	if err != nil {
		return 0, err
	}
	if progress != nil {
		progress(n)
	}
	return n, r.unrecord(ctx, s)
}

// unrecord removes a record, and the table of records along with the last one.
func (r *Records) unrecord(ctx context.Context, s store.Space) error {
	made, err := r.tables.made(s.Namespace)
	if err != nil {
		return err
	}
	if err := r.cluster.own.Query("DELETE FROM "+made.full()+" WHERE k = ?", madeKey(s)).ExecContext(ctx); err != nil {
		return wrap("write", made, err)
	}
	left, err := r.tables.left(ctx, made)
	if err == nil && left == 0 {
		err = r.cluster.own.Query("DROP TABLE IF EXISTS " + made.full()).ExecContext(ctx)
	}
	return wrap("drop", made, err)
}

func (r *Records) dropTable(ctx context.Context, s store.Space) (int64, error) {
	t, err := r.tables.tableOf(s)
	if err != nil {
		return 0, err
	}
	n, err := r.tables.count(ctx, t)
	if err != nil && !absent(err) {
		return 0, wrap("count", t, err)
	}
	if err == nil {
		if ours, err := r.tables.exact(ctx, t); err != nil || !ours { // others have made one in its place: it stays
			return 0, err
		}
	}
	return n, wrap("drop", t, r.cluster.own.Query("DROP TABLE IF EXISTS "+t.full()).ExecContext(ctx))
}

// tablesOf lists what may be the tables of a space of shape Keys whose record, made by
// an older version, names none: those whose names begin with the namespace, the space's
// name and "_". That is good enough for looking, but not for dropping.
func (r *Records) tablesOf(ctx context.Context, s store.Space) (keyspace string, names []string, err error) {
	keyspace = r.cluster.KeyspaceFor(s.Namespace)
	prefix := Name(s.Name) + "_"
	if s.Namespace != "" {
		prefix = Name(s.Namespace) + "_" + prefix
	}
	iter := r.cluster.own.Query("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", keyspace).Consistency(gocql.One).IterContext(ctx)
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

// dropTables removes the tables that a record names; what others have made in the place of
// one of them stays. A record of an older version names none, and going by the beginning of
// names would remove those of others.
func (r *Records) dropTables(ctx context.Context, s store.Space, m store.Made) (gone int64, err error) {
	if len(m.Parts) == 0 {
		return 0, fault.Input(fmt.Errorf("cassandra: an older version recorded %s without its tables", m.Name),
			"run its profile once more in this namespace, which records them, and then delete")
	}
	keyspace := r.cluster.KeyspaceFor(s.Namespace)
	for _, name := range m.Parts {
		columns, key, err := r.cluster.layout(ctx, keyspace, name)
		if err != nil {
			return gone, fmt.Errorf("look at the columns of %s: %w", name, err)
		}
		if want, known := m.Tables[name]; len(columns) == 0 || known && !same(columns, key, want) {
			continue
		}
		if err := r.cluster.own.Query("DROP TABLE IF EXISTS " + quoted(keyspace) + "." + quoted(name)).ExecContext(ctx); err != nil {
			return gone, fmt.Errorf("drop %s: %w", name, err)
		}
		gone++
	}
	return gone, nil
}

// same reports whether a table has exactly the columns and the primary key of a record,
// which has no types.
func same(columns map[string]string, key map[string]bool, want store.Table) bool {
	for _, w := range want.Columns {
		if _, there := columns[w.Name]; !there {
			return false
		}
	}
	for _, name := range want.Key {
		if !key[name] {
			return false
		}
	}
	return len(columns) == len(want.Columns) && len(key) == len(want.Key)
}

// Prober tries whether the cluster would accept the writes of a run.
type Prober struct {
	cluster *cluster
	tables  *tables
}

// Probe reports whether the server would accept a run's writes to s. If the table
// exists, it writes a row of a drawn key and deletes it; otherwise it checks the keyspace.
func (p *Prober) Probe(ctx context.Context, s store.Space) error {
	if _, err := p.cluster.EnsureKeyspace(ctx, s.Namespace); err != nil {
		return err
	}
	if s.Shape == store.Keys || s.Name == "" {
		return nil
	}
	t, err := p.tables.tableOf(s)
	if err != nil {
		return err
	}
	columns, err := p.cluster.Columns(ctx, t.keyspace, t.name)
	if err != nil || len(columns) == 0 {
		return p.cluster.explain(ctx, err)
	}
	if !t.fits(columns) {
		return fault.Store(fmt.Errorf("cassandra: %s: the table %s has other columns than ours: another program or an older version made it", p.cluster.where(), t.name),
			"use another --namespace")
	}
	key := []byte(store.Unlikely())
	args, where := []any{key, []byte{}}, "k = ?"
	if t.grouped {
		args, where = []any{key, key, []byte{}}, "g = ? AND k = ?"
	}
	if err := p.cluster.own.Query(t.set, args...).ExecContext(ctx); err != nil {
		return p.cluster.explain(ctx, err)
	}
	return p.cluster.explain(ctx, p.cluster.own.Query("DELETE FROM "+t.full()+" WHERE "+where, args[:len(args)-1]...).ExecContext(ctx))
}
