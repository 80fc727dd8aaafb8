//go:build unix

package self

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Resumed returns a channel that receives a value when this process continues after
// ctrl+z or SIGSTOP, until stop is called.
func Resumed() (c <-chan os.Signal, stop func()) {
	resumed := make(chan os.Signal, 1) // one is enough: it is checked after each stop
	signal.Notify(resumed, syscall.SIGCONT)
	return resumed, func() { signal.Stop(resumed) }
}

// usedSoFar returns the processor time that this process has used, and how often its
// memory had to be read from the disk.
func usedSoFar() (cpu time.Duration, majorFaults int64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), int64(u.Majflt) //nolint:unconvert // 32 bits on some systems
}
