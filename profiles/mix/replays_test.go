package mix

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/replay"
)

// args makes arguments of words; a number in angle brackets is a size alone.
func args(words ...string) (out []capture.Arg) {
	for _, w := range words {
		if w[0] == '<' {
			n, _ := strconv.Atoi(w[1 : len(w)-1])
			out = append(out, capture.Arg{Kind: capture.Size, Size: n})
			continue
		}
		out = append(out, capture.TextArg(w))
	}
	return out
}

// recorded writes a capture.
func recorded(t testing.TB, h capture.Header, calls ...capture.Call) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.capture")
	if h.Store == "" {
		h.Store = "redis"
	}
	if h.Timing == "" {
		h.Timing = capture.Exact
	}
	h.Source, h.How, h.Started = "redis://shop", "MONITOR", time.Unix(1_700_000_000, 0)
	w, err := capture.Create(path, h, 0)
	require.NoError(t, err)
	for i := range calls {
		require.NoError(t, w.Add(&calls[i]))
	}
	require.NoError(t, w.Close("the time was up"))
	return path
}

const (
	connections = 40
	each        = 60
)

// shop is what many connections ask, among them transactions and what is left out.
func shop(t *testing.T, h capture.Header) string {
	t.Helper()
	var calls []capture.Call
	at := time.Duration(0)
	add := func(conn, db int, keys []int, words ...string) {
		at += 50 * time.Microsecond
		calls = append(calls, capture.Call{At: at, Conn: int64(conn), DB: db, Args: args(words...), Keys: keys})
	}
	for i := range each {
		for c := 1; c <= connections; c++ {
			add(c, c%3, []int{1}, "RPUSH", fmt.Sprintf("list:%d", c), strconv.Itoa(i))
			if c%10 == 0 {
				add(c, 0, nil, "MULTI")
				add(c, 0, []int{1}, "INCRBY", fmt.Sprintf("sum:{%d}", c), "2")
				add(c, 0, []int{1}, "SET", fmt.Sprintf("last:{%d}", c), "<5>")
				add(c, 0, nil, map[bool]string{true: "EXEC", false: "DISCARD"}[i%2 == 0])
			}
		}
	}
	add(1, 0, nil, "FLUSHALL")
	add(1, 0, []int{1}, "BLPOP", "list:1", "0")
	add(2, 0, nil, "EXEC")
	add(3, 0, nil, "MULTI")
	return recorded(t, h, calls...)
}

// The calls of each connection arrive in their order, however many threads make them and however
// fast, under keys of the run's own; transactions are whole.
func TestAReplayKeepsTheOrderOfEachConnection(t *testing.T) {
	t.Parallel()
	for name, set := range map[string][]string{
		"folded": {"threads=3", "speed=unlimited"}, "as recorded": nil, "by key": {"order=key", "threads=5", "speed=4"}, "at a rate": {"rate=50000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := labtest.Redis(t)
			c := profiletest.Case{Profile: Profile(), Target: srv.URL(), Files: []string{shop(t, capture.Header{})}, Set: append([]string{"namespace=again"}, set...), Out: t.TempDir()}
			for range 2 { // what the first has left is not in the way of the second
				o := c.Run(t)
				require.NoError(t, o.Err)
				require.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
				f := profiletest.Facts[replay.Facts](t, o)
				assert.EqualValues(t, connections*each+4*each/2, f.Replay.Calls)
				assert.Equal(t, f.Replay.Calls, f.Replay.Made)
				assert.Equal(t, map[string]int64{
					"about the whole server, or all keys": 1, "waits until another writes": 1, "transactions of which a part is missing": 2,
					"transactions that were given up": 4 * each / 2 * 4,
				}, f.Replay.LeftOut)
				r := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
				defer r.Close() //nolint:errcheck // it was only read
				var want []string
				for i := range each {
					want = append(want, strconv.Itoa(i))
				}
				for n := 1; n <= connections; n++ {
					assert.Equal(t, want, r.LRange(t.Context(), fmt.Sprintf("again:replay:%d:list:%d", n%3, n), 0, -1).Val())
				}
				assert.Equal(t, strconv.Itoa(each), r.Get(t.Context(), "again:replay:0:sum:{10}").Val())
				assert.Len(t, r.Get(t.Context(), "again:replay:0:last:{10}").Val(), 5)
			}
		})
	}
}

// A call that is tried again is the same call, and those behind it wait for it.
func TestARecordedCallIsTriedAgain(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	c := profiletest.Case{
		Profile: Profile(), Target: srv.URL(), Files: []string{shop(t, capture.Header{})}, Errors: true,
		Set: []string{"namespace=again", "threads=6", "rate=5000", "client=retries=100,backoff=10ms"}, Timetable: []string{"50ms..700ms:fault=refused"},
	}
	o := c.Run(t)
	require.NoError(t, o.Err)
	f := profiletest.Facts[replay.Facts](t, o)
	assert.Equal(t, f.Replay.Calls, f.Replay.Made)
	retries, failed := int64(0), int64(0)
	for _, op := range o.Run.Operations {
		retries, failed = retries+op.Retries, failed+op.Errors
	}
	assert.Positive(t, retries, "something was refused")
	r := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	defer r.Close() //nolint:errcheck // it was only read
	missing := int64(0)
	for n := 1; n <= connections; n++ {
		next := 0
		for _, v := range r.LRange(t.Context(), fmt.Sprintf("again:replay:%d:list:%d", n%3, n), 0, -1).Val() {
			got, err := strconv.Atoi(v)
			require.NoError(t, err)
			if got == next-1 {
				continue // it was carried out twice, because its answer was lost
			}
			require.GreaterOrEqual(t, got, next, "in the order of the connection")
			missing += int64(got - next)
			next = got + 1
		}
		missing += int64(each - next)
	}
	assert.LessOrEqual(t, missing, failed, "what is missing has failed in the end")
}

// What is read first is there if it was, or if nobody knows; and nothing of others is touched.
func TestAReplayStartsWithWhatIsReadFirst(t *testing.T) {
	t.Parallel()
	hit, miss := capture.Found{Known: true, Hit: true, Size: 700}, capture.Found{Known: true}
	one := []int{1}
	path := recorded(t, capture.Header{},
		capture.Call{Conn: 1, Args: args("GET", "there"), Keys: one, Found: hit},
		capture.Call{Conn: 1, At: 1000, Args: args("GET", "absent"), Keys: one, Found: miss},
		capture.Call{Conn: 1, At: 2000, Args: args("SET", "absent", "<50>"), Keys: one},
		capture.Call{Conn: 2, At: 3000, Args: args("GET", "unknown"), Keys: one},
		capture.Call{Conn: 2, At: 4000, Args: args("HMGET", "person", "name", "mail"), Keys: one},
		capture.Call{Conn: 2, At: 5000, Args: args("HGET", "person", "name"), Keys: one},
		capture.Call{Conn: 2, At: 6000, Args: args("SMEMBERS", "tags"), Keys: one},
		capture.Call{Conn: 2, At: 7000, Args: args("INCR", "absent2"), Keys: one},
		capture.Call{Conn: 2, At: 8000, Args: args("SET", "soon", "<3>", "PXAT", strconv.FormatInt(time.Unix(1_700_000_100, 0).UnixMilli(), 10)), Keys: one},
	)
	for _, name := range []string{"redis", "embedded", "cluster", "sentinel"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := profiletest.Case{Profile: Profile(), Target: profiletest.Target(t, name), Files: []string{path}, Set: []string{"namespace=first"}}
			f := profiletest.Facts[replay.Facts](t, profiletest.Drive(t, c).Concluded)
			assert.EqualValues(t, 4, f.Replay.Loaded)
			assert.EqualValues(t, 3, f.Replay.Assumed)
			assert.EqualValues(t, 1, f.Replay.Unfilled)
			assert.EqualValues(t, 3, f.Hits)
			assert.EqualValues(t, 1, f.Misses)
			require.NotNil(t, f.Replay.RecordedHitRatio)
			assert.InDelta(t, 0.5, *f.Replay.RecordedHitRatio, 0)
			assert.InDelta(t, 0.5, *f.Replay.ReplayedHitRatio, 0)
		})
	}
	c := profiletest.Case{Profile: Profile(), Target: profiletest.Target(t, "redis"), Files: []string{path}, Set: []string{"namespace=first", "load=skip"}}
	f := profiletest.Facts[replay.Facts](t, c.Run(t))
	assert.Zero(t, f.Hits, "nothing was loaded")
	o := c.Run(t)
	assert.Contains(t, strings.Join(o.Run.Verdict.Reasons, "\n"), "0 % of the reads found something, and 50 % did when they were recorded")
}

// What cannot be replayed is refused in a sentence, before anything is written.
func TestReplaysThatAreRefused(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	r := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	defer r.Close() //nolint:errcheck // it was only asked
	info := r.InfoMap(t.Context(), "server").Val()["Server"]
	get := capture.Call{Conn: 1, Args: args("GET", "k"), Keys: []int{1}}
	good := recorded(t, capture.Header{}, get)
	notOne := filepath.Join(t.TempDir(), "cut.capture")
	data, err := os.ReadFile(good)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(notOne, data[:20], 0o600))
	for _, c := range []struct {
		file, target string
		set          []string
		says         string
	}{
		{recorded(t, capture.Header{Identity: info["run_id"]}, get), srv.URL(), nil, "this is the server that "},
		{recorded(t, capture.Header{Store: "coherence"}, get), srv.URL(), nil, "calls of coherence cannot be made again yet"},
		{recorded(t, capture.Header{Store: "cassandra"}, get), srv.URL(), nil, "its full query log says neither in which keyspace"},
		{recorded(t, capture.Header{}, capture.Call{Conn: 1, Args: args("FLUSHALL")}), srv.URL(), nil, "there is no call in it that could be made again"},
		{notOne, srv.URL(), nil, "the file ends before its header does"},
		{good, "memory:", nil, "can only be made again on Redis"},
		{good, srv.URL(), []string{"threads=513"}, "a replay has at most 512"},
		{good, srv.URL(), []string{"records=5"}, "records (flag --set): a replay makes the calls that were recorded"},
		{recorded(t, capture.Header{Timing: capture.Unknown}, get), srv.URL(), []string{"speed=2"}, "only the order of the calls was recorded"},
		{good, srv.URL(), []string{"speed=2", "rate=5"}, "speed and rate both"},
		{good, srv.URL(), []string{"count=5"}, "a replay makes as many calls as were recorded"},
		{"", srv.URL(), []string{"speed=2"}, "it is about a replay, and no capture was named"},
	} {
		one := profiletest.Case{Profile: Profile(), Target: c.target, Set: c.set}
		if c.file != "" {
			one.Files = []string{c.file}
		}
		_, err := one.Start(context.WithoutCancel(t.Context()), t)
		require.ErrorContains(t, err, c.says)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), err)
	}
	assert.Empty(t, r.Keys(t.Context(), "*").Val())
}

// busy is what many connections ask of few keys at once, with answers that the order of the calls of
// each key decides, and some that it does not.
func busy(t *testing.T) string {
	t.Helper()
	var calls []capture.Call
	one := []int{1}
	for i := range 4000 {
		key := fmt.Sprintf("k%d", i%7)
		var words []string
		keys := one
		switch i % 10 {
		case 0:
			words = []string{"SET", key, strconv.Itoa(i)}
		case 1:
			words = []string{"APPEND", key, "x"}
		case 2:
			words = []string{"SADD", "set:" + key, strconv.Itoa(i % 50)}
		case 3:
			words = []string{"SMEMBERS", "set:" + key}
		case 4:
			words = []string{"HSET", "hash:" + key, "f" + strconv.Itoa(i%20), strconv.Itoa(i)}
		case 5:
			words = []string{"HGETALL", "hash:" + key}
		case 6:
			words, keys = []string{"OBJECT", "ENCODING", "hash:" + key}, []int{2}
		case 7:
			words = []string{"LPUSH", key, "x"} // an error
		case 8:
			words, keys = []string{"MSET", "a" + key, strconv.Itoa(i), "b" + key, strconv.Itoa(i)}, []int{1, 3}
		default:
			words = []string{map[bool]string{true: "GET", false: "TTL"}[i%20 == 9], "a" + key}
		}
		calls = append(calls, capture.Call{At: time.Duration(i) * 10 * time.Microsecond, Conn: int64(i%13) + 1, Args: args(words...), Keys: keys})
	}
	return recorded(t, capture.Header{}, calls...)
}

// Answers are the same on the same server, however the calls of different keys fall; all that are
// changed are found, and a server with another setting is told by the answers that show it.
func TestAnswersAreCompared(t *testing.T) {
	t.Parallel()
	path, kept := busy(t), filepath.Join(t.TempDir(), "old.answers")
	srv := labtest.Redis(t)
	c := profiletest.Case{Profile: Profile(), Target: srv.URL(), Files: []string{path}, Set: []string{"threads=9", "speed=unlimited"}, Out: t.TempDir(), Errors: true}
	require.NoError(t, c.With("keep-answers="+kept).Run(t).Err)
	answers := func(target, file string) (*workload.Answers, string) {
		c := c
		c.Target = target
		o := c.With("expect-answers="+file, "namespace=other").Run(t)
		f := profiletest.Facts[replay.Facts](t, o)
		require.NotNil(t, f.Replay.Answers)
		require.NotNil(t, o.Run.Verification.Differ)
		assert.Equal(t, f.Replay.Answers.Differ, *o.Run.Verification.Differ)
		return f.Replay.Answers, o.Run.Verification.State
	}
	for range 3 {
		a, state := answers(srv.URL(), kept)
		assert.Zero(t, a.Differ, "%+v", a)
		assert.EqualValues(t, 4000, a.Compared)
		assert.EqualValues(t, 800, a.Kinds, "those of several keys at once, and times to live")
		assert.Equal(t, workload.Passed, state)
	}

	data, err := os.ReadFile(kept)
	require.NoError(t, err)
	const record = 21
	for i := range 100 {
		at := len(data) - (i*37+1)*record
		data[at+8] ^= 3 // a value becomes nothing, and an error none at all
		if data[at+8] == 0 {
			data[at+8] = 1
		}
	}
	changed := filepath.Join(t.TempDir(), "changed.answers")
	require.NoError(t, os.WriteFile(changed, data, 0o600))
	a, state := answers(srv.URL(), changed)
	assert.EqualValues(t, 100, a.Differ)
	assert.Len(t, a.Examples, 10)
	assert.Equal(t, workload.Passed, state, "the figures count")

	a, _ = answers(labtest.Redis(t, "--hash-max-listpack-entries", "1").URL(), kept)
	require.Len(t, a.Commands, 1, "%+v", a)
	assert.Equal(t, "OBJECT", a.Commands[0].Command)
	assert.Contains(t, a.Examples[0], `"hashtable"; before, a value of size 8`)

	for file, says := range map[string]string{path: "has no answers", filepath.Join(t.TempDir(), "none"): "no such file"} {
		_, err := c.With("expect-answers="+file, "namespace=third").Start(context.WithoutCancel(t.Context()), t)
		require.ErrorContains(t, err, says)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
	_, err = c.With("keep-answers="+kept).Start(context.WithoutCancel(t.Context()), t)
	require.ErrorContains(t, err, "is there already")
	c.Files = []string{shop(t, capture.Header{})}
	_, err = c.With("expect-answers="+kept).Start(context.WithoutCancel(t.Context()), t)
	require.ErrorContains(t, err, "has the answers to another capture")
}

// A replay begins with what another server has, of every structure and database, and with the time
// that is left of what expires; nothing is written there.
func TestAReplayBeginsWithASnapshot(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB, ...string) *labtest.Server{"alone": labtest.Redis, "cluster": func(t testing.TB, _ ...string) *labtest.Server { return labtest.Cluster(t) }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "cluster" {
				tier.Full(t, "the case alone")
			}
			snapshot, srv := labtest.Redis(t), start(t)
			ctx := t.Context()
			old := goredis.NewClient(&goredis.Options{Addr: snapshot.Addr()})
			defer old.Close() //nolint:errcheck // a test's
			for i := range 1000 {
				require.NoError(t, old.Set(ctx, fmt.Sprintf("user:%d", i), i, 0).Err())
			}
			require.NoError(t, old.RPush(ctx, "list", "a", "b").Err())
			require.NoError(t, old.Set(ctx, "soon", "x", time.Hour).Err())
			require.NoError(t, old.Set(ctx, "large", strings.Repeat("x", 10<<20), 0).Err())
			other := goredis.NewClient(&goredis.Options{Addr: snapshot.Addr(), DB: 3})
			defer other.Close() //nolint:errcheck // a test's
			require.NoError(t, other.HSet(ctx, "hash", "f", "v").Err())
			changes := func() string {
				_, rest, _ := strings.Cut(old.Info(ctx, "persistence").String(), "rdb_changes_since_last_save:")
				n, _, _ := strings.Cut(rest, "\r")
				return n
			}
			before := changes()
			require.NotEmpty(t, before)

			calls := []capture.Call{{Conn: 1, Args: args("GET", "user:7"), Keys: []int{1}}, {At: time.Millisecond, Conn: 1, Args: args("GET", "nobody"), Keys: []int{1}}}
			c := profiletest.Case{Profile: Profile(), Target: srv.URL(), Files: []string{recorded(t, capture.Header{}, calls...)}, Set: []string{"namespace=again", "snapshot=" + snapshot.URL()}, Out: t.TempDir()}
			for range 2 {
				o := c.Run(t)
				require.NoError(t, o.Err)
				f := profiletest.Facts[replay.Facts](t, o)
				assert.EqualValues(t, 1004, f.Replay.Copied)
				assert.Zero(t, f.Replay.Loaded)
				assert.EqualValues(t, 1, f.Hits)
				assert.EqualValues(t, 1, f.Misses, "what the snapshot lacks is not made up")
			}
			var now goredis.UniversalClient = goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
			if name == "cluster" {
				now = goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: srv.Addrs("node")})
			}
			defer now.Close() //nolint:errcheck // a test's
			assert.Equal(t, []string{"a", "b"}, now.LRange(ctx, "again:replay:0:list", 0, -1).Val())
			assert.Equal(t, "v", now.HGet(ctx, "again:replay:3:hash", "f").Val())
			assert.InDelta(t, time.Hour, now.TTL(ctx, "again:replay:0:soon").Val(), float64(time.Minute))
			assert.Len(t, now.Get(ctx, "again:replay:0:large").Val(), 10<<20)
			assert.Equal(t, "999", now.Get(ctx, "again:replay:0:user:999").Val())
			assert.Equal(t, before, changes(), "nothing was written there")
		})
	}
}

// What cannot be the start of a replay is refused before anything is written.
func TestSnapshotsThatAreRefused(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	file := recorded(t, capture.Header{}, capture.Call{Conn: 1, Args: args("GET", "k"), Keys: []int{1}})
	for want, c := range map[string]profiletest.Case{
		"snapshot: this is the target itself":                      {Target: srv.URL(), Set: []string{"snapshot=" + srv.URL()}},
		"snapshot: memory: is no Redis":                            {Target: srv.URL(), Set: []string{"snapshot=memory:"}},
		"load=auto (flag --set) would make it up":                  {Target: srv.URL(), Set: []string{"snapshot=redis://x", "load=auto"}},
		"snapshot: embedded: cannot take over the data of a Redis": {Target: "embedded:", Set: []string{"snapshot=" + srv.URL()}},
		"snapshot: what the capture says is anonymised":            {Target: srv.URL(), Set: []string{"snapshot=redis://x"}, Files: []string{recorded(t, capture.Header{Anonymised: true}, capture.Call{Conn: 1, Args: args("GET", "k"), Keys: []int{1}})}},
		"snapshot: redis: 127.0.0.1:1: connection refused":         {Target: srv.URL(), Set: []string{"snapshot=redis://127.0.0.1:1"}},
	} {
		c.Profile, c.Out = Profile(), t.TempDir()
		if c.Files == nil {
			c.Files = []string{file}
		}
		c.Set = append(c.Set, "namespace=again")
		l, err := c.Start(t.Context(), t)
		if err == nil {
			err = l.Conclude(t.Context()).Err
		}
		assert.ErrorContains(t, err, want)
	}
	r := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	defer r.Close() //nolint:errcheck // a test's
	keys, err := r.Keys(t.Context(), "again:replay*").Result()
	require.NoError(t, err)
	assert.Empty(t, keys)
}

// Several workers make the calls of a recording together: each connection's by one of them, in
// their order, and in as much time as it was recorded in.
func TestAReplayBySeveralWorkers(t *testing.T) {
	t.Parallel()
	for name, set := range map[string][]string{"as recorded": {"speed=0.5"}, "folded, by key": {"order=key", "threads=7", "speed=unlimited"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := labtest.Redis(t)
			c := profiletest.Case{Profile: Profile(), Target: srv.URL(), Files: []string{shop(t, capture.Header{})}, Set: append([]string{"namespace=again"}, set...), Out: t.TempDir()}
			o := c.Together(t, 3)
			require.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
			f := profiletest.Facts[replay.Facts](t, o)
			assert.Equal(t, f.Replay.Calls, f.Replay.Made)
			assert.EqualValues(t, f.Replay.Calls, whole(&o.Run))
			r := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
			defer r.Close() //nolint:errcheck // it was only read
			var want []string
			for i := range each {
				want = append(want, strconv.Itoa(i))
			}
			for n := 1; n <= connections; n++ {
				assert.Equal(t, want, r.LRange(t.Context(), fmt.Sprintf("again:replay:%d:list:%d", n%3, n), 0, -1).Val())
			}
			if name == "as recorded" { // 50 µs from call to call
				recorded := (connections*each + 4*4*each) * 50e-6
				assert.GreaterOrEqual(t, o.Run.MeasuredS, 2*recorded*0.9)
			}
		})
	}
}

// What one process alone can do is refused of several.
func TestAnswersAreNotComparedByWorkers(t *testing.T) {
	t.Parallel()
	file := shop(t, capture.Header{})
	c := profiletest.Case{Profile: Profile(), Target: labtest.Redis(t).URL(), Files: []string{file}, Set: []string{"namespace=again", "keep-answers=" + filepath.Join(t.TempDir(), "a")}, Out: t.TempDir()}
	p, err := c.Prepare(t.Context(), t)
	require.NoError(t, err)
	_, err = p.WithWorkers(crew.Ask{Workers: 2, Listen: "127.0.0.1:0"})
	assert.ErrorContains(t, err, "answers are kept and compared by one process")
}
