//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package rundir

import "os"

// lock never succeeds where there is no such lock: run directories are then read
// and never repaired in place.
func lock(*os.File) bool { return false }

// canLock says whether lock can tell a living journal from a dead one.
const canLock = false
