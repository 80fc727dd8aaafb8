package self

import "golang.org/x/sys/unix"

const (
	clockAll   = unix.CLOCK_MONOTONIC
	clockAwake = unix.CLOCK_UPTIME_RAW
)
