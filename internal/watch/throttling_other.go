//go:build !linux

package watch

import "time"

// throttling is a CPU quota and what came of it, which only Linux has.
type throttling struct {
	cores     float64
	all, held int64
	heldFor   time.Duration
	known     bool
}

func throttlingOf(int) throttling { return throttling{} }
