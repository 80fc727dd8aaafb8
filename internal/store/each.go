package store

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/fault"
)

// InFlight is how many calls of Each are in progress at a time.
const InFlight = 32

// Each calls f for 0..n-1, several at a time, and returns the first error: what a store that has
// no call for several entries does for each of them. It returns when all calls of f have.
func Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	if n == 0 {
		return ctx.Err()
	}
	if n == 1 {
		return f(ctx, 0)
	}
	var next atomic.Int64
	var first atomic.Pointer[error]
	var all sync.WaitGroup
	for range min(n, InFlight) {
		all.Go(fault.Guarded(func() {
			for first.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				err := ctx.Err()
				if err == nil {
					err = f(ctx, i)
				}
				if err != nil {
					first.CompareAndSwap(nil, &err)
				}
			}
		}))
	}
	all.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	return nil
}
