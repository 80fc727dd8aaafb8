package cassandra

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
func (c *Conn) KeyspaceFor(namespace string) string {
	if c.opts.keyspace != "" {
		return c.opts.keyspace
	}
	if namespace == "" {
		return "perfbench"
	}
	return Name(namespace)
}

// EnsureKeyspace returns the keyspace of the target or, creating it if necessary, the
// one named after the namespace, with as many replicas as replication= says, or else up
// to three.
func (c *Conn) EnsureKeyspace(ctx context.Context, namespace string) (string, error) {
	name := c.KeyspaceFor(namespace)
	if len(name) > NameLimit {
		return "", fault.Input(fmt.Errorf("cassandra: %s cannot be the name of a keyspace: it has more than %d characters", name, NameLimit), "use a shorter --namespace")
	}
	there, err := c.hasKeyspace(ctx, name)
	if there || err != nil {
		return name, c.explain(ctx, err)
	}
	replicas := c.opts.replication
	if replicas == 0 {
		replicas = max(1, min(3, c.nodes))
	}
	stmt := fmt.Sprintf("CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'NetworkTopologyStrategy', '%s': %d}",
		quoted(name), strings.ReplaceAll(c.datacenter, "'", "''"), replicas)
	return name, c.explain(ctx, c.own.Query(stmt).ExecContext(ctx))
}

// Columns returns the columns of a table with their types.
func (c *Conn) Columns(ctx context.Context, keyspace, table string) (map[string]string, error) {
	out := map[string]string{}
	iter := c.own.Query("SELECT column_name, type FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?", keyspace, table).
		Consistency(gocql.One).IterContext(ctx)
	var name, kind string
	for iter.Scan(&name, &kind) {
		out[name] = kind
	}
	return out, iter.Close()
}

// tableOf returns the table of a space. Names that Cassandra does not allow are
// refused.
func (c *Conn) tableOf(s store.Space) (*table, error) {
	key := tableKey{s.Namespace, s.Name, s.Grouped}
	if t, ok := c.tables.Load(key); ok {
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
	t, err := c.newTable(s.Namespace, name, s.Grouped)
	if err != nil {
		return nil, err
	}
	kept, _ := c.tables.LoadOrStore(key, t)
	return kept.(*table), nil
}

func (c *Conn) newTable(namespace, name string, grouped bool) (*table, error) {
	if len(name) > NameLimit || name == "" {
		return nil, fault.Input(fmt.Errorf("cassandra: %s cannot be the name of a table: it has more than %d characters", name, NameLimit), "use a shorter --namespace")
	}
	t := &table{keyspace: c.KeyspaceFor(namespace), name: name, grouped: grouped}
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
func (c *Conn) made(namespace string) (*table, error) {
	return c.newTable(namespace, own(namespace)+"_made", false)
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
