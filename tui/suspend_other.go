//go:build !unix

package tui

// canSuspend tells whether a shell could resume us: not on this system.
func canSuspend() bool { return false }
