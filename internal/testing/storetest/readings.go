package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
)

// Readings checks what the servers of a store report about themselves: each number once
// per server, counters that only grow, and that those named in grow are increased by
// work. It returns the last readings.
func Readings(t *testing.T, c store.Metered, work func(), grow ...string) []store.Reading {
	t.Helper()
	type key struct{ node, name string }
	read := func() ([]store.Reading, map[key]store.Reading) {
		list, err := c.Readings(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, list)
		by := map[key]store.Reading{}
		for _, r := range list {
			assert.NotContains(t, by, key{r.Node, r.Name}, "it is told twice")
			assert.Equal(t, r.Sum, strings.HasSuffix(r.Name, "_per_s") || strings.HasSuffix(r.Name, "cpu_cores"), "%s: what grows is named by its growth", r.Name)
			by[key{r.Node, r.Name}] = r
		}
		return list, by
	}
	_, before := read()
	work()
	list, after := read()
	grown := map[string]bool{}
	for k, r := range after {
		if b, known := before[k]; known && r.Sum {
			assert.GreaterOrEqual(t, r.Value, b.Value, r.Name)
			grown[r.Name] = grown[r.Name] || r.Value > b.Value
		}
	}
	for _, name := range grow {
		assert.True(t, grown[name], "%s has grown", name)
	}
	return list
}

// OwnCallsLeftOut checks that keeping a lease and querying the server do not count as
// calls of the application, while call does: a slow run has many of them. Nobody else
// may use the server in the meantime.
func OwnCallsLeftOut(t *testing.T, c store.Conn, call func() error) {
	t.Helper()
	meter, leases := As[store.Metered](t, c), As[store.Leaser](t, c)
	l := store.Lease{Run: "own calls"}
	ask := func() {
		for range 3 {
			_, how, err := leases.Hold(t.Context(), "own_calls", l, time.Minute)
			require.NoError(t, err)
			assert.NotEqual(t, store.Denied, how)
			_, _ = meter.Readings(t.Context()) // what is not reported does not matter here
			if n, ok := store.Has[store.Neighbours](c); ok {
				_, err := n.Neighbours(t.Context())
				require.NoError(t, err)
			}
		}
	}
	ask() // things that exist only after the first time
	before := meter.Usage(t.Context())
	ask()
	require.NoError(t, call())
	after := meter.Usage(t.Context())
	assert.EqualValues(t, 1, after.Calls-before.Calls)
	assert.Greater(t, after.Asked, before.Asked, "of any kind")
	assert.NoError(t, leases.Free(t.Context(), "own_calls", l))
}
