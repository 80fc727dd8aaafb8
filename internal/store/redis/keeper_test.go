package redis_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store"
)

func TestDropTouchesNothingOfOthers(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB, ...string) *labtest.Server{
		"standalone": labtest.Redis, "cluster": labtest.Cluster,
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, start(t).URL())
			ctx := t.Context()
			// Names that a careless pattern would match.
			theirs := []string{
				"perfbench:a*:{x1}:extra", "perfbench:a*:{x1", "perfbench:a*:x1", "perfbench:ab:{x1}",
				"perfbench:a*x:{x1}", "perfbench:a:{x1}", "xperfbench:a*:{x1}", "perfbench:a*:{x1}{y}", "a*:{x1}",
			}
			for _, k := range theirs {
				require.NoError(t, c.Client().Set(ctx, k, "theirs", 0).Err())
			}
			s := grouped("a*")
			found, err := c.Inspect(ctx, s)
			require.NoError(t, err)
			assert.False(t, found.Exists, "only names of groups count")
			require.NoError(t, c.Record(ctx, store.Made{Space: s}))
			for i := range 20 {
				require.NoError(t, c.PutGroup(ctx, s, fmt.Appendf(nil, "x%d", i), []byte("k"), []byte("v")))
			}
			n, err := c.Count(ctx, s)
			require.NoError(t, err)
			assert.EqualValues(t, 20, n)
			n, err = c.Drop(ctx, s, nil)
			require.NoError(t, err)
			assert.EqualValues(t, 20, n)
			for _, k := range theirs {
				assert.Equal(t, "theirs", c.Client().Get(ctx, k).Val(), k)
			}
			assert.Zero(t, c.Client().Exists(ctx, "perfbench:_made").Val(), "the record goes with the last space")
		})
	}
}

func TestInspectTellsWhatIsThere(t *testing.T) {
	c := open(t, labtest.Redis(t).URL())
	for _, tt := range []struct {
		kind string
		size int64
		cmd  []any
	}{
		{"hash", 2, []any{"hset", "perfbench:a", "f", "v", "g", "v"}},
		{"string", 1, []any{"set", "perfbench:a", "v"}},
		{"list", 3, []any{"rpush", "perfbench:a", "1", "2", "3"}},
		{"set", 1, []any{"sadd", "perfbench:a", "1"}},
		{"zset", 1, []any{"zadd", "perfbench:a", "1", "m"}},
		{"stream", 1, []any{"xadd", "perfbench:a", "*", "f", "v"}},
	} {
		do(t, c, "del", "perfbench:a")
		do(t, c, tt.cmd...)
		found, err := c.Inspect(t.Context(), space("a"))
		require.NoError(t, err)
		assert.Equal(t, store.Found{Exists: true, Kind: tt.kind, Size: tt.size}, found)
	}
	do(t, c, "set", "perfbench:g:{1}", "v")
	found, err := c.Inspect(t.Context(), grouped("g"))
	require.NoError(t, err)
	assert.Equal(t, store.Found{Exists: true, Kind: "string", Size: -1}, found)
}

func TestRecordsOfOthers(t *testing.T) {
	c := open(t, labtest.Redis(t).URL())
	ctx := t.Context()
	do(t, c, "set", "perfbench:_made", "theirs")
	_, err := c.Made(ctx, "perfbench")
	refused(t, err, "perfbench:_made", "--namespace")
	refused(t, c.Record(ctx, store.Made{Space: space("a")}), "perfbench:_made", "--namespace")
	_, err = c.Drop(ctx, space("a"), nil)
	refused(t, err, "perfbench:_made", "--namespace")
	do(t, c, "del", "perfbench:_made")
	do(t, c, "hset", "perfbench:_made", "a", "{not ours")
	_, err = c.Made(ctx, "perfbench")
	refused(t, err, `"a" is not a record of perfbench`, "--namespace")
	_, err = c.Drop(ctx, space("b"), nil)
	require.Error(t, err)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}
