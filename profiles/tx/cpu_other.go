//go:build !unix

package tx

// cpuSeconds is not told on this system.
func cpuSeconds() float64 { return -1 }
