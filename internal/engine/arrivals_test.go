package engine

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

// Gaps are exponentially distributed: the largest distance of their distribution from the
// law is below what 1 in 1,000 samples of this size exceeds (Kolmogorov and Smirnov).
func TestGapsAreExponential(t *testing.T) {
	const n = 100_000
	g := newGaps(1)
	all, last := make([]float64, n), 0.0
	for k := range all {
		x := g.at(int64(k))
		all[k], last = x-last, x
	}
	slices.Sort(all)
	far := 0.0
	for i, v := range all {
		p := 1 - math.Exp(-v)
		far = max(far, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
	}
	assert.Less(t, far, 1.95/math.Sqrt(n))
}

// Gaps are a function of the seed and their number, whoever asks for them and when.
func TestGapsRepeat(t *testing.T) {
	const n = 16 * inBlock // twice as many as are kept
	want := make([]float64, n)
	g := newGaps(7)
	for k := range want {
		want[k] = g.at(int64(k))
	}
	assert.True(t, slices.IsSorted(want))
	assert.NotEqual(t, want[0], newGaps(8).at(0))
	again := newGaps(7)
	var asked sync.WaitGroup
	for id := range 4 {
		asked.Go(func() {
			for _, k := range rand.New(rand.NewPCG(uint64(id), 0)).Perm(n) {
				if got := again.at(int64(k)); got != want[k] {
					assert.Equal(t, want[k], got, "gap %d", k)
					return
				}
			}
		})
	}
	asked.Wait()
}

// What is counted up to a moment is what falls due by then.
func TestArrivalsAreCounted(t *testing.T) {
	for _, units := range []int64{1, 50} {
		s := newSchedule(1000, 5000)
		s.gaps, s.units = newGaps(3), units
		for k := range int64(3000) {
			due := s.due(k * units)
			require.LessOrEqual(t, s.dueBy(due-1000), k*units, "before iteration %d", k)
			require.GreaterOrEqual(t, s.dueBy(due+1), (k+1)*units, "after iteration %d", k)
		}
		assert.Zero(t, s.dueBy(0))
	}
	s := newSchedule(0, 1000)
	s.gaps, s.units = newGaps(3), 50
	assert.Less(t, s.due(100), s.due(110), "iterations that have become smaller")
	assert.Less(t, s.due(110), s.due(150))
}

// A ramp has the arrivals of its rates: of a rise from 0 to 1,000/s in 20 steps of a second,
// each has what a Poisson process of its rate may have (five standard deviations).
func TestARampOfIndependentArrivals(t *testing.T) {
	s := newSchedule(0, 50)
	s.gaps, s.units = newGaps(11), 1
	for step := range int64(20) {
		rate := 50 * float64(step+1)
		if step > 0 {
			s.bend(step*int64(time.Second), rate)
		}
		in := s.dueBy((step+1)*int64(time.Second)-1) - s.dueBy(step*int64(time.Second)-1)
		assert.InDelta(t, rate, in, 5*math.Sqrt(rate), "step %d", step)
	}
}

// Bursts have as many calls as asked for over all, and so many times as many within as
// between them.
func TestBursts(t *testing.T) {
	how := workload.Arrivals{Poisson: true, Factor: 10, Burst: time.Second, Calm: 9 * time.Second}
	s := newSchedule(-int64(time.Second), 1000)
	s.gaps, s.units = newGaps(5), 1
	s.stretchBy(newTide(how, 5, -int64(time.Second)))
	const long = 4 * int64(time.Hour)
	assert.InEpsilon(t, 1000*4*3600, s.dueBy(long), 0.1)
	var in [2]int64 // calls between and within bursts
	var took [2]float64
	known := s.tide.turns.Load()
	for i := 1; i < len(known.run) && known.run[i] < float64(long); i++ {
		from, to := s.tide.began+int64(known.run[i-1]), s.tide.began+int64(known.run[i])
		in[(i-1)%2] += s.dueBy(to) - s.dueBy(from)
		took[(i-1)%2] += known.run[i] - known.run[i-1]
	}
	assert.InEpsilon(t, 10, float64(in[1])/took[1]/(float64(in[0])/took[0]), 0.02)
	for k := range int64(10_000) {
		due := s.due(k)
		require.LessOrEqual(t, s.dueBy(due-1000), k)
		require.GreaterOrEqual(t, s.dueBy(due+1000), k+1)
	}
}

// quantile returns where a law of response times, the share that takes longer, is down to 1 - p.
func quantile(p float64, longer func(t float64) float64) float64 {
	low, high := 0.0, 1000.0
	for range 60 {
		if mid := (low + high) / 2; longer(mid) > 1-p {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// Response times are those of queueing theory, in virtual time, at four fifths of what the
// servers can do with a service time of 1 ms on average. Independent arrivals wait nearly
// twice as long as even ones.
func TestResponseTimesAreThoseOfTheory(t *testing.T) {
	const load = 0.8
	independent := workload.Arrivals{Poisson: true}
	for _, c := range []struct {
		name     string
		servers  int
		how      workload.Arrivals
		constant bool
		// longer is the share of calls that take longer than t ms.
		longer func(t float64) float64
	}{
		{"M/M/1", 1, independent, false, func(t float64) float64 { return math.Exp(-(1 - load) * t) }},
		{"M/M/4", 4, independent, false, func(t float64) float64 { // Erlang's formula gives the share that waits
			const busy, idle = 4 * load, 4 - 1 - 4*load
			none, term := 0.0, 1.0
			for k := range 4 {
				none += term
				term *= busy / float64(k+1)
			}
			waits := term / (1 - load) / (none + term/(1-load))
			return math.Exp(-t) * (1 + waits*(1-math.Exp(-idle*t))/idle)
		}},
		{"M/D/1", 1, independent, true, func(t float64) float64 { // the tail, which is all but exact from the median on
			decay := 1.0 // load (e^decay - 1) = decay
			for range 200 {
				decay -= (load*(math.Exp(decay)-1) - decay) / (load*math.Exp(decay) - 1)
			}
			return (1 - load) / (load*math.Exp(decay) - 1) * math.Exp(-decay*(t-1))
		}},
		{"D/M/1", 1, workload.Arrivals{}, false, func(t float64) float64 {
			meets := 0.5 // the share of calls that find the server at work
			for range 200 {
				meets = math.Exp(-(1 - meets) / load)
			}
			return math.Exp(-(1 - meets) * t)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := queue(t, c.servers, load, c.how, c.constant)
			for i, p := range []float64{0.5, 0.99, 0.999} {
				assert.InEpsilon(t, quantile(p, c.longer), got[i], []float64{0.03, 0.1, 0.2}[i], "p%g", 100*p)
			}
		})
	}
}

// queue returns p50, p99 and p99.9 in ms of a run of 400,000 calls on so many servers.
func queue(t *testing.T, servers int, load float64, how workload.Arrivals, constant bool) (out [3]float64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		call := func(_ context.Context, it *workload.Iteration) error {
			takes := 1.0
			if !constant {
				takes = exponential(99, it.Seq)
			}
			time.Sleep(time.Duration(takes * float64(time.Millisecond)))
			return nil
		}
		rate := load * float64(servers) * 1000
		r := start(t, onePhase(time.Duration(4e5/rate*1e9), pool("p", workload.Settings{Threads: servers, Rate: rate}, call)), func(o *Options) { o.Arrivals, o.Seed = how, 1 })
		op := result(t, r).Ops[0]
		assert.InEpsilon(t, 4e5, op.Count, 0.01)
		out = [3]float64{float64(op.Response.P50) / 1e6, float64(op.Response.P99) / 1e6, float64(op.Response.P999) / 1e6}
	})
	return out
}

// How calls come may be changed while a run goes: a segment begins at the change, and its
// calls come as it says, from a schedule that begins then.
func TestArrivalsAreLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var due [3][]int64 // of each segment
		call := func(_ context.Context, it *workload.Iteration) error {
			due[it.Segment] = append(due[it.Segment], it.Due())
			return it.End(it.Begin(0), 1, nil)
		}
		come := func(c workload.Coming) func(workload.Settings) workload.Settings {
			return func(s workload.Settings) workload.Settings { s.Coming = c; return s }
		}
		at := func(second int, c workload.Coming) At {
			return At{After: time.Duration(second) * time.Second, Track: workload.AllTracks, Knob: workload.Knob{Name: workload.ComingKnob}, Value: float64(c)}
		}
		r := start(t, onePhase(30*time.Second, pool("p", workload.Settings{Threads: 1, Rate: 100}, call)), func(o *Options) {
			o.Arrivals, o.Timetable = workload.Arrivals{Poisson: true}, []At{at(10, workload.ComeEvenly), at(20, workload.ComeIndependently)}
		})
		r.Change("test", workload.AllTracks, come(workload.ComeIndependently)) // as it is
		assert.Equal(t, workload.ComeIndependently, r.Settings(workload.AllTracks).Coming)
		res := result(t, r)
		require.Len(t, res.Segments, 3)
		assert.NotContains(t, res.Segments[0].Settings, workload.ComingKnob)
		assert.EqualValues(t, workload.ComeEvenly, res.Segments[1].Settings[workload.ComingKnob])
		assert.NotContains(t, res.Segments[2].Settings, workload.ComingKnob, "as it began")
		require.Len(t, res.Changes, 2)
		assert.Equal(t, []float64{float64(workload.ComeIndependently), float64(workload.ComeEvenly)}, []float64{res.Changes[0].From, res.Changes[0].To})
		for i, all := range due {
			assert.InDelta(t, 1000, len(all), 5*math.Sqrt(1000), "segment %d", i)
			sum, square := 0.0, 0.0
			for k := 1; k < len(all); k++ {
				gap := float64(all[k]-all[k-1]) / 1e7 // of the mean
				sum, square = sum+gap, square+gap*gap
			}
			n := float64(len(all) - 1)
			variance := square/n - sum*sum/n/n
			assert.InDelta(t, []float64{1, 0, 1}[i], variance, 0.3, "segment %d", i)
		}
	})
}
