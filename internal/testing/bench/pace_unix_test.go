//go:build unix

package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/null"
	"github.com/perfbench/perfbench/internal/workload"
)

// paced puts entries into null: in open loop for a slice and returns how late the
// calls began through our doing, and the share of one core that all of it took.
func paced(b testing.TB, rate float64, threads int, plain bool) (measure.Summary, float64) {
	b.Helper()
	task := workload.TaskFunc(func(ctx context.Context, it *workload.Iteration) error {
		m := it.Begin(0)
		return it.End(m, 1, null.Conn{}.Put(ctx, store.Space{}, nil, nil))
	})
	plan := &workload.Plan{Knobs: []workload.Knob{workload.Threads(), workload.Rate("entries")}, Phases: []workload.Phase{{
		Name: "main", Duration: slice, Tracks: []workload.Track{{
			Name: "t", Ops: []string{"put"}, Start: workload.Settings{Threads: threads, Rate: rate},
			NewTask: func(int) (workload.Task, error) { return task, nil },
		}},
	}}}
	before, began := processorTime(b), time.Now()
	r, err := engine.Start(b.Context(), engine.Options{
		Plan: plan, Classify: func(error) uint8 { return uint8(store.Other) }, Classes: store.ClassNames, PlainTimer: plain,
	})
	if err != nil {
		b.Fatal(err)
	}
	res, err := r.Wait()
	op := res.Ops[0]
	if err != nil || op.Errors > 0 || float64(op.Count+op.Unstarted) < 0.95*rate*slice.Seconds() {
		b.Fatalf("%d of %g, %d never started, %d errors: %v", op.Count, rate*slice.Seconds(), op.Unstarted, op.Errors, err)
	}
	return op.Lateness, float64(processorTime(b)-before) / float64(time.Since(began))
}

// processorTime is what this process has used, user and system.
func processorTime(b testing.TB) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPace is our lateness on null: beside that of the runtime's timer, by turns
// in one run, and the processor time of both: medians of the rounds, in microseconds
// and in percent of one core.
func BenchmarkPace(b *testing.B) {
	for _, threads := range []int{8, 200} {
		for _, rate := range []float64{100, 500, 5_000, 20_000, 50_000, 200_000} {
			b.Run(fmt.Sprintf("threads=%d/rate=%.0f", threads, rate), func(b *testing.B) {
				figures := map[string][]float64{}
				add := func(name string, v float64) { figures[name] = append(figures[name], v) }
				for range rounds {
					timer, timerCPU := paced(b, rate, threads, true)
					ours, cpu := paced(b, rate, threads, false)
					add("p50-µs", float64(ours.P50)/1e3)
					add("p99-µs", float64(ours.P99)/1e3)
					add("timer-p50-µs", float64(timer.P50)/1e3)
					add("timer-p99-µs", float64(timer.P99)/1e3)
					add("p50-ratio", float64(ours.P50)/float64(timer.P50))
					add("cpu-%", 100*cpu)
					add("timer-cpu-%", 100*timerCPU)
				}
				b.ReportMetric(0, "ns/op") // has no meaning here
				for name, v := range figures {
					b.ReportMetric(Median(v), name)
				}
				// The quietest round of each side: what others on the machine do counts least.
				best, timer := slices.Min(figures["p50-µs"]), slices.Min(figures["timer-p50-µs"])
				b.ReportMetric(best, "best-p50-µs")
				b.ReportMetric(best/timer, "best-ratio")
			})
		}
	}
}
