//go:build !linux

package watch

// throttling counts the periods of a CPU quota, which only Linux has.
type throttling struct {
	all, held int64
	known     bool
}

func throttlingOf(int) throttling { return throttling{} }
