//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"os"
	"syscall"
)

// Lock takes the lock that a journal holds on its latency.hlog for as long as its
// process lives; false when another has it. Closing the file gives it back.
func Lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// CanLock says whether Lock can tell a living journal from a dead one.
const CanLock = true
