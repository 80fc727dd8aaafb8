package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// keeping: what is recorded is listed as it was given, once per space, by namespace.
func keeping(t *testing.T, db whole, ns string) {
	ctx := t.Context()
	list, err := db.Made(ctx, ns)
	require.NoError(t, err)
	assert.Empty(t, list)
	a := store.Made{Space: space(ns, "a"), Profile: "ingestion", Run: "r1", Updated: "2024-05-06T07:08:09Z", Params: map[string]string{"payload": "1024"}}
	g := store.Made{Space: grouped(ns, "a"), Profile: "tx", Run: "r2", Updated: "2024-05-06T07:08:10Z"}
	z := store.Made{Space: space(ns, "z"), Profile: "ingestion", Run: "r1"}
	for _, m := range []store.Made{z, g, a} {
		ours(t, db, m.Space)
		require.NoError(t, db.Record(ctx, m))
	}
	list, err = db.Made(ctx, ns)
	require.NoError(t, err)
	assert.Equal(t, []store.Made{a, g, z}, list)

	a.Run, a.Params = "r3", map[string]string{"payload": "1", "seed": "7"}
	require.NoError(t, db.Record(ctx, a))
	list, err = db.Made(ctx, ns)
	require.NoError(t, err)
	assert.Equal(t, []store.Made{a, g, z}, list, "recorded again replaces")

	other, err := db.Made(ctx, ns+"-other")
	require.NoError(t, err)
	assert.Empty(t, other)
	found, err := db.Inspect(ctx, a.Space)
	require.NoError(t, err)
	assert.Zero(t, found.Size, "a record makes no data")
}

// dropping: Drop removes the data and the record of one space and returns how much was
// removed.
func dropping(t *testing.T, db whole, ns string) {
	ctx := t.Context()
	s, g, other := ours(t, db, space(ns, "s")), ours(t, db, grouped(ns, "s")), ours(t, db, space(ns, "s2"))
	require.NoError(t, db.PutAll(ctx, s, []store.Entry{{Key: []byte("a"), Val: []byte("1")}, {Key: []byte("b"), Val: []byte("2")}}))
	require.NoError(t, db.Set(ctx, other, []byte("k"), []byte("v")))
	var gs []store.Group
	for i := range 2500 {
		gs = append(gs, store.Group{Name: fmt.Appendf(nil, "x%d", i), Entries: []store.Entry{{Key: []byte("k"), Val: []byte("v")}}})
	}
	require.NoError(t, db.PutGroups(ctx, g, gs))
	found, err := db.Inspect(ctx, s)
	require.NoError(t, err)
	assert.True(t, found.Exists)
	assert.EqualValues(t, 2, found.Size)

	if p, ok := store.Has[store.Peeker](db.Conn); ok {
		found, err = p.Peek(ctx, s)
		require.NoError(t, err)
		assert.True(t, found.Exists)
		assert.EqualValues(t, -1, found.Size, "there is something, and it is not counted")
	}

	gone, err := db.Drop(ctx, s, nil)
	require.NoError(t, err)
	assert.Positive(t, gone)
	found, err = db.Inspect(ctx, s)
	require.NoError(t, err)
	assert.Equal(t, store.Found{}, found)
	count(t, db, g, 2500)
	count(t, db, other, 1)

	var last int64
	gone, err = db.Drop(ctx, g, func(done int64) {
		assert.GreaterOrEqual(t, done, last, "progress never falls")
		last = done
	})
	require.NoError(t, err)
	assert.EqualValues(t, 2500, gone)
	assert.Equal(t, gone, last)
	count(t, db, g, 0)
	list, err := db.Made(ctx, ns)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, other, list[0].Space)

	gone, err = db.Drop(ctx, other, nil)
	require.NoError(t, err)
	assert.Positive(t, gone)
	list, err = db.Made(ctx, ns)
	require.NoError(t, err)
	assert.Empty(t, list)
	for _, sp := range []store.Space{s, g, other} {
		require.NoError(t, db.Record(ctx, store.Made{Space: sp}))
	}
}

// leases: of two processes that want the lease of a namespace one gets it, renews it,
// and gives it up. A lease that is not renewed expires. When it is given up with no
// records left, nothing remains.
func leases(t *testing.T, db whole, ns string) {
	ctx := t.Context()
	a, b := store.Lease{Run: "a", Host: "h", PID: 1, Token: "1"}, store.Lease{Run: "b", Host: "h", PID: 2, Token: "2"}
	hold := func(l store.Lease, ttl time.Duration, want store.Hold, by store.Lease) {
		t.Helper()
		holder, how, err := db.Hold(ctx, ns, l, ttl)
		require.NoError(t, err)
		assert.Equal(t, want, how)
		assert.Equal(t, by, holder)
	}
	who := func(want store.Lease, there bool) {
		t.Helper()
		holder, held, err := db.Holder(ctx, ns)
		require.NoError(t, err)
		assert.Equal(t, there, held)
		if there {
			assert.Equal(t, want, holder)
		}
	}
	who(a, false)
	hold(a, time.Minute, store.Taken, a)
	hold(b, time.Minute, store.Denied, a)
	hold(a, time.Minute, store.Renewed, a)
	who(a, true)
	made, err := db.Made(ctx, ns)
	require.NoError(t, err)
	assert.Empty(t, made, "a lease is not a record")
	require.NoError(t, db.Free(ctx, ns, b), "of others it is left alone")
	who(a, true)
	require.NoError(t, db.Free(ctx, ns, a))
	who(a, false)

	// A lease is passed on in one step, by whoever knows it as it is.
	hold(a, time.Minute, store.Taken, a)
	lost := a
	lost.Workers, lost.WriteUntil = 2, "2026-01-02T03:04:05Z"
	swap := func(old, l store.Lease, want bool) {
		t.Helper()
		done, err := db.Swap(ctx, ns, old, l, time.Minute)
		require.NoError(t, err)
		assert.Equal(t, want, done)
	}
	swap(b, lost, false)
	who(a, true)
	swap(a, lost, true)
	who(lost, true)
	swap(a, b, false)
	hold(a, time.Minute, store.Denied, lost)
	hold(lost, time.Minute, store.Renewed, lost)
	require.NoError(t, db.Free(ctx, ns, lost))
	swap(lost, b, false)
	who(a, false)

	hold(b, time.Second, store.Taken, b)
	require.Eventually(t, func() bool {
		_, how, err := db.Hold(ctx, ns, a, time.Minute)
		return assert.NoError(t, err) && how == store.Taken
	}, time.Minute, 50*time.Millisecond, "it lapses")
	hold(b, time.Second, store.Denied, a)

	// A lease and records coexist.
	s := space(ns, "leased")
	require.NoError(t, db.Record(ctx, store.Made{Space: s}))
	require.NoError(t, db.Free(ctx, ns, a))
	made, err = db.Made(ctx, ns)
	require.NoError(t, err)
	assert.Len(t, made, 1)
	oneOfMany(t, db, ns)
	hold(a, time.Minute, store.Taken, a)
	_, err = db.Drop(ctx, s, nil)
	require.NoError(t, err)
	require.NoError(t, db.Free(ctx, ns, a))
}

// oneOfMany: when many want a lease at once, one gets it.
func oneOfMany(t *testing.T, db whole, ns string) {
	t.Helper()
	ctx := t.Context()
	var all sync.WaitGroup
	var took atomic.Int64
	for i := range 8 {
		all.Go(func() {
			l := store.Lease{Run: "r", PID: i, Token: fmt.Sprint(i)}
			_, how, err := db.Hold(ctx, ns, l, time.Hour)        // a busy server may take a minute
			if err != nil && db.Classify(err) == store.Timeout { // it may have been taken all the same
				if _, how, err = db.Hold(ctx, ns, l, time.Hour); how == store.Renewed {
					how = store.Taken
				}
			}
			assert.NoError(t, err)
			if how == store.Taken {
				took.Add(1)
			}
		})
	}
	all.Wait()
	assert.EqualValues(t, 1, took.Load())
	holder, held, err := db.Holder(ctx, ns)
	require.NoError(t, err)
	require.True(t, held)
	require.NoError(t, db.Free(ctx, ns, holder))
}

// strangers: what was not recorded is not dropped.
func strangers(t *testing.T, db whole, ns string) {
	s := ours(t, db, space(ns, "theirs"))
	ctx := t.Context()
	require.NoError(t, db.Set(ctx, s, []byte("k"), []byte("v")))
	for _, other := range []store.Space{space(ns, "their"), space(ns, "thei*"), grouped(ns, "theirs"), space(ns+"x", "theirs")} {
		_, err := db.Drop(ctx, other, nil)
		require.Error(t, err, other.Name)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
	want(t, db, s, "k", "v")
}

// cancelled: the end of a context ends a call, with its own class of error, and the
// connection stays usable.
func cancelled(t *testing.T, db whole, ns string) {
	s := ours(t, db, space(ns, "cancelled"))
	g := ours(t, db, grouped(ns, "cancelled"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k, v := []byte("k"), []byte("v")
	for name, f := range map[string]func() error{
		"put":      func() error { return db.Put(ctx, s, k, v) },
		"set":      func() error { return db.Set(ctx, s, k, v) },
		"putall":   func() error { return db.PutAll(ctx, s, []store.Entry{{Key: k, Val: v}}) },
		"get":      func() error { _, _, err := db.Get(ctx, s, k, nil); return err },
		"getall":   func() error { _, err := db.GetAll(ctx, s, [][]byte{k}); return err },
		"putgroup": func() error { return db.PutGroup(ctx, g, k, k, v) },
		"putgroups": func() error {
			return db.PutGroups(ctx, g, []store.Group{{Name: k, Entries: []store.Entry{{Key: k, Val: v}}}})
		},
		"getgroup": func() error { _, err := db.GetGroup(ctx, g, k, [][]byte{k}); return err },
		"count":    func() error { _, err := db.Count(ctx, s); return err },
	} {
		err := f()
		if assert.ErrorIs(t, err, context.Canceled, name) {
			assert.Equal(t, store.Canceled, db.Classify(err), name)
		}
	}
	expired, cancel2 := context.WithTimeout(t.Context(), -1)
	defer cancel2()
	assert.Equal(t, store.Timeout, db.Classify(db.Set(expired, s, k, v)))
	assert.Equal(t, store.Worked, db.Classify(db.Set(t.Context(), s, k, v)))
	want(t, db, s, "k", "v")
}

// concurrency: workers writing and reading at the same time lose nothing and see
// whole values.
func concurrency(t *testing.T, db whole, ns string) {
	s, g := ours(t, db, space(ns, "many")), ours(t, db, grouped(ns, "many"))
	const workers, rounds = 8, 40
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			var buf []byte
			for i := range rounds {
				key := fmt.Appendf(nil, "k%d-%d", w, i)
				val := fmt.Appendf(nil, "v%d-%d", w, i)
				var err error
				switch i % 3 {
				case 0:
					err = db.Put(t.Context(), s, key, val)
				case 1:
					err = db.Set(t.Context(), s, key, val)
				default:
					err = db.PutAll(t.Context(), s, []store.Entry{{Key: key, Val: val}})
				}
				assert.NoError(t, err)
				assert.NoError(t, db.PutGroup(t.Context(), g, fmt.Append(nil, i), key, val))
				got, ok, err := db.Get(t.Context(), s, key, buf)
				assert.NoError(t, err)
				assert.True(t, ok)
				assert.Equal(t, string(val), string(got))
				buf = got
			}
		})
	}
	wg.Wait()
	count(t, db, s, workers*rounds)
	count(t, db, g, workers*rounds)
}

// info: a store reports its name, and a probe succeeds without leaving a trace.
func info(t *testing.T, db whole, ns string) {
	s := ours(t, db, space(ns, "probed"))
	got, err := db.Info(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, got.Name)
	assert.NotEmpty(t, got.Topology)
	require.NoError(t, db.Probe(t.Context(), s))
	require.NoError(t, db.Probe(t.Context(), grouped(ns, "probed")))
	count(t, db, s, 0)
	found, err := db.Inspect(t.Context(), s)
	require.NoError(t, err)
	assert.Zero(t, found.Size)
	assert.Equal(t, store.Worked, db.Classify(nil))
}
