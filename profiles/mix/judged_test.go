package mix

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/replay"
)

// What is shown of replays on one kind of server.
type judged struct {
	start func(t *testing.T) *labtest.Server
	// fill has so many products there, whose numbers begin with 0.
	fill func(t *testing.T, srv *labtest.Server, products int)
	// file records what is asked about them.
	file func(t *testing.T, products int) string
	// spoil gives some products other names.
	spoil func(t *testing.T, srv *labtest.Server, ids []int)
}

// judgedOn are the servers, by name.
var judgedOn = map[string]judged{
	"redis":    {start: func(t *testing.T) *labtest.Server { return labtest.Redis(t) }, fill: fillRedis, file: askRedis, spoil: spoilRedis},
	"postgres": onDatabase("postgres"),
	"mysql":    onDatabase("mysql"),
}

func onDatabase(store string) judged {
	return judged{
		start: func(t *testing.T) *labtest.Server { return serverOf(t, store) },
		fill:  func(t *testing.T, srv *labtest.Server, n int) { stocked(t, store, database(t, store, srv), n) },
		file:  func(t *testing.T, n int) string { return inquiries(t, store, n) },
		spoil: func(t *testing.T, srv *labtest.Server, ids []int) {
			in := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(ids)), ","), "[]")
			_, err := database(t, store, srv).ExecContext(t.Context(), "UPDATE product SET name = concat(name, '!') WHERE id IN ("+in+")")
			require.NoError(t, err)
		},
	}
}

func redisClient(t *testing.T, srv *labtest.Server) *goredis.Client {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func fillRedis(t *testing.T, srv *labtest.Server, products int) {
	t.Helper()
	c := redisClient(t, srv)
	for i := range products {
		require.NoError(t, c.HSet(t.Context(), fmt.Sprintf("product:%d", i), "name", fmt.Sprintf("p%d", i), "stock", i%13).Err())
	}
}

// askRedis records reads of each product, of sets that have an order of their own, of a time, and
// writes in between.
func askRedis(t *testing.T, products int) string {
	t.Helper()
	var calls []capture.Call
	at := time.Duration(0)
	add := func(conn int, words ...string) {
		at += 20 * time.Microsecond
		calls = append(calls, capture.Call{At: at, Conn: int64(conn), Args: args(words...), Keys: []int{1}})
	}
	for i := range products {
		c, id := i%20+1, strconv.Itoa(i)
		add(c, "HGET", "product:"+id, "name")
		add(c+1, "HINCRBY", "product:"+id, "stock", "-1")
		add(c, "SADD", "seen", id)
		add(c, "SCARD", "seen")
		if i%10 == 0 {
			add(c, "SMEMBERS", "seen")
			add(c, "SETEX", "basket:"+id, "100", id)
			add(c+1, "TTL", "basket:"+id)
			add(c, "LPUSH", "seen", "x") // an error
		}
	}
	return recorded(t, capture.Header{}, calls...)
}

func spoilRedis(t *testing.T, srv *labtest.Server, ids []int) {
	t.Helper()
	c := redisClient(t, srv)
	for _, id := range ids {
		require.NoError(t, c.HSet(t.Context(), fmt.Sprintf("product:%d", id), "name", fmt.Sprintf("p%d!", id)).Err())
	}
}

// judge replays on a server as often as said, in which nothing may be found, and then with some
// products that have got other names, all of which must be.
func (j judged) judge(t *testing.T, products, times, spoilt int) {
	t.Helper()
	srv := j.start(t)
	j.fill(t, srv, products)
	kept := filepath.Join(t.TempDir(), "old.answers")
	c := profiletest.Case{Profile: Profile(), Target: j.start(t).URL(), Files: []string{j.file(t, products)}, Set: []string{"snapshot=" + srv.URL(), "speed=unlimited", "namespace=judged"}, Out: t.TempDir(), Errors: true}
	require.NoError(t, c.With("keep-answers="+kept).Run(t).Err)
	answers := func() *workload.Answers {
		o := c.With("expect-answers=" + kept).Run(t)
		require.NoError(t, o.Err)
		f := profiletest.Facts[replay.Facts](t, o)
		require.NotNil(t, f.Replay.Answers)
		assert.Equal(t, f.Replay.Calls, f.Replay.Answers.Compared)
		return f.Replay.Answers
	}
	for i := range times {
		a := answers()
		assert.Zero(t, a.Differ, "replay %d: %+v", i+1, a)
	}
	var ids []int
	for i := 0; len(ids) < spoilt; i++ { // of which no statement asks but by their number
		require.Less(t, i, products)
		if i%13 < 5 {
			ids = append(ids, i)
		}
	}
	j.spoil(t, srv, ids)
	assert.EqualValues(t, spoilt, answers().Differ)
}

// On the same server nothing differs, and each of a few answers that do is found.
func TestAnswersAreJudged(t *testing.T) {
	tier.Full(t, "TestAnswersAreCompared and TestAnswersToStatementsAreCompared")
	t.Parallel()
	for name, j := range judgedOn {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j.judge(t, 100, 1, 10)
		})
	}
}

func TestProofThat100Of100DifferencesAreFoundAndNoneInvented(t *testing.T) {
	tier.Proof(t, "TestAnswersAreJudged finds ten, and invents none in one replay")
	for name, j := range judgedOn {
		t.Run(name, func(t *testing.T) { j.judge(t, 1000, 10, 100) })
	}
}

// slower replays in turn on a server that answers after a while, and on one that takes so many per
// cent longer, and says what the comparison of the medians comes to. The snapshot is copied at full
// speed, and so is what comes before the measurement.
func (j judged) slower(t *testing.T, percent float64, products, runs int) compare.Verdict {
	t.Helper()
	const usual = 20 * time.Millisecond // of which five per cent is the least that timers of Go tell apart
	srv, snapshot := j.start(t), j.start(t)
	j.fill(t, snapshot, products)
	file, out := j.file(t, products), t.TempDir()
	var dirs [2][]string
	var targets [2]string
	proxies := [2]*proxy.Proxy{proxy.New(), proxy.New()}
	for side, p := range proxies {
		t.Cleanup(p.Close)
		through, err := p.Address(srv.Addr())
		require.NoError(t, err)
		targets[side] = strings.Replace(srv.URL(), srv.Addr(), through, 1)
	}
	for i := range 2 * runs {
		side := (i + i/2) % 2 // which is the first takes turns, too
		l, err := profiletest.Case{
			Profile: Profile(), Target: targets[side], Files: []string{file}, Out: out, Errors: true,
			Set: []string{"snapshot=" + snapshot.URL(), "speed=unlimited", "namespace=slower", "warmup=50ms", "duration=1m"},
		}.Start(t.Context(), t)
		require.NoError(t, err)
		proxies[side].Set(proxy.State{Delay: time.Duration(float64(usual) * (1 + float64(side)*percent/100))})
		o := profiletest.Finish(t, l)
		proxies[side].Set(proxy.State{})
		require.NoError(t, o.Err)
		dirs[side] = append(dirs[side], o.Dir)
	}
	a, err := compare.ReadRuns("usual", dirs[0])
	require.NoError(t, err)
	b, err := compare.ReadRuns("slower", dirs[1])
	require.NoError(t, err)
	c := compare.Sets(a, b, compare.Options{Tolerance: 0.02})
	require.Empty(t, c.Refusals)
	for _, f := range c.Parts[0].Findings {
		if f.Figure == compare.P50 {
			t.Logf("the median is %.1f %% (%.1f to %.1f) more: %s", 100*f.Change, 100*f.Lo, 100*f.Hi, f.Verdict)
			return f.Verdict
		}
	}
	require.Fail(t, "there is no median")
	return ""
}

// A slower server is found to be slower. How much slower it has to be depends on how busy the machine
// is, so that it takes twice as long here, and is tried again.
func TestASlowerServerIsFound(t *testing.T) {
	tier.Full(t, "internal/compare has made-up runs")
	t.Parallel()
	for range 5 {
		if judgedOn["postgres"].slower(t, 100, 60, 3) == compare.Worse {
			return
		}
	}
	require.Fail(t, "it was never found")
}

// On a machine that others use, too, most of these comparisons are rightly unsure.
func TestProofThatNineOfTenSlowdownsOf5PercentAreFound(t *testing.T) {
	tier.Proof(t, "TestASlowerServerIsFound finds one of PostgreSQL's, which is larger")
	for _, name := range []string{"redis", "postgres"} {
		t.Run(name, func(t *testing.T) {
			found := map[compare.Verdict]int{}
			for range 10 {
				found[judgedOn[name].slower(t, 5, 300, 5)]++
			}
			assert.GreaterOrEqual(t, found[compare.Worse], 9, "%v", found)
		})
	}
	t.Run("as fast", func(t *testing.T) {
		found := map[compare.Verdict]int{}
		for range 10 {
			found[judgedOn["postgres"].slower(t, 0, 300, 5)]++
		}
		assert.LessOrEqual(t, found[compare.Worse]+found[compare.Better], 1, "%v", found)
	})
}
