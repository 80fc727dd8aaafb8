package store

import (
	"context"
	"time"
)

// Pause waits for d, or until ctx ends; it then returns the error of ctx. If d is not
// positive, it does not wait at all.
func Pause(ctx context.Context, d time.Duration) error {
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
