package self

import "golang.org/x/sys/unix"

const (
	clockAll   = unix.CLOCK_BOOTTIME
	clockAwake = unix.CLOCK_MONOTONIC
)
