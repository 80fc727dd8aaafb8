package eventstore

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// capable runs a search against something that makes that many events a second
// durable, in batches of ten.
func capable(t *testing.T, perSecond float64, start float64) *SearchFacts {
	t.Helper()
	began := time.Now()
	var stored, queued atomic.Int64
	x := newSearch(start, 10*time.Second, func() int64 { return int64(time.Since(began)) }, stored.Load, func() float64 { return 20 })
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { // the store
		for ctx.Err() == nil {
			if queued.Load() > 0 {
				queued.Add(-10)
				time.Sleep(time.Duration(10 / perSecond * 1e9))
				stored.Add(10)
				continue
			}
			time.Sleep(time.Millisecond)
		}
	})
	for range 2 {
		wg.Go(func() {
			for {
				if _, ok := x.slot(ctx, 10); !ok {
					return
				}
				queued.Add(10)
			}
		})
	}
	x.run(ctx)
	assert.Contains(t, x.summary(), "sustainable")
	cancel()
	wg.Wait()
	return x.report(0)
}

func TestSearchFindsWhatTheStoreCanDo(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]float64{"from below": 100, "from above": 20_000, "near": 1100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := capable(t, 1000, start)
				assert.InDelta(t, 1000, f.Rate, 60, "%+v", f.Trials)
				require.NotEmpty(t, f.Trials)
				for _, trial := range f.Trials {
					assert.NotEmpty(t, trial.Why)
					assert.Equal(t, trial.Rate <= f.Rate, trial.Held, "%+v", trial)
				}
				last := f.Trials[len(f.Trials)-1]
				assert.LessOrEqual(t, last.ToNs-last.FromNs, int64(11*time.Second))
			})
		})
	}
}

func TestSearchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		x := newSearch(10, time.Minute, func() int64 { return time.Now().UnixNano() }, func() int64 { return 0 }, func() float64 { return 0 })
		go x.run(ctx)
		n := 0
		for {
			if _, ok := x.slot(t.Context(), 1); !ok {
				break
			}
			n++
		}
		assert.InDelta(t, 20, n, 12, "it ended by itself, or with its context")
		assert.Zero(t, x.report(0).Rate)
		assert.Contains(t, x.summary(), "no rate")
	})
}
