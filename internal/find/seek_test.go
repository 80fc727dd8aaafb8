package find

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/tier"
)

// queue is a store as theory has it: calls arrive by chance, wait in one line, and each
// of the servers takes the same time for one (M/D/c).
type queue struct {
	r       *rand.Rand
	servers []float64 // when each is free again, in seconds
	service float64
	limit   float64 // of the response time
	even    bool    // calls arrive evenly
	random  bool    // the time that a server takes for one is exponentially distributed
	rate    float64
	now     float64
	arrival float64
	set     bool
	ends    []float64             // of calls that have not been counted as done
	stall   func(second int) bool // seconds in which nothing begins, for noise
}

func newQueue(seed uint64, servers int, service, limit float64) *queue {
	return &queue{r: rand.New(rand.NewPCG(seed, 1)), servers: make([]float64, servers), service: service, limit: limit}
}

// call is the response time of the next call. The detector would take most of the time of
// these tests, in which one goroutine alone has the queue.
//
//go:norace
func (q *queue) call() float64 {
	gap, takes := 1.0, q.service
	if !q.even {
		gap = q.r.ExpFloat64()
	}
	if q.random {
		takes *= q.r.ExpFloat64()
	}
	q.arrival += gap / q.rate
	i := 0
	for k, free := range q.servers {
		if free < q.servers[i] {
			i = k
		}
	}
	q.servers[i] = max(q.servers[i], q.arrival) + takes
	q.ends = append(q.ends, q.servers[i])
	return q.servers[i] - q.arrival
}

func (q *queue) Set(level float64) {
	if level == 0 {
		level = 0.999 * float64(len(q.servers)) / q.service
	}
	q.rate, q.arrival, q.set = level, q.now, true
	q.ends = nil
	for i := range q.servers {
		q.servers[i] = min(q.servers[i], q.now+q.service) // what has not begun is given up
	}
}

//go:norace
func (q *queue) second() Second {
	s := Second{From: int64(q.now * 1e9), To: int64((q.now + 1) * 1e9), Readings: make([]Reading, 1)}
	if q.stall != nil && q.stall(int(q.now)) {
		for i := range q.servers {
			q.servers[i] = max(q.servers[i], q.now) + 0.3
		}
	}
	for q.now++; q.arrival < q.now; {
		t := q.call()
		s.Due++
		s.Readings[0].Of++
		if t > q.limit {
			s.Readings[0].Against++
		}
	}
	done := 0 // they end in the order of their arrival
	for done < len(q.ends) && q.ends[done] < q.now {
		done++
	}
	s.Done, q.ends = float64(done), q.ends[done:]
	return s
}

func (q *queue) Next(ctx context.Context) (Second, error) {
	if q.set {
		q.second()
	}
	q.set = false
	return q.second(), ctx.Err()
}

func (q *queue) Widen([]Second) bool { return false }

func (q *queue) Width() int { return len(q.servers) }

func (q *queue) Narrow(int) {}

// truth is the rate at which one call of a hundred takes longer than the limit.
func truth(servers int, service, limit float64) float64 {
	low, high := 0.5*float64(servers)/service, float64(servers)/service
	for high/low > 1.002 {
		q := newQueue(7, servers, service, limit)
		q.rate = math.Sqrt(low * high)
		over := 0
		const calls = 400_000
		for range calls {
			if q.call() > limit {
				over++
			}
			q.ends = q.ends[:0]
		}
		if over < calls/100 {
			low = q.rate
		} else {
			high = q.rate
		}
	}
	return low
}

// In nine searches of ten what is found is within 5 % of what theory has, in less than
// three minutes each.
func TestSeekFindsWhatTheoryHas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		servers        int
		service, limit float64
		stall          bool
	}{
		{1, 0.0005, 0.01, false}, {4, 0.002, 0.01, false}, {16, 0.004, 0.02, false}, {1, 0.001, 1, false}, {4, 0.001, 0.005, true},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			want := truth(c.servers, c.service, c.limit)
			const searches = 20
			var off []float64
			for seed := range uint64(searches) {
				q := newQueue(seed, c.servers, c.service, c.limit)
				if c.stall { // of a third of a second, now and then
					noise := rand.New(rand.NewPCG(seed, 2))
					q.stall = func(int) bool { return noise.IntN(100) == 0 }
				}
				r, err := seek().Find(t.Context(), q, func(Tried) {})
				require.NoError(t, err)
				assert.Less(t, q.now, 180.0, "seconds")
				off = append(off, math.Abs(r.Low/want-1))
			}
			slices.Sort(off)
			t.Logf("%.0f/s; off by %.3f in 9 of 10, %.3f at most", want, off[searches*9/10-1], off[searches-1])
			assert.Less(t, off[searches*9/10-1], 0.05)
		})
	}
}

// One server whose service time is exponentially distributed, with a mean of 1: the share of
// calls that take longer than t at a load. Calls come independently (M/M/1) or evenly (D/M/1).
func longer(even bool, load, t float64) float64 {
	meets := load // the share of calls that find the server at work
	if even {
		meets = 0.5
		for range 200 {
			meets = math.Exp(-(1 - meets) / load)
		}
	}
	return math.Exp(-(1 - meets) * t)
}

// In 19 searches of 20 what is found is within 5 % of what theory has, whether calls come
// independently or evenly. What even calls can have is more.
func TestSeekFindsWhatTheoryHasForBothArrivals(t *testing.T) {
	t.Parallel()
	seekBothArrivals(t, 20)
}

func TestProofThatSeekFindsWhatTheoryHasForBothArrivals(t *testing.T) {
	tier.Proof(t, "TestSeekFindsWhatTheoryHasForBothArrivals does twenty searches")
	seekBothArrivals(t, 100)
}

func seekBothArrivals(t *testing.T, searches int) {
	t.Helper()
	found := map[bool]float64{}
	for _, even := range []bool{false, true} {
		const service, limit = 0.0005, 0.01
		low, high := 0.1, 0.999
		for range 60 {
			if mid := (low + high) / 2; longer(even, mid, limit/service) > 0.01 {
				high = mid
			} else {
				low = mid
			}
		}
		want := low / service
		var off []float64
		late := 0
		for seed := range uint64(searches) {
			q := newQueue(seed, 1, service, limit)
			q.random, q.even = true, even
			r, err := seek().Find(t.Context(), q, func(Tried) {})
			if errors.Is(err, errUp) { // it still answers
				late++
			} else {
				require.NoError(t, err)
			}
			off = append(off, math.Abs(r.Low/want-1))
			found[even] += r.Low / float64(searches)
		}
		slices.Sort(off)
		t.Logf("even %v: %.0f/s; off by %.3f in half, %.3f in 19 of 20, %.3f at most", even, want, off[searches/2-1], off[searches*19/20-1], off[searches-1])
		assert.Less(t, off[searches*19/20-1], 0.05, "even: %v", even)
		assert.LessOrEqual(t, late, searches/10, "of those that do not finish in time")
	}
	assert.Greater(t, found[true], 1.1*found[false])
}

// A store that was not at its best when the first level was tried must not end the search
// there for good; what is doubtful and remains so must not go on for ever.
func TestALevelThatFailedOnlyDoubtfullyHasALastSay(t *testing.T) {
	for _, c := range []struct {
		name string
		// early are the steps at the first level that fail doubtfully, and late what comes of
		// it afterwards.
		early int
		late  Tried
		least float64
		// tries is how many steps there are at the first level.
		tries int
	}{
		{"it holds", 2, Tried{Held: true}, 1500, 3},
		{"it seems to hold, twice", 2, Tried{Held: true, Doubtful: true}, 1500, 4},
		{"it fails again", 2, Tried{Doubtful: true}, 970, 3},
		{"it fails for sure", 2, Tried{}, 970, 3},
		{"it failed for sure", 1, Tried{}, 970, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			tries := 0
			try := func(_ context.Context, level float64, _ bool) (Tried, error) {
				s := Tried{Rate: level, Held: level < 1550}
				if level == 1000 {
					if s = c.late; tries < c.early {
						s = Tried{Doubtful: true}
					}
					tries++
					s.Rate = level
				}
				return s, nil
			}
			r, err := Choice{Start: 1000, Raise: 2, Near: 1.03, Most: 60, Confirm: true}.Find(t.Context(), try, func(Tried) {})
			require.NoError(t, err)
			assert.True(t, r.Known)
			assert.GreaterOrEqual(t, r.Low, c.least)
			assert.Equal(t, c.tries, tries)
			if c.least < 1000 {
				assert.InDelta(t, 1000, r.High, 0)
			}
		})
	}
}

// What held without doubt is not outvoted by steps that say nothing of the store: these are repeated, a few times. What the
// store did itself counts as before, and so do they where a level held in doubt alone.
func TestWhatHeldWithoutDoubtIsOutvotedByTheStoreAlone(t *testing.T) {
	ours, clean, holds := Tried{Ours: true}, Tried{}, Tried{Held: true}
	for name, c := range map[string]struct {
		first Tried   // of the level that holds, before higher ones fail
		then  []Tried // of its further steps; the last one goes on
		low   float64
		tries int
	}{
		"perfbench was measured":           {holds, []Tried{ours}, 1000, 1 + mostOurs},
		"in doubt":                         {holds, []Tried{{Ours: true, Doubtful: true}}, 1000, 1 + mostOurs},
		"perfbench was measured for once":  {holds, []Tried{ours, holds}, 1000, 3},
		"for twice":                        {holds, []Tried{ours, ours, holds}, 1000, 4},
		"the store failed":                 {holds, []Tried{clean}, 970, 3},
		"perfbench first, then the store":  {holds, []Tried{ours, clean}, 970, 4},
		"the store once":                   {holds, []Tried{clean, holds}, 1000, 3},
		"it held in doubt":                 {Tried{Held: true, Doubtful: true}, []Tried{ours}, 970, 1 + mostOurs},
		"it held in doubt, then perfbench": {Tried{Held: true, Doubtful: true}, []Tried{holds, ours}, 1000, 2},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			try := func(_ context.Context, level float64, _ bool) (Tried, error) {
				s := Tried{Held: level < 1000, Ours: level > 1000}
				if level == 1000 {
					if s = c.first; tries > 0 {
						s = c.then[min(tries, len(c.then))-1]
					}
					tries++
				}
				s.Rate = level
				return s, nil
			}
			r, err := Choice{Start: 500, Raise: 2, Near: 1.03, Most: 60, Confirm: true}.Find(t.Context(), try, func(Tried) {})
			require.NoError(t, err)
			assert.True(t, r.Known)
			assert.GreaterOrEqual(t, r.Low, c.low)
			if c.low < 1000 {
				assert.InDelta(t, 1000, r.High, 0)
			} else {
				assert.InDelta(t, 1000, r.Low, 0)
			}
			assert.Equal(t, c.tries, tries)
		})
	}
}

// A level that failed in a step that says nothing of the store is tried again once a lower one holds, before the search goes on
// below it; a second such step lets it do so.
func TestALevelThatPerfbenchFailedIsTriedAgainSoon(t *testing.T) {
	for name, c := range map[string]struct {
		crowded int // steps
		levels  []float64
	}{
		"the crowd is gone":  {2, []float64{1000, 500, 250, 500, 1000, 2000, 4000, 2830}},
		"it is not quite so": {4, []float64{1000, 500, 250, 125, 62.5, 125, 250, 500, 1000, 2000}},
	} {
		t.Run(name, func(t *testing.T) {
			var levels []float64
			try := func(_ context.Context, level float64, _ bool) (Tried, error) {
				levels = append(levels, level)
				s := Tried{Rate: level, Held: level < 2500}
				if len(levels) <= c.crowded {
					s.Held, s.Ours = false, true
				}
				return s, nil
			}
			r, err := Choice{Start: 1000, Raise: 2, Near: 1.03, Most: 60, Confirm: true}.Find(t.Context(), try, func(Tried) {})
			require.NoError(t, err)
			assert.InEpsilon(t, 2500, r.Low, 0.04)
			assert.Equal(t, c.levels, levels[:len(c.levels)])
		})
	}
	for until, c := range map[int]struct {
		levels []float64
		low    float64
	}{
		4: {[]float64{500, 1000, 707, 1000, 841, 1000, 2000}, 2500},
		9: {[]float64{500, 1000, 707, 1000, 841, 1000}, 841},
	} {
		var levels []float64
		try := func(_ context.Context, level float64, _ bool) (Tried, error) {
			levels = append(levels, level)
			s := Tried{Rate: level, Held: level < 2500}
			if level >= 1000 && len(levels) <= until {
				s.Held, s.Ours = false, true
			}
			return s, nil
		}
		r, err := Choice{Start: 500, Raise: 2, Near: 1.2, Most: 60, Confirm: true}.Find(t.Context(), try, func(Tried) {})
		require.NoError(t, err)
		assert.True(t, r.Known)
		assert.InEpsilon(t, c.low, r.Low, 0.17)
		assert.Equal(t, c.levels, levels[:len(c.levels)])
	}
}

func seek() Seek {
	return Seek{
		Conditions: []Condition{{Text: "p99<limit", Bound: 0.01, Share: true}},
		Choice:     Choice{Raise: 2, Near: 1.03, Most: 60, Confirm: true}, Time: 150 * time.Second,
	}
}

// narrow is a store that does most units a second with any number of threads, and each a second with one. No
// level that does less than is due holds.
type narrow struct {
	threads, most, each float64
	level               float64
	now                 int64
	widened             []float64
}

func (n *narrow) Set(level float64) { n.level = level }

func (n *narrow) Next(context.Context) (Second, error) {
	s := Second{From: n.now, To: n.now + 1e9, Due: n.level, Done: min(n.level, n.most, n.threads*n.each), Lump: 1}
	if n.level == 0 {
		s.Done = min(n.most, n.threads*n.each)
	}
	s.Readings = []Reading{{Of: s.Done}}
	if s.Done < s.Due {
		s.Readings[0].Against = s.Done
	}
	n.now = s.To
	return s, nil
}

func (n *narrow) Widen([]Second) bool {
	if n.threads >= 64 {
		return false
	}
	n.threads *= 2
	n.widened = append(n.widened, n.level)
	return true
}

func (n *narrow) Width() int { return int(n.threads) }

func (n *narrow) Narrow(width int) { n.threads = float64(width) }

// Threads are raised as long as that helps: once a level fails with more of them as it did before, at no
// level any more.
func TestSeekRaisesThreadsWhileThatHelps(t *testing.T) {
	for _, c := range []struct {
		most, found float64
		threads     float64
	}{{1e6, 64 * 250, 64}, {1000, 1000, 4}} {
		n := &narrow{threads: 1, most: c.most, each: 250}
		var sounded []Tried
		k := seek()
		k.Time, k.Sounded = 0, func(s Tried) float64 {
			sounded = append(sounded, s)
			return s.Done
		}
		r, err := k.Find(t.Context(), n, func(Tried) {})
		require.NoError(t, err)
		require.Len(t, sounded, 1)
		assert.InDelta(t, 250, sounded[0].Done, 0.1)
		assert.InEpsilon(t, c.found, r.Low, 0.04)
		assert.InDelta(t, c.threads, n.threads, 0, "raised at %v", n.widened)
	}
}

// crowded is a store that does 1000 units a second, of calls that more than eight threads make too slow. Its
// threads are blamed whenever a level fails.
type crowded struct {
	narrow
	with map[float64][]int // the threads with which each level failed
}

func (c *crowded) Next(ctx context.Context) (Second, error) {
	c.most = 1000
	s, err := c.narrow.Next(ctx)
	if c.threads > 8 {
		s.Readings[0].Against = s.Readings[0].Of
	}
	if s.Readings[0].Against > 0 && (len(c.with[c.level]) == 0 || c.with[c.level][len(c.with[c.level])-1] != int(c.threads)) {
		c.with[c.level] = append(c.with[c.level], int(c.threads))
	}
	return s, err
}

// A level for which threads were raised without making it hold does not leave them so: the next ones are tried
// with the number with which the highest one held, and so is each level that did not hold.
func TestSeekGoesBackToTheThreadsThatHeld(t *testing.T) {
	for each, threads := range map[float64]int{250: 4, 125: 8} {
		c := &crowded{narrow: narrow{threads: 1, each: each}, with: map[float64][]int{}}
		k := seek()
		k.Time = 0
		r, err := k.Find(t.Context(), c, func(Tried) {})
		require.NoError(t, err)
		assert.InEpsilon(t, 1000, r.Low, 0.04)
		assert.Less(t, r.High, 1.04*r.Low)
		assert.Contains(t, c.with[r.High], threads)
	}
}

// scripted is a store of which each level, with each number of threads, has a share of calls that are too slow:
// that of every other second, and of the ones between.
type scripted struct {
	narrow
	share func(level, threads float64) (even, odd float64)
	// widens reports whether a level that failed is worth more threads; nil: from 2000 on.
	widens func() bool
	tries  [][2]float64
}

func (s *scripted) Set(level float64) {
	s.narrow.Set(level)
	s.tries = append(s.tries, [2]float64{level, s.threads})
}

func (s *scripted) Widen(failed []Second) bool {
	worth := s.level >= 2000
	if s.widens != nil {
		worth = s.widens()
	}
	if !worth || s.threads >= 32 {
		return false
	}
	s.threads *= 4
	return true
}

func (s *scripted) Next(ctx context.Context) (Second, error) {
	next, err := s.narrow.Next(ctx)
	even, odd := s.share(s.level, s.threads)
	if s.now/1e9%2 == 1 {
		even = odd
	}
	next.Readings[0].Against = even * next.Readings[0].Of
	return next, err
}

// A level that is in doubt with more threads is tried again with as many, and no word is said of threads that did not
// help. Where it then came much closer to holding, the search stays with them at lower levels; where it failed
// for certain as before, it goes back, and raises them no more.
func TestSeekDoubtsThatThreadsDoNotHelp(t *testing.T) {
	for name, c := range map[string]struct {
		before    float64 // the share at the level that fails
		even, odd float64 // and with more threads
		later     int     // the threads of later levels
		vain      bool
	}{
		"in doubt, and much closer":      {0.15, 0, 0.028, 32, false},
		"in doubt, and hardly closer":    {0.024, 0, 0.028, 8, false},
		"for certain, and much closer":   {0.15, 0.03, 0.031, 32, false},
		"for certain, and hardly closer": {0.15, 0.1, 0.11, 8, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := &scripted{narrow: narrow{threads: 8, most: 1e6, each: 1e6}}
			b.share = func(level, threads float64) (even, odd float64) {
				switch {
				case level < 2000:
					return 0, 0
				case threads > 8:
					return c.even, c.odd
				}
				return c.before, c.before
			}
			k := seek()
			k.Time, k.Choice.Start, k.Choice.Most = 0, 1000, 6
			var tried []Tried
			_, err := k.Find(t.Context(), b, func(s Tried) { tried = append(tried, s) })
			require.NoError(t, err)
			require.Equal(t, [][2]float64{{1000, 8}, {2000, 8}, {2000, 32}}, b.tries[:3])
			assert.Equal(t, c.vain, slices.ContainsFunc(tried, func(s Tried) bool { return s.Vain }))
			later := b.tries[3]
			if doubted := tried[2].Doubtful; assert.Equal(t, strings.HasPrefix(name, "in doubt"), doubted) && doubted {
				require.Equal(t, [2]float64{2000, 32}, b.tries[3], "again")
				later = b.tries[4]
			}
			assert.Less(t, later[0], 2000.0)
			assert.InDelta(t, c.later, later[1], 0)
		})
	}
}

// A level that did not hold is tried again with the threads with which a lower one does, and nothing else makes it
// too much.
func TestALevelIsTooMuchOnlyWithTheThreadsThatHold(t *testing.T) {
	for name, limit := range map[string]float64{"it holds with more": 3300, "it does not": 1900} {
		t.Run(name, func(t *testing.T) {
			b := &scripted{narrow: narrow{threads: 8, most: 1e6, each: 1e6}}
			b.share = func(level, threads float64) (even, odd float64) {
				if level >= 4000 || threads == 8 && level > 1200 || level > limit {
					return 0.5, 0.5
				}
				return 0, 0
			}
			b.widens = func() bool { return b.level < 2000 } // that calls of 2000 waited for a thread was not seen
			k := seek()
			k.Time, k.Choice.Start, k.Choice.Most = 0, 1000, 40
			r, err := k.Find(t.Context(), b, func(Tried) {})
			require.NoError(t, err)
			require.True(t, r.Known)
			assert.InEpsilon(t, limit, r.Low, 0.04)
			assert.Less(t, r.High, 1.04*r.Low)
			first := slices.Index(b.tries, [2]float64{2000, 8})
			again := slices.Index(b.tries, [2]float64{2000, 32})
			require.Positive(t, first)
			held := slices.IndexFunc(b.tries, func(try [2]float64) bool { return try[1] == 32 })
			assert.Greater(t, again, held)
			assert.LessOrEqual(t, again, held+2, "next, once it is sure that the lower one holds: %v", b.tries)
		})
	}
}

// A try that says nothing of the store says nothing of threads: what held is tried again with as many.
func TestATryThatSaysNothingOfTheStoreLeavesTheThreads(t *testing.T) {
	b := &scripted{narrow: narrow{threads: 2, most: 1e6, each: 1e6}}
	b.share = func(level, threads float64) (even, odd float64) {
		crowded := slices.ContainsFunc(b.tries, func(try [2]float64) bool { return try[0] > 2000 })
		if crowded || level == 2000 && threads < 8 {
			return 0.5, 0.5
		}
		return 0, 0
	}
	b.widens = func() bool { return b.level == 2000 }
	k := seek()
	k.Time, k.Choice.Start, k.Choice.Most = 0, 1000, 40
	k.Ours = func(s Tried) bool { return s.Width > 2 }
	r, err := k.Find(t.Context(), b, func(Tried) {})
	require.NoError(t, err)
	assert.InDelta(t, 2000, r.Low, 0)
	var with []float64
	for _, try := range b.tries {
		if try[0] == 2000 {
			with = append(with, try[1])
		}
	}
	assert.Equal(t, []float64{2, 8, 8, 8, 8}, with)
}

// Where the time is up before that, it is not known whether it is too much.
func TestALevelThatFailedWithFewerThreadsIsOpen(t *testing.T) {
	b := &scripted{narrow: narrow{threads: 8, most: 1e6, each: 1e6}}
	b.share = func(level, threads float64) (even, odd float64) {
		if threads == 8 && level > 1200 {
			return 0.5, 0.5
		}
		return 0, 0
	}
	b.widens = func() bool { return b.level < 2000 }
	k := seek()
	up := false
	k.Time, k.Choice.Start, k.Choice.Up = 0, 1000, func() bool { return up }
	r, err := k.Find(t.Context(), b, func(s Tried) { up = up || s.Held && s.Width == 32 })
	require.NoError(t, err)
	assert.Equal(t, Range{Low: 1410}, r)
}

// That more threads did not help is told of two tries of one level that failed alike.
func TestThreadsThatWereRaisedInVain(t *testing.T) {
	before := Tried{Why: "p99<5ms did not hold: 30 % took longer", Done: 80, Readings: []Estimate{{Value: 0.3}}}
	again := Tried{Why: "p99<5ms did not hold: 28 % took longer", Done: 80 * 1.04}
	assert.True(t, alikeFailed(before, again))
	again.Done = 80 * 1.06
	assert.False(t, alikeFailed(before, again))
	again.Done, again.Why = 80, "the backlog grew: 80 % of what was due was done"
	assert.False(t, alikeFailed(before, again), "for another reason")

	r := Result{Steps: []Step{
		{Level: 50, Threads: 8, Held: true}, {Level: 100, Threads: 8}, {Level: 100, Threads: 32, Doubtful: true}, {Level: 100, Threads: 32},
	}}
	_, last := r.InVain()
	assert.Nil(t, last)
	r.Steps[3].Vain = true
	fewer, more := r.InVain()
	require.NotNil(t, more)
	assert.Equal(t, []int{8, 32}, []int{fewer.Threads, more.Threads})
}

// A search tells what it tries from its first moment on, how long that may take, and which level comes after it.
func TestASearchTellsWhatItTries(t *testing.T) {
	k, b := seek(), &narrow{threads: 4, most: 1000, each: 1000}
	k.Choice.Start = 300
	var all []Trying
	k.Trying = func(now Trying) { all = append(all, now) }
	var tried []float64
	_, err := k.Find(t.Context(), b, func(s Tried) { tried = append(tried, s.Rate) })
	require.NoError(t, err)
	assert.Equal(t, Trying{Level: 300, Most: mostSeconds, IfHolds: 600, IfNot: 150}, all[0])
	assert.False(t, all[0].Told())
	last := -1
	for i, now := range all {
		switch {
		case now.Seconds == 0:
			last++
			assert.InDelta(t, tried[last], now.Level, 0)
			assert.Equal(t, slices.Contains(tried[:last], now.Level), now.Again)
		default:
			assert.Equal(t, all[i-1].Seconds+1, now.Seconds)
		}
		if next := last + 1; now.Seconds == 0 && next < len(tried) && now.IfHolds+now.IfNot > 0 {
			assert.Contains(t, []float64{now.IfHolds, now.IfNot, now.Level}, tried[next], "%+v", now)
		}
	}
	assert.Len(t, tried, last+1)
}

// What leaves a level unclear is told by the condition of which its seconds do not tell whether it holds.
func TestWhatLeavesALevelUnclearIsTold(t *testing.T) {
	list := func(against ...float64) (out []Second) {
		for i, a := range against {
			out = append(out, Second{From: int64(i) * 1e9, To: int64(i+1) * 1e9, Due: 3000, Done: 3000, Readings: []Reading{{0, 3000}, {a, 3000}}})
		}
		return out
	}
	both := []Condition{{Text: "errors<1%", Bound: 0.01, Share: true, Violated: "failed"}, {Text: "p99<5ms", Bound: 0.01, Share: true, Violated: "took longer"}}
	assert.Equal(t, "1.02 % took longer, close to 1 %", stillOpen(both, list(30, 31, 31, 31)))
	assert.Equal(t, "5 % took longer, seconds vary", stillOpen(both, list(600, 0, 0, 0)))
	assert.Equal(t, "0.5 % took longer, seconds vary", stillOpen(both, list(60, 0, 0, 0)))
}
