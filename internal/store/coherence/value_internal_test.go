package coherence

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValuesAreReadAsTheClientWouldReadThem(t *testing.T) {
	for _, want := range []Value{{}, {0}, {255, 255, 255}, []byte("some text")} {
		text, err := json.Marshal(want)
		require.NoError(t, err)
		var got Value
		require.NoError(t, json.Unmarshal(text, &got))
		assert.Equal(t, want, got)
	}
	var got Value
	require.NoError(t, json.Unmarshal([]byte(`"\/\/\/\/"`), &got), "escaped, as others may write it")
	assert.Equal(t, Value{255, 255, 255}, got)
	require.Error(t, json.Unmarshal([]byte(`"?"`), &got))
	require.Error(t, json.Unmarshal([]byte(`{"a":1}`), &got))
}

func TestHandsDoAllThatTheyAreGiven(t *testing.T) {
	var h hands
	var all sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range 8 {
		all.Go(func() {
			for range 100 {
				ready := make(chan struct{})
				h.do(func() {
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
	h.close()
	h.close()
	ready := make(chan struct{})
	h.do(func() { close(ready) })
	<-ready
	assert.Empty(t, h.idle, "nobody stays after close")
}
