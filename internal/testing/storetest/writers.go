package storetest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/store"
)

// writers: while workers of a run whose coordinator has died may write, nobody else gets
// the namespace, and whoever asks is told until when; whoever goes on with the run has it
// at once, and can end it for them; once somebody else has it, they are told who.
func writers(t *testing.T, db whole, ns string) {
	ctx := t.Context()
	want := func(run string) ownership.Want {
		return ownership.Want{Namespace: ns, Profile: "storetest", Run: run, Workers: 2, Spaces: []ownership.Space{{Space: space(ns, "written")}}}
	}
	ask := func(run string, until time.Time) error {
		t.Helper()
		gone, err := ownership.Ask(ctx, db, ns, run, until)
		require.NoError(t, err)
		return gone
	}
	first, err := ownership.Take(ctx, db, want("r1"))
	require.NoError(t, err)
	held := first.Held()
	require.NoError(t, first.Release(ctx))
	machine, _ := ownership.Identity()
	dead := store.Lease{Run: "r1", Host: "h", PID: os.Getpid(), Machine: machine, Born: "1", Token: "1", Workers: 2}
	_, how, err := db.Hold(ctx, ns, dead, time.Hour)
	require.NoError(t, err)
	require.Equal(t, store.Taken, how)

	until := time.Now().Add(time.Hour).Truncate(time.Second)
	require.NoError(t, ask("r1", time.Time{}), "it hears its coordinator")
	require.NoError(t, ask("r1", until))
	require.NoError(t, ask("r1", until.Add(-time.Minute)), "another, which ends earlier")
	holder, there, err := db.Holder(ctx, ns)
	require.NoError(t, err)
	require.True(t, there)
	dead.WriteUntil = until.Add(time.Second).UTC().Format(time.RFC3339)
	assert.Equal(t, dead, holder)
	_, err = ownership.Take(ctx, db, want("r2"))
	require.ErrorContains(t, err, "they have lost their coordinator, and may write until "+until.Add(time.Second).UTC().Format(time.DateTime)+" UTC")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	require.ErrorContains(t, ask("r2", until), "was taken over by r1 (process ")

	next, err := ownership.Resume(ctx, db, want("r1"), held)
	require.NoError(t, err)
	require.NoError(t, ask("r1", time.Time{}))
	require.NoError(t, ask("r1", until), "one that does not hear it")
	require.NoError(t, next.End(ctx))
	require.ErrorContains(t, ask("r1", until), "is ending without this worker")
	require.NoError(t, next.Cleanup(ctx))
	require.NoError(t, next.Release(ctx))
	require.ErrorContains(t, ask("r1", until), "its coordinator has ended")

	other, err := ownership.Take(ctx, db, want("r2"))
	require.NoError(t, err)
	require.ErrorContains(t, ask("r1", until), "was taken over by r2 (process ")
	require.NoError(t, other.Cleanup(ctx))
	require.NoError(t, other.Release(ctx))
}

// Fence checks that a connection to a server sends nothing any more once its fence is shut.
func Fence(t *testing.T, d store.Driver, url string) {
	t.Helper()
	fence := store.NewFence()
	open := func(f *store.Fence) whole {
		target, err := store.ParseTarget(url)
		require.NoError(t, err)
		c, err := d.Open(t.Context(), target, store.OpenOptions{Threads: 4, Log: slog.New(slog.DiscardHandler), Fence: f})
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return wholeOf(t, c)
	}
	db, other := open(fence), open(nil)
	const ns = "storetest-fence"
	s, g := ours(t, other, space(ns, "fenced")), ours(t, other, grouped(ns, "fenced"))
	k, v := []byte("k"), []byte("v")
	es := []store.Entry{{Key: k, Val: v}}
	writes := map[string]func(ctx context.Context) error{
		"put":       func(ctx context.Context) error { return db.Put(ctx, s, k, v) },
		"set":       func(ctx context.Context) error { return db.Set(ctx, s, k, v) },
		"putall":    func(ctx context.Context) error { return db.PutAll(ctx, s, es) },
		"putgroup":  func(ctx context.Context) error { return db.PutGroup(ctx, g, k, k, v) },
		"putgroups": func(ctx context.Context) error { return db.PutGroups(ctx, g, []store.Group{{Name: k, Entries: es}}) },
		"record":    func(ctx context.Context) error { return db.Record(ctx, store.Made{Space: s, Run: "r2"}) },
		"drop":      func(ctx context.Context) error { _, err := db.Drop(ctx, s, nil); return err },
	}
	for name, write := range writes {
		if name != "drop" {
			require.NoError(t, write(t.Context()), name)
		}
	}
	require.NoError(t, other.Set(t.Context(), s, k, []byte("theirs")))
	require.NoError(t, other.PutGroup(t.Context(), g, k, k, []byte("theirs")))

	gone := errors.New("taken over by others")
	err := fence.Guard(t.Context(), func() bool { return true }, func(context.Context) (error, error) { return gone, nil })
	require.ErrorIs(t, err, gone)
	for name, write := range writes {
		require.Error(t, write(t.Context()), name)
	}
	want(t, other, s, "k", "theirs")
	got, err := other.GetGroup(t.Context(), g, k, [][]byte{k})
	require.NoError(t, err)
	assert.NotEmpty(t, got)
}

// Proxy checks that all connections to a server go through the proxy of a run with faults, and come back
// when these end.
func Proxy(t *testing.T, d store.Driver, url string) {
	t.Helper()
	target, err := store.ParseTarget(url)
	require.NoError(t, err)
	p := proxy.New()
	t.Cleanup(p.Close)
	c, err := d.Open(t.Context(), target, store.OpenOptions{Threads: 4, Log: slog.New(slog.DiscardHandler), Proxy: p})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	db := wholeOf(t, c)
	s := ours(t, db, space("storetest-proxy", "spoilt"))
	put := func(v string) error { return db.Put(t.Context(), s, []byte("k"), []byte(v)) }
	require.NoError(t, put("1"))

	const delay = 30 * time.Millisecond
	p.Set(proxy.State{Delay: delay})
	began := time.Now()
	require.NoError(t, put("2"))
	assert.GreaterOrEqual(t, time.Since(began), delay)

	p.Set(proxy.State{Refused: true})
	require.Eventually(t, func() bool { return put("3") != nil }, time.Minute, time.Millisecond)
	p.Set(proxy.State{})
	// A client may be about to dial, with all the time that its target gives it.
	require.Eventually(t, func() bool { return put("4") == nil }, 5*time.Minute, 20*time.Millisecond, "connections come back")
	want(t, db, s, "k", "4")
}
