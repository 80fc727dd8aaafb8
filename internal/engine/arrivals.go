package engine

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/workload"
)

// How due times are spread (see workload.Arrivals):
//
// A schedule counts its iterations. Where they come evenly, iteration k falls due after k
// mean gaps; where they come independently, after the sum of k+1 gaps that are
// exponentially distributed with mean 1. A gap is a pure function of the seed and k, and so
// is the sum, which is kept for every block of gaps: a run that is repeated has the same
// arrivals whoever claims them. Bursts stretch and squeeze the time in which that happens.

const (
	// gapBits is the binary logarithm of the gaps of a block, and keptBlocks how many blocks
	// can be read without a lock: claims come in the order of their numbers, but for a few.
	gapBits    = 8
	inBlock    = 1 << gapBits
	keptBlocks = 8
	// leastMean is the mean gap in ns below which arrivals are even: nobody could tell.
	leastMean = 1000
)

// gaps are the arrivals of independent users. Any goroutine may call its methods; only count
// takes a lock.
type gaps struct {
	seed uint64
	kept [keptBlocks]block
	// sums holds the sums of all gaps before each block, as far as count has come. It is
	// replaced by a longer one, never changed.
	sums atomic.Pointer[[]float64]

	mu sync.Mutex // who makes sums longer
}

// States of a block beside its number.
const (
	changing = -1 // another takes its place
	empty    = -2
)

// block holds the sums of the gaps up to each in a block. Whoever reads it looks at number
// before and after.
type block struct {
	number atomic.Int64
	sums   [inBlock]atomic.Uint64
}

func newGaps(seed uint64) *gaps {
	g := &gaps{seed: seed}
	g.sums.Store(&[]float64{0})
	for i := range g.kept {
		g.kept[i].number.Store(empty)
	}
	return g
}

// exponential returns number i of a sequence of exponentially distributed numbers with
// mean 1.
func exponential(seed uint64, i int64) float64 {
	return rand.New(rand.NewPCG(seed, uint64(i))).ExpFloat64()
}

// at returns the sum of gaps up to and including gap k.
func (g *gaps) at(k int64) float64 {
	if x, ok := g.read(k); ok {
		return x
	}
	n, before := k>>gapBits, 0.0
	if n > 0 {
		var ok bool
		if before, ok = g.read(n<<gapBits - 1); !ok { // long ago, or far ahead
			before = g.before(n)
		}
	}
	var sums [inBlock]float64
	g.fill(n, before, &sums)
	g.keep(n, &sums)
	return sums[k&(inBlock-1)]
}

// read is at for a block that is kept.
func (g *gaps) read(k int64) (x float64, ok bool) {
	n := k >> gapBits
	b := &g.kept[n&(keptBlocks-1)]
	if b.number.Load() != n {
		return 0, false
	}
	x = math.Float64frombits(b.sums[k&(inBlock-1)].Load())
	return x, b.number.Load() == n
}

// keep keeps a block, unless there is a newer one in its place or another is just put there.
func (g *gaps) keep(n int64, sums *[inBlock]float64) {
	b := &g.kept[n&(keptBlocks-1)]
	if old := b.number.Load(); old >= n || old == changing || !b.number.CompareAndSwap(old, changing) {
		return
	}
	for i, v := range sums {
		b.sums[i].Store(math.Float64bits(v))
	}
	b.number.Store(n)
}

// fill draws the gaps of a block and writes the sums up to each.
func (g *gaps) fill(n int64, sum float64, to *[inBlock]float64) {
	var state rand.PCG
	state.Seed(g.seed, uint64(n))
	draw := rand.New(&state)
	for i := range to {
		sum += draw.ExpFloat64()
		to[i] = sum
	}
}

// before returns the sum of all gaps before a block, from the nearest that is known.
func (g *gaps) before(n int64) float64 {
	known := *g.sums.Load()
	from := min(n, int64(len(known))-1)
	sum := known[from]
	var sums [inBlock]float64
	for ; from < n; from++ {
		g.fill(from, sum, &sums)
		sum = sums[inBlock-1]
	}
	return sum
}

// count returns how many arrivals there are up to x.
func (g *gaps) count(x float64) int64 {
	known := g.upTo(x)
	n := int64(sort.SearchFloat64s(known, math.Nextafter(x, math.Inf(1)))) - 1
	if n < 0 {
		return 0
	}
	var sums [inBlock]float64
	g.fill(n, known[n], &sums)
	return n<<gapBits + int64(sort.SearchFloat64s(sums[:], math.Nextafter(x, math.Inf(1))))
}

// upTo returns the sums before each block, beyond x.
func (g *gaps) upTo(x float64) []float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := *g.sums.Load()
	if known[len(known)-1] > x {
		return known
	}
	var sums [inBlock]float64
	for known[len(known)-1] <= x {
		g.fill(int64(len(known))-1, known[len(known)-1], &sums)
		known = append(known, sums[inBlock-1])
	}
	g.sums.Store(&known)
	return known
}

// tide stretches and squeezes a run's time, in ns: during bursts more of the schedule's time
// passes than between them, and over long times as much. It begins between two bursts. All
// tracks and all parts of a run have the same. Any goroutine may call its methods, which take
// a lock once in a turn.
type tide struct {
	seed        uint64
	began       int64   // in run time
	calm, burst float64 // mean lengths, ns
	slow, fast  float64 // schedule's time that passes in 1 ns of the run's
	slowed      float64 // 1/slow
	hurried     float64 // 1/fast
	mu          sync.Mutex
	turns       atomic.Pointer[turns]
}

// turns are the run's time and the schedule's at each turn of a tide, since it began. They
// are replaced, never changed.
type turns struct{ run, schedule []float64 }

func newTide(a workload.Arrivals, seed uint64, began int64) *tide {
	t := &tide{seed: seed, began: began, calm: float64(a.Calm), burst: float64(a.Burst)}
	t.turns.Store(&turns{run: []float64{0}, schedule: []float64{0}})
	t.slow = (t.calm + t.burst) / (t.calm + a.Factor*t.burst)
	t.fast = a.Factor * t.slow
	t.slowed, t.hurried = 1/t.slow, 1/t.fast
	return t
}

// speed returns how fast the schedule's time passes after turn i, and how long that is, on
// average, until the next.
func (t *tide) speed(i int) (speed, mean float64) {
	if i%2 == 0 {
		return t.slow, t.calm
	}
	return t.fast, t.burst
}

// turn adds the next turn to those that are known. Whoever comes while another adds it takes his
// instead of waiting for the lock.
func (t *tide) turn(known *turns) *turns {
	for !t.mu.TryLock() {
		if now := t.turns.Load(); len(now.run) > len(known.run) {
			return now
		}
		runtime.Gosched()
	}
	defer t.mu.Unlock()
	if now := t.turns.Load(); len(now.run) > len(known.run) {
		return now
	}
	i := len(known.run) - 1
	speed, mean := t.speed(i)
	lasts := mean * exponential(t.seed, int64(i))
	next := &turns{append(known.run, known.run[i]+lasts), append(known.schedule, known.schedule[i]+lasts*speed)}
	t.turns.Store(next)
	return next
}

// scheduled returns the schedule's time at a moment of the run; before the tide begins, both
// pass alike.
func (t *tide) scheduled(moment int64) float64 {
	x := float64(moment - t.began)
	if x <= 0 {
		return x
	}
	known := t.turns.Load()
	for known.run[len(known.run)-1] <= x {
		known = t.turn(known)
	}
	i := before(known.run, x)
	speed, _ := t.speed(i)
	return known.schedule[i] + (x-known.run[i])*speed
}

// moment returns the moment of the run at a moment of the schedule's time.
func (t *tide) moment(x float64) int64 {
	if x <= 0 {
		return t.began + int64(x)
	}
	known := t.turns.Load()
	for known.schedule[len(known.schedule)-1] <= x {
		known = t.turn(known)
	}
	i := before(known.schedule, x)
	stretch := t.slowed
	if i%2 == 1 {
		stretch = t.hurried
	}
	return t.began + int64(known.run[i]+(x-known.schedule[i])*stretch)
}

// before returns the index of the last turn up to a time, from the end on: those that are
// claimed are mostly in one of the last two.
func before(turns []float64, x float64) int {
	i := len(turns) - 1
	for turns[i] > x {
		i--
	}
	return i
}
