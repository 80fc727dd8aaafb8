// Package powercut has a file system in user space that loses what a power cut loses. What
// programs write to it stays in memory until they make it durable, by fsync, fdatasync, O_SYNC or
// O_DSYNC; only then does it reach a folder of the real file system. A cut drops the rest.
//
// A killed process is no power cut: the kernel still writes what the process handed to it. Here
// nothing is written by itself, however long it waits, where Linux would begin after some 30
// seconds: it is the worst case that a program must be ready for.
//
// Names are durable as POSIX has it, once the folder that has them was synced, with what ext4, XFS
// and Btrfs add: a new file that is synced can be found again, and a rename is whole or absent.
// Owners, modes and times are durable at once.
//
// The folder has the contents only, in one file for each; their names are in memory. Serve is
// therefore to outlive the programs that use the file system, and nobody else is to use the folder.
// It exists on Linux only.
package powercut

import (
	"errors"
	"fmt"
)

// Sector is how many bytes a disk writes as a whole.
const Sector = 512

// ErrMissing means that this machine cannot have such a file system.
var ErrMissing = errors.New("no file system in user space")

// missing returns an error with the reason.
func missing(reason string) error { return fmt.Errorf("%w: %s", ErrMissing, reason) }
