package fault_test

import (
	"runtime/debug"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/fault"
)

// A panic of a goroutine goes to the guard in force, with the stack of where it was; what is released
// is in force no more, and does not take away a later guard.
func TestAGuardTakesPanicsOfGoroutines(t *testing.T) {
	took := make(chan string, 1)
	take := func(name string) func(any) {
		return func(what any) { took <- name + ": " + what.(string) + "\n" + string(debug.Stack()) }
	}
	first := fault.Guard(take("first"))
	defer first()
	fault.Go(func() { panic("by itself") })
	got := <-took
	assert.Contains(t, got, "first: by itself")
	assert.Contains(t, got, "guard_test.go:", "the line that panicked")
	second := fault.Guard(take("second"))
	first()
	var wg sync.WaitGroup
	wg.Go(fault.Guarded(func() { panic("of a group") }))
	wg.Wait()
	assert.Contains(t, <-took, "second: of a group")
	second()
	assert.Panics(t, fault.Guarded(func() { panic("nobody guards") }))
}
