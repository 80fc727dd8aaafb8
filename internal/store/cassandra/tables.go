package cassandra

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// byGroup is the suffix of the table of a grouped space, which has an additional
// column.
const byGroup = "_by_group"

// NameLimit is the greatest length, in characters, of the name of a keyspace or table.
const NameLimit = 48

// Name encodes a text so that it can be the name of a keyspace or table: letters,
// digits and _ stay as they are, anything else becomes _xHH. Case is significant.
func Name(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_x%02x", c)
		}
	}
	return b.String()
}

func own(namespace string) string {
	if namespace == "" {
		return "perfbench_own"
	}
	return Name(namespace)
}

type tableKey struct {
	namespace, name string
	grouped         bool
}

// tables are those that were used over a connection, with their statements.
type tables struct {
	cluster *cluster
	known   sync.Map // tableKey → *table
}

// table is one table with its statements.
type table struct {
	keyspace, name string
	grouped        bool

	create, get, set, in, all string
}

func (t *table) full() string { return quoted(t.keyspace) + "." + quoted(t.name) }

func quoted(name string) string { return `"` + name + `"` }

// KeyspaceFor returns the keyspace of the target, or the one named after the namespace.
// It creates nothing.
func (k *cluster) KeyspaceFor(namespace string) string {
	if k.opts.keyspace != "" {
		return k.opts.keyspace
	}
	if namespace == "" {
		return "perfbench"
	}
	return Name(namespace)
}

// EnsureKeyspace returns the keyspace of the target or, creating it if necessary, the
// one named after the namespace, with as many replicas as replication= says, or else up
// to three.
func (k *cluster) EnsureKeyspace(ctx context.Context, namespace string) (string, error) {
	name := k.KeyspaceFor(namespace)
	if len(name) > NameLimit {
		return "", fault.Input(fmt.Errorf("cassandra: %s cannot be the name of a keyspace: it has more than %d characters", name, NameLimit), "use a shorter --namespace")
	}
	there, err := k.hasKeyspace(ctx, name)
	if there || err != nil {
		return name, k.explain(ctx, err)
	}
	replicas := k.opts.replication
	if replicas == 0 {
		replicas = max(1, min(3, k.nodes))
	}
	stmt := fmt.Sprintf("CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'NetworkTopologyStrategy', '%s': %d}",
		quoted(name), strings.ReplaceAll(k.datacenter, "'", "''"), replicas)
	if k.tablets(ctx) {
		stmt += " AND tablets = {'enabled': false}" // with them, most versions make no conditional writes
	}
	return name, k.explain(ctx, k.own.Query(stmt).ExecContext(ctx))
}

// tablets reports whether new keyspaces would have tablets, which only ScyllaDB knows.
func (k *cluster) tablets(ctx context.Context) bool {
	columns, err := k.Columns(ctx, "system_schema", "scylla_keyspaces")
	return err == nil && columns["initial_tablets"] != ""
}

// Columns returns the columns of a table with their types.
func (k *cluster) Columns(ctx context.Context, keyspace, table string) (map[string]string, error) {
	out := map[string]string{}
	iter := k.own.Query("SELECT column_name, type FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?", keyspace, table).
		Consistency(gocql.One).IterContext(ctx)
	var name, kind string
	for iter.Scan(&name, &kind) {
		out[name] = kind
	}
	return out, iter.Close()
}

// tableOf returns the table of a space. Names that Cassandra does not allow are
// refused.
func (ts *tables) tableOf(s store.Space) (*table, error) {
	key := tableKey{s.Namespace, s.Name, s.Grouped}
	if t, ok := ts.known.Load(key); ok {
		return t.(*table), nil
	}
	name := Name(s.Name)
	if s.Grouped {
		name += byGroup
	}
	if s.Namespace != "" {
		name = Name(s.Namespace) + "_" + name
	}
	if name == own(s.Namespace)+"_made" {
		return nil, fault.Input(fmt.Errorf("cassandra: the name %s is taken by perfbench's own table", name), "choose another name or --namespace")
	}
	t, err := ts.newTable(s.Namespace, name, s.Grouped)
	if err != nil {
		return nil, err
	}
	kept, _ := ts.known.LoadOrStore(key, t)
	return kept.(*table), nil
}

func (ts *tables) newTable(namespace, name string, grouped bool) (*table, error) {
	if len(name) > NameLimit || name == "" {
		return nil, fault.Input(fmt.Errorf("cassandra: %s cannot be the name of a table: it has more than %d characters", name, NameLimit), "use a shorter --namespace")
	}
	t := &table{keyspace: ts.cluster.KeyspaceFor(namespace), name: name, grouped: grouped}
	columns, key, where := "k blob, v blob", "k", "k = ?"
	if grouped {
		columns, key, where = "g blob, k blob, v blob", "(g), k", "g = ? AND k = ?"
	}
	t.create = "CREATE TABLE IF NOT EXISTS " + t.full() + " (" + columns + ", PRIMARY KEY (" + key + "))"
	t.get = "SELECT v FROM " + t.full() + " WHERE " + where
	t.set = "INSERT INTO " + t.full() + " (k, v) VALUES (?, ?)"
	t.all = "SELECT token(k) FROM " + t.full()
	if grouped {
		t.set = "INSERT INTO " + t.full() + " (g, k, v) VALUES (?, ?, ?)"
		t.in = "SELECT k, v FROM " + t.full() + " WHERE g = ? AND k IN ?"
		t.all = "SELECT token(g) FROM " + t.full()
	}
	return t, nil
}

// made returns the table with the records of what was made under a namespace.
func (ts *tables) made(namespace string) (*table, error) {
	return ts.newTable(namespace, own(namespace)+"_made", false)
}

// create creates a table if it does not exist. It looks first, because a schema change
// is expensive, and a user who may use a table may still not be allowed to create one.
func (ts *tables) create(ctx context.Context, t *table) error {
	columns, err := ts.cluster.Columns(ctx, t.keyspace, t.name)
	if err != nil || len(columns) > 0 {
		return wrap("look for", t, err)
	}
	if err := ts.cluster.own.Query(t.create).ExecContext(ctx); err != nil {
		return ts.cluster.explain(ctx, wrap("create table", t, err))
	}
	return nil
}

// inMade calls f with the table of records in place, and again if somebody else dropped
// it in the meantime along with their last record.
func (ts *tables) inMade(ctx context.Context, made *table, f func() error) error {
	return store.InPlace(func() error { return ts.create(ctx, made) }, f, absent)
}

// exact reports whether a table has our columns and our primary key, and nothing else.
func (ts *tables) exact(ctx context.Context, t *table) (bool, error) {
	columns, key, err := ts.cluster.layout(ctx, t.keyspace, t.name)
	if err != nil {
		return false, wrap("look at", t, err)
	}
	return t.fits(columns) && key["k"] && key["g"] == t.grouped && !key["v"], nil
}

// left counts the rows in the table of records, up to two.
func (ts *tables) left(ctx context.Context, made *table) (int, error) {
	iter := ts.cluster.own.Query("SELECT k FROM " + made.full() + " LIMIT 2").IterContext(ctx)
	var key []byte
	n := 0
	for iter.Scan(&key) {
		n++
	}
	return n, iter.Close()
}

func (ts *tables) count(ctx context.Context, t *table) (int64, error) {
	iter := ts.cluster.own.Query(t.all).PageSize(5000).IterContext(ctx)
	var n, token int64
	for iter.Scan(&token) {
		n++
	}
	return n, iter.Close()
}

func (ts *tables) grouped(s store.Space) (*table, error) {
	s.Grouped = true
	return ts.tableOf(s)
}

// fits reports whether a table has our columns.
func (t *table) fits(columns map[string]string) bool {
	want := map[string]string{"k": "blob", "v": "blob"}
	if t.grouped {
		want["g"] = "blob"
	}
	return maps.Equal(want, columns)
}

// absent reports whether an error means that a table or keyspace does not exist.
func absent(err error) bool {
	return err != nil && !errors.Is(err, gocql.ErrNotFound) && Classify(err) == store.Missing
}

// wrap adds to err what was being done to which table.
func wrap(what string, t *table, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", what, t.name, err)
}
