package tui

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/tuitest"
)

// TestPickerDemo begins at the picker, with runs of the past:
//
//	go test -c -o /tmp/demo ./tui && /tmp/demo -test.run TestPickerDemo -demo
func TestPickerDemo(t *testing.T) {
	if !*demo {
		t.Skip("for people: run with -demo")
	}
	b := tuitest.NewDemo()
	over := make(chan struct{})
	defer close(over)
	go func() { // ends with the test
		for {
			select {
			case <-over:
				return
			case <-time.After(100 * time.Millisecond):
				b.Next.Tick(100 * time.Millisecond)
			}
		}
	}()
	final, err := Show(t.Context(), demoOptions(), partsOf(b))
	require.NoError(t, err)
	t.Log(final)
}

func demoOptions() Options { return Options{RunParams: tuitest.RunParams()} }
