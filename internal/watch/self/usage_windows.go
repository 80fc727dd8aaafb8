package self

import (
	"os"
	"syscall"
	"time"
)

// Resumed returns nil: this system does not notify a process that continues.
func Resumed() (c <-chan os.Signal, stop func()) { return nil, func() {} }

// usedSoFar returns the processor time that this process has used; page faults are
// unknown.
func usedSoFar() (cpu time.Duration, majorFaults int64) {
	var created, ended, kernel, user syscall.Filetime
	p, err := syscall.GetCurrentProcess()
	if err != nil || syscall.GetProcessTimes(p, &created, &ended, &kernel, &user) != nil {
		return 0, 0
	}
	ticks := func(f syscall.Filetime) time.Duration { // of 100 ns
		return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
	}
	return ticks(kernel) + ticks(user), 0
}
