package fault

import "sync/atomic"

// guard takes the panics of guarded goroutines; nil: nobody does.
var guard atomic.Pointer[func(what any)]

// Guard has panics of the goroutines that Go begins go to take, until release is called: who owns
// the terminal must live to give it back. Take is called on the goroutine that panics, while it
// recovers, so that debug.Stack has where that was. One guard is in force at a time, the latest.
func Guard(take func(what any)) (release func()) {
	p := &take
	guard.Store(p)
	return func() { guard.CompareAndSwap(p, nil) }
}

// Go begins f on a goroutine of its own. A panic of f goes to the guard in force; without one, it
// ends the process, as that of any goroutine does.
func Go(f func()) { go Guarded(f)() }

// Guarded returns f for a goroutine that something else begins, such as a sync.WaitGroup, with Go's
// treatment of panics.
func Guarded(f func()) func() {
	return func() {
		defer func() {
			take := guard.Load()
			if take == nil {
				return // not recovered: the process ends with the stack of the panic
			}
			if what := recover(); what != nil {
				(*take)(what)
			}
		}()
		f()
	}
}
