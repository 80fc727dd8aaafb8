//go:build linux || darwin

package self

import (
	"time"

	"golang.org/x/sys/unix"
)

// asleep returns how long this machine has slept since boot: of two clocks, only one
// continues during sleep.
func asleep() time.Duration {
	var all, awake unix.Timespec
	if unix.ClockGettime(clockAll, &all) != nil || unix.ClockGettime(clockAwake, &awake) != nil {
		return 0
	}
	return time.Duration(all.Nano() - awake.Nano())
}
