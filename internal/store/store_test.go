package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/null"
)

func TestAs(t *testing.T) {
	_, err := store.As[store.Putter](null.Conn{})
	require.NoError(t, err)
	_, err = store.As[store.Pooled](null.Conn{})
	require.ErrorIs(t, err, store.ErrUnsupported)
	assert.ErrorContains(t, err, "store.Pooled")
}

func TestClassesHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for c := store.Worked; c <= store.Lost; c++ {
		assert.NotEmpty(t, c.String())
		assert.False(t, seen[c.String()], c.String())
		seen[c.String()] = true
	}
	assert.Len(t, store.ClassNames, len(seen))
	assert.Equal(t, "other", store.Class(200).String())
}

// composed has components: each is found by what it implements, and of two that implement
// the same, the first.
type composed struct {
	null.Conn
	parts []any
}

func (c composed) Components() []any { return c.parts }

type waits int64

func (w waits) Pool() store.PoolStats { return store.PoolStats{Waits: int64(w)} }

func TestComponentsAreFound(t *testing.T) {
	c := composed{parts: []any{store.Untold(), waits(1), waits(2)}}
	p, err := store.As[store.Pooled](c)
	require.NoError(t, err)
	assert.EqualValues(t, 1, p.Pool().Waits)
	forgetful, ok := store.Has[store.Forgetful](c)
	assert.True(t, ok && forgetful.Forgets(), "what the connection does itself")
	_, ok = store.Has[store.Metered](c)
	assert.False(t, ok)
	_, err = store.As[store.Metered](c)
	require.ErrorIs(t, err, store.ErrUnsupported)
}
