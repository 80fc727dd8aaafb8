package null_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/null"
)

func TestNothingIsKept(t *testing.T) {
	ctx := t.Context()
	c, err := null.Driver.Open(ctx, store.Target{Scheme: "null"}, store.OpenOptions{})
	require.NoError(t, err)
	db, err := store.As[null.Conn](c)
	require.NoError(t, err)
	assert.True(t, db.Forgets())
	s := store.Space{Name: "a", Shape: store.Map}
	require.NoError(t, db.Put(ctx, s, []byte("k"), []byte("v")))
	require.NoError(t, db.Record(ctx, store.Made{Space: s}))
	require.NoError(t, db.Probe(ctx, s))
	_, ok, err := db.Get(ctx, s, []byte("k"), nil)
	require.NoError(t, err)
	assert.False(t, ok)
	for _, n := range []int{0, 1, 1024, 1025} {
		got, err := db.GetAll(ctx, s, make([][]byte, n))
		require.NoError(t, err)
		assert.Len(t, got, n)
		got, err = db.GetGroup(ctx, s, nil, make([][]byte, n))
		require.NoError(t, err)
		assert.Len(t, got, n)
	}
	n, err := db.Count(ctx, s)
	require.NoError(t, err)
	assert.Zero(t, n)
	found, err := db.Inspect(ctx, s)
	require.NoError(t, err)
	assert.Equal(t, store.Found{}, found)
	made, err := db.Made(ctx, "")
	require.NoError(t, err)
	assert.Empty(t, made)
	n, err = db.Drop(ctx, s, nil)
	require.NoError(t, err)
	assert.Zero(t, n)
	info, err := db.Info(ctx)
	require.NoError(t, err)
	assert.Contains(t, info.NoFigure, "do not describe a real server")
	assert.Equal(t, store.Canceled, db.Classify(context.Canceled))
	assert.Equal(t, store.Timeout, db.Classify(context.DeadlineExceeded))
	assert.Equal(t, store.Other, db.Classify(errors.New("x")))
	assert.Equal(t, store.Worked, db.Classify(nil))
	require.NoError(t, db.Close())
}

func TestNothingIsAllocated(t *testing.T) {
	ctx, s := t.Context(), store.Space{Name: "a"}
	var db interface {
		store.Putter
		store.Setter
		store.BatchPutter
		store.Getter
		store.BatchGetter
		store.GroupPutter
	} = null.Conn{}
	k, v := []byte("k"), []byte("v")
	es, ks, gs := make([]store.Entry, 100), make([][]byte, 100), make([]store.Group, 10)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_ = db.Put(ctx, s, k, v)
		_ = db.Set(ctx, s, k, v)
		_ = db.PutAll(ctx, s, es)
		_, _, _ = db.Get(ctx, s, k, v)
		_, _ = db.GetAll(ctx, s, ks)
		_ = db.PutGroup(ctx, s, k, k, v)
		_ = db.PutGroups(ctx, s, gs)
		_, _ = db.GetGroup(ctx, s, k, ks)
	}))
}
