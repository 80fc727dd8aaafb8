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
