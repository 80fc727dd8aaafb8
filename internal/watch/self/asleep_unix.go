//go:build linux || darwin

package self

import (
	"time"

	"golang.org/x/sys/unix"
)

// asleep returns how long this machine has slept since boot: of two clocks, only one
// continues during sleep.
func asleep() time.Duration { return apart(clock(clockAll), clock(clockAwake)) }

// clock returns what reads a clock of the system; 0 if it cannot be read.
func clock(id int32) func() time.Duration {
	return func() time.Duration {
		var at unix.Timespec
		if unix.ClockGettime(id, &at) != nil {
			return 0
		}
		return time.Duration(at.Nano())
	}
}
