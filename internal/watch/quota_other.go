//go:build !linux

package watch

// Of returns nothing on this system.
func Of(int) Quota { return Quota{} }
