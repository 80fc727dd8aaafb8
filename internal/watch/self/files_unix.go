//go:build unix

package self

import (
	"syscall"
)

// FileLimit returns how many files this process may have open, 0 if unknown.
func FileLimit() int64 {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil || uint64(r.Cur) > 1<<40 { //nolint:unconvert // signed on FreeBSD
		return 0
	}
	return int64(r.Cur)
}
