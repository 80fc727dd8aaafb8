package mix

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/store/memcached"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/profiles/mix/inmemory"
	"github.com/perfbench/perfbench/profiles/mix/model"
	"github.com/perfbench/perfbench/profiles/mix/oncassandra"
	"github.com/perfbench/perfbench/profiles/mix/oncoherence"
	"github.com/perfbench/perfbench/profiles/mix/onmemcached"
	"github.com/perfbench/perfbench/profiles/mix/onredis"
	"github.com/perfbench/perfbench/profiles/mix/onsql"
)

// calls makes calls to an adapter, of those that it does not refuse.
type calls struct {
	*testing.T
	*model.Workload
	a *model.Adapter
	k model.Client
}

// callsOn returns the calls to a store, where the data are claimed and the tables made. They
// are gone after the test.
func callsOn(t *testing.T, name string, w *model.Workload) *calls {
	t.Helper()
	require.NoError(t, w.Complete())
	c := &calls{T: t, Workload: w}
	if name == "memory" {
		c.a = inmemory.New(w, false, func(context.Context) error { return nil })
	} else {
		c.a = c.claimed(profiletest.Open(t, profiletest.Target(t, name)), "mixcalls")
	}
	var err error
	c.k, err = c.a.Open()
	require.NoError(t, err)
	t.Cleanup(c.k.Close)
	return c
}

// claimed returns the adapter to a store.
func (c *calls) claimed(conn store.Conn, namespace string) *model.Adapter {
	c.Helper()
	var a *model.Adapter
	var err error
	switch conn := conn.(type) {
	case redis.Typed:
		a = onredis.New(conn, c.Workload, namespace)
	case cassandra.Typed:
		a, err = oncassandra.New(c.Context(), conn, c.Workload, namespace)
	case *coherence.Conn:
		a, err = oncoherence.New(conn, c.Workload, namespace)
	case *memcached.Conn:
		a = onmemcached.New(conn, c.Workload, namespace)
	case sqlstore.Typed:
		a, err = onsql.New(conn, c.Workload, namespace)
	}
	require.NoError(c, err)
	want := ownership.Want{Namespace: namespace, Profile: Name, Run: "calls", Spaces: a.Spaces}
	if a.Tables != nil {
		want.Admit = a.Tables.Check
	}
	claim, err := ownership.Take(c.Context(), conn, want)
	require.NoError(c, err)
	c.Cleanup(func() {
		ctx := context.WithoutCancel(c.Context())
		assert.NoError(c, claim.Cleanup(ctx))
		assert.NoError(c, claim.Release(ctx))
	})
	if a.Tables != nil {
		require.NoError(c, a.Tables.Create(c.Context()))
	}
	return a
}

// can reports whether the adapter does not refuse a call.
func (c *calls) can(do model.Verb, data string, atomic bool) bool {
	return c.a.Lacks(&model.Operation{Atomic: atomic}, &model.Step{Do: do, Data: data}, &c.Data[c.Index(data)]) == nil
}

// call makes a call on records.
func (c *calls) call(do model.Verb, data string, change func(*model.Call), rows ...model.Row) *model.Call {
	c.Helper()
	one := &model.Call{Do: do, Set: c.Index(data), Rows: rows}
	if change != nil {
		change(one)
	}
	require.NoError(c, c.k.Do(c.Context(), one), "%s %s", do, data)
	return one
}

func row(key string, vals ...string) model.Row {
	r := model.Row{Key: []byte(key)}
	for _, v := range vals {
		r.Vals = append(r.Vals, []byte(v))
	}
	return r
}

// found are the values of rows; nil of one that is not there.
func found(rows []model.Row) (out [][]string) {
	for _, r := range rows {
		var vals []string
		for _, v := range r.Vals {
			if r.Found {
				vals = append(vals, string(v))
			}
		}
		out = append(out, vals)
	}
	return out
}

// get reads records.
func (c *calls) get(data string, change func(*model.Call), keys ...string) [][]string {
	c.Helper()
	var rows []model.Row
	for _, k := range keys {
		rows = append(rows, row(k))
	}
	return found(c.call(model.Get, data, change, rows...).Rows)
}

// Every adapter answers the calls that it does not refuse as the others do.
func TestCalls(t *testing.T) {
	w := func() *model.Workload {
		return &model.Workload{
			Data: []model.Data{
				{Name: "product", Type: model.Value, Records: 1},
				{Name: "user", Type: model.Hash, Records: 1, Fields: []model.Field{{Name: "name"}, {Name: "Mail-box"}, {Name: "bio"}}},
				{Name: "stock", Type: model.Counter, Records: 1},
			},
			Operations: []model.Operation{{Name: "look", Weight: 1, Steps: []model.Step{{Do: model.Get, Data: "product"}}}},
		}
	}
	for _, name := range []string{"memory", "embedded", "sqlite", "mariadb", "postgres", "cassandra", "coherence", "memcached"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := w()
			c := callsOn(t, name, all)
			c.values()
			if c.can(model.Put, "user", false) {
				c.hashes()
			}
			c.counters()
			if c.can(model.Scan, "product", false) {
				c.scans()
			}
			if c.can(model.Put, "product", true) {
				c.transactions()
			}
		})
	}
}

func (c *calls) values() {
	c.Helper()
	assert.Equal(c, [][]string{nil}, c.get("product", nil, "a"), "nothing is there")
	c.call(model.Put, "product", nil, row("a", "1"))
	c.call(model.Insert, "product", nil, row("b", "2"))
	c.call(model.Put, "product", nil, row("d", "4"), row("c", "3"), row("a", "one"), row("e", "5"), row("c", "three"))
	assert.Equal(c, [][]string{{"one"}}, c.get("product", nil, "a"))
	assert.Equal(c, [][]string{{"2"}, nil, {"5"}, {"4"}, {"2"}, nil}, c.get("product", nil, "b", "x", "e", "d", "b", "x"), "one key twice, one missing twice")
	c.call(model.Delete, "product", nil, row("b"))
	c.call(model.Delete, "product", nil, row("e"), row("d"), row("y"))
	assert.Equal(c, [][]string{nil, {"one"}, nil, nil}, c.get("product", nil, "b", "a", "d", "e"))
	var many []model.Row
	var keys []string
	for i := range 150 {
		keys = append(keys, "m"+strconv.Itoa(1000+i))
		many = append(many, row(keys[i], strconv.Itoa(i)))
	}
	c.call(model.Put, "product", nil, many...)
	got := c.get("product", nil, keys...)
	for i := range got {
		assert.Equal(c, []string{strconv.Itoa(i)}, got[i])
	}
	c.call(model.Delete, "product", nil, many...)
	assert.Equal(c, make([][]string, 150), c.get("product", nil, keys...))
}

func (c *calls) hashes() {
	c.Helper()
	fields := func(of ...int) func(*model.Call) { return func(one *model.Call) { one.Fields = of } }
	c.call(model.Put, "user", nil, row("a", "A", "a@b", "x"), row("b", "B", "b@b", "y"))
	assert.Equal(c, [][]string{{"A", "a@b", "x"}}, c.get("user", nil, "a"))
	assert.Equal(c, [][]string{{"y", "B"}, nil, {"x", "A"}}, c.get("user", fields(2, 0), "b", "c", "a"))
	if !c.can(model.Update, "user", false) {
		return
	}
	c.call(model.Update, "user", fields(1), row("b", "new"))
	c.call(model.Update, "user", fields(2, 0), row("b", "Y", "BB"))
	assert.Equal(c, [][]string{{"BB", "new", "Y"}}, c.get("user", nil, "b"))
	assert.Equal(c, [][]string{{"new"}}, c.get("user", fields(1), "b"))
}

func (c *calls) counters() {
	c.Helper()
	by := func(n int64) func(*model.Call) { return func(one *model.Call) { one.By = n } }
	if c.can(model.Put, "stock", false) {
		c.call(model.Put, "stock", nil, row("a", "10"), row("b", "-3"))
	} else {
		c.call(model.Add, "stock", by(10), row("a"))
		c.call(model.Add, "stock", by(-3), row("b"))
	}
	c.call(model.Add, "stock", by(5), row("a"))
	c.call(model.Add, "stock", by(-7), row("c"))
	c.call(model.Add, "stock", by(2), row("c"))
	assert.Equal(c, [][]string{{"15"}, {"-3"}, {"-5"}, nil}, c.get("stock", nil, "a", "b", "c", "d"), "one that was not there began with 0")
}

func (c *calls) scans() {
	c.Helper()
	c.call(model.Put, "product", nil, row("s3", "3"), row("s1", "1"), row("s4", "4"), row("s2", "2"))
	scan := func(from string, n int) (keys []string) {
		for _, r := range c.call(model.Scan, "product", func(one *model.Call) { one.Count = n }, row(from)).Got {
			keys = append(keys, string(r.Key)+"="+string(r.Vals[0]))
		}
		return keys
	}
	if c.a.Scattered {
		all := scan("s1", 100)
		assert.Contains(c, all, "s1=1")
		assert.Len(c, scan("s1", 1), 1)
		return
	}
	assert.Equal(c, []string{"s2=2", "s3=3"}, scan("s2", 2))
	assert.Equal(c, []string{"s4=4"}, scan("s3x", 5))
	assert.Empty(c, scan("t", 5))
}

// transactions take effect as a whole, or not at all; the first one, whose statements have
// not been prepared, and the next.
func (c *calls) transactions() {
	c.Helper()
	tx, is := c.k.(model.Transactor)
	require.True(c, is)
	add := func() *model.Call {
		return &model.Call{Do: model.Add, Set: c.Index("stock"), By: 1, Rows: []model.Row{row("t")}}
	}
	get := &model.Call{Do: model.Get, Set: c.Index("user"), Rows: []model.Row{row("t")}}
	for i := range 3 {
		put := &model.Call{Do: model.Put, Set: c.Index("user"), Rows: []model.Row{row("t", strconv.Itoa(i), "m", "b")}}
		require.NoError(c, tx.Begin(c.Context()))
		for _, one := range []*model.Call{put, get, add(), add()} {
			require.NoError(c, tx.Do(c.Context(), one))
		}
		require.NoError(c, tx.Commit(c.Context()))
		assert.Equal(c, [][]string{{strconv.Itoa(i), "m", "b"}}, found(get.Rows), "it sees what it has written")
		assert.Equal(c, [][]string{{strconv.Itoa(2 * (i + 1))}}, c.get("stock", nil, "t"))
	}
	require.NoError(c, tx.Begin(c.Context()))
	require.NoError(c, tx.Do(c.Context(), add()))
	tx.Abort(c.Context())
	assert.Equal(c, [][]string{{"6"}}, c.get("stock", nil, "t"), "it was taken back")
}
