package engine

import (
	"context"
	"encoding/binary"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// load is the share of what the servers of these tests can do that is asked of them; a call
// takes them 1 ms on average.
const load = 0.8

// theory is a queue whose response times are known.
type theory struct {
	name     string
	servers  int
	how      workload.Arrivals
	constant bool
	// longer is the share of calls that take longer than t ms.
	longer func(t float64) float64
}

// theories are queues by their usual names: how calls come, how long each takes, and how many
// servers there are.
var theories = []theory{
	{"M/M/1", 1, workload.Arrivals{Poisson: true}, false, func(t float64) float64 { return math.Exp(-(1 - load) * t) }},
	{"M/M/4", 4, workload.Arrivals{Poisson: true}, false, func(t float64) float64 { // Erlang's formula gives the share that waits
		const busy, idle = 4 * load, 4 - 1 - 4*load
		none, term := 0.0, 1.0
		for k := range 4 {
			none += term
			term *= busy / float64(k+1)
		}
		waits := term / (1 - load) / (none + term/(1-load))
		return math.Exp(-t) * (1 + waits*(1-math.Exp(-idle*t))/idle)
	}},
	{"M/D/1", 1, workload.Arrivals{Poisson: true}, true, func(t float64) float64 { // Erlang's series
		if t < 1 {
			return 1
		}
		sum, wait := 0.0, t-1
		for k := 0.0; k <= wait; k++ {
			late := load * (k - wait)
			term := math.Exp(-late)
			for i := 1.0; i <= k; i++ {
				term *= late / i
			}
			sum += term
		}
		return 1 - (1-load)*sum
	}},
	{"D/M/1", 1, workload.Arrivals{}, false, func(t float64) float64 {
		meets := 0.5 // the share of calls that find the server at work
		for range 200 {
			meets = math.Exp(-(1 - meets) / load)
		}
		return math.Exp(-(1 - meets) * t)
	}},
}

// quantile returns where a law of response times, the share that takes longer, is down to 1 - p.
func quantile(p float64, longer func(t float64) float64) float64 {
	low, high := 0.0, 40.0
	for range 60 {
		if mid := (low + high) / 2; longer(mid) > 1-p {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// Response times are those of queueing theory, in virtual time. Independent arrivals wait nearly
// twice as long as even ones.
func TestResponseTimesAreThoseOfTheory(t *testing.T) {
	for _, c := range theories {
		t.Run(c.name, func(t *testing.T) {
			if c.name != theories[0].name {
				tier.Slow(t, tier.Computes)
			}
			t.Parallel()
			got := queue(t, &c, 1, 4e5, nil).Ops[0].Response
			for i, ns := range []int64{got.P50, got.P99, got.P999} {
				p := []float64{0.5, 0.99, 0.999}[i]
				assert.InEpsilon(t, quantile(p, c.longer), float64(ns)/1e6, []float64{0.03, 0.1, 0.2}[i], "p%g", 100*p)
			}
		})
	}
}

// Over a dozen seeds, theory lies within the confidence band of each percentile: of the share of
// calls that take longer than theory has for it, which the seeds know to within the band.
func TestProofThatTheoryIsWithinTheConfidenceBands(t *testing.T) {
	tier.Proof(t, "TestResponseTimesAreThoseOfTheory has one seed")
	const seeds, student = 12, 4.437 // 99.9 %, with eleven degrees of freedom
	ps := []float64{0.5, 0.9, 0.99, 0.999}
	for _, c := range theories {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sum, squares := make([]float64, len(ps)), make([]float64, len(ps))
			for seed := range int64(seeds) {
				calls, over := 0.0, make([]float64, len(ps))
				queue(t, &c, seed+1, 2e5, func(s *measure.Second) error {
					for _, in := range s.Intervals {
						if s.T == 0 { // the queue begins empty
							continue
						}
						calls += float64(in.Response.TotalCount())
						for i, p := range ps {
							over[i] += float64(measure.Above(in.Response, int64(1e6*quantile(p, c.longer))))
						}
					}
					return nil
				})
				for i, n := range over {
					sum[i] += n / calls
					squares[i] += n / calls * n / calls
				}
			}
			for i, p := range ps {
				mean := sum[i] / seeds
				band := student * math.Sqrt((squares[i]-seeds*mean*mean)/(seeds-1)/seeds)
				t.Logf("p%g: %.4g %% ± %.2g %% of the calls take longer than %.4g ms, theory has %.4g %%", 100*p, 100*mean, 100*band, quantile(p, c.longer), 100*(1-p))
				assert.InDelta(t, 1-p, mean, band, "p%g", 100*p)
				if p < 0.999 {
					assert.Less(t, band, 0.6*(1-p), "p%g: so wide a band shows nothing", 100*p)
				}
			}
		})
	}
}

// queue is a run of so many calls on a queue, in virtual time.
func queue(t *testing.T, c *theory, seed int64, calls float64, sink func(*measure.Second) error) (out *measure.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		call := func(_ context.Context, it *workload.Iteration) error {
			takes := 1.0
			if !c.constant {
				takes = exponential(98+uint64(seed), it.Seq)
			}
			time.Sleep(time.Duration(takes * float64(time.Millisecond)))
			return nil
		}
		rate := load * float64(c.servers) * 1000
		r := start(t, onePhase(time.Duration(calls/rate*1e9), pool("p", workload.Settings{Threads: c.servers, Rate: rate}, call)), func(o *Options) { o.Arrivals, o.Seed, o.Sink = c.how, seed, sink })
		out = result(t, r)
		assert.InEpsilon(t, calls, out.Ops[0].Count, 0.02)
	})
	return out
}

// teller is a server behind a socket that works on one call at a time, in the order in which they
// come, each for as long as is known of its place in that order. It answers when theory has it, or
// later.
type teller struct {
	listener net.Listener
	began    time.Time

	mu     sync.Mutex
	free   int64   // when the last call is done, ns since it began
	served []int64 // the numbers of the calls, in their order
}

// serving is how long the call at a place takes the teller, in ns.
func serving(place int) int64 { return int64(1e6 * exponential(99, int64(place))) }

func newTeller(t *testing.T) *teller {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &teller{listener: l, began: time.Now()}
	var at sync.WaitGroup
	at.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			at.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		assert.NoError(t, l.Close())
		at.Wait()
	})
	return s
}

func (s *teller) now() int64 { return int64(time.Since(s.began)) }

// serve answers the calls of a connection: a number, and a byte.
func (s *teller) serve(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // it is over
	var b [8]byte
	for {
		if _, err := io.ReadFull(conn, b[:]); err != nil {
			return
		}
		seq := int64(binary.BigEndian.Uint64(b[:]))
		s.mu.Lock()
		s.free = max(s.free, s.now()) + serving(len(s.served))
		done := s.free
		s.served = append(s.served, seq)
		s.mu.Unlock()
		time.Sleep(time.Duration(done - s.now()))
		if _, err := conn.Write(b[:1]); err != nil {
			return
		}
	}
}

// lindley returns the response times of calls that fall due at these moments, on a queue with one
// server that has them in this order: each begins when it has come and the one before it is done.
func lindley(due []int64) []int64 {
	out, done := make([]int64, len(due)), int64(math.MinInt64)
	for i, at := range due {
		done = max(at, done) + serving(i)
		out[i] = done - at
	}
	return out
}

// beyond returns the shares of times that are longer than each of the limits, in ms.
func beyond(times []int64, limits []float64) []float64 {
	out := make([]float64, len(limits))
	for i, limit := range limits {
		for _, ns := range times {
			if float64(ns) > 1e6*limit {
				out[i] += 1 / float64(len(times))
			}
		}
	}
	return out
}

// On a real server behind a socket, whose service is known, the calls come as theory has it: what
// follows from the recorded arrivals and the known service is within the bands of as many calls of
// a simulated queue. And the percentiles of the run are those of its calls, never less than that.
// How much more depends on how busy the machine is, and is no matter of this test.
func TestARealServerIsAQueue(t *testing.T) {
	tier.Full(t, "TestResponseTimesAreThoseOfTheory has such a queue in virtual time")
	isAQueue(t, 3*time.Second)
}

// The longer it lasts, the narrower are the bands.
func TestProofThatARealServerIsAQueue(t *testing.T) {
	tier.Proof(t, "TestARealServerIsAQueue lasts three seconds")
	isAQueue(t, 12*time.Second)
}

func isAQueue(t *testing.T, lasts time.Duration) {
	t.Helper()
	var server *teller
	var calls map[int64]called
	var got measure.Totals
	var early, late int64
	for tries := 0; ; tries++ {
		server = newTeller(t)
		var stopped bool
		if calls, got, early, late, stopped = server.ask(t, lasts); !stopped {
			break
		}
		require.Less(t, tries, 5, "while a run is stopped, its clock is")
	}
	inOrder := slices.Sorted(maps.Values(dues(calls)))
	var limits []float64
	for _, p := range []float64{0.5, 0.9, 0.99, 0.999} {
		limits = append(limits, quantile(p, theories[0].longer))
	}
	have := beyond(lindley(inOrder), limits)
	bands := simulated(len(calls), limits)
	for i, share := range have {
		low, high := bands[i][len(bands[i])/1000], bands[i][len(bands[i])-1-len(bands[i])/1000]
		t.Logf("%.4g %% of the calls take longer than %.3g ms; simulated %.4g to %.4g %%", 100*share, limits[i], 100*low, 100*high)
		assert.GreaterOrEqual(t, share, low)
		assert.LessOrEqual(t, share, high)
	}

	var served, most []int64
	for _, seq := range server.served {
		served = append(served, calls[seq].due)
	}
	least := lindley(served)
	for _, c := range calls {
		most = append(most, c.ended-early-c.due)
	}
	slices.Sort(least)
	slices.Sort(most)
	const step = 1.002 // of histograms
	for i, ns := range []int64{got.Response.P50, got.Response.P90, got.Response.P99, got.Response.P999} {
		p := []float64{0.5, 0.9, 0.99, 0.999}[i]
		at := min(int(math.Ceil(p*float64(len(most)))), len(most)) - 1
		t.Logf("p%g is %.3g ms; %.3g ms by the recorded arrivals and the known service, and %.3g ms by the callers' clock", 100*p, float64(ns)/1e6, float64(least[at])/1e6, float64(most[at])/1e6)
		assert.GreaterOrEqual(t, float64(ns)*step, float64(least[at]-(late-early)), "p%g", 100*p)
		assert.LessOrEqual(t, float64(ns), float64(most[at])*step, "p%g", 100*p)
	}
}

// called is when a call fell due, in the run's time, and when it had ended, in the server's.
type called struct{ due, ended int64 }

// dues returns when calls fell due.
func dues(calls map[int64]called) map[int64]int64 {
	out := map[int64]int64{}
	for seq, c := range calls {
		out[seq] = c.due
	}
	return out
}

// ask does a run on the server, and returns its calls, what the run has of them, and between which
// moments of the server's time the run's begins. A run that was stopped tells nothing.
func (s *teller) ask(t *testing.T, lasts time.Duration) (calls map[int64]called, got measure.Totals, early, late int64, stopped bool) {
	t.Helper()
	const rate, threads = load * 1000, 128
	var mu sync.Mutex
	calls = map[int64]called{}
	track := workload.Track{Name: "p", Ops: []string{"call"}, Start: workload.Settings{Threads: threads, Rate: rate}, NewTask: func(int) (workload.Task, error) {
		conn, err := net.Dial("tcp", s.listener.Addr().String())
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { assert.NoError(t, conn.Close()) })
		return workload.TaskFunc(func(_ context.Context, it *workload.Iteration) error {
			b := binary.BigEndian.AppendUint64(nil, uint64(it.Seq))
			m := it.Begin(0)
			_, err := conn.Write(b)
			if err == nil {
				_, err = io.ReadFull(conn, b[:1])
			}
			err = it.End(m, 1, err)
			c := called{it.Due(), s.now()}
			mu.Lock()
			defer mu.Unlock()
			calls[it.Seq] = c
			return err
		}), nil
	}}
	r := start(t, onePhase(lasts, track), func(o *Options) { o.Arrivals, o.Seed = workload.Arrivals{Poisson: true}, 1 })
	early, late = math.MinInt64, math.MaxInt64
	for range 100 {
		before := s.now()
		at := int64(r.Elapsed())
		early, late = max(early, before-at), min(late, s.now()-at)
	}
	got = result(t, r).Ops[0]
	require.Zero(t, got.Errors)
	require.EqualValues(t, len(calls), got.Count)
	require.InEpsilon(t, rate*lasts.Seconds(), got.Count, 0.2)
	return calls, got, early, late, len(r.Suspensions()) > 0
}

// simulated returns, for each limit, the share of longer calls in each of many runs of a queue
// that is simulated by itself, in order.
func simulated(calls int, limits []float64) [][]float64 {
	const runs = 1000
	out := make([][]float64, len(limits))
	for seed := range uint64(runs) {
		draw := rand.New(rand.NewPCG(seed, 4711))
		times, came, done := make([]int64, calls), 0.0, 0.0
		for i := range times {
			came += draw.ExpFloat64() / load
			done = max(came, done) + draw.ExpFloat64()
			times[i] = int64(1e6 * (done - came))
		}
		for i, share := range beyond(times, limits) {
			out[i] = append(out[i], share)
		}
	}
	for _, shares := range out {
		slices.Sort(shares)
	}
	return out
}
