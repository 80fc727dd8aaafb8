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
	for c := store.Worked; c <= store.Other; c++ {
		assert.NotEmpty(t, c.String())
		assert.False(t, seen[c.String()], c.String())
		seen[c.String()] = true
	}
	assert.Len(t, store.ClassNames, len(seen))
	assert.Equal(t, "other", store.Class(200).String())
}
