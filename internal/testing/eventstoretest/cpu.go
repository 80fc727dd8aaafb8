//go:build unix

package eventstoretest

import "syscall"

// CPUTime returns the CPU time of this process in nanoseconds.
func CPUTime() int64 {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return r.Utime.Nano() + r.Stime.Nano()
}
