package traffic

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
)

const twitters = `0,q:q:1:8WTfjZU14ee,17,213,4,get,0
0,a,b,3,27,5,set,3600
0,c,1,9,4,add,60
1,d,1,9,4,replace,0
1,d,1,4,4,prepend,0
1,d,1,0,4,delete,0
1,n,1,0,5,incr,0
1,n,1,0,5,touch,0
`

// packed is a text as zstd packs it.
func packed(t *testing.T, text string) string {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	defer enc.Close()
	return string(enc.EncodeAll([]byte(text), nil))
}

func TestTwittersTraces(t *testing.T) {
	for name, log := range map[string]string{"plain": twitters, "packed": packed(t, twitters)} {
		t.Run(name, func(t *testing.T) {
			path, tally, err := converted(t, log, capture.Options{})
			require.NoError(t, err)
			got, r := texts(t, path)
			assert.Equal(t, []string{
				"1/0 GET q:q:1:8WTfjZU14ee", "2/0 SET a,b [27] EX 3600", "1/0 SET c [9] EX 60 NX", "1/0 SET d [9] XX",
				"1/0 APPEND d [4]", "1/0 DEL d", "2/0 INCR n", "2/0 TOUCH n",
			}, got)
			assert.Empty(t, tally.Left)
			assert.EqualValues(t, 1_000_000, tally.At)
			assert.Equal(t, capture.Seconds, r.Header.Timing)
		})
	}
}

func TestMetasTraces(t *testing.T) {
	path, tally, err := converted(t, "op_time,key,key_size,op,op_count,size,cache_hits,ttl\n7,k1,40,SET,1,100,0,30\n9,k1,40,GET,3,100,3,\n", capture.Options{})
	require.NoError(t, err)
	got, r := texts(t, path)
	assert.Equal(t, []string{"1/0 SET k1 [100] EX 30", "1/0 GET k1", "1/0 GET k1", "1/0 GET k1"}, got)
	assert.EqualValues(t, 2_000_000, tally.At)
	assert.Equal(t, capture.Seconds, r.Header.Timing)

	path, _, err = converted(t, "key,op,size,op_count,cache_hits\nk,GET,100,3,2\nk,SET,7,2,0\nk,GET,0,1,0\nk,GET,9,1,\nk,GET,8,,1\n", capture.Options{})
	require.NoError(t, err)
	miss, hit, unknown := capture.Found{Known: true}, capture.Found{Known: true, Hit: true, Size: 100}, capture.Found{}
	last := capture.Found{Known: true, Hit: true, Size: 8}
	assert.Equal(t, []capture.Found{miss, hit, hit, unknown, unknown, miss, unknown, last}, found(t, path))

	path, _, err = converted(t, "key,op,size,op_count,key_size\nk1,GET_LEASE,0,1,40\nk1,DELETE,0,1,40\n", capture.Options{})
	require.NoError(t, err)
	got, r = texts(t, path)
	assert.Equal(t, []string{"1/0 GET k1", "1/0 DEL k1"}, got)
	assert.Equal(t, capture.Unknown, r.Header.Timing)
}

// found returns what each call of a capture found.
func found(t *testing.T, path string) (all []capture.Found) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r, err := capture.NewReader(path, f)
	require.NoError(t, err)
	defer r.Close()
	var c capture.Call
	for {
		if err := r.Next(&c); err != nil {
			require.ErrorIs(t, err, io.EOF)
			return all
		}
		all = append(all, c.Found)
	}
}

func TestBadTraces(t *testing.T) {
	for name, c := range map[string]struct{ log, want string }{
		"a foreign line":       {"0,k,1,2,3,get,0\nhello\n0,k,1,2,3,get,0\n", "line 2: this is no line of a trace"},
		"a size that is none":  {"key,op,size\nk,SET,-4\n", "line 2: this is no line of a trace"},
		"a column too few":     {"key,op,size\nk,SET\nk,SET,1\n", "line 2: it has 2 columns, and the first line names 3"},
		"too many at once":     {"key,op,size,op_count\nk,SET,1,99999999\n", "op_count is \"99999999\""},
		"more hits than calls": {"key,op,size,op_count,cache_hits\nk,GET,1,2,3\n", "line 2: cache_hits is \"3\", and should be a number from 0 to that of the calls, 2"},
		"only the names":       {"key,op,size\n", "has no calls in it"},
		"damaged":              {packed(t, "")[:4] + "\xff\xff\xff\xff\xff\xff\xff\xff", "it cannot be unpacked"},
		"packed and cut short": {packed(t, twitters)[:20], "the packed log is cut short"},
		"a capture in a log":   {packed(t, `{"header":{`+"}}\n"), "it is a capture already"},
		"a value beyond Redis": {"0,k,1,99999999999,3,set,0\n", "line 1"},
	} {
		path, _, err := converted(t, c.log, capture.Options{})
		require.ErrorContains(t, err, c.want, name)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), name)
		assert.NoFileExists(t, path, name)
	}
	_, _, err := converted(t, twitters, capture.Options{Values: true})
	require.ErrorContains(t, err, "only the sizes of values")
	_, _, err = converted(t, "key,op,size\nk,GET,0\n", capture.Options{Sample: 10})
	require.ErrorContains(t, err, "none can be sampled")
}

func TestATraceThatIsCutShort(t *testing.T) {
	path, tally, err := converted(t, "0,k,1,2,3,get,0\n0,k,1,2,", capture.Options{})
	require.NoError(t, err)
	got, _ := texts(t, path)
	assert.Len(t, got, 1)
	assert.Equal(t, map[string]int64{capture.LeftCut: 1}, tally.Left)

	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	defer enc.Close()
	whole := enc.EncodeAll([]byte(twitters), nil)
	more := enc.EncodeAll([]byte(twitters), nil)
	path, tally, err = converted(t, string(whole)+string(more[:len(more)-6]), capture.Options{})
	require.NoError(t, err)
	got, _ = texts(t, path)
	assert.GreaterOrEqual(t, len(got), 8)
	assert.Contains(t, tally.Notes, "the packed log is cut short")
}

// What the writer writes is told from what else zstd has packed.
func TestACaptureIsNoLog(t *testing.T) {
	path, _, err := converted(t, twitters, capture.Options{})
	require.NoError(t, err)
	_, err = Convert(t.Context(), path, filepath.Join(t.TempDir(), "y"), capture.Options{})
	require.ErrorContains(t, err, "it is a capture already")
	_, err = os.Stat(path)
	require.NoError(t, err)
}
