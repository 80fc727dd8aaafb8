package baseline

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
)

// publishedInputs are those of the preset, with flags on top.
func publishedInputs(t *testing.T, flags ...string) workload.Inputs {
	t.Helper()
	vs := given()
	of, err := request.LoadPreset(os.DirFS("../presets"), "published")
	require.NoError(t, err)
	for _, v := range of {
		vs.Set(v)
	}
	for _, f := range flags {
		name, text, _ := strings.Cut(f, "=")
		vs.Set(workload.Value{Name: name, Text: text, Origin: workload.OriginFlag, Where: "--set"})
	}
	in := inputs(vs)
	in.Namespace = vs["namespace"].Text
	return in
}

func rowsOf(t *testing.T, in workload.Inputs) []SuiteRow {
	t.Helper()
	p, err := mode.Plan(in)
	require.NoError(t, err)
	return p.Binder.(*Spec).Rows
}

// Every row of the report goes over the wire as its command was published: its
// arguments, its number of requests, its depth. Only the scripts are mended.
func TestRowsAreThosePublished(t *testing.T) {
	spec := &Spec{}
	want := []struct {
		words    string
		requests int64
		depth    int
	}{
		{"SET abcdefg dddddd", 300_000, 1},
		{"SET abcdefg dddddddd", 300_000, 1},
		{"EVAL redis.call('SET', 'abcdedf', 'dddddd') 0", 300_000, 1},
		{"EVAL redis.call('SET', KEYS[1], ARGV[1]) 1 aaaaaaaaaa bbbbbbbbbbbbb", 300_000, 1},
		{"SET abcdefg dddddd", 3_000_000, 50},
		{"EVAL for k=1,10 do redis.call('SET', KEYS[1], ARGV[1]) end 1 aaaaaaaaaa bbbbbbbbbbbbbbb", 300_000, 1},
		// In the script of the benchmark only.
		{"EVAL redis.call('SET', KEYS[1], ARGV[1]) 1 aaaaaaaaa bbbbbbbbbb", 300_000, 50},
	}
	rows := rowsOf(t, publishedInputs(t))
	require.Len(t, rows, 8)
	for i, w := range want {
		assert.Equal(t, w.words, strings.Join(spec.RequestOf(&rows[i]), " "), rows[i].Name)
		assert.Equal(t, w.requests, rows[i].requests, rows[i].Name)
		assert.Equal(t, w.depth, rows[i].Depth, rows[i].Name)
	}
	decoded := spec.RequestOf(&rows[7])
	assert.Len(t, decoded[4], 49, "the document that is decoded")
	assert.Len(t, decoded[3], 9)

	rows = rowsOf(t, publishedInputs(t, "edition=script"))
	assert.Equal(t, "SET abcdefg ddddddd", strings.Join(spec.RequestOf(&rows[0]), " "))
	assert.Equal(t, "EVAL redis.call('SET', KEYS[1], ARGV[1]) 1 aaaaaaaaa bbbbbbbbbb", strings.Join(spec.RequestOf(&rows[3]), " "))
}

func TestLengthsOfRows(t *testing.T) {
	rows := rowsOf(t, publishedInputs(t, "keyLength=16", "valueLength=1KiB", "set.valueLength=5", "requests=7", "eval-args.requests=9"))
	for i := range rows {
		r := &rows[i]
		wantValue, wantCalls := 1024, int64(7)
		switch r.Name {
		case "set":
			wantValue = 5
		case "eval-args":
			wantCalls = 9
		}
		assert.Len(t, r.ownKey(), 16, r.Name)
		assert.Len(t, r.text(), wantValue, r.Name)
		assert.Equal(t, wantCalls, r.requests, r.Name)
	}
	rows = rowsOf(t, publishedInputs(t, "requests=7", "count=3"))
	assert.Equal(t, int64(3), rows[4].requests, "--count is of every row")

	for n := 1; n < 80; n++ {
		text := document(n)
		assert.Len(t, text, n)
		assert.True(t, json.Valid([]byte(text)), text)
	}
	for _, bad := range []string{"keyLength=65", "set.keyLength=65", "valueLength=2MiB", "edition=both", "rows=set,set", "set.requests=0"} {
		_, err := mode.Plan(publishedInputs(t, bad))
		name, _, _ := strings.Cut(bad, "=")
		require.ErrorContains(t, err, name, bad)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), bad)
	}
}

// The preset on a real server: the keys themselves are there, a key of somebody else
// refuses the run before it begins, and what was made goes again.
func TestPublishedRowsOnAServer(t *testing.T) {
	srv := labtest.Redis(t)
	in := publishedInputs(t, "requests=50", "set-p50.requests=500", "threads=2")
	client := open(t, srv.URL()).(redis.Typed).Client()
	require.NoError(t, client.Set(t.Context(), "abcdedf", "of others", 0).Err())
	p := bound(t, open(t, srv.URL()), "redis", in)
	err := p.Setup(t.Context(), nil)
	require.ErrorContains(t, err, "abcdedf already exists")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	require.NoError(t, client.Del(t.Context(), "abcdedf").Err())

	require.NoError(t, p.Setup(t.Context(), nil))
	require.NoError(t, client.ConfigResetStat(t.Context()).Err())
	profiletest.Work(t, p)
	for key, length := range map[string]int64{"abcdefg": 6, "abcdedf": 6, "aaaaaaaaaa": 15, "aaaaaaaaa": 10} {
		assert.Equal(t, length, client.StrLen(t.Context(), key).Val(), key)
	}
	info, err := client.InfoMap(t.Context(), "commandstats").Result()
	require.NoError(t, err)
	calls, err := strconv.Atoi(strings.TrimPrefix(strings.Split(info["Commandstats"]["cmdstat_eval"], ",")[0], "calls="))
	require.NoError(t, err)
	assert.Equal(t, 5*50, calls, "the five rows of scripts")
	titles := map[string]bool{}
	for _, r := range p.Facts(nil).(*Facts).Rows {
		assert.Zero(t, r.Errors, r.Row)
		assert.False(t, titles[r.Title], "%s has the title of another row", r.Title)
		titles[r.Title] = true
	}
	assert.Contains(t, titles, "SET abcdefg dddddd")
	assert.Contains(t, titles, "SET abcdefg dddddd (-P 50)")

	require.NoError(t, p.Teardown(t.Context()))
	left, err := client.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	assert.Empty(t, left)
}

// Rows that send the same under another name keep titles of their own.
func TestTitlesAreDistinct(t *testing.T) {
	rows := []*rowWork{{name: "set", title: "SET a b", depth: 1}, {name: "set-remote", title: "SET a b", depth: 1}, {name: "set-p50", title: "SET a b", depth: 50}}
	distinct(rows)
	assert.Equal(t, []string{"SET a b", "SET a b (set-remote)", "SET a b (-P 50)"}, []string{rows[0].title, rows[1].title, rows[2].title})
}

func TestValuesTooLongForATable(t *testing.T) {
	target := "sqlite:" + t.TempDir() + "/rows.db"
	in := inputs(given("mode=baseline", "ceiling=off", "set.valueLength=256"))
	in.Driver = "sqlite"
	p, err := mode.Plan(in)
	require.NoError(t, err)
	_, err = p.Bind(t.Context(), "sqlite", open(t, target), "")
	require.ErrorContains(t, err, "set.valueLength: 256 bytes are more than the 255")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}
