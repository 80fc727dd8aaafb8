package workload_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/workload"
)

// state is one of every kind of what can be shared, in one process.
type state struct {
	workload.Shared
	rows   [2][]atomic.Uint64
	n      [2]atomic.Int64
	flag   atomic.Bool
	sizes  datagen.Sizes
	each   *workload.Each[int64]
	stands int64

	mu    sync.Mutex
	found string
	kept  map[string]int
	left  int64
	again int
	lost  []workload.Process
}

func newState() *state {
	s := &state{rows: [2][]atomic.Uint64{make([]atomic.Uint64, 2), make([]atomic.Uint64, 1)}}
	s.each = workload.EachOf(func() int64 { return s.stands }, func(now *int64) bool { return *now < 100 })
	workload.Share(&s.Shared, workload.BitsOf(s.rows[0], s.rows[1]))
	workload.Share(&s.Shared, workload.CountersOf(50, &s.n[0], &s.n[1]))
	workload.Share(&s.Shared, workload.Flag{Bool: &s.flag})
	workload.Share(&s.Shared, workload.Payloads{SizeSet: &s.sizes})
	workload.Share(&s.Shared, s.each)
	workload.Pass(&s.Shared, 1, s, 0)
	s.Found(nil, &s.found)
	s.Keep(&s.mu, &s.kept)
	s.WhenLost(func(of workload.Process) { s.lost = append(s.lost, of) })
	return s
}

func (s *state) Left(of workload.Process, did []workload.Did) int64 {
	return s.n[0].Load() - did[0].Units + int64(of.Part)*1000
}

func (s *state) Inherit(rest int64, again int) bool {
	s.left, s.again = rest, again
	return rest > 0
}

// What two processes did adds up where the whole is: each time only what is new is told.
func TestWhatProcessesDidAddsUp(t *testing.T) {
	t.Parallel()
	whole, one, two := newState(), newState(), newState()
	tell := func(number int, s *state) {
		require.NoError(t, whole.Merge(workload.Process{Number: number, Part: number, Of: 2}, s.Delta()))
	}
	one.rows[0][1].Store(5)
	one.n[0].Store(7)
	one.n[1].Store(3)
	one.sizes.Note(100)
	one.stands = 1
	tell(0, one)
	two.rows[0][1].Store(8)
	two.rows[1][0].Store(1)
	two.flag.Store(true)
	two.sizes.Note(200)
	two.stands = 2
	tell(1, two)
	one.n[1].Store(1) // it may take back what it has told
	one.stands = 3
	tell(0, one)
	tell(1, two)
	assert.EqualValues(t, 13, whole.rows[0][1].Load())
	assert.EqualValues(t, 1, whole.rows[1][0].Load())
	assert.EqualValues(t, 7, whole.n[0].Load())
	assert.EqualValues(t, 1, whole.n[1].Load())
	assert.True(t, whole.flag.Load())
	assert.ElementsMatch(t, []int{100, 200}, whole.sizes.All())
	assert.Equal(t, []int64{3, 2}, whole.each.Told())
}

// Of what no process of the run can have told, nothing is taken in.
func TestWhatIsOfAnotherRunIsNotTakenIn(t *testing.T) {
	t.Parallel()
	good := newState()
	good.n[0].Store(1)
	told := good.Delta()
	long := newState()
	workload.Share(&long.Shared, workload.Flag{Bool: &long.flag})
	wide := newState()
	wide.rows[1][0].Store(1)
	for name, bad := range map[string][]byte{
		"cut short": told[:len(told)-1], "longer": long.Delta(), "empty": nil,
		"too much":      func() []byte { s := newState(); s.n[0].Store(51); return s.Delta() }(),
		"too much down": func() []byte { s := newState(); s.n[0].Store(-51); return s.Delta() }(),
		"unsound":       func() []byte { s := newState(); s.stands = 100; return s.Delta() }(),
	} {
		whole := newState()
		require.Error(t, whole.Merge(workload.Process{}, bad), name)
		if name == "cut short" || name == "longer" {
			assert.Zero(t, whole.n[0].Load(), name)
		}
	}
	narrow := &workload.Shared{}
	workload.Share(narrow, workload.BitsOf(make([]atomic.Uint64, 2)))
	broad := &workload.Shared{}
	workload.Share(broad, workload.BitsOf(wide.rows[:]...))
	assert.ErrorIs(t, narrow.Merge(workload.Process{}, broad.Delta()), workload.ErrAnotherRun)
	require.NoError(t, newState().Merge(workload.Process{}, told))
	assert.True(t, (*workload.Shared)(nil).Empty())
}

// What was found goes to workers, and with what is kept to whoever takes the place of the one
// that found it; what is empty there is empty then.
func TestWhatWasFoundIsKnownElsewhere(t *testing.T) {
	t.Parallel()
	first, worker, next := newState(), newState(), newState()
	first.found, first.kept = "f", map[string]int{"a": 1}
	worker.kept, next.kept = map[string]int{"b": 2}, map[string]int{"b": 2}
	require.NoError(t, worker.Adopt(first.Findings()))
	assert.Equal(t, "f", worker.found)
	assert.Equal(t, map[string]int{"b": 2}, worker.kept)
	require.NoError(t, next.Restore(first.Kept()))
	assert.Equal(t, "f", next.found)
	assert.Equal(t, map[string]int{"a": 1}, next.kept)
	first.found, first.kept = "", nil
	require.NoError(t, next.Restore(first.Kept()))
	assert.Empty(t, next.found)
	assert.Empty(t, next.kept)
	assert.ErrorContains(t, next.Restore(first.Findings()), "it cannot be read")
}

// The rest of a part is told less what figures contain of it, and says how many have had it.
func TestWhatALostProcessHasLeftIsInherited(t *testing.T) {
	t.Parallel()
	whole, heir := newState(), newState()
	whole.n[0].Store(9)
	plan := workload.Plan{Shared: &whole.Shared, Phases: []workload.Phase{{Tracks: []workload.Track{{Ops: []string{"x"}}, {Ops: []string{"y"}}}}}}
	lost := workload.Process{Number: 1, Part: 1, Of: 2}
	did := []workload.Did{{Units: 100}, {Units: 4}}
	require.NoError(t, heir.TakeOver(plan.Left(lost, did)))
	assert.EqualValues(t, 1005, heir.left)
	assert.Equal(t, 1, heir.again)
	require.NoError(t, heir.TakeOver(plan.Left(lost, did)))
	assert.Equal(t, 2, heir.again)
	did[1].Units = 1009
	assert.ErrorIs(t, heir.TakeOver(plan.Left(lost, did)), workload.ErrAnotherRun)
	assert.ErrorContains(t, heir.TakeOver([]byte("x")), "it cannot be read")
	assert.False(t, whole.Lost())
	whole.Lose(lost)
	assert.True(t, whole.Lost())
	assert.Equal(t, []workload.Process{lost}, whole.lost)
}
