//go:build !unix

package session

import "time"

// cpuTime is unknown here.
func cpuTime() time.Duration { return 0 }

// fileLimit is unknown here.
func fileLimit() int64 { return 0 }
