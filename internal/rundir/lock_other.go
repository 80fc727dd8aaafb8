//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package rundir

import (
	"os"
)

// Lock always fails on systems without such locks: run directories are then read, but
// never repaired in place.
func Lock(*os.File) bool { return false }

// CanLock says whether Lock can distinguish a living journal from a dead one.
const CanLock = false
