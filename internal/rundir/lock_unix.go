//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package rundir

import (
	"os"
	"syscall"
)

// lock takes the lock that a journal holds on its latency.hlog for as long as its
// process lives; false when another has it. Closing the file gives it back.
func lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// canLock says whether lock can tell a living journal from a dead one.
const canLock = true
