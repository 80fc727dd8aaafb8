//go:build !linux

package powercut

import (
	"context"
	"time"
)

// Available returns why there can be no such file system on this machine.
func Available() error { return missing("only Linux has it") }

// Serve returns why it cannot be had.
func Serve(context.Context, string, string) error { return Available() }

// Mounted reports whether such a file system is mounted: never.
func Mounted(string) bool { return false }

// Unmount has nothing to do.
func Unmount(string) error { return nil }

// Cut returns why it cannot be had.
func Cut(string, bool) error { return Available() }

// Sync returns why it cannot be had.
func Sync(string) error { return Available() }

// Slow returns why it cannot be had.
func Slow(string, time.Duration) error { return Available() }

// Slowed returns how much longer it takes to make something durable: nothing.
func Slowed(string) time.Duration { return 0 }
