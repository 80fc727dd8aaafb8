package baseline

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
)

var baselineTargets = map[string]func(t *testing.T) string{
	"mariadb":  func(t *testing.T) string { return labtest.Shared(t, "mariadb").URL() },
	"postgres": func(t *testing.T) string { return labtest.Shared(t, "postgres").URL() },
	"sqlite":   func(t *testing.T) string { return "sqlite:" + t.TempDir() + "/tx.db" },
	"embedded": func(*testing.T) string { return "embedded:" },
	"memory":   func(*testing.T) string { return "memory:" },
	"null":     func(*testing.T) string { return "null:" },
	"redis":    func(t *testing.T) string { return labtest.Redis(t).URL() },
	"password": func(t *testing.T) string {
		return strings.Replace(labtest.Redis(t, "--requirepass", "secret").URL(), "://", "://:secret@", 1)
	},
	"needless": func(t *testing.T) string { return strings.Replace(labtest.Redis(t).URL(), "://", "://:secret@", 1) },
	"cluster":  func(t *testing.T) string { return labtest.Shared(t, "redis-cluster").URL() },
}

func TestBaselineRunsEveryRow(t *testing.T) {
	for name, start := range baselineTargets {
		t.Run(name, func(t *testing.T) {
			o := profiletest.Drive(t, mode.Case(start(t), "threads=3", "requests=150"))
			f := profiletest.Facts[Facts](t, o.Concluded)
			require.Len(t, f.Rows, len(Suite)+5)
			for _, r := range f.Rows {
				assert.Zero(t, r.Errors, r.Row)
				want := int64(150)
				if r.Row == rowUnloaded {
					want = 300
				}
				if r.Row == rowFinish || r.Row == rowBranch {
					// A client that has finished what it saved goes home, and what it
					// hands back (a block of six calls at most) may come after the
					// others have gone.
					assert.InDelta(t, want, r.Calls, 3*6, r.Row)
					continue
				}
				assert.Equal(t, want, r.Calls, r.Row)
				assert.Positive(t, r.PerSecond, r.Row)
			}
			require.NotNil(t, f.Ceiling)
			assert.NotEmpty(t, f.Ceiling.Binds)
			assert.NotEmpty(t, f.Ceiling.Words)
		})
	}
}

// An error reply is an error, and not a call: what the original's scripts were.
func TestErrorRepliesAreErrors(t *testing.T) {
	c := open(t, labtest.Redis(t).URL()).(redis.Typed)
	raw, err := link.NewOwn(t.Context(), c.Client(), "k")
	require.NoError(t, err)
	defer raw.Close()
	for _, text := range []string{"redis.call('SET', KEYS[1], ARGS[1])", "for k=1, 10 do; redis.call('SET', KEYS[1], ARGV[1]); end"} {
		err := raw.Call(t.Context(), link.Encode("EVAL", text, "1", "k", "v"), 1)
		require.Error(t, err, text)
		assert.Equal(t, "other", redis.Classify(err).String())
	}
	require.NoError(t, raw.Call(t.Context(), append(link.Encode("LRANGE", "none", "0", "-1"), link.Encode("GET", "none")...), 2), "the connection stays usable")
	require.NoError(t, raw.Call(t.Context(), link.Encode("SET", "k", "a\r\nb"), 1))
	require.NoError(t, raw.Call(t.Context(), append(link.Encode("GET", "k"), link.Encode("PING")...), 2))
}

func TestCeiling(t *testing.T) {
	row := func(name string, rate float64) RowFacts {
		return RowFacts{Row: name, PerSecond: rate, Clients: 10, Calls: 1000, CV: 0.01, ClientUS: 20, ServerUS: 40}
	}
	f := &Facts{Cores: 2, Rows: []RowFacts{
		row("eval-loop10", 60000), row(rowSave, 80000), row(rowBranch, 80000), row(rowFinish, 80000), row(rowUnloaded, 5000), row(rowSaga, 15000),
	}}
	c := ceiling(f, 2, store.Usage{Cores: 1}, false)
	assert.Equal(t, boundSerial, c.Binds)
	assert.InDelta(t, 20000, c.Limit, 1e-6)
	assert.InDelta(t, 0.75, c.Fraction, 1e-9)
	assert.Less(t, c.Low, c.Fraction)
	assert.Empty(t, c.Refused)
	assert.InDelta(t, 15000, c.Bounds[len(c.Bounds)-1].PerSecond, 1e-6, "the original's way is shown and does not bind")
	assert.Contains(t, strings.Join(c.Words, "\n"), "close")

	f.Rows[1].Errors, f.Rows[2].CV = 3, 0.2
	c = ceiling(f, 2, store.Usage{Cores: 1}, false)
	assert.Zero(t, c.Fraction)
	assert.Len(t, c.Refused, 2)
}

func TestClientCost(t *testing.T) {
	rows := []RowFacts{
		{Row: "set", Depth: 1, Calls: 9, ClientUS: 6.5, ServerUS: 5},
		{Row: "eval-args", Depth: 1, Calls: 9, ClientUS: 7.25, ServerUS: 8},
		{Row: "set-p50", Depth: 50, Calls: 9, ClientUS: 0.25, ServerUS: -1},
		{Row: "cjson10", Depth: 1, ClientUS: 99},
		{Row: rowSaga, Depth: 1, Calls: 9, ClientUS: 70},
	}
	assert.Equal(t, "What the client costs, in CPU of perfbench: a call 6.50 to 7.25 µs (the store 5.00 to 8.00 µs), each of 50 sent together 0.25 µs.\n\n", clientCost(rows))
	assert.Empty(t, clientCost([]RowFacts{{Row: "set", Depth: 1, Calls: 9, ClientUS: -1}}))
}

func TestSpread(t *testing.T) {
	assert.Equal(t, -1.0, spread([]int64{1, 2, 3}))
	assert.Zero(t, spread([]int64{1, 5, 5, 5, 5, 5, 5, 1}))
	assert.InDelta(t, 0.5, spread([]int64{9, 5, 10, 15, 9}), 1e-9)
}

func histogram(t *testing.T, us ...int64) *hdrhistogram.Histogram {
	t.Helper()
	h := hdrhistogram.New(1, 3_600_000_000_000, 3)
	for _, v := range us {
		require.NoError(t, h.RecordValue(v*1000))
	}
	return h
}

func TestRedisBenchmarkLayouts(t *testing.T) {
	facts, err := json.Marshal(Facts{Mode: Mode, Rows: []RowFacts{
		{Row: "set", Title: "SET abcdefg ddddddd", PerSecond: 100000.126},
		{Row: "cjson10", Title: `EVAL x {"id":1}`, PerSecond: 5, Errors: 1},
	}})
	require.NoError(t, err)
	f := &rundir.Folder{Run: rundir.Run{Mode: Mode, Facts: facts}, Histograms: map[string]*hdrhistogram.Histogram{
		"set.call.service": histogram(t, 100, 200, 300),
	}}
	files, err := encodeBenchmark(f)
	require.NoError(t, err)
	require.Len(t, files, 2)
	lines := strings.Split(string(files[0].Data), "\n")
	assert.Equal(t, "SET abcdefg ddddddd: 100000.13 requests per second, p50=0.200 msec", lines[0])
	rows, err := csv.NewReader(strings.NewReader(string(files[1].Data))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 3)
	assert.Equal(t, []string{"test", "rps", "avg_latency_ms", "min_latency_ms", "p50_latency_ms", "p95_latency_ms", "p99_latency_ms", "max_latency_ms"}, rows[0])
	assert.Equal(t, "SET abcdefg ddddddd", rows[1][0])
	assert.Equal(t, "0.100", rows[1][3])
	assert.Equal(t, []string{`EVAL x {"id":1}`, "0.00"}, rows[2][:2])
}

// What ours looks like to those who read the tool's output.
func TestLayoutsAreThoseOfTheTool(t *testing.T) {
	tool, err := exec.LookPath("redis-benchmark")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-benchmark is not on the PATH (Debian package redis-tools)")
		}
		t.Skip("redis-benchmark is not on the PATH (Debian package redis-tools)")
	}
	facts, err := json.Marshal(Facts{Mode: Mode, Rows: []RowFacts{{Row: "set", Title: "SET abcdefg ddddddd", PerSecond: 100000.126}}})
	require.NoError(t, err)
	f := &rundir.Folder{Run: rundir.Run{Mode: Mode, Facts: facts}, Histograms: map[string]*hdrhistogram.Histogram{"set.call.service": histogram(t, 100, 200, 300)}}
	files, err := encodeBenchmark(f)
	require.NoError(t, err)
	host, port, _ := strings.Cut(labtest.Redis(t).Addr(), ":")
	whole, digit := regexp.MustCompile(`[0-9]+\.`), regexp.MustCompile(`[0-9]`)
	for i, how := range []string{"-q", "--csv"} {
		out, err := exec.CommandContext(t.Context(), tool, "-h", host, "-p", port, "-n", "1000", how, "SET", "abcdefg", "ddddddd").Output()
		require.NoError(t, err)
		// A line that shows progress is written over.
		text := string(out[strings.LastIndexByte(string(out), '\r')+1:])
		shape := func(s string) string { return digit.ReplaceAllString(whole.ReplaceAllString(s, "0."), "0") }
		assert.Equal(t, shape(text), shape(string(files[i].Data)), "the numbers aside, but not how many decimals they have")
	}
}
