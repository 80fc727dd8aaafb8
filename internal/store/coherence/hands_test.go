package coherence

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHandsDoAllThatTheyAreGiven(t *testing.T) {
	var h Hands
	var all sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range 8 {
		all.Go(func() {
			for range 100 {
				ready := make(chan struct{})
				h.Do(func() {
					mu.Lock()
					done++
					mu.Unlock()
					close(ready)
				})
				<-ready
			}
		})
	}
	all.Wait()
	assert.Equal(t, 800, done)
	h.Close()
	h.Close()
	ready := make(chan struct{})
	h.Do(func() { close(ready) })
	<-ready
	assert.Empty(t, h.idle, "nobody stays after close")
}
