package engine

import (
	"slices"
	"sync"
)

// worked is how much time the workers of a track spent on their calls and the pauses before
// them, by the run's clock and by segment. Workers add to it when settings change and when they
// leave. Any goroutine may call its methods.
type worked struct {
	mu sync.Mutex
	by []int64
}

func (w *worked) add(segment uint16, time int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.by) <= int(segment) {
		w.by = append(w.by, 0)
	}
	w.by[segment] += time
}

func (w *worked) times() []int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.by)
}
