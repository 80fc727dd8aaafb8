package saga

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga/coordinator"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
	"github.com/perfbench/perfbench/profiles/tx/saga/onredis"
)

// answering is a store whose participants answer as a test says: by the number of
// the call, from 1.
type answering struct {
	model.Participants
	answers []any // replies and errors; done after the last
	calls   []string
}

func (a *answering) Move(_ context.Context, s *model.Saga, pos int) (model.Reply, error) {
	r := s.Rows[pos]
	a.calls = append(a.calls, fmt.Sprintf("%c%d", r.Op[0], r.Step+1))
	if n := len(a.calls); n <= len(a.answers) {
		switch v := a.answers[n-1].(type) {
		case model.Reply:
			return v, nil
		case error:
			return 0, v
		}
	}
	return model.ReplyDone, nil
}

// bench is a Redis with one saga's coordinator on it.
type bench struct {
	t    *testing.T
	conn store.Conn
	model.Store
	at *onredis.Redis
	*answering
	c *coordinator.Coordinator
	s *model.Saga
}

func newBench(t *testing.T, branches int, answers ...any) *bench {
	t.Helper()
	p, conn := ready(t, labtest.Redis(t).URL(), inputs(given("mode=saga", fmt.Sprint("branches=", branches), "accountCount=10")))
	sp := p.Binder.(Binding).Spec
	b := &bench{t: t, conn: conn, at: onredis.New(conn.(redis.Typed), sp), answering: &answering{answers: answers}}
	b.Store = b.at.Layer().Open()
	b.Store.Participants = b.answering
	b.c = &coordinator.Coordinator{Spec: sp, Store: b.Store, Rand: rand.New(rand.NewPCG(1, 2)), Counts: &coordinator.Counts{}}
	b.s = &model.Saga{}
	// Begun in the future, so that no pause of this machine makes a branch a slow one,
	// which costs a call more.
	b.s.Reset("one", 0, branches, time.Now().Add(time.Hour))
	// Scripts are known to the server, so that each is one call.
	first := &model.Saga{}
	first.Reset("first", 0, branches, time.Now())
	known := b.Store
	known.Participants = &answering{}
	require.NoError(t, (&coordinator.Coordinator{Spec: sp, Store: known, Counts: &coordinator.Counts{}}).Submit(t.Context(), nil, first))
	require.ErrorIs(t, b.Touch(t.Context(), &model.Saga{Gid: "none"}), model.ErrMoved)
	b.Reset()
	return b
}

func (b *bench) Reset() {
	require.NoError(b.t, b.conn.(redis.Typed).Client().ConfigResetStat(b.t.Context()).Err())
}

// score is when the saga is to be looked at next, in seconds after a moment.
func (b *bench) score(after time.Time) float64 {
	v, err := b.conn.(redis.Typed).Client().ZScore(b.t.Context(), b.at.Base[0]+"u", b.s.Gid).Result()
	require.NoError(b.t, err)
	return (v - float64(after.UnixMilli())) / 1000
}

func (b *bench) stored() model.Stored {
	got, err := b.Read(b.t.Context(), 0, []string{b.s.Gid})
	require.NoError(b.t, err)
	return got[0]
}

// A branch that is still at it: nothing is decided, and it is asked again after the
// same time.
func TestBranchThatIsUnderWay(t *testing.T) {
	b := newBench(t, 2, model.ReplyLater)
	before := time.Now()
	require.ErrorIs(t, b.c.Submit(t.Context(), nil, b.s), coordinator.ErrUndecided)
	assert.Equal(t, 2, commands(t, b.conn)["script"])
	assert.InDelta(t, 10, b.score(before), time.Since(before).Seconds()+0.01)
	assert.GreaterOrEqual(t, b.score(before), 9.99)
	assert.Equal(t, model.Submitted, b.stored().Status)
	assert.Equal(t, []string{model.Prepared, model.Prepared, model.Prepared, model.Prepared}, b.stored().Rows)
	_, err := b.c.Resume(t.Context(), 0, b.s.Gid)
	require.NoError(t, err)
	assert.Equal(t, model.Succeed, b.stored().Status)
	assert.Equal(t, []string{"a1", "a1", "a2"}, b.calls)
}

// A branch that fails is asked again after twice the time.
func TestBranchThatFails(t *testing.T) {
	b := newBench(t, 2, model.ReplyDone, model.ErrParticipant, model.ErrParticipant)
	before := time.Now()
	require.ErrorIs(t, b.c.Submit(t.Context(), nil, b.s), coordinator.ErrUndecided)
	assert.Equal(t, 3, commands(t, b.conn)["script"])
	assert.GreaterOrEqual(t, b.score(before), 19.99)
	assert.Equal(t, []string{model.Prepared, model.Succeed, model.Prepared, model.Prepared}, b.stored().Rows)
	again := time.Now()
	_, err := b.c.Resume(t.Context(), 0, b.s.Gid)
	require.ErrorIs(t, err, coordinator.ErrUndecided)
	assert.GreaterOrEqual(t, b.score(again), 39.99)
	s, err := b.c.Resume(t.Context(), 0, b.s.Gid)
	require.NoError(t, err)
	assert.Equal(t, model.Succeed, s.Status)
	assert.Equal(t, b.c.Spec.Retry, s.Interval, "a branch that went well ends the back-off")
	assert.Equal(t, []string{"a1", "a2", "a2", "a2"}, b.calls)
}

// A gid that was finished is not begun again.
func TestSubmittingTwice(t *testing.T) {
	b := newBench(t, 2)
	require.NoError(t, b.c.Submit(t.Context(), nil, b.s))
	b.Reset()
	twice := &model.Saga{}
	twice.Reset("one", 0, 2, time.Now())
	require.ErrorIs(t, b.c.Submit(t.Context(), nil, twice), model.ErrTaken)
	got := commands(t, b.conn)
	assert.Equal(t, 1, got["script"])
	assert.Equal(t, 1, got["get"])
	assert.Zero(t, got["set"])
	assert.Equal(t, model.Succeed, b.stored().Status)
}

// A compensation cannot be refused: it is tried again, after twice the time.
func TestRefusedCompensation(t *testing.T) {
	b := newBench(t, 2, model.ReplyDone, model.ReplyRefused, model.ReplyRefused)
	before := time.Now()
	require.ErrorIs(t, b.c.Submit(t.Context(), nil, b.s), coordinator.ErrUndecided)
	assert.Equal(t, model.Aborting, b.stored().Status)
	assert.GreaterOrEqual(t, b.score(before), 19.99)
	_, err := b.c.Resume(t.Context(), 0, b.s.Gid)
	require.NoError(t, err)
	assert.Equal(t, model.Failed, b.stored().Status)
	assert.Equal(t, []string{"a1", "a2", "c2", "c2", "c1"}, b.calls)
}

// A saga that is too old is undone: the step that may be under way as well, though
// its row says that it never was.
func TestTimeout(t *testing.T) {
	b := newBench(t, 3, model.ReplyDone, model.ReplyLater)
	b.s.Created = time.Now()
	b.c.Spec.Timeout = 9 * time.Second
	b.s.Timeout = 9 * time.Second
	require.ErrorIs(t, b.c.Submit(t.Context(), nil, b.s), coordinator.ErrUndecided)
	before := b.score(b.s.Created)
	assert.GreaterOrEqual(t, before, 8.99, "the timeout is shorter than the retry interval, and so is the first interval")
	assert.Less(t, before, 9+time.Since(b.s.Created).Seconds()+0.01)
	b.s.Created = b.s.Created.Add(-10 * time.Second) // as if that had passed
	require.NoError(t, b.Touch(t.Context(), b.s))
	s, err := b.c.Resume(t.Context(), 0, b.s.Gid)
	require.NoError(t, err)
	assert.Equal(t, "Timeout after 9 seconds", s.Reason)
	assert.Equal(t, model.Failed, b.stored().Status)
	assert.Equal(t, []string{model.Succeed, model.Succeed, model.Succeed, model.Prepared, model.Prepared, model.Prepared}, b.stored().Rows)
	assert.Equal(t, []string{"a1", "a2", "c2", "c1"}, b.calls)
}

// A slow branch costs one call more, which keeps others from taking the saga up.
func TestSlowBranchIsToldOf(t *testing.T) {
	b := newBench(t, 2)
	before := time.Now()
	b.s.Created = before.Add(-2 * time.Second) // as if the first branch had taken as long
	require.NoError(t, b.c.Submit(t.Context(), nil, b.s))
	got := commands(t, b.conn)
	told := got["zadd"] - 1 // once, or again where this machine made a pause
	assert.Positive(t, told)
	assert.Equal(t, 4+told, got["script"])
	assert.False(t, b.s.Next.Before(before.Add(10*time.Second)))
}

// With timeout, every saga that nobody answers well is undone, on each store.
func TestTimeoutOnEveryStore(t *testing.T) {
	for name, start := range sagaTargets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := ready(t, start(t), alone(given("mode=saga", "threads=4", "transactions=40", "prefixes=2", "accountCount=20", "ongoingRate=1",
				"timeout=20ms", "retryInterval=1h", "cronInterval=1h", "checkInterval=0s")))
			res := profiletest.Work(t, p)
			<-time.After(20 * time.Millisecond) // the time of the last one is over
			v := p.Verify(t.Context())
			assert.Equal(t, workload.Passed, v.State, "%+v", v)
			f := p.Facts(nil).(*Facts)
			// On a slow machine the time may be over before the first branch.
			assert.Equal(t, int64(40), f.Undecided+f.Undone, "%v", res.Messages)
			assert.Equal(t, f.Undecided, f.AtEnd.Undone)
			assert.Zero(t, f.Done+f.AtEnd.Done)
		})
	}
}

var errCrash = errors.New("the coordinator died")

// dying is a store whose client dies at one of its calls: before it, or between
// it and the answer; with meanwhile, it stands still there instead, and that happens.
type dying struct {
	model.Records
	model.Participants
	left      int
	after     bool
	meanwhile func()
}

func (d *dying) at(f func() error) error {
	d.left--
	switch {
	case d.left > 0 || d.left < 0 && d.meanwhile != nil:
		return f()
	case d.meanwhile != nil && d.after:
		err := f()
		d.meanwhile()
		return err
	case d.meanwhile != nil:
		d.meanwhile()
		return f()
	case d.left == 0 && d.after:
		return errors.Join(f(), errCrash)
	}
	return errCrash
}

func (d *dying) Save(ctx context.Context, s *model.Saga) error {
	return d.at(func() error { return d.Records.Save(ctx, s) })
}

func (d *dying) Branch(ctx context.Context, s *model.Saga, pos int) error {
	return d.at(func() error { return d.Records.Branch(ctx, s, pos) })
}

func (d *dying) Change(ctx context.Context, s *model.Saga, from string) error {
	return d.at(func() error { return d.Records.Change(ctx, s, from) })
}

func (d *dying) Touch(ctx context.Context, s *model.Saga) error {
	return d.at(func() error { return d.Records.Touch(ctx, s) })
}

func (d *dying) Move(ctx context.Context, s *model.Saga, pos int) (got model.Reply, err error) {
	err = d.at(func() error {
		got, err = d.Participants.Move(ctx, s, pos)
		return err
	})
	return got, err
}

// Wherever a coordinator dies, the one that takes the saga up finishes it, and no
// money is made or lost.
func TestDyingAnywhere(t *testing.T) {
	p, conn := ready(t, labtest.Redis(t).URL(), inputs(given("mode=saga", "branches=2", "accountCount=4")))
	sp := p.Binder.(Binding).Spec
	sp.Unruly = true // a branch that is to refuse does
	st := onredis.New(conn.(redis.Typed), sp).Layer().Open()
	for _, failAt := range []int{0, 1, 2} {
		for _, after := range []bool{false, true} {
			over := false
			for at := 1; !over; at++ {
				gid := fmt.Sprintf("%d-%t-%d", failAt, after, at)
				s := &model.Saga{}
				s.Reset(gid, 0, 2, time.Now())
				s.Steps[0], s.Steps[1], s.Fate.FailAt = model.Transfer{Account: 1, Amount: -5}, model.Transfer{Account: 2, Amount: 5}, failAt
				c := coordinator.Coordinator{Spec: sp, Rand: rand.New(rand.NewPCG(1, 2)), Counts: &coordinator.Counts{}, Store: st}
				d := &dying{st.Records, st.Participants, at, after, nil}
				c.Store.Records, c.Store.Participants = d, d
				err := c.Submit(t.Context(), nil, s)
				if over = err == nil; over {
					assert.Greater(t, at, 6, "it died at every call before")
				}
				list, err := st.Unfinished(t.Context(), 0)
				require.NoError(t, err)
				for _, p := range list {
					_, err := coordinator.Recovery(sp, st).Resume(t.Context(), 0, p.Gid)
					require.NoError(t, err, gid)
				}
				got, err := st.Read(t.Context(), 0, []string{gid})
				require.NoError(t, err)
				if at == 1 && !after {
					assert.Empty(t, got[0].Status, "it died before anything was stored")
					continue
				}
				assert.True(t, model.Final(got[0].Status), "%s: %+v", gid, got[0])
				assert.Empty(t, whole(&got[0], true), "%s: %+v", gid, got[0])
				m, err := st.Money(t.Context())
				require.NoError(t, err)
				assert.Equal(t, []model.Money{{Sum: sp.Accounts * sp.Balance, Flying: 0}}, m, gid)
			}
		}
	}
}

// Wherever a coordinator stands still for so long that another takes its saga up, and however far
// that one comes, no money is made or lost, and what is undone is undone as a whole.
func TestOvertakenAnywhere(t *testing.T) {
	p, conn := ready(t, labtest.Redis(t).URL(), inputs(given("mode=saga", "branches=3", "accountCount=4", "retryInterval=1ms")))
	sp := p.Binder.(Binding).Spec
	sp.Unruly = true // a branch that is to refuse does
	sp.Retry = 1     // its time has always come
	st := onredis.New(conn.(redis.Typed), sp).Layer().Open()
	for _, failAt := range []int{0, 1, 2, 3} {
		for _, after := range []bool{false, true} {
			stands := true
			for at := 1; stands; at++ {
				for far := 1; far <= 8; far++ {
					stands = false
					gid := fmt.Sprintf("%d-%t-%d-%d", failAt, after, at, far)
					s := &model.Saga{}
					s.Reset(gid, 0, 3, time.Now())
					s.Steps[0], s.Steps[1], s.Steps[2] = model.Transfer{Account: 1, Amount: -5}, model.Transfer{Account: 2, Amount: 3}, model.Transfer{Account: 3, Amount: 2}
					s.Fate.FailAt = failAt
					c := coordinator.Coordinator{Spec: sp, Rand: rand.New(rand.NewPCG(1, 2)), Counts: &coordinator.Counts{}, Store: st}
					d := &dying{st.Records, st.Participants, at, after, func() {
						stands = true
						other := coordinator.Recovery(sp, st)
						o := &dying{st.Records, st.Participants, far, after, nil}
						other.Store.Records, other.Store.Participants = o, o
						_, _ = other.Resume(t.Context(), 0, gid) // it dies, or there is no saga yet
					}}
					c.Store.Records, c.Store.Participants = d, d
					_ = c.Submit(t.Context(), nil, s) // it may find that the other has decided
					list, err := st.Unfinished(t.Context(), 0)
					require.NoError(t, err)
					for _, p := range list {
						_, err := coordinator.Recovery(sp, st).Resume(t.Context(), 0, p.Gid)
						require.NoError(t, err, gid)
					}
					got, err := st.Read(t.Context(), 0, []string{gid})
					require.NoError(t, err)
					require.True(t, model.Final(got[0].Status), "%s: %+v", gid, got[0])
					require.Empty(t, whole(&got[0], true), "%s: %+v", gid, got[0])
					m, err := st.Money(t.Context())
					require.NoError(t, err)
					require.Equal(t, []model.Money{{Sum: sp.Accounts * sp.Balance, Flying: 0}}, m, gid)
				}
			}
		}
	}
}
