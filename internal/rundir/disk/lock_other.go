//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package disk

import (
	"os"
)

// Lock never succeeds where there is no such lock: run directories are then read
// and never repaired in place.
func Lock(*os.File) bool { return false }

// CanLock says whether Lock can tell a living journal from a dead one.
const CanLock = false
