package coherence_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

func TestQueues(t *testing.T) {
	tier.Full(t, inPlace)
	c := open(t, labtest.Coherence(t).URL())
	ctx, s := t.Context(), store.Space{Namespace: "more", Name: "queue", Shape: coherence.QueueShape}
	_, ok, err := c.Queues.Poll(ctx, s)
	require.NoError(t, err)
	assert.False(t, ok, "of nothing")
	require.NoError(t, c.Records.Record(ctx, store.Made{Space: s, Profile: "p", Run: "r"}))
	found, err := c.Records.Inspect(ctx, s)
	require.NoError(t, err)
	assert.Equal(t, store.Found{}, found)
	for i := range 5 {
		require.NoError(t, c.Queues.Offer(ctx, s, []byte{byte(i), 0, 255}))
	}
	v, ok, err := c.Queues.Peek(ctx, s)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, []byte{0, 0, 255}, v)
	for i := range 3 {
		v, ok, err := c.Queues.Poll(ctx, s)
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, []byte{byte(i), 0, 255}, v, "in their order, whichever session takes them")
	}
	found, err = c.Records.Inspect(ctx, s)
	require.NoError(t, err)
	assert.Equal(t, store.Found{Exists: true, Kind: "queue", Size: 2}, found)
	gone, err := c.Records.Drop(ctx, s, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 2, gone)
	n, err := c.Queues.Size(ctx, s)
	require.NoError(t, err)
	assert.Zero(t, n)
}

func TestEntriesExpire(t *testing.T) {
	tier.Full(t, inPlace)
	c := open(t, labtest.Coherence(t).URL())
	ctx, s := t.Context(), store.Space{Namespace: "more", Name: "expiry", Shape: "mcache"}
	require.NoError(t, c.Maps.PutExpiring(ctx, s, []byte("soon"), []byte("v"), time.Second))
	require.NoError(t, c.Maps.PutAllExpiring(ctx, s, []store.Entry{{Key: []byte("too"), Val: []byte("v")}}, time.Second))
	require.NoError(t, c.Maps.PutAllExpiring(ctx, s, []store.Entry{{Key: []byte("stays"), Val: []byte("v")}}, 0))
	require.Eventually(t, func() bool {
		vals, err := c.Maps.GetAll(ctx, s, [][]byte{[]byte("soon"), []byte("too"), []byte("stays")})
		return err == nil && vals[0] == nil && vals[1] == nil && string(vals[2]) == "v"
	}, soon, 50*time.Millisecond)
	there, err := c.Maps.Remove(ctx, s, []byte("stays"))
	require.NoError(t, err)
	assert.True(t, there)
	there, err = c.Maps.Remove(ctx, s, []byte("stays"))
	require.NoError(t, err)
	assert.False(t, there)
}

// Of those that replace the same value at the same time one succeeds.
func TestReplaceIsAtomic(t *testing.T) {
	tier.Full(t, inPlace)
	c := open(t, labtest.Coherence(t).URL())
	ctx, s := t.Context(), store.Space{Namespace: "more", Name: "replace", Shape: store.Map, Grouped: true}
	g, k := []byte("g"), []byte("k")
	read := func() []byte {
		got, err := c.Maps.GetGroup(ctx, s, g, [][]byte{k})
		assert.NoError(t, err)
		return got[0]
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	const workers, each = 6, 15
	for range workers {
		all.Go(func() {
			for done := 0; done < each; {
				old := read()
				n := 0
				if old != nil {
					var err error
					n, err = strconv.Atoi(string(old))
					assert.NoError(t, err)
				}
				ok, err := c.Maps.Replace(ctx, s, g, k, old, fmt.Append(nil, n+1))
				if !assert.NoError(t, err) {
					return
				}
				if ok {
					done++
					continue
				}
				mu.Lock()
				refused++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	assert.Equal(t, strconv.Itoa(workers*each), string(read()), "%d refused", refused)
	there, err := c.Maps.HasGroup(ctx, s, g, k)
	require.NoError(t, err)
	assert.True(t, there)
	there, err = c.Maps.HasGroup(ctx, s, k, g)
	require.NoError(t, err)
	assert.False(t, there)
}

func TestNearCacheHearsOfChanges(t *testing.T) {
	tier.Full(t, inPlace)
	c := open(t, labtest.Coherence(t).URL())
	ctx, s := t.Context(), store.Space{Namespace: "more", Name: "near", Shape: store.Map}
	n, err := c.OpenNear(ctx, []store.Space{s})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, n.Close()) })
	var keys [][]byte
	for i := range 10 {
		keys = append(keys, fmt.Appendf(nil, "k%d", i))
		require.NoError(t, c.Maps.Set(ctx, s, keys[i], []byte("v")))
	}
	for range 10 {
		ok, err := n.Get(ctx, s, keys[0])
		require.NoError(t, err)
		assert.True(t, ok)
		got, err := n.GetAll(ctx, s, keys)
		require.NoError(t, err)
		assert.Equal(t, 10, got)
	}
	st := n.Stats()
	assert.EqualValues(t, 110, st.Reads)
	assert.GreaterOrEqual(t, st.Hits, int64(95), "all but what was read first")
	assert.Less(t, st.Hits, st.Reads)
	assert.Positive(t, st.Hit)
	assert.Positive(t, st.Miss)
	_, err = c.Maps.Remove(ctx, s, keys[0])
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		ok, err := n.Get(ctx, s, keys[0])
		return err == nil && !ok
	}, soon, 10*time.Millisecond, "what was removed is not read any more")
}

func TestValuesThatNoMessageCarries(t *testing.T) {
	tier.Full(t, inPlace)
	c := open(t, labtest.Coherence(t).URL())
	ctx, s := t.Context(), store.Space{Namespace: "more", Name: "large", Shape: store.Map}
	err := c.Maps.Put(ctx, s, []byte("k"), make([]byte, 4<<20))
	require.Error(t, err)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	val := make([]byte, 3<<20-64<<10)
	require.NoError(t, c.Maps.Put(ctx, s, []byte("k"), val), "the longest that does")
	got, ok, err := c.Maps.Get(ctx, s, []byte("k"), nil)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Len(t, got, len(val))
	_, err = c.Maps.Remove(ctx, s, []byte("k"))
	require.NoError(t, err)
}

func TestInfo(t *testing.T) {
	tier.Full(t, inPlace)
	c := open(t, labtest.Coherence(t).URL()+"?connections=3")
	info, err := c.Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "coherence", info.Name)
	assert.Equal(t, labtest.Coherence(t).Version(), info.Version)
	assert.Contains(t, info.Details["client sessions"], "3, ")
	assert.Equal(t, store.PoolStats{Size: 3, Open: 3}, c.Pool())
}
