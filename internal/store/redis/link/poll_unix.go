//go:build unix

package link

import "golang.org/x/sys/unix"

const canPoll = true

// pollFd is a connection, as poll(2) takes it.
type pollFd = unix.PollFd

func pollIn(fd int) pollFd { return pollFd{Fd: int32(fd), Events: unix.POLLIN} } //nolint:gosec // the system's own number

// pollNow reports whether there is something to read on any of them.
func pollNow(list []pollFd) bool {
	n, err := unix.Poll(list, 0)
	return n > 0 && err == nil
}
