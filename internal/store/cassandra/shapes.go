package cassandra

import (
	"context"
	"errors"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/store"
)

// Maps are the tables that keep the entries of spaces.
type Maps struct {
	cluster *cluster
	tables  *tables
}

// bytesOf keeps an empty value from being taken for null, which would delete.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Put reads the value of a key and then replaces it: two statements, since no single
// one in Cassandra does both.
func (m *Maps) Put(ctx context.Context, s store.Space, key, val []byte) error {
	t, err := m.tables.tableOf(s)
	if err != nil {
		return err
	}
	if err := m.readOld(ctx, t, bytesOf(key)); err != nil {
		return wrap("put", t, err)
	}
	return wrap("put", t, m.cluster.Query(t.set, bytesOf(key), bytesOf(val)).ExecContext(ctx))
}

// Set stores a value without reading the old one.
func (m *Maps) Set(ctx context.Context, s store.Space, key, val []byte) error {
	t, err := m.tables.tableOf(s)
	if err != nil {
		return err
	}
	return wrap("set", t, m.cluster.Query(t.set, bytesOf(key), bytesOf(val)).ExecContext(ctx))
}

// PutAll stores entries with one statement each, several at a time. The keys live on
// different replicas, so a batch would only make one node distribute them.
func (m *Maps) PutAll(ctx context.Context, s store.Space, es []store.Entry) error {
	t, err := m.tables.tableOf(s)
	if err != nil {
		return err
	}
	return wrap("put all", t, store.Each(ctx, len(es), func(ctx context.Context, i int) error {
		return m.cluster.Query(t.set, bytesOf(es[i].Key), bytesOf(es[i].Val)).ExecContext(ctx)
	}))
}

// Get reads one value into buf.
func (m *Maps) Get(ctx context.Context, s store.Space, key, buf []byte) ([]byte, bool, error) {
	t, err := m.tables.tableOf(s)
	if err != nil {
		return nil, false, err
	}
	val, ok, err := read(ctx, m.cluster.Query(t.get, bytesOf(key)), buf)
	if absent(err) {
		return buf[:0], false, nil
	}
	return val, ok, wrap("get", t, err)
}

// read reads the one value that q selects into buf[:0].
func read(ctx context.Context, q *gocql.Query, buf []byte) ([]byte, bool, error) {
	val := buf[:0] // the driver reuses it
	err := q.ScanContext(ctx, &val)
	if errors.Is(err, gocql.ErrNotFound) {
		return buf[:0], false, nil
	}
	return val, err == nil, err
}

// old receives the old value of what is replaced, and discards it.
type old struct{}

// UnmarshalCQL is called by the driver, which would otherwise copy the value.
func (old) UnmarshalCQL(gocql.TypeInfo, []byte) error { return nil }

// readOld reads one value, the way a map's put returns the old one.
func (m *Maps) readOld(ctx context.Context, t *table, key ...any) error {
	err := m.cluster.Query(t.get, key...).ScanContext(ctx, old{})
	if errors.Is(err, gocql.ErrNotFound) {
		return nil
	}
	return err
}

// GetAll reads the values of keys with one statement each, several at a time.
func (m *Maps) GetAll(ctx context.Context, s store.Space, keys [][]byte) ([][]byte, error) {
	t, err := m.tables.tableOf(s)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(keys))
	err = store.Each(ctx, len(keys), func(ctx context.Context, i int) error {
		val, ok, err := read(ctx, m.cluster.Query(t.get, bytesOf(keys[i])), nil)
		if ok {
			out[i] = bytesOf(val)
		}
		return err
	})
	if absent(err) {
		return make([][]byte, len(keys)), nil
	}
	if err != nil {
		return nil, wrap("get all", t, err)
	}
	return out, nil
}

// Count returns how many rows the table of a space has, 0 if there is none. It reads
// the whole table page by page, because a count by the server would run into its
// timeout.
func (m *Maps) Count(ctx context.Context, s store.Space) (int64, error) {
	t, err := m.tables.tableOf(s)
	if err != nil {
		return 0, err
	}
	n, err := m.tables.count(ctx, t)
	if absent(err) {
		return 0, nil
	}
	return n, wrap("count", t, err)
}

// PutGroup stores one entry in one group, reading the old value first.
func (m *Maps) PutGroup(ctx context.Context, s store.Space, group, key, val []byte) error {
	t, err := m.tables.grouped(s)
	if err != nil {
		return err
	}
	if err := m.readOld(ctx, t, bytesOf(group), bytesOf(key)); err != nil {
		return wrap("put in a group", t, err)
	}
	return wrap("put in a group", t, m.cluster.Query(t.set, bytesOf(group), bytesOf(key), bytesOf(val)).ExecContext(ctx))
}

// batchBytes is the largest total size of values in one batch: servers warn above 5
// KiB.
const batchBytes = 4 << 10

// PutGroups stores the entries of several groups. Each group is sent in batches, since
// its entries live on the same replicas.
func (m *Maps) PutGroups(ctx context.Context, s store.Space, gs []store.Group) error {
	t, err := m.tables.grouped(s)
	if err != nil {
		return err
	}
	return wrap("put groups", t, store.Each(ctx, len(gs), func(ctx context.Context, i int) error {
		return m.putGroup(ctx, t, &gs[i])
	}))
}

func (m *Maps) putGroup(ctx context.Context, t *table, g *store.Group) error {
	group := bytesOf(g.Name)
	for from := 0; from < len(g.Entries); {
		b := m.cluster.Batch(gocql.UnloggedBatch)
		for size := 0; from < len(g.Entries) && (size == 0 || size+len(g.Entries[from].Val) <= batchBytes); from++ {
			e := &g.Entries[from]
			b.Query(t.set, group, bytesOf(e.Key), bytesOf(e.Val))
			size += len(e.Key) + len(e.Val)
		}
		if err := b.ExecContext(ctx); err != nil {
			return err
		}
	}
	return nil
}

// GetGroup reads the values of keys in one group.
func (m *Maps) GetGroup(ctx context.Context, s store.Space, group []byte, keys [][]byte) ([][]byte, error) {
	t, err := m.tables.grouped(s)
	if err != nil {
		return nil, err
	}
	got := make(map[string][]byte, len(keys))
	iter := m.cluster.Query(t.in, bytesOf(group), keys).IterContext(ctx)
	var k, v []byte
	for iter.Scan(&k, &v) {
		got[string(k)] = append([]byte{}, v...)
		k, v = nil, nil
	}
	if err := iter.Close(); err != nil && !absent(err) {
		return nil, wrap("get from a group", t, err)
	}
	out := make([][]byte, len(keys))
	for i, key := range keys {
		out[i] = got[string(key)]
	}
	return out, nil
}
