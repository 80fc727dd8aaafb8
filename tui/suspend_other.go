//go:build !unix

package tui

// canSuspend reports whether a shell could resume us, which is not the case on this
// system.
func canSuspend() bool { return false }
