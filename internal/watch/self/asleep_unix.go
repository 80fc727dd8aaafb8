//go:build linux || darwin

package self

import (
	"time"

	"golang.org/x/sys/unix"
)

// asleep is for how long this machine has slept since it was started: of two clocks
// only one goes on meanwhile.
func asleep() time.Duration {
	var all, awake unix.Timespec
	if unix.ClockGettime(clockAll, &all) != nil || unix.ClockGettime(clockAwake, &awake) != nil {
		return 0
	}
	return time.Duration(all.Nano() - awake.Nano())
}
