package bench

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Side is one of the sides of a benchmark that compares: the name of its figures, and what
// measures it for a turn and returns a rate per second.
type Side struct {
	Name string
	Rate func() float64
}

// InTurn measures the sides in turn n times, in the other order every second time, so that a
// machine that drifts favours none. It reports the median of each as NAME/s and, for each but the
// first, the median ratio of the first to it within a turn as FIRST/NAME.
func InTurn(b *testing.B, n int, sides ...Side) {
	b.Helper()
	rates := make([][]float64, len(sides))
	for turn := range n {
		for i := range sides {
			if turn%2 == 1 {
				i = len(sides) - 1 - i
			}
			rates[i] = append(rates[i], sides[i].Rate())
		}
	}
	b.ReportMetric(0, "ns/op") // has no meaning here
	for i, s := range sides {
		b.ReportMetric(Median(rates[i]), s.Name+"/s")
		if i == 0 {
			continue
		}
		ratios := make([]float64, n)
		for turn := range ratios {
			ratios[turn] = rates[0][turn] / rates[i][turn]
		}
		b.ReportMetric(Median(ratios), sides[0].Name+"/"+s.Name)
	}
}

// Median returns the middle value, the higher of two.
func Median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// Bare calls in a loop from so many goroutines for a turn, and returns units a second. open is
// called once in each goroutine; what it returns makes a call and says how many units it did. An
// error fails the benchmark and ends the loop of its goroutine.
func Bare(b *testing.B, goroutines int, turn time.Duration, open func(goroutine int) func() (units int, err error)) float64 {
	b.Helper()
	var done atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	began := time.Now()
	time.AfterFunc(turn, func() { stop.Store(true) })
	for w := range goroutines {
		wg.Go(func() {
			mine := int64(0)
			defer func() { done.Add(mine) }()
			for call := open(w); !stop.Load(); {
				n, err := call()
				if err != nil {
					b.Error(err)
					return
				}
				mine += int64(n)
			}
		})
	}
	wg.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}
