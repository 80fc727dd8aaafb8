//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package rundir

import (
	"os"
	"syscall"
)

// Lock takes the lock that a journal holds on its latency.hlog as long as its process
// lives; it returns false if another process has it. Closing the file releases it.
func Lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// CanLock says whether Lock can distinguish a living journal from a dead one.
const CanLock = true
