package redis_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/labtest"
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
			found, err := c.Records.Inspect(ctx, s)
			require.NoError(t, err)
			assert.False(t, found.Exists, "only names of groups count")
			require.NoError(t, c.Records.Record(ctx, store.Made{Space: s}))
			for i := range 20 {
				require.NoError(t, c.Maps.PutGroup(ctx, s, fmt.Appendf(nil, "x%d", i), []byte("k"), []byte("v")))
			}
			n, err := c.Maps.Count(ctx, s)
			require.NoError(t, err)
			assert.EqualValues(t, 20, n)
			n, err = c.Records.Drop(ctx, s, nil)
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
		found, err := c.Records.Inspect(t.Context(), space("a"))
		require.NoError(t, err)
		assert.Equal(t, store.Found{Exists: true, Kind: tt.kind, Size: tt.size}, found)
	}
	do(t, c, "set", "perfbench:g:{1}", "v")
	found, err := c.Records.Inspect(t.Context(), grouped("g"))
	require.NoError(t, err)
	assert.Equal(t, store.Found{Exists: true, Kind: "string", Size: -1, Odd: "perfbench:g:{1} already exists and is a string, not a hash"}, found)
}

func TestRecordsOfOthers(t *testing.T) {
	c := open(t, labtest.Redis(t).URL())
	ctx := t.Context()
	do(t, c, "set", "perfbench:_made", "theirs")
	_, err := c.Records.Made(ctx, "perfbench")
	refused(t, err, "perfbench:_made", "--namespace")
	refused(t, c.Records.Record(ctx, store.Made{Space: space("a")}), "perfbench:_made", "--namespace")
	_, err = c.Records.Drop(ctx, space("a"), nil)
	refused(t, err, "perfbench:_made", "--namespace")
	do(t, c, "del", "perfbench:_made")
	do(t, c, "hset", "perfbench:_made", "a", "{not ours")
	_, err = c.Records.Made(ctx, "perfbench")
	refused(t, err, `"a" is not a record of perfbench`, "--namespace")
	_, err = c.Records.Drop(ctx, space("b"), nil)
	require.Error(t, err)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

// Whatever is there when a probe comes is there when it has gone, under any name that a
// probe ever used too.
func TestProbeLeavesWhatOthersMade(t *testing.T) {
	c := open(t, labtest.Redis(t).URL())
	do(t, c, "hset", "perfbench:_probe", "f", "theirs")
	do(t, c, "set", "_perfbench_probe", "theirs")
	do(t, c, "hset", "perfbench:a", "\x00perfbench-probe", "theirs")
	do(t, c, "hset", "perfbench:g:{_probe}", "\x00perfbench-probe", "theirs")
	before := do(t, c, "keys", "*")
	for _, s := range []store.Space{space("a"), grouped("g"), {Namespace: "perfbench", Shape: store.Map}, {Shape: store.Map}} {
		require.NoError(t, c.Prober.Probe(t.Context(), s))
	}
	assert.ElementsMatch(t, before, do(t, c, "keys", "*"))
	assert.Equal(t, "theirs", do(t, c, "hget", "perfbench:_probe", "f"))
	assert.Equal(t, "theirs", do(t, c, "get", "_perfbench_probe"))
	assert.Equal(t, "theirs", do(t, c, "hget", "perfbench:a", "\x00perfbench-probe"))
	assert.Equal(t, "theirs", do(t, c, "hget", "perfbench:g:{_probe}", "\x00perfbench-probe"))
}

// A key goes with its space only if its name has a form of the record, and its type is
// the form's: others may have put something in its place.
func TestDropComparesTypes(t *testing.T) {
	c := open(t, labtest.Redis(t).URL())
	ctx := t.Context()
	s := store.Space{Namespace: "perfbench", Name: "k", Shape: store.Keys, Grouped: true}
	forms := []string{store.FormOf("hash", `\{[0-9]+\}:a`), store.FormOf("string", `\{[0-9]+\}:g:[0-9a-z]{4}`)}
	do(t, c, "set", "perfbench:k:{0}:a", "theirs")
	found, err := c.Records.Inspect(ctx, s, forms...)
	require.NoError(t, err)
	assert.Equal(t, "perfbench:k:{0}:a already exists and is a string, not a hash", found.Odd)
	assert.Equal(t, map[string]string{forms[0]: "perfbench:k:{0}:a"}, found.Keys)
	require.NoError(t, c.Records.Record(ctx, store.Made{Space: s, Parts: forms}))
	do(t, c, "hset", "perfbench:k:{1}:a", "f", "ours")
	do(t, c, "set", "perfbench:k:{1}:g:0a1z", "ours")
	do(t, c, "set", "perfbench:k:{1}:g:mine", "ours")
	do(t, c, "set", "perfbench:k:{1}:g:invoice", "theirs")
	do(t, c, "hset", "perfbench:k:{1}:g:0a1y", "f", "theirs")
	gone, err := c.Records.Drop(ctx, s, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 3, gone)
	assert.ElementsMatch(t, []any{"perfbench:k:{0}:a", "perfbench:k:{1}:g:invoice", "perfbench:k:{1}:g:0a1y"}, do(t, c, "keys", "*"))

	// Forms of an older version fit what others have set, which nobody can tell from ours.
	wide := store.Space{Namespace: "perfbench", Name: "w", Shape: store.Keys, Grouped: true}
	for _, parts := range [][]string{nil, {"{*}", "{*}:g:*"}} {
		require.NoError(t, c.Records.Record(ctx, store.Made{Space: wide, Parts: parts}))
		do(t, c, "set", "perfbench:w:{1}:g:invoice", "theirs")
		_, err = c.Records.Drop(ctx, wide, nil)
		require.ErrorContains(t, err, "an older version recorded perfbench:w by what may be keys of others too")
		assert.Equal(t, "theirs", do(t, c, "get", "perfbench:w:{1}:g:invoice"))
		require.NoError(t, c.Records.Record(ctx, store.Made{Space: wide, Parts: append(parts, store.FormOf("string", `\{[0-9]+\}:g:[0-9a-z]{4}`))}))
		_, err = c.Records.Drop(ctx, wide, nil)
		require.NoError(t, err, "another run has said what is ours")
		assert.Equal(t, "theirs", do(t, c, "get", "perfbench:w:{1}:g:invoice"))
		do(t, c, "del", "perfbench:w:{1}:g:invoice")
	}

	// The groups of a map go if they are named as its profile names them.
	named := store.Made{Space: grouped("n"), Parts: []string{store.FormOf("hash", `\{x-?[0-9]+\}`)}}
	require.NoError(t, c.Records.Record(ctx, named))
	do(t, c, "hset", "perfbench:n:{x1}", "f", "ours")
	do(t, c, "hset", "perfbench:n:{invoice}", "f", "theirs")
	gone, err = c.Records.Drop(ctx, named.Space, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 1, gone)
	assert.Equal(t, "theirs", do(t, c, "hget", "perfbench:n:{invoice}", "f"))
	do(t, c, "del", "perfbench:n:{invoice}")

	require.NoError(t, c.Records.Record(ctx, store.Made{Space: space("a")}))
	do(t, c, "set", "perfbench:a", "theirs")
	require.NoError(t, c.Records.Record(ctx, store.Made{Space: grouped("b")}))
	do(t, c, "hset", "perfbench:b:{x}", "f", "ours")
	do(t, c, "set", "perfbench:b:{y}", "theirs")
	for _, s := range []store.Space{space("a"), grouped("b")} {
		_, err := c.Records.Drop(ctx, s, nil)
		require.NoError(t, err)
	}
	assert.Equal(t, "theirs", do(t, c, "get", "perfbench:a"))
	assert.Equal(t, "theirs", do(t, c, "get", "perfbench:b:{y}"))
	assert.Zero(t, c.Client().Exists(ctx, "perfbench:b:{x}", "perfbench:_made").Val())
}
