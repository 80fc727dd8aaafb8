package embedded_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/embedded"
	"github.com/perfbench/perfbench/internal/store/storetest"
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
