package run_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/memory"
	"github.com/perfbench/perfbench/internal/store/null"
	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/testing/profiletest/steps"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/inmemory"
	"github.com/perfbench/perfbench/profiles/mix/model"
	"github.com/perfbench/perfbench/profiles/mix/own"
	"github.com/perfbench/perfbench/profiles/mix/run"
)

// watched is a store in memory whose calls a test sees, and may change.
type watched struct {
	model.Transactor
	mu     *sync.Mutex // several clients load
	before func(c *model.Call) (skip bool)
	after  func(c *model.Call)
	twice  func(c *model.Call) bool // it is carried out once more
	lags   func(c *model.Call, busy bool) bool
	// atOnce lets the hooks of several clients run at the same time.
	atOnce bool
}

func (w watched) Do(ctx context.Context, c *model.Call) error {
	if w.before != nil && w.locked(func() bool { return w.before(c) }) {
		return nil
	}
	err := w.Transactor.Do(ctx, c)
	if err == nil && w.twice != nil && w.locked(func() bool { return w.twice(c) }) {
		err = w.Transactor.Do(ctx, c)
	}
	if w.after != nil {
		w.locked(func() bool { w.after(c); return true })
	}
	return err
}

func (w watched) locked(f func() bool) bool {
	if !w.atOnce {
		w.mu.Lock()
		defer w.mu.Unlock()
	}
	return f()
}

// bound is a workload at work on a store in memory.
type bound struct {
	*run.Run
	plan *workload.Plan
}

func (b bound) task(t testing.TB, worker int, set workload.Settings) *steps.Worker {
	t.Helper()
	tr := b.plan.Phases[0].Tracks[0]
	tr.Start = set
	return steps.Of(t, &tr, worker)
}

// at carries out the operation of a number.
func at(t *testing.T, k *steps.Worker, number int64) error {
	t.Helper()
	k.Seq, k.Forget = number, true
	return k.Do(t.Context())
}

func bind(t testing.TB, s *run.Spec, w watched) bound {
	t.Helper()
	a := inmemory.New(s.Work, false, func(ctx context.Context) error { return ctx.Err() })
	open := a.Open
	a.Lags, a.Why = w.lags, "a test"
	w.mu = new(sync.Mutex)
	a.Open = func() (model.Client, error) {
		c, err := open()
		one := w
		one.Transactor = c.(model.Transactor)
		return one, err
	}
	target, err := store.ParseTarget("memory:")
	require.NoError(t, err)
	c, err := memory.Driver.Open(t.Context(), target, store.OpenOptions{})
	require.NoError(t, err)
	p := &workload.Plan{Phases: []workload.Phase{{Tracks: []workload.Track{{Name: "mix", Ops: ops(s.Work)}}}}, Shared: &workload.Shared{}}
	r := run.New(s, a, c, "run-1")
	r.Bind(&workload.Bound{Plan: p, Conn: c, RunID: "run-1"})
	if s.LoadThreads == 0 {
		s.LoadThreads, s.Load = 2, run.LoadAuto
	}
	require.NoError(t, p.Setup(t.Context(), nil))
	return bound{r, p}
}

func ops(w *model.Workload) (out []string) {
	for i := range w.Operations {
		out = append(out, w.Operations[i].Name)
	}
	for i := range w.Operations {
		out = append(out, run.Parts(&w.Operations[i])...)
	}
	return out
}

func parse(t testing.TB, text string) *model.Workload {
	t.Helper()
	w, err := own.Read("test", text)
	require.NoError(t, err)
	return w
}

// settings are those that a workload begins with.
func settings(w *model.Workload) workload.Settings {
	s := workload.Settings{Threads: 1}
	w.Knobs(&s)
	return s
}

// hottest counts which records n operations are about, shared out among processes with
// threads each, and returns the hundred most frequent, the most frequent first.
func hottest(t *testing.T, processes, threads int, n int) []string {
	t.Helper()
	counts := map[string]int{}
	for process := range processes {
		w := parse(t, `
data: {product: {records: 20_000, size: 16, cached: true}}
operations: {look: {get: product, keys: zipf 1.1}}`)
		s := &run.Spec{Work: w, Seed: 3}
		if processes > 1 {
			s.Stake = workload.Stake{Process: process, Of: processes}
		}
		b := bind(t, s, watched{after: func(c *model.Call) {
			if c.Do == model.Get {
				counts[string(c.Rows[0].Key)]++
			}
		}})
		var tasks []*steps.Worker
		for i := range threads {
			tasks = append(tasks, b.task(t, i, settings(w)))
		}
		for i := range n / processes {
			require.NoError(t, at(t, tasks[i%threads], int64(i)))
		}
	}
	all := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	return all[:100]
}

// The records that are called most often do not depend on who calls: with the same numbers
// of operations, they are the very same.
func TestOneDistributionOverAllThreadsAndWorkers(t *testing.T) {
	alone := hottest(t, 1, 1, 60_000)
	assert.Equal(t, alone, hottest(t, 3, 10, 60_000))
	assert.Equal(t, alone, hottest(t, 1, 10, 60_000))
}

// What a store answers wrongly fails the read and the verification.
func TestWrongAnswersAreNoticed(t *testing.T) {
	const text = `
data: {product: {records: 50, size: 100}}
operations: {look: {get: product}, change: {put: product}}
mix: {look: 1, change: 1}`
	for name, c := range map[string]struct {
		spoil watched
		check string
	}{
		"torn": {watched{after: func(c *model.Call) {
			if c.Do == model.Get && c.Rows[0].Found {
				c.Rows[0].Vals[0][50] ^= 1
			}
		}}, "values that are not what was written"},
		"another record": {watched{before: func(c *model.Call) bool {
			if c.Do == model.Get && len(c.Rows) == 1 {
				c.Rows[0].Key[len(c.Rows[0].Key)-1] = '0'
			}
			return false
		}, after: func(c *model.Call) {
			if c.Do == model.Get && len(c.Rows) == 1 {
				c.Rows[0].Key[len(c.Rows[0].Key)-1] = '1'
			}
		}}, "values that are not what was written"},
		"lost": {watched{after: func(c *model.Call) {
			if c.Do == model.Get {
				c.Rows[0].Found = false
			}
		}}, "acknowledged records that are not there"},
		"writes that are acknowledged and dropped": {watched{before: func(c *model.Call) bool {
			return c.Do == model.Put && len(c.Rows) == 1
		}}, "reads of what had been overwritten"},
	} {
		t.Run(name, func(t *testing.T) {
			w := parse(t, text)
			b := bind(t, &run.Spec{Work: w, Seed: 1}, c.spoil)
			k := b.task(t, 0, settings(w))
			for i := range int64(500) {
				_ = at(t, k, i) // that it fails shows in the verification
			}
			v := b.plan.Verify(t.Context())
			assert.Equal(t, workload.Failed, v.State, v.Summary)
			failed := ""
			for _, check := range v.Checks {
				if n, err := strconv.ParseInt(check.Got, 10, 64); err == nil && check.Of > 0 {
					assert.LessOrEqual(t, n, check.Of, "%s: of those that were looked at", check.Name)
				}
				if !check.OK {
					failed += check.Name + "; "
					assert.NotEmpty(t, check.Examples)
				}
			}
			assert.Contains(t, failed, c.check)
		})
	}
}

// What a store has lost of what it acknowledged is what the account says: records that are not there,
// and writes that it took and dropped.
func TestTheAccountOfALossIsExact(t *testing.T) {
	w := parse(t, `
data: {order: {records: 1, size: 20}, product: {records: 100, size: 20}}
operations: {more: {insert: order}, change: {put: product}}
mix: {more: 1, change: 1}`)
	for seed := range int64(50) {
		dice := rand.New(rand.NewPCG(uint64(seed), 1))
		begun, ended, orders, inserted, gone, dropped := false, false, -1, []string{}, map[string]bool{}, map[string]bool{}
		b := bind(t, &run.Spec{Work: w, Seed: seed}, watched{before: func(c *model.Call) bool {
			if c.Do != model.Put || !begun {
				return false
			}
			drop := dice.IntN(10) == 0
			dropped[string(c.Rows[0].Key)] = drop // of one data set alone
			return drop
		}, after: func(c *model.Call) {
			switch {
			case c.Do == model.Insert && begun:
				orders = c.Set
				inserted = append(inserted, string(c.Rows[0].Key))
			case c.Do == model.Get && ended && c.Set == orders:
				for i := range c.Rows {
					c.Rows[i].Found = c.Rows[i].Found && !gone[string(c.Rows[i].Key)]
				}
			}
		}})
		begun = true
		k := b.task(t, 0, settings(w))
		for i := range int64(400) {
			require.NoError(t, at(t, k, i))
		}
		ended = true
		for range dice.IntN(30) {
			gone[inserted[dice.IntN(len(inserted))]] = true
		}
		want := int64(len(gone))
		for _, last := range dropped {
			if last {
				want++
			}
		}
		v := b.plan.Verify(t.Context())
		require.NotNil(t, v.Lost, v.Summary)
		require.Equal(t, want, *v.Lost, "seed %d: %s", seed, v.Summary)
	}
}

// So it does for reads of a store that takes its time with what it acknowledged, and for additions
// that it made twice.
func TestTheAccountOfDelaysAndDuplicatesIsExact(t *testing.T) {
	w := parse(t, `
data: {product: {records: 20, size: 60}, stock: {records: 20, type: counter, start: 0}}
operations: {look: {get: product}, change: {put: product}, sell: {add: stock, by: 3}}
mix: {look: 1, change: 1, sell: 1}`)
	for seed := range int64(50) {
		dice := rand.New(rand.NewPCG(uint64(seed), 2))
		begun, late, more := false, 0, 0
		type values struct{ now, before []byte }
		known := map[string]values{}
		b := bind(t, &run.Spec{Work: w, Seed: seed}, watched{after: func(c *model.Call) {
			if !begun || c.Do != model.Put && c.Do != model.Get {
				return
			}
			row := &c.Rows[0]
			v := known[string(row.Key)]
			switch {
			case c.Do == model.Put:
				known[string(row.Key)] = values{slices.Clone(row.Vals[0]), v.now}
			case v.before != nil && dice.IntN(10) == 0:
				copy(row.Vals[0], v.before)
				late++
			}
		}, twice: func(c *model.Call) bool {
			again := begun && c.Do == model.Add && dice.IntN(10) == 0
			if again {
				more++
			}
			return again
		}})
		begun = true
		k := b.task(t, 0, settings(w))
		for i := range int64(400) {
			_ = at(t, k, i) // a late read fails
		}
		begun = false
		v, checks := b.plan.Verify(t.Context()), map[string]workload.Check{}
		for _, c := range v.Checks {
			checks[c.Name] = c
		}
		require.Equal(t, strconv.Itoa(late), checks["reads of what had been overwritten"].Got, "seed %d: %s", seed, v.Summary)
		added := checks["stock: sum of what was added"]
		want, err := strconv.Atoi(added.Want)
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(want+3*more), added.Got, "seed %d: %s", seed, v.Summary)
		require.NotZero(t, late*more, "seed %d", seed)
	}
}

// A record that is lost and read again and again is lost once, and where nothing was broken the account
// says of how many records a sample was read back.
func TestWhatWasLostIsCountedOnce(t *testing.T) {
	w := parse(t, `
data: {product: {records: 30000, fields: {name: 20, text: 20}}}
operations: {look: {get: product}}
mix: {look: 1}`)
	for _, broken := range []bool{true, false} {
		lost, begun, asked := map[string]bool{}, false, map[string]bool{}
		b := bind(t, &run.Spec{Work: w, Seed: 1}, watched{after: func(c *model.Call) {
			for i := range c.Rows {
				if c.Do == model.Get && begun {
					asked[string(c.Rows[i].Key)] = true
					if key := string(c.Rows[i].Key); len(lost) < 7 || lost[key] {
						lost[key], c.Rows[i].Found = true, false
					}
				}
			}
		}})
		begun = true
		k := b.task(t, 0, settings(w))
		for i := range int64(2000) {
			_ = at(t, k, i) // it fails where the record is lost
		}
		if broken {
			b.plan.Breaks(workload.Faults{1})
		}
		v := b.plan.Verify(t.Context())
		assert.Equal(t, workload.Failed, v.State)
		require.NotNil(t, v.Lost)
		assert.EqualValues(t, 7, *v.Lost, v.Summary)
		read := b.Facts(nil).(*run.Facts).ReadBack
		assert.EqualValues(t, 30000, read+v.Unread)
		if broken {
			assert.Zero(t, v.Unread)
			assert.Len(t, asked, 30000)
		} else {
			assert.EqualValues(t, 10000, read)
			assert.Contains(t, v.Summary, "10000 of 30000 records were read back")
		}
	}
}

// What a store may answer while others write does not excuse what is read back at the end.
func TestWhatMayLag(t *testing.T) {
	const text = `
data: {product: {records: 50, size: 100}}
operations: {look: {get: product}, change: {put: product}}
mix: {look: 1, change: 1}`
	for name, c := range map[string]struct {
		lags func(*model.Call, bool) bool
		want string
	}{
		"always":     {func(*model.Call, bool) bool { return true }, workload.Passed},
		"while busy": {func(_ *model.Call, busy bool) bool { return busy }, workload.Failed},
		"in batches": {func(c *model.Call, _ bool) bool { return len(c.Rows) > 1 }, workload.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			w := parse(t, text)
			b := bind(t, &run.Spec{Work: w, Seed: 1}, watched{lags: c.lags, before: func(c *model.Call) bool {
				return c.Do == model.Put && len(c.Rows) == 1
			}})
			k := b.task(t, 0, settings(w))
			for i := range int64(500) {
				err := at(t, k, i)
				if name != "in batches" {
					require.NoError(t, err)
				}
			}
			v := b.plan.Verify(t.Context())
			assert.Equal(t, c.want, v.State, v.Summary)
			assert.Positive(t, b.Facts(nil).(*run.Facts).Stale)
			if c.want == workload.Passed {
				assert.Contains(t, v.Summary, "of what had been overwritten, which a test allows")
			}
			if name == "while busy" {
				require.NotNil(t, v.Lost)
				assert.Positive(t, *v.Lost, "what was read back is of writes that were lost")
			}
		})
	}
}

// A store that does as it should passes, whatever is called.
func TestRightAnswersPass(t *testing.T) {
	w := parse(t, `
data:
  product: {records: 200, size: 20..2KiB, compressible: 30%}
  user: {records: 100, fields: {name: 30, mail: 20..40, bio: 500}}
  stock: {records: 50, type: counter, start: 10}
  recent: {records: 20, type: list, length: 5, most: 10, size: 40}
  tags: {records: 20, type: set, length: 8}
  ranks: {records: 5, type: sorted, length: 20}
  events: {records: 4, type: stream, length: 3, size: 50}
  cache: {records: 100, size: 64, cached: true}
operations:
  look: {get: product, keys: zipf 0.99, batch: 1..5}
  change: {put: product, keys: hot 10% 90% drift 5}
  rename: {update: user, fields: [name, mail]}
  some: {get: user, fields: 2, keys: gaussian}
  rework: {modify: user, fields: 1}
  order: [{get: user}, {add: stock, by: -3..-1}, {insert: order, size: 100..200}, {get: user, keys: same}]
  pay: {steps: [{get: user}, {update: user, keys: same, fields: 1}, {add: stock}], atomic: true}
  walk: {scan: product, count: 1..20}
  newest: {get: order, keys: latest 0.99}
  drop: {delete: order, keys: sequential}
  pushes: [{push: recent}, {range: recent, count: 3}, {pop: recent}]
  tagging: [{include: tags}, {has: tags}, {exclude: tags}, {members: tags}]
  ranking: [{include: ranks}, {range: ranks, count: 4}]
  logging: [{append: events}, {range: events, count: 2}]
  through: {get: cache, fill: true, hit: 90%}
`)
	b := bind(t, &run.Spec{Work: w, Seed: 1}, watched{})
	var tasks []*steps.Worker
	for i := range 4 {
		tasks = append(tasks, b.task(t, i, settings(w)))
	}
	for i := range int64(8000) {
		require.NoError(t, at(t, tasks[i%4], i), "operation %d", i)
	}
	v := b.plan.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	assert.Regexp(t, `^hits 9\d\.\d+ %$`, b.Status())
	assert.Regexp(t, `; 9\d\.\d+ % of the gets found their record$`, v.Summary)
	assert.Contains(t, fmt.Sprint(v.Checks), "stock: sum of what was added")
}

// A record whose insert is acknowledged while it is being read need not have been found.
func TestAReadThatBeginsBeforeTheInsertEndsMayMiss(t *testing.T) {
	w := parse(t, `
data: {order: {records: 1, size: 20}}
operations: {more: {insert: order}, newest: {get: order, keys: latest 0.99}}
mix: {more: 1, newest: 1}`)
	inserts, reads := settings(w), settings(w)
	for _, knob := range w.Knobs(&workload.Settings{}) {
		switch knob.Name {
		case "weight-more":
			reads = knob.Set(reads, 0)
		case "weight-newest":
			inserts = knob.Set(inserts, 0)
		}
	}
	var first, missed atomic.Bool
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	b := bind(t, &run.Spec{Work: w, Seed: 1}, watched{atOnce: true, before: func(c *model.Call) bool {
		if c.Do == model.Insert && first.CompareAndSwap(false, true) {
			close(begun)
			<-goOn
		}
		return false
	}, after: func(c *model.Call) {
		if c.Do == model.Get && !c.Rows[0].Found && missed.CompareAndSwap(false, true) {
			close(goOn)
			assert.NoError(t, <-ended)
		}
	}})
	slow, quick, reader := b.task(t, 0, inserts), b.task(t, 1, inserts), b.task(t, 2, reads)
	go func() { ended <- at(t, slow, 0) }()
	<-begun
	require.NoError(t, at(t, quick, 1), "which makes readers choose from two, of which one is under way")
	for i := int64(2); i < 1000 && !missed.Load(); i++ {
		require.NoError(t, at(t, reader, i))
	}
	require.True(t, missed.Load())
	v := b.plan.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
}

// Weights, exponent and hit ratio follow the settings.
func TestLiveSettings(t *testing.T) {
	w := parse(t, `
data: {product: {records: 1000, size: 16}}
operations: {look: {get: product, keys: zipf 0.99, hit: 100%}, change: {put: product}}
mix: {look: 90, change: 10}`)
	counts, missed := map[model.Verb]int{}, 0
	b := bind(t, &run.Spec{Work: w, Seed: 1}, watched{after: func(c *model.Call) {
		counts[c.Do]++
		if c.Do == model.Get && !c.Rows[0].Found {
			missed++
		}
	}})
	set := settings(w)
	k := b.task(t, 0, set)
	count := func(from int64) (look, change, miss int) {
		clear(counts)
		missed = 0
		for i := from; i < from+10_000; i++ {
			require.NoError(t, at(t, k, i))
		}
		return counts[model.Get], counts[model.Put], missed
	}
	look, change, miss := count(0)
	assert.InDelta(t, 9000, look, 150)
	assert.InDelta(t, 1000, change, 150)
	assert.Zero(t, miss)
	for _, knob := range w.Knobs(&workload.Settings{}) {
		switch knob.Name {
		case "weight-look":
			set = knob.Set(set, 10)
		case "hit":
			set = knob.Set(set, 70)
		}
	}
	k.Settings = &set
	look, change, miss = count(10_000)
	assert.InDelta(t, 5000, look, 250)
	assert.InDelta(t, 5000, change, 250)
	assert.InDelta(t, 1500, miss, 150)
}

// onNothing is a workload at work on a store that does nothing.
func onNothing(tb testing.TB, w *model.Workload) bound {
	tb.Helper()
	target, err := store.ParseTarget("null:")
	require.NoError(tb, err)
	c, err := null.Driver.Open(tb.Context(), target, store.OpenOptions{})
	require.NoError(tb, err)
	p := &workload.Plan{Phases: []workload.Phase{{Tracks: []workload.Track{{Name: "mix", Ops: ops(w)}}}}, Shared: &workload.Shared{}}
	r := run.New(&run.Spec{Work: w, Load: run.LoadSkip}, inmemory.New(w, true, func(ctx context.Context) error { return ctx.Err() }), c, "run-1")
	r.Bind(&workload.Bound{Plan: p, Conn: c, RunID: "run-1"})
	require.NoError(tb, p.Setup(tb.Context(), nil))
	return bound{r, p}
}

// A client that reads and writes allocates nothing.
func TestCallsAllocateNothing(t *testing.T) {
	for name, text := range map[string]string{
		"reads":  "operations: {look: {get: product, keys: zipf 0.99}}",
		"writes": "operations: {change: {put: product, keys: latest 0.99}}",
		"steps":  "operations: {both: [{get: user}, {update: user, keys: same, fields: 1}, {insert: product}]}",
	} {
		w := parse(t, "data: {product: {records: 1000, size: 1KiB}, user: {records: 100, fields: 5, size: 100}}\n"+text)
		k := onNothing(t, w).task(t, 0, settings(w))
		n := int64(0)
		do := func() {
			n++
			k.Seq, k.Forget = n, true
			_ = k.Do(t.Context()) // nothing fails
		}
		do()
		assert.Zero(t, testing.AllocsPerRun(1000, do), name)
	}
}

// What has expired is not found, and put back: of the gets of a record that gets p of the calls,
// the first finds nothing, those of the next 100 calls find it, and so on.
func TestMissesFollowFromTheTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := parse(t, `
data: {page: {records: 10, size: 16, cached: true, ttl: 1s}}
operations: {look: [{get: page, keys: zipf-in-order 1, fill: true}, {think: 10ms}]}`)
		b := bind(t, &run.Spec{Work: w, Seed: 5}, watched{})
		k := b.task(t, 0, settings(w))
		for i := range int64(20_000) {
			require.NoError(t, at(t, k, i))
		}
		want, weights := 0.0, 0.0
		for i := range 10 {
			weights += 1 / float64(i+1)
		}
		for i := range 10 {
			p := 1 / float64(i+1) / weights
			want += p / (1 + 100*p)
		}
		f := b.Facts(nil).(*run.Facts)
		require.NotNil(t, f.HitRatio)
		assert.InDelta(t, want, 1-*f.HitRatio, 0.005)
		assert.Zero(t, f.Lost+f.Wrong+f.Stale)
	})
}

// BenchmarkCallOfNothing is all that is done for a call but the call: an operation is drawn, a key
// chosen, a value made, and the time taken at both ends.
func BenchmarkCallOfNothing(b *testing.B) {
	for _, o := range []string{"get", "put"} {
		for _, keys := range []string{"uniform", "zipf 0.99", "latest 0.99"} {
			b.Run(o+" "+keys, func(b *testing.B) {
				w := parse(b, fmt.Sprintf("data: {product: {records: 100_000, size: 1KiB}}\noperations: {call: {%s: product, keys: %s}}", o, keys))
				k := onNothing(b, w).task(b, 0, settings(w))
				k.Forget = true
				b.ReportAllocs()
				b.ResetTimer()
				defer bench.PerCall(b)()
				for b.Loop() {
					k.Seq++
					_ = k.Do(b.Context()) // nothing fails
				}
			})
		}
	}
}
