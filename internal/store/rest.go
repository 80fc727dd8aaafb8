package store

import (
	"context"
	"time"
)

// Rest waits for d, or until ctx ends, and says so with the error of ctx. It does not
// wait at all when d is not positive.
func Rest(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
