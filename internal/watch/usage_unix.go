//go:build unix

package watch

import (
	"syscall"
	"time"
)

// usedSoFar is the processor time that this process has used, and how often its memory
// had to come from the disk.
func usedSoFar() (cpu time.Duration, majorFaults int64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), int64(u.Majflt) //nolint:unconvert // 32 bits on some systems
}
