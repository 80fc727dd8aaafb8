//go:build unix

package tui

import (
	"os"

	"golang.org/x/sys/unix"
)

// canSuspend reports whether we were started by a shell with job control. Without one
// the system ignores the signal that suspends, nobody could resume us, and the screen
// would stay blank.
func canSuspend() bool {
	parent := os.Getppid()
	session, err := unix.Getsid(0)
	theirs, err2 := unix.Getsid(parent)
	group, err3 := unix.Getpgid(parent)
	return err == nil && err2 == nil && err3 == nil && theirs == session && group != unix.Getpgrp()
}
