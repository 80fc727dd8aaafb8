package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/memory"
	"github.com/perfbench/perfbench/internal/store/storetest"
)

func open(t *testing.T, target string) store.Conn {
	t.Helper()
	parsed, err := store.ParseTarget(target)
	require.NoError(t, err)
	c, err := memory.Driver.Open(t.Context(), parsed, store.OpenOptions{Threads: 8})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Conn { return open(t, "memory:") })
}
