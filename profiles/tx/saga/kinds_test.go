package saga

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga/coordinator"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
	"github.com/perfbench/perfbench/profiles/tx/saga/onmemory"
)

// ofKind are words of a run of a kind of transaction that goes wrong in every way.
func ofKind(name string, more ...string) []string {
	return append([]string{
		"mode=saga", "transType=" + name, "threads=8", "transactions=160", "branches=3", "prefixes=4", "accountCount=20", "balance=1000", "zipf=1",
		"failRate=0.2", "errorRate=0.15", "ongoingRate=0.05", "duplicateRate=0.2", "lostSubmitRate=0.3", "timeout=300ms",
		"retryInterval=300ms", "cronInterval=10ms", "checkInterval=50ms",
	}, more...)
}

// xaTargets are servers that can prepare transactions.
var xaTargets = map[string]func(t *testing.T) string{
	"mariadb": sagaTargets["mariadb"],
	"postgres": func(t *testing.T) string {
		return labtest.Postgres(t, "--max_prepared_transactions=64").URL()
	},
}

// Whatever participants and the network do, the books of each kind of transaction
// are right, and the store was called as often as was predicted.
func TestBooksOfEachKind(t *testing.T) {
	for target, start := range sagaTargets {
		for _, name := range []string{model.TransTCC, model.TransMsg, model.TransXA} {
			if name == model.TransXA {
				if start = xaTargets[target]; start == nil {
					continue
				}
			}
			if name != model.TransXA && slices.Contains([]string{"redis", "cluster", "mariadb"}, target) {
				continue // TestCallsAreThosePredicted has the kind there
			}
			t.Run(target+"/"+name, func(t *testing.T) {
				if name != model.TransXA && target == "postgres" || name == model.TransXA && target != "mariadb" {
					tier.Full(t, "the kind in the process, on sqlite or on mariadb, and TestCallsAreThosePredicted")
				}
				words := ofKind(name, "payload=700")
				if name == model.TransXA { // where those that meet refuse instead of waiting
					words = append(words, "accountCount=200", "zipf=0", "lockTimeout=0s")
				}
				in := alone(given(words...))
				p, conn := ready(t, start(t), in)
				res := profiletest.Work(t, p)
				v := p.Verify(t.Context())
				assert.Equal(t, workload.Passed, v.State, "%+v", v)
				f := p.Facts(nil).(*Facts)
				assert.Equal(t, name, f.Kind)
				// A look for unfinished ones that waits too long for a lock is all that its turn is for.
				began := 160 - res.Ops[model.OpRecover].Errors
				assert.Equal(t, began, f.Done+f.Undone+f.Undecided+f.Unknown, "%+v", res.Messages)
				assert.Equal(t, began, f.ReadBack)
				assert.Positive(t, asked(v, model.KindOf(name).Words(checkPayload)))
				assert.Positive(t, f.Done)
				assert.Positive(t, f.Undone)
				assert.Positive(t, f.Duplicates)
				assert.Positive(t, f.TooLate, "what was late found the door shut")
				assert.Positive(t, f.LostSubmits)
				assert.Positive(t, f.AtEnd.Found+f.InRun.Found, "what was not submitted is taken up")
				if name == model.TransXA {
					list, err := sqlstore.New(t.Context(), conn.(sqlstore.Typed).SQL(), conn.(sqlstore.Typed).Dialect(), in.Namespace)
					require.NoError(t, err)
					left, err := list.Prepared(t.Context())
					require.NoError(t, err)
					assert.Empty(t, left, "nothing stays prepared")
				}
				if name == model.TransMsg {
					assert.Positive(t, f.Queries)
					assert.Positive(t, f.AtEnd.Done+f.InRun.Done, "a local transaction that was carried out is told to others after all")
				} else {
					assert.Positive(t, f.Nulls)
					assert.Positive(t, f.AtEnd.Undone+f.InRun.Undone)
				}
			})
		}
	}
}

// What a transaction of each kind costs the store: as many round trips as dtm's.
func TestCostOfEachKind(t *testing.T) {
	srv := labtest.Redis(t)
	type want struct{ script, lrange, set, rpush, lset, zadd, zrem int }
	for _, c := range []struct {
		kind       string
		n, refused int
		want       want
	}{
		// 2n+6: with the record and the rows that are read again, which are no scripts.
		{model.TransTCC, 2, 0, want{8, 1, 6, 4, 2, 1, 1}},
		{model.TransTCC, 3, 0, want{10, 1, 6, 6, 3, 1, 1}},
		{model.TransTCC, 3, 2, want{7, 1, 6, 4, 2, 1, 1}},
		// n+6, where one of the branches is the local transaction.
		{model.TransMsg, 3, 0, want{6, 1, 6, 2, 2, 1, 1}},
		{model.TransMsg, 3, 1, want{2, 0, 4, 2, 0, 1, 1}},
	} {
		t.Run(fmt.Sprintf("%s branches=%d refused=%d", c.kind, c.n, c.refused), func(t *testing.T) {
			words := []string{"mode=saga", "transType=" + c.kind, "accounts=off", "threads=1", "transactions=10", "checkInterval=0s", "countCalls=off", fmt.Sprint("branches=", c.n)}
			if c.refused > 0 {
				words = append(words, "failRate=1", fmt.Sprint("failAt=", c.refused))
			}
			p, conn := ready(t, srv.URL(), inputs(given(words...)))
			require.NoError(t, conn.(redis.Typed).Client().ConfigResetStat(t.Context()).Err())
			res := profiletest.Work(t, p)
			assert.Empty(t, res.Errors)
			got := commands(t, conn)
			assert.Equal(t, c.want, want{got["script"] / 10, got["lrange"] / 10, got["set"] / 10, got["rpush"] / 10, got["lset"] / 10, got["zadd"] / 10, got["zrem"] / 10})
			assert.Equal(t, 10*(c.want.script+1), got["get"], "each script asks for the status, and the record is read again once")
			assert.Equal(t, workload.Passed, p.Verify(t.Context()).State)
			f := p.Facts(nil).(*Facts)
			assert.InDelta(t, float64(c.want.script), f.Cost.Mean, 0.001)
		})
	}
}

// storeOf is the store of a connection, with its accounts.
func storeOf(t *testing.T, target string, conn store.Conn, p *workload.Plan) model.Store {
	t.Helper()
	if target == "memory" {
		m := onmemory.New(conn, p.Binder.(Binding).Spec)
		require.NoError(t, m.Prepare(t.Context(), nil))
		return m.Open()
	}
	return sagasOf(conn, p)
}

// The barrier of tcc and of messages: what comes twice, what has nothing to cancel,
// what comes too late; and what is frozen is there and gone again.
func TestBarrierOfEachKind(t *testing.T) {
	for target, start := range sagaTargets {
		t.Run(target, func(t *testing.T) {
			p, conn := ready(t, start(t), alone(given("mode=saga", "transType=tcc", "threads=1", "accountCount=4", "balance=100")))
			st, ctx := storeOf(t, target, conn, p), t.Context()
			carry := func(k *model.Kind, gid string, step int, op string) model.Reply {
				s := &model.Saga{}
				s.Reset(gid, 0, 2, time.Now())
				s.Steps[0], s.Steps[1] = model.Transfer{Account: 1, Amount: -70}, model.Transfer{Account: 2, Amount: 70}
				s.As(k)
				got, err := st.Carry(ctx, s, step, op)
				require.NoError(t, err)
				return got
			}
			account := func(of int64) (got [2]int64) {
				require.NoError(t, st.Balances(ctx, func(a, n, frozen int64) {
					if a == of {
						got = [2]int64{n, frozen}
					}
				}))
				return got
			}
			assert.Equal(t, model.ReplyDone, carry(model.KindTCC, "a", 0, model.BranchTry))
			assert.Equal(t, [2]int64{30, 70}, account(1))
			assert.Equal(t, model.ReplyDuplicate, carry(model.KindTCC, "a", 0, model.BranchTry), "though 30 would not do for it again")
			assert.Equal(t, model.ReplyRefused, carry(model.KindTCC, "b", 0, model.BranchTry), "30 are left")
			assert.Equal(t, model.ReplyNothing, carry(model.KindTCC, "b", 0, model.BranchCancel))
			assert.Equal(t, model.ReplyTooLate, carry(model.KindTCC, "b", 0, model.BranchTry), "it would freeze what nobody thaws")
			assert.Equal(t, model.ReplyDone, carry(model.KindTCC, "a", 1, model.BranchTry))
			assert.Equal(t, [2]int64{100, 0}, account(2), "who is to get it has nothing yet")
			assert.Equal(t, model.ReplyDone, carry(model.KindTCC, "a", 1, model.BranchConfirm))
			assert.Equal(t, model.ReplyDone, carry(model.KindTCC, "a", 0, model.BranchConfirm))
			assert.Equal(t, model.ReplyDuplicate, carry(model.KindTCC, "a", 0, model.BranchConfirm))
			assert.Equal(t, [2]int64{30, 0}, account(1))
			assert.Equal(t, [2]int64{170, 0}, account(2))
			assert.Equal(t, model.ReplyDone, carry(model.KindTCC, "c", 1, model.BranchTry))
			assert.Equal(t, model.ReplyDone, carry(model.KindTCC, "c", 1, model.BranchCancel))
			assert.Equal(t, model.ReplyDuplicate, carry(model.KindTCC, "c", 1, model.BranchCancel))
			assert.Equal(t, [2]int64{170, 0}, account(2))

			assert.Equal(t, model.ReplyRefused, carry(model.KindMsg, "d", 0, model.BranchQuery), "it was not carried out")
			assert.Equal(t, model.ReplyTooLate, carry(model.KindMsg, "d", 0, model.BranchMsg), "and is not, after that was said")
			assert.Equal(t, model.ReplyRefused, carry(model.KindMsg, "e", 0, model.BranchMsg), "30 are left")
			assert.Equal(t, model.ReplyDone, carry(model.KindMsg, "f", 1, model.BranchAction))
			assert.Equal(t, model.ReplyDuplicate, carry(model.KindMsg, "f", 1, model.BranchAction))
			assert.Equal(t, [2]int64{240, 0}, account(2))
		})
	}
}

// What a killed run has frozen and not submitted is left alone while its time is not
// over, and the books say so; then it is undone.
func TestWhatAKilledRunHasFrozen(t *testing.T) {
	for target, start := range sagaTargets {
		if target == "memory" {
			continue // nothing outlives its run
		}
		t.Run(target, func(t *testing.T) {
			url := start(t)
			in := alone(given("mode=saga", "transType=tcc", "threads=2", "transactions=20", "accountCount=10", "balance=1000", "retryInterval=1h"))
			p, conn := ready(t, url, in)
			st := sagasOf(conn, p)
			s := &model.Saga{}
			s.Reset(string(model.AppendGid(nil, model.Stamp("a killed run", 1), 0, 0)), 0, 2, time.Now())
			s.As(model.KindTCC)
			s.Steps[0], s.Steps[1] = model.Transfer{Account: 1, Amount: -70}, model.Transfer{Account: 2, Amount: 70}
			s.Timeout, s.Interval, s.Next = time.Hour, time.Millisecond, time.Now()
			require.NoError(t, st.Save(t.Context(), s))
			s.Register(0, time.Now())
			require.NoError(t, st.Register(t.Context(), s, 0))
			got, err := st.Carry(t.Context(), s, 0, model.BranchTry)
			require.NoError(t, err)
			require.Equal(t, model.ReplyDone, got)

			q := bound(t, conn, driverOf(t, url), in)
			require.NoError(t, q.Setup(t.Context(), nil))
			profiletest.Work(t, q)
			v := q.Verify(t.Context())
			assert.Equal(t, workload.Passed, v.State, "%+v", v)
			assert.Contains(t, v.Summary, "1 unfinished ones left alone", "its application may still submit it")

			c := coordinator.Coordinator{Spec: p.Binder.(Binding).Spec, Store: st, Calm: true, Over: true, Counts: &coordinator.Counts{}}
			old, err := c.Resume(t.Context(), 0, s.Gid)
			require.NoError(t, err)
			assert.Equal(t, model.Failed, old.Status)
			require.NoError(t, st.Balances(t.Context(), func(_, _, frozen int64) { assert.Zero(t, frozen) }))
			stored, err := st.Read(t.Context(), 0, []string{s.Gid})
			require.NoError(t, err)
			assert.Empty(t, (&comparison{spec: p.Binder.(Binding).Spec}).broken(&stored[0]))
		})
	}
}

// What a store or a kind of transaction has not is refused with one sentence, when
// nothing has been asked yet.
func TestKindsThatAreRefused(t *testing.T) {
	for _, c := range []struct{ driver, words, want, hint string }{
		{"redis", "transType=xa", "transType=xa: Redis carries a script out at once", "transType=tcc"},
		{"embedded", "transType=xa", "transType=xa: Redis", "postgres:"},
		{"sqlite", "transType=xa", "transType=xa: SQLite cannot prepare", "mysql:"},
		{"dtm", "transType=xa", "transType=xa: on a dtm server the accounts are", "tcc or msg"},
		{"memory", "transType=xa", "transType=xa: this store has no transactions", "mysql:"},
		{"redis", "lostSubmitRate=0.5", "lostSubmitRate: a saga is stored by its submit", "transType=tcc"},
		{"redis", "transType=msg branches=1", "branches: a message with one branch", "branches=2"},
		{"redis", "transType=msg failAt=2", "failAt: only the local transaction of a message", "failAt=0"},
		{"redis", "transType=at", `transType: "at"`, "saga"},
	} {
		in := inputs(given(append([]string{"mode=saga"}, strings.Fields(c.words)...)...))
		in.Driver = c.driver
		_, err := mode.Plan(in)
		require.ErrorContains(t, err, c.want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		assert.Contains(t, fault.HintOf(err)+err.Error(), c.hint)
	}
}

// Tables that an older version made get the column that they lack; those of others
// are refused and stay as they are.
func TestTablesWithoutAColumnForWhatIsFrozen(t *testing.T) {
	words := []string{"mode=saga", "transType=tcc", "threads=2", "transactions=20", "accountCount=10"}
	c := open(t, "sqlite:"+t.TempDir()+"/x.db")
	db := c.(sqlstore.Typed).SQL()
	require.NoError(t, bound(t, c, "sqlite", inputs(given(words...))).Setup(t.Context(), nil))
	for _, table := range []string{"t_saga_account", "t_saga_barrier"} {
		_, err := db.ExecContext(t.Context(), "ALTER TABLE "+table+" DROP COLUMN frozen")
		require.NoError(t, err)
	}
	p := bound(t, c, "sqlite", inputs(given(words...)))
	require.NoError(t, p.Setup(t.Context(), nil))
	profiletest.Work(t, p)
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)

	c = open(t, "sqlite:"+t.TempDir()+"/x.db")
	_, err := c.(sqlstore.Typed).SQL().ExecContext(t.Context(), "CREATE TABLE t_saga_account (id BIGINT PRIMARY KEY, balance BIGINT)")
	require.NoError(t, err)
	in := inputs(given(words...))
	in.AllowExisting = true
	err = bound(t, c, "sqlite", in).Setup(t.Context(), nil)
	require.ErrorContains(t, err, "no column frozen")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	_, err = c.(sqlstore.Typed).SQL().ExecContext(t.Context(), "SELECT frozen FROM t_saga_account")
	require.Error(t, err)
}
