// Package storetest tests every promise of the shapes of package store. A store that
// keeps data runs all tests with one call.
package storetest

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
)

// Run tests a store. open is called once for each test and must clean up by itself.
// Several connections to the same store may be open at the same time; each test uses
// its own namespace.
func Run(t *testing.T, open func(t *testing.T) store.Conn) {
	t.Helper()
	for name, f := range map[string]func(*testing.T, whole, string){
		"entries":     entries,
		"batches":     batches,
		"groups":      groups,
		"binary":      binary,
		"large":       large,
		"separate":    separate,
		"keeping":     keeping,
		"dropping":    dropping,
		"strangers":   strangers,
		"leases":      leases,
		"writers":     writers,
		"cancelled":   cancelled,
		"concurrency": concurrency,
		"info":        info,
	} {
		t.Run(name, func(t *testing.T) {
			f(t, wholeOf(t, open(t)), "storetest-"+name)
		})
	}
	t.Run("close", func(t *testing.T) {
		c := wholeOf(t, open(t))
		require.NoError(t, c.Close())
		err := c.Set(t.Context(), space("ns", "closed"), []byte("k"), []byte("v"))
		require.Error(t, err)
		assert.Equal(t, store.Unreachable, c.Classify(err), "%v", err)
	})
}

// whole is a connection with everything that a store of maps is asked for here.
type whole struct {
	store.Conn
	store.Maps
	store.Keeper
	store.Leaser
	store.Prober
}

func wholeOf(t *testing.T, c store.Conn) whole {
	t.Helper()
	return whole{c, As[store.Maps](t, c), As[store.Keeper](t, c), As[store.Leaser](t, c), As[store.Prober](t, c)}
}

// As returns what of a connection implements T.
func As[T any](t testing.TB, c store.Conn) T {
	t.Helper()
	v, err := store.As[T](c)
	require.NoError(t, err)
	return v
}

func space(namespace, name string) store.Space {
	return store.Space{Namespace: namespace, Name: name, Shape: store.Map}
}

func grouped(namespace, name string) store.Space {
	return store.Space{Namespace: namespace, Name: name, Shape: store.Map, Grouped: true}
}

// ours records a space and drops it at the end of the test.
func ours(t *testing.T, db whole, s store.Space) store.Space {
	t.Helper()
	require.NoError(t, db.Record(t.Context(), store.Made{Space: s, Profile: "storetest", Run: "r"}))
	t.Cleanup(func() {
		if _, err := db.Drop(context.WithoutCancel(t.Context()), s, nil); err != nil {
			t.Logf("drop %s: %v", s.Name, err)
		}
	})
	return s
}

func want(t *testing.T, db whole, s store.Space, key, val string) {
	t.Helper()
	got, ok, err := db.Get(t.Context(), s, []byte(key), nil)
	require.NoError(t, err)
	assert.True(t, ok, key)
	assert.Equal(t, val, string(got), key)
}

func absent(t *testing.T, db whole, s store.Space, key string) {
	t.Helper()
	got, ok, err := db.Get(t.Context(), s, []byte(key), nil)
	require.NoError(t, err)
	assert.False(t, ok, "%s is %q", key, got)
}

func count(t *testing.T, db whole, s store.Space, n int64) {
	t.Helper()
	got, err := db.Count(t.Context(), s)
	require.NoError(t, err)
	assert.Equal(t, n, got, "entries of %s", s.Name)
}

// entries: Put and Set store and replace one entry; Get reads it and distinguishes an
// absent entry from an empty one.
func entries(t *testing.T, db whole, ns string) {
	s := ours(t, db, space(ns, "entries"))
	ctx := t.Context()
	absent(t, db, s, "a")
	count(t, db, s, 0)
	require.NoError(t, db.Put(ctx, s, []byte("a"), []byte("1")))
	require.NoError(t, db.Set(ctx, s, []byte("b"), []byte("2")))
	want(t, db, s, "a", "1")
	want(t, db, s, "b", "2")
	require.NoError(t, db.Put(ctx, s, []byte("a"), []byte("one")))
	require.NoError(t, db.Put(ctx, s, []byte("b"), nil))
	want(t, db, s, "a", "one")
	want(t, db, s, "b", "")
	absent(t, db, s, "c")
	count(t, db, s, 2)

	buf := make([]byte, 0, 64)
	got, ok, err := db.Get(ctx, s, []byte("a"), buf)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, "one", string(got), "into the caller's buffer")

	// What was passed in belongs to the caller again once the call has returned.
	key, val := []byte("reused"), []byte("before")
	require.NoError(t, db.Set(ctx, s, key, val))
	copy(key, "xxxxxx")
	copy(val, "xxxxxx")
	want(t, db, s, "reused", "before")
}

// batches: PutAll stores all entries, GetAll returns them in the order of the keys with
// nil for absent ones, and an empty batch makes no call at all.
func batches(t *testing.T, db whole, ns string) {
	s := ours(t, db, space(ns, "batches"))
	ctx := t.Context()
	require.NoError(t, db.PutAll(ctx, s, nil))
	none, err := db.GetAll(ctx, s, nil)
	require.NoError(t, err)
	assert.Empty(t, none)
	count(t, db, s, 0)
	for _, n := range []int{1, 7, 1000, 3} {
		var es []store.Entry
		var keys [][]byte
		for i := range n {
			k := fmt.Appendf(nil, "k%d", i)
			es = append(es, store.Entry{Key: k, Val: fmt.Appendf(nil, "v%d-%d", n, i)})
			keys = append(keys, k)
		}
		require.NoError(t, db.PutAll(ctx, s, es))
		got, err := db.GetAll(ctx, s, keys)
		require.NoError(t, err)
		require.Len(t, got, n)
		for i := range got {
			require.Equal(t, string(es[i].Val), string(got[i]))
		}
	}
	count(t, db, s, 1000)
	require.NoError(t, db.Set(ctx, s, []byte("empty"), []byte{}))
	got, err := db.GetAll(ctx, s, [][]byte{[]byte("none"), []byte("k2"), []byte("empty")})
	require.NoError(t, err)
	require.Len(t, got, 3)
	assert.Nil(t, got[0], "absent")
	assert.Equal(t, "v3-2", string(got[1]))
	assert.NotNil(t, got[2], "empty is not absent")
	assert.Empty(t, got[2])
}

// groups: entries of one group are separate from those of another, and from those of
// the ungrouped space with the same name; Count sums over all.
func groups(t *testing.T, db whole, ns string) {
	s, plain := ours(t, db, grouped(ns, "groups")), ours(t, db, space(ns, "groups"))
	ctx := t.Context()
	require.NoError(t, db.PutGroups(ctx, s, nil))
	found, err := db.Inspect(ctx, s)
	require.NoError(t, err)
	assert.Zero(t, found.Size)

	var gs []store.Group
	for i := range 50 {
		g := store.Group{Name: fmt.Appendf(nil, "x%d", i)}
		for j := range i % 5 {
			g.Entries = append(g.Entries, store.Entry{Key: fmt.Appendf(nil, "m%d", j), Val: fmt.Appendf(nil, "v%d-%d", i, j)})
		}
		gs = append(gs, g)
	}
	require.NoError(t, db.PutGroups(ctx, s, gs))
	count(t, db, s, 100)
	count(t, db, plain, 0)
	require.NoError(t, db.PutGroup(ctx, s, []byte("x4"), []byte("m9"), []byte("nine")))
	require.NoError(t, db.PutGroup(ctx, s, []byte("x4"), []byte("m9"), []byte("NINE")))
	count(t, db, s, 101)
	got, err := db.GetGroup(ctx, s, []byte("x4"), [][]byte{[]byte("m0"), []byte("m8"), []byte("m9")})
	require.NoError(t, err)
	require.Len(t, got, 3)
	assert.Equal(t, "v4-0", string(got[0]))
	assert.Nil(t, got[1])
	assert.Equal(t, "NINE", string(got[2]))
	got, err = db.GetGroup(ctx, s, []byte("x3"), [][]byte{[]byte("m9")})
	require.NoError(t, err)
	require.Len(t, got, 1)
	assert.Nil(t, got[0], "entries of another group")
	found, err = db.Inspect(ctx, s)
	require.NoError(t, err)
	assert.True(t, found.Exists)
	assert.EqualValues(t, 101, found.Size)
	assert.NotEmpty(t, found.Kind)
}

// binary: keys and values may contain any bytes.
func binary(t *testing.T, db whole, ns string) {
	s := ours(t, db, space(ns, "binary"))
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	ctx := t.Context()
	require.NoError(t, db.Put(ctx, s, all, all))
	require.NoError(t, db.PutAll(ctx, s, []store.Entry{{Key: []byte("\r\n$3"), Val: []byte("\x00\r\n")}, {Key: []byte{0}, Val: all}}))
	want(t, db, s, string(all), string(all))
	want(t, db, s, "\r\n$3", "\x00\r\n")
	want(t, db, s, "\x00", string(all))
	count(t, db, s, 3)
}

// large: values of 1 MiB are stored and read just like short ones, in any order.
func large(t *testing.T, db whole, ns string) {
	s := ours(t, db, space(ns, "large"))
	ctx := t.Context()
	val := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	require.NoError(t, db.Put(ctx, s, []byte("big"), val))
	require.NoError(t, db.Set(ctx, s, []byte("small"), []byte("s")))
	require.NoError(t, db.Put(ctx, s, []byte("big"), val[1:]), "the old value is large")
	var buf []byte
	for range 2 {
		for key, n := range map[string]int{"big": len(val) - 1, "small": 1} {
			got, ok, err := db.Get(ctx, s, []byte(key), buf)
			require.NoError(t, err)
			require.True(t, ok)
			require.Len(t, got, n)
			buf = got
		}
	}
	got, ok, err := db.Get(ctx, s, []byte("big"), buf)
	require.NoError(t, err)
	require.True(t, ok)
	assert.True(t, bytes.Equal(val[1:], got))
	require.NoError(t, db.PutAll(ctx, s, []store.Entry{{Key: []byte("b2"), Val: val}, {Key: []byte("b3"), Val: val}}))
	both, err := db.GetAll(ctx, s, [][]byte{[]byte("b3"), []byte("b2")})
	require.NoError(t, err)
	require.Len(t, both, 2)
	assert.True(t, bytes.Equal(val, both[0]) && bytes.Equal(val, both[1]))
}

// separate: spaces with other names and namespaces, including the empty one, do not see
// each other's entries.
func separate(t *testing.T, db whole, ns string) {
	spaces := []store.Space{space(ns, "a"), space(ns, "b"), space(ns+"2", "a"), space("", ns+"-bare")}
	for i, s := range spaces {
		ours(t, db, s)
		require.NoError(t, db.Set(t.Context(), s, []byte("k"), fmt.Append(nil, i)))
	}
	for i, s := range spaces {
		want(t, db, s, "k", fmt.Sprint(i))
		count(t, db, s, 1)
	}
}
