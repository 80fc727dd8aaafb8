package labtest

import (
	"strconv"
	"sync"
)

var used struct {
	sync.Mutex
	times map[string]int
}

// Fresh returns a namespace that nothing in this process has used: the name, the next time
// with a number. A test that go test -count repeats finds shared servers as it left them, and
// needs it if data of its own from before would be in its way.
func Fresh(name string) string {
	used.Lock()
	defer used.Unlock()
	if used.times == nil {
		used.times = map[string]int{}
	}
	used.times[name]++
	if n := used.times[name]; n > 1 {
		return name + strconv.Itoa(n)
	}
	return name
}
