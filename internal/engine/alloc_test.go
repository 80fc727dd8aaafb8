package engine

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/workload"
)

// BenchmarkIteration is the cost of one iteration that does nothing: what the
// harness itself takes, and the ceiling of every figure. The collector's work is
// included. ns/op is over all threads together.
func BenchmarkIteration(b *testing.B) {
	for _, threads := range []int{1, 2, 16} {
		for _, loop := range []struct {
			name string
			rate float64
		}{{"closed", 0}, {"open", workload.MaxRate}} {
			b.Run(fmt.Sprintf("%s/threads=%d", loop.name, threads), func(b *testing.B) {
				track := pool("p", workload.Settings{Threads: threads, Rate: loop.rate}, func(context.Context, *workload.Iteration) error { return nil })
				track.Iterations = int64(b.N)
				b.ReportAllocs()
				b.ResetTimer()
				r, err := Start(b.Context(), Options{Plan: onePhase(0, track), Classify: classify, Classes: classes})
				if err != nil {
					b.Fatal(err)
				}
				res, err := r.Wait()
				b.StopTimer()
				if err != nil || res.Ops[0].Count != int64(b.N) {
					b.Fatalf("did %d of %d: %v", res.Ops[0].Count, b.N, err)
				}
			})
		}
	}
}

// BenchmarkClaim is what a due time costs, for each kind of arrivals.
func BenchmarkClaim(b *testing.B) {
	for _, kind := range []string{"even", "poisson", "bursts=10x,1s,9s"} {
		b.Run(kind, func(b *testing.B) {
			how, err := workload.ParseArrivals(kind)
			if err != nil {
				b.Fatal(err)
			}
			s := newSchedule(0, 100_000)
			if s.units = 1; how.Poisson {
				s.gaps = newGaps(1)
			}
			if how.Factor > 0 {
				s.stretchBy(newTide(how, 1, 0))
			}
			b.ReportAllocs()
			for b.Loop() {
				s.next(1, 0, true)
			}
		})
	}
}

// BenchmarkContention is BenchmarkIteration with more and more threads that may run at once, of
// which a machine with fewer processors runs some in turn: which of our locks and shared words
// would bind on 16 cores? wait-ns/op is how long goroutines waited for locks, the runtime's own
// included; -mutexprofile and -blockprofile name them.
func BenchmarkContention(b *testing.B) {
	waited := func() float64 {
		s := []metrics.Sample{{Name: "/sync/mutex/wait/total:seconds"}}
		metrics.Read(s)
		return s[0].Value.Float64()
	}
	for _, procs := range []int{1, 2, 4, 8, 16} {
		for _, loop := range []struct {
			name string
			rate float64
		}{{"closed", 0}, {"open", workload.MaxRate}} {
			b.Run(fmt.Sprintf("%s/procs=%d", loop.name, procs), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				track := pool("p", workload.Settings{Threads: 4 * procs, Rate: loop.rate}, func(context.Context, *workload.Iteration) error { return nil })
				track.Iterations = int64(b.N)
				before := waited()
				b.ResetTimer()
				defer bench.PerCall(b)()
				r, err := Start(b.Context(), Options{Plan: onePhase(0, track), Classify: classify, Classes: classes})
				if err != nil {
					b.Fatal(err)
				}
				res, err := r.Wait()
				b.StopTimer()
				if err != nil || res.Ops[0].Count != int64(b.N) {
					b.Fatalf("did %d of %d: %v", res.Ops[0].Count, b.N, err)
				}
				b.ReportMetric((waited()-before)*1e9/float64(b.N), "wait-ns/op")
			})
		}
	}
}
