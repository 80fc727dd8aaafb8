package memory_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/memory"
	"github.com/perfbench/perfbench/internal/testing/storetest"
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

func TestNamesAreShared(t *testing.T) {
	a, b := open(t, "memory:shared").(*memory.Conn), open(t, "memory:shared").(*memory.Conn)
	own := open(t, "memory:").(*memory.Conn)
	s := store.Space{Namespace: "ns", Name: "a", Shape: store.Map}
	require.NoError(t, a.Set(t.Context(), s, []byte("k"), []byte("v")))
	for c, want := range map[*memory.Conn]int64{a: 1, b: 1, own: 0, open(t, "memory:other").(*memory.Conn): 0} {
		n, err := c.Count(t.Context(), s)
		require.NoError(t, err)
		assert.Equal(t, want, n)
	}
	require.NoError(t, a.Close())
	n, err := b.Count(t.Context(), s)
	require.NoError(t, err)
	assert.EqualValues(t, 1, n, "a name outlives its connections")
}

func TestSlowOnPurpose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, "memory:?latency=2ms&stall=300ms&stall_every=1s").(*memory.Conn)
		s := store.Space{Name: "a", Shape: store.Map}
		took := func() time.Duration {
			start := time.Now()
			require.NoError(t, c.Set(t.Context(), s, []byte("k"), []byte("v")))
			return time.Since(start)
		}
		assert.Equal(t, 2*time.Millisecond, took())
		time.Sleep(1100*time.Millisecond - 2*time.Millisecond)
		assert.Equal(t, 202*time.Millisecond, took(), "100 ms into a stall of 300 ms")
		assert.Equal(t, 2*time.Millisecond, took())
		time.Sleep(2*time.Second - 1304*time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := c.Set(ctx, s, []byte("k"), []byte("v"))
		assert.Equal(t, store.Timeout, c.Classify(err))
		assert.Equal(t, 50*time.Millisecond, time.Since(start), "a stall ends with the caller's patience")
	})
}

// Five calls at once, two servers: they are done in pairs, first come, first served.
func TestServersTakeOneCallAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, "memory:?service=10ms&servers=2").(*memory.Conn)
		began := time.Now()
		var took []time.Duration
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				assert.NoError(t, c.Set(t.Context(), store.Space{Name: "a", Shape: store.Map}, []byte("k"), []byte("v")))
				mu.Lock()
				defer mu.Unlock()
				took = append(took, time.Since(began))
			})
		}
		wg.Wait()
		slices.Sort(took)
		ms := time.Millisecond
		assert.Equal(t, []time.Duration{10 * ms, 10 * ms, 20 * ms, 20 * ms, 30 * ms}, took)
	})
}

func TestBadDelays(t *testing.T) {
	for _, in := range []string{"memory:?latency=1", "memory:?stall=x", "memory:?stall_every=0s", "memory:?stall=2s&stall_every=1s", "memory:?servers=2", "memory:?service=1ms&servers=0"} {
		parsed, err := store.ParseTarget(in)
		require.NoError(t, err)
		_, err = memory.Driver.Open(t.Context(), parsed, store.OpenOptions{})
		require.Error(t, err, in)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}

func TestWritesDoNotAllocate(t *testing.T) {
	c := open(t, "memory:").(*memory.Conn)
	s := store.Space{Name: "a", Shape: store.Map}
	ctx, k, v := t.Context(), []byte("k"), []byte("v")
	require.NoError(t, c.Set(ctx, s, k, v))
	buf := make([]byte, 0, 16)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_, _, _ = c.Get(ctx, s, k, buf)
	}))
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		_ = c.Set(ctx, s, k, v)
	}), 1.0, "the key of the map")
}
