package saga

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
	"github.com/perfbench/perfbench/profiles/tx/saga/onmemory"
	"github.com/perfbench/perfbench/profiles/tx/saga/onredis"
	"github.com/perfbench/perfbench/profiles/tx/saga/onsql"
)

// commands counts what a server has been asked for since it was reset, script
// calls of any kind under "script".
func commands(t *testing.T, c store.Conn) map[string]int {
	t.Helper()
	info, err := c.(redis.Typed).Client().InfoMap(t.Context(), "commandstats").Result()
	require.NoError(t, err)
	out := map[string]int{}
	for name, v := range info["Commandstats"] {
		n, err := strconv.Atoi(strings.TrimPrefix(strings.SplitN(v, ",", 2)[0], "calls="))
		require.NoError(t, err)
		switch name = strings.TrimPrefix(name, "cmdstat_"); name {
		case "eval", "evalsha", "fcall":
			out["script"] += n
		default:
			out[name] += n
		}
	}
	return out
}

// What a transaction costs the store, by its branches and the step that fails.
func TestCostOfASaga(t *testing.T) {
	srv := labtest.Redis(t)
	type want struct{ script, get, set, rpush, lset, zadd, zrem, expire int }
	for _, c := range []struct {
		n, k int
		want want
	}{
		{1, 0, want{3, 3, 4, 2, 1, 1, 1, 5}},
		{2, 0, want{4, 4, 4, 4, 2, 1, 1, 6}},
		{3, 0, want{5, 5, 4, 6, 3, 1, 1, 7}},
		{5, 0, want{7, 7, 4, 10, 5, 1, 1, 9}},
		{2, 1, want{5, 5, 6, 4, 2, 1, 1, 6}},
		{2, 2, want{7, 7, 6, 4, 4, 1, 1, 8}},
		{3, 2, want{7, 7, 6, 6, 4, 1, 1, 8}},
		{3, 3, want{9, 9, 6, 6, 6, 1, 1, 10}},
	} {
		for _, how := range []string{link.BySHA, link.ByText, link.ByFunction} {
			t.Run(fmt.Sprintf("branches=%d failing=%d script=%s", c.n, c.k, how), func(t *testing.T) {
				vs := given("mode=saga", "accounts=off", "threads=1", "transactions=10", "checkInterval=0s", "countCalls=off",
					"script="+how, fmt.Sprint("branches=", c.n))
				if c.k > 0 {
					vs = given("mode=saga", "accounts=off", "threads=1", "transactions=10", "checkInterval=0s", "countCalls=off",
						"script="+how, fmt.Sprint("branches=", c.n), "failRate=1", fmt.Sprint("failAt=", c.k))
				}
				p, conn := ready(t, srv.URL(), inputs(vs))
				// The first call of each script may have to send its text.
				warm := *p
				warm.Phases[0].Tracks[0].Iterations = 1
				profiletest.Work(t, &warm)
				client := conn.(redis.Typed).Client()
				require.NoError(t, client.ConfigResetStat(t.Context()).Err())
				p.Phases[0].Tracks[0].Iterations = 10
				res := profiletest.Work(t, p)
				good, bad := res.Ops[model.OpSaga].Calls, res.Ops[model.OpSaga].Errors
				assert.EqualValues(t, 10, good)
				assert.Zero(t, bad)
				got := commands(t, conn)
				assert.Equal(t, c.want, want{
					got["script"] / 10, got["get"] / 10, got["set"] / 10, got["rpush"] / 10,
					got["lset"] / 10, got["zadd"] / 10, got["zrem"] / 10, got["expire"] / 10,
				})
				v := p.Verify(t.Context())
				assert.Equal(t, workload.Passed, v.State, v)
			})
		}
	}
}

func TestRowsOfAFailedSaga(t *testing.T) {
	srv := labtest.Redis(t)
	p, conn := ready(t, srv.URL(), inputs(given("mode=saga", "threads=1", "transactions=1", "branches=3", "failRate=1", "failAt=2")))
	profiletest.Work(t, p)
	sp := p.Binder.(Binding).Spec
	got, err := onredis.New(conn.(redis.Typed), sp).Read(t.Context(), 0, []string{string(model.AppendGid(nil, sp.Stamp, 0, 0))})
	require.NoError(t, err)
	assert.Equal(t, model.Failed, got[0].Status)
	assert.Equal(t, []string{model.Succeed, model.Succeed, model.Succeed, model.Failed, model.Prepared, model.Prepared}, got[0].Rows)
	assert.True(t, got[0].Ledger["02action"].Null, "what was refused and then compensated was never done")
	assert.True(t, got[0].Ledger["02compensate"].Null)
	assert.Equal(t, got[0].Ledger["01action"].Amount, -got[0].Ledger["01compensate"].Amount)
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, v)
}

// Servers of every kind that the mode runs on.
var sagaTargets = map[string]func(t *testing.T) string{
	"mariadb":  func(t *testing.T) string { return labtest.Shared(t, "mariadb").URL() },
	"postgres": func(t *testing.T) string { return labtest.Shared(t, "postgres").URL() },
	"sqlite":   func(t *testing.T) string { return "sqlite:" + t.TempDir() + "/saga.db" },
	"memory":   func(*testing.T) string { return "memory:" },
	"embedded": func(*testing.T) string { return "embedded:" },
	"redis":    func(t *testing.T) string { return labtest.Redis(t).URL() },
	"cluster":  func(t *testing.T) string { return labtest.Shared(t, "redis-cluster").URL() },
}

// The barrier: duplicates first, nothing to undo, and too late.
func TestBarrier(t *testing.T) {
	for name, start := range sagaTargets {
		t.Run(name, func(t *testing.T) {
			p, conn := ready(t, start(t), alone(given("mode=saga", "threads=1", "transactions=5", "accountCount=10", "balance=100")))
			sp := p.Binder.(Binding).Spec
			if c, ok := conn.(redis.Typed); ok {
				testBarrier(t, onredis.New(c, sp).Layer().Open())
				return
			}
			if c, ok := conn.(sqlstore.Typed); ok {
				testBarrier(t, onsql.New(common.New(c), sp).Layer().Open())
				return
			}
			m := onmemory.New(conn, sp)
			require.NoError(t, m.Prepare(t.Context(), nil))
			testBarrier(t, m.Open())
		})
	}
}

func testBarrier(t *testing.T, st model.Store) {
	t.Helper()
	ctx := t.Context()
	move := func(gid string, pos int) model.Reply {
		s := &model.Saga{}
		s.Reset(gid, 0, 2, time.Now())
		s.Steps[0], s.Steps[1] = model.Transfer{Account: 1, Amount: -70}, model.Transfer{Account: 2, Amount: 70}
		got, err := st.Move(ctx, s, pos)
		require.NoError(t, err)
		return got
	}
	assert.Equal(t, model.ReplyDone, move("a", model.Action(0)))
	assert.Equal(t, model.ReplyDuplicate, move("a", model.Action(0)), "though 30 would not do for it again")
	assert.Equal(t, model.ReplyRefused, move("b", model.Action(0)), "30 are left")
	assert.Equal(t, model.ReplyNothing, move("b", model.Compensation(0)))
	assert.Equal(t, model.ReplyTooLate, move("b", model.Action(0)), "an action that comes after its compensation is not carried out")
	assert.Equal(t, model.ReplyDone, move("a", model.Compensation(0)))
	assert.Equal(t, model.ReplyDuplicate, move("a", model.Compensation(0)))
	sum := int64(0)
	require.NoError(t, st.Balances(ctx, func(a, n, _ int64) {
		sum += n
		if a == 1 {
			assert.Equal(t, int64(100), n)
		}
	}))
	assert.Equal(t, int64(1000), sum)
}

// A run that was left in the middle is finished by the next one.
func TestTakingUpWhatIsUnfinished(t *testing.T) {
	srv := labtest.Redis(t)
	log := t.TempDir() + "/acks"
	words := []string{"mode=saga", "threads=4", "accountCount=50", "retryInterval=1h", "ackLog=" + log}
	p, conn := ready(t, srv.URL(), inputs(given(append(words, "transactions=200", "ongoingRate=0.3")...)))
	profiletest.Work(t, p) // and no Verify: as if it had been killed
	left := p.Facts(nil).(*Facts).Undecided
	require.Positive(t, left)
	due(t, conn, left)
	q, _ := ready(t, srv.URL(), inputs(given(append(words, "transactions=50")...)))
	f := q.Facts(nil).(*Facts)
	assert.Equal(t, left, f.AtStart.Found)
	assert.Zero(t, f.AtStart.Undecided)
	profiletest.Work(t, q)
	v := q.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	f = q.Facts(nil).(*Facts)
	assert.Equal(t, 200-left, f.EarlierAcked)
	assert.Zero(t, f.EarlierLost)
}

// due makes sagas of the only prefix that wait for their time due, as if that had come.
func due(t *testing.T, conn store.Conn, want int64) {
	t.Helper()
	client, key := conn.(redis.Typed).Client(), "t:saga:{0}:u"
	waiting, err := client.ZRange(t.Context(), key, 0, -1).Result()
	require.NoError(t, err)
	require.Len(t, waiting, int(want))
	for _, gid := range waiting {
		require.NoError(t, client.ZAdd(t.Context(), key, goredis.Z{Score: float64(time.Now().UnixMilli()), Member: gid}).Err())
	}
}

// Finished sagas go when their time is over; rates before and after are told apart.
func TestRetention(t *testing.T) {
	srv := labtest.Redis(t)
	p, conn := ready(t, srv.URL(), inputs(given("mode=saga", "threads=2", "transactions=1000000", "accountCount=50", "finishedExpire=1s", "retryInterval=100ms", "rate=500")))
	keys := func() int64 {
		n, err := conn.(redis.Typed).Client().DBSize(t.Context()).Result()
		require.NoError(t, err)
		return n
	}
	profiletest.WorkUntil(t, p, func() bool {
		f := p.Facts(nil).(*Facts)
		return f.Rates.Sustained > 0 && keys() < 3*f.Done
	})
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	f := p.Facts(nil).(*Facts)
	assert.Positive(t, f.Rates.Burst)
	assert.Positive(t, f.Rates.Sustained)
	assert.Less(t, f.ReadBack, f.Done, "those that have expired are not missed")
	assert.Less(t, keys(), 4*f.Done)
}

func TestOtherAccountsAreRefused(t *testing.T) {
	srv := labtest.Redis(t)
	ready(t, srv.URL(), inputs(given("mode=saga", "accountCount=20")))
	c := open(t, srv.URL())
	p := bound(t, c, "redis", inputs(given("mode=saga", "accountCount=30")))
	err := p.Setup(context.Background(), nil)
	require.ErrorContains(t, err, "accounts=20 balance=1000000 prefixes=1")
}

func TestGids(t *testing.T) {
	stamp := model.Stamp("run", 1)
	gid := string(model.AppendGid(nil, stamp, 1295, 123456789))
	assert.Len(t, gid, model.GidLength)
	w, seq, ok := model.SplitGid(gid, stamp)
	assert.True(t, ok)
	assert.Equal(t, 1295, w)
	assert.Equal(t, int64(123456789), seq)
	_, _, ok = model.SplitGid(gid, model.Stamp("other", 1))
	assert.False(t, ok)
}

func TestLongestStretchWithoutACompletion(t *testing.T) {
	assert.Equal(t, gap{}, longest(nil))
	assert.Equal(t, gap{30, 40}, longest([][]gap{{{0, 10}, {20, 40}}, {{5, 12}, {30, 50}}}))
	assert.Equal(t, gap{}, longest([][]gap{{{0, 10}}, {}}))
}

func TestOrderOfCompensations(t *testing.T) {
	at := func(seq int64, ledger int) model.Entry { return model.Entry{Seq: seq, Ledger: ledger} }
	none := func(seq int64) model.Entry { return model.Entry{Null: true, Seq: seq} }
	for name, c := range map[string]struct {
		ledger map[string]model.Entry
		want   string
	}{
		"as it should be":   {map[string]model.Entry{"01action": at(1, 0), "02action": at(2, 0), "02compensate": at(3, 0), "01compensate": at(4, 0)}, ""},
		"nothing to undo":   {map[string]model.Entry{"01action": at(1, 0), "02action": none(0), "02compensate": none(3), "01compensate": at(4, 0)}, ""},
		"the wrong way":     {map[string]model.Entry{"01action": at(1, 0), "02action": at(2, 0), "02compensate": at(4, 0), "01compensate": at(3, 0)}, "branch 1 was compensated before"},
		"different ledgers": {map[string]model.Entry{"01action": at(1, 1), "02action": at(1, 0), "02compensate": at(2, 0), "01compensate": at(2, 1)}, ""},
		"too late":          {map[string]model.Entry{"01action": at(1, 0), "02action": at(4, 0), "02compensate": at(2, 0), "01compensate": at(3, 0)}, "branch 2 was carried out after"},
	} {
		got := order(&model.Stored{Rows: make([]string, 4), Ledger: c.ledger})
		if c.want == "" {
			assert.Empty(t, got, name)
		} else {
			assert.Contains(t, got, c.want, name)
		}
	}
}

// Functions of the servers do what scripts do, and go with what the run made.
func TestSagasByFunctions(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) string{"redis": sagaTargets["redis"], "cluster": sagaTargets["cluster"]} {
		t.Run(name, func(t *testing.T) {
			target := start(t)
			c := mode.Case(target, "script=function", "threads=4", "transactions=100", "prefixes=4", "accountCount=20",
				"failRate=0.2", "ongoingRate=0.05", "retryInterval=300ms", "cronInterval=10ms", "checkInterval=50ms")
			c.Errors = true
			profiletest.Drive(t, c)
			libraries, err := open(t, target).(redis.Typed).Client().FunctionList(t.Context(), goredis.FunctionListQuery{}).Result()
			require.NoError(t, err)
			assert.Empty(t, libraries)
		})
	}
}

// The embedded store has no functions, and says what to use instead.
func TestNoFunctionsInTheEmbeddedStore(t *testing.T) {
	for _, words := range [][]string{{"mode=saga", "script=function"}} {
		err := bound(t, open(t, "embedded:"), "embedded", inputs(given(words...))).Setup(t.Context(), nil)
		require.ErrorContains(t, err, "load the functions")
		assert.Less(t, len(err.Error()), 150, "the reply of the server holds the library")
		assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
		assert.Regexp(t, "--set (script=evalsha|atomic=script)", fault.HintOf(err))
	}
}
