package saga

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
	"github.com/perfbench/perfbench/profiles/tx/saga/onredis"
	"github.com/perfbench/perfbench/profiles/tx/saga/onsql"
)

// Whatever participants do, money is conserved and every saga is whole.
func TestMoneyIsConserved(t *testing.T) {
	for name, start := range sagaTargets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := mode.Case(start(t), "threads=8", "transactions=150", "branches=3", "prefixes=4", "accountCount=20", "balance=1000", "zipf=1",
				"failRate=0.2", "errorRate=0.05", "ongoingRate=0.05", "duplicateRate=0.2", "retryInterval=300ms", "cronInterval=10ms", "checkInterval=50ms", "payload=700")
			c.Errors = true
			o := profiletest.Drive(t, c)
			v, f := o.Run.Verification, profiletest.Facts[Facts](t, o.Concluded)
			// On a slow machine a saga may take longer than its retry interval: another
			// client takes it over, and its own never hears of it.
			assert.Equal(t, int64(150), f.Done+f.Undone+f.Undecided+f.Unknown)
			assert.GreaterOrEqual(t, asked(v, checkPayload), 150, "%+v", v)
			assert.Positive(t, f.Done)
			assert.Positive(t, f.Undone)
			assert.Positive(t, f.Duplicates)
			assert.Positive(t, f.Undecided)
			assert.Positive(t, f.AtEnd.Found+f.InRun.Found, "what was undecided is taken up again")
			assert.Equal(t, int64(150), f.ReadBack)
		})
	}
}

// A broken saga is named.
func TestOffendersAreNamed(t *testing.T) {
	srv := labtest.Redis(t)
	p, conn := ready(t, srv.URL(), inputs(given("mode=saga", "threads=1", "transactions=20", "accountCount=50")))
	profiletest.Work(t, p)
	sp := p.Binder.(Binding).Spec
	gid := func(n int64) string { return string(model.AppendGid(nil, sp.Stamp, 0, n)) }
	client, base := conn.(redis.Typed).Client(), "t:saga:{0}:"
	ctx := t.Context()
	require.NoError(t, client.Del(ctx, base+"g:"+gid(3), base+"s:"+gid(3), base+"b:"+gid(3), base+"l:"+gid(3)).Err())
	require.NoError(t, client.Set(ctx, base+"s:"+gid(5), model.Failed, 0).Err())
	require.NoError(t, client.HDel(ctx, base+"l:"+gid(7), "02action").Err())
	require.NoError(t, client.HIncrBy(ctx, base+"a", "0", 5).Err())
	v := p.Verify(ctx)
	assert.Equal(t, workload.Failed, v.State)
	for check, who := range map[string]string{
		checkAcked: gid(3) + ": acknowledged as done but missing", checkStates: gid(5), checkWhole: gid(7), checkMoney: "instead of", checkLedger: "account 0",
	} {
		found := false
		for _, c := range v.Checks {
			found = found || c.Name == check && !c.OK && strings.Contains(strings.Join(c.Examples, "\n"), who)
		}
		assert.True(t, found, "%s: %s in %+v", check, who, v.Checks)
	}
	assert.Equal(t, int64(2), p.Facts(nil).(*Facts).LostAcked)
}

// The money under way counts, so that a sum mid-run is right.
func TestMoneyUnderWay(t *testing.T) {
	srv := labtest.Redis(t)
	p, conn := ready(t, srv.URL(), inputs(given("mode=saga", "threads=1", "transactions=5", "accountCount=10", "balance=1000")))
	sp := p.Binder.(Binding).Spec
	st := onredis.New(conn.(redis.Typed), sp).Layer().Open()
	s := &model.Saga{}
	s.Reset("half", 0, 2, time.Now())
	s.Steps[0], s.Steps[1] = model.Transfer{Account: 1, Amount: -70}, model.Transfer{Account: 2, Amount: 70}
	require.NoError(t, st.Save(t.Context(), s))
	require.ErrorIs(t, st.Save(t.Context(), s), model.ErrTaken)
	got, err := st.Move(t.Context(), s, model.Action(0))
	require.NoError(t, err)
	assert.Equal(t, model.ReplyDone, got)
	m, err := st.Money(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []model.Money{{Sum: 10*1000 - 70, Flying: -70}}, m)
}

// sagasOf are the sagas of a connection, beside a run that has them too.
func sagasOf(conn store.Conn, p *workload.Plan) model.Store {
	sp := p.Binder.(Binding).Spec
	if c, ok := conn.(sqlstore.Typed); ok {
		return onsql.New(common.New(c), sp).Layer().Open()
	}
	return onredis.New(conn.(redis.Typed), sp).Layer().Open()
}

// What a killed run left is not due yet, and is left alone: the money that it has
// under way is not lost. A run after the next one takes it up.
func TestMoneyUnderWayOfSagasLeftAlone(t *testing.T) {
	for name, start := range sagaTargets {
		if name == "memory" {
			continue // nothing outlives its run
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := start(t)
			words := []string{"mode=saga", "threads=2", "transactions=20", "accountCount=10", "balance=1000", "prefixes=2", "failRate=0.2", "retryInterval=1h"}
			in := alone(given(words...))
			p, conn := ready(t, url, in)
			st := sagasOf(conn, p)
			old := model.Stamp("a killed run", 1)
			for n, amount := range []int64{70, 25, 0} { // none of them due for an hour
				s := &model.Saga{}
				gid := string(model.AppendGid(nil, old, 0, int64(n)))
				s.Reset(gid, shardOfGid(gid, p.Binder.(Binding).Spec.Shards), 2, time.Now())
				s.Steps[0], s.Steps[1] = model.Transfer{Account: 1, Amount: -amount}, model.Transfer{Account: 2, Amount: amount}
				s.Interval, s.Next = time.Hour, time.Now().Add(time.Hour)
				require.NoError(t, st.Save(t.Context(), s))
				if amount > 0 {
					_, err := st.Move(t.Context(), s, model.Action(0))
					require.NoError(t, err)
				}
			}
			for range 2 { // runs in turn
				q := bound(t, conn, driverOf(t, url), in)
				require.NoError(t, q.Setup(t.Context(), nil))
				profiletest.Work(t, q)
				v := q.Verify(t.Context())
				assert.Equal(t, workload.Passed, v.State, "%+v", v)
				assert.Contains(t, v.Summary, "3 unfinished ones left alone that are not due yet, with 95 of the money under way")
				f := q.Facts(nil).(*Facts)
				assert.Equal(t, []int64{3, 95}, []int64{f.Left, f.UnderWay})
			}
		})
	}
}
