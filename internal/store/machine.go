package store

import (
	"os"
	"strconv"
	"strings"
)

// FreeMemory returns how many bytes of this machine's memory a store in this process
// may still fill; 0 if unknown (it is read from Linux's /proc/meminfo). Any goroutine
// may call it.
func FreeMemory() int64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemAvailable:" {
			kib, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}
