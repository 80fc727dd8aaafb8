package cassandra

import (
	"context"
	"fmt"
	"slices"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/store"
)

// Misfit says why our rows cannot be read from a table (the space's own or one of its
// parts), or written into it. Columns that are not ours may stay empty, unless they
// belong to the key.
func (r *Records) Misfit(ctx context.Context, s store.Space, part string, want store.Table) (store.Misfit, error) {
	keyspace, name := r.cluster.KeyspaceFor(s.Namespace), part
	if s.Shape == store.Map {
		t, err := r.tables.tableOf(s)
		if err != nil {
			return store.Misfit{}, err
		}
		name = t.name
		want = store.Table{Columns: []store.Column{{Name: "k", Type: "blob"}, {Name: "v", Type: "blob"}}, Key: []string{"k"}}
		if t.grouped {
			want.Columns, want.Key = append(want.Columns, store.Column{Name: "g", Type: "blob"}), []string{"g", "k"}
		}
	}
	types, key, err := r.cluster.layout(ctx, keyspace, name)
	if err != nil {
		return store.Misfit{}, fmt.Errorf("look at the columns of %s: %w", name, err)
	}
	m := store.Misfit{Table: keyspace + "." + name}
	m.Read, m.Write = misfit(types, key, want)
	return m, nil
}

// layout returns the columns of a table with their types, and which of them are its
// primary key.
func (k *cluster) layout(ctx context.Context, keyspace, name string) (types map[string]string, key map[string]bool, err error) {
	types, key = map[string]string{}, map[string]bool{}
	iter := k.own.Query("SELECT column_name, type, kind FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?", keyspace, name).
		Consistency(gocql.One).IterContext(ctx)
	var column, kind, role string
	for iter.Scan(&column, &kind, &role) {
		types[column] = kind
		if role == "partition_key" || role == "clustering" {
			key[column] = true
		}
	}
	return types, key, iter.Close()
}

// misfit names the column because of which rows cannot be read from a table with these
// columns and this key, or written into it.
func misfit(types map[string]string, key map[string]bool, want store.Table) (read, write string) {
	for _, w := range want.Columns {
		switch kind, there := types[w.Name]; {
		case !there:
			return "it has no column " + w.Name, ""
		case kind != w.Type:
			return fmt.Sprintf("it has a column %s of type %s, not %s", w.Name, kind, w.Type), ""
		}
	}
	for name := range key {
		if !slices.Contains(want.Key, name) {
			return "its primary key is not (" + strings.Join(want.Key, ", ") + "), see column " + name, ""
		}
	}
	for _, name := range want.Key {
		if !key[name] {
			return "its primary key is not (" + strings.Join(want.Key, ", ") + "), see column " + name, ""
		}
	}
	return "", ""
}
