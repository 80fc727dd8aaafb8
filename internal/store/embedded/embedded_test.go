package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/embedded"
	"github.com/perfbench/perfbench/internal/testing/storetest"
)

func open(t *testing.T) store.Conn {
	t.Helper()
	target, err := store.ParseTarget("embedded:")
	require.NoError(t, err)
	c, err := embedded.Driver.Open(t.Context(), target, store.OpenOptions{Threads: 8})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestConformance(t *testing.T) { storetest.Run(t, open) }

func TestEachOpenIsAStoreOfItsOwn(t *testing.T) {
	a, b := open(t).(*embedded.Conn), open(t).(*embedded.Conn)
	require.NoError(t, a.Client().Set(t.Context(), "k", "v", 0).Err())
	assert.Zero(t, b.Client().Exists(t.Context(), "k").Val())
}

func TestKeysExpireByThemselves(t *testing.T) {
	c := open(t).(*embedded.Conn)
	require.NoError(t, c.Client().Set(t.Context(), "k", "v", 150*time.Millisecond).Err())
	assert.EqualValues(t, 1, c.Client().Exists(t.Context(), "k").Val())
	assert.Eventually(t, func() bool { return c.Client().Exists(t.Context(), "k").Val() == 0 }, time.Minute, 10*time.Millisecond)
}

func TestSaysThatItIsNoServer(t *testing.T) {
	c := open(t)
	info, err := c.Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "miniredis", info.Name)
	assert.Contains(t, info.NoFigure, "do not describe a real Redis server")
	require.NoError(t, c.Close())
	assert.NoError(t, c.Close(), "closing twice is no error")
}

func TestTakesNoName(t *testing.T) {
	_, err := embedded.Driver.Open(t.Context(), store.Target{Scheme: "embedded", Path: "x"}, store.OpenOptions{})
	require.Error(t, err)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}
