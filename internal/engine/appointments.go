package engine

import (
	"sync"
	"time"
)

// appointments owns what is to be done at moments of a run's time; guarded by Run.mu.
type appointments struct {
	clock *Clock
	mu    sync.Locker // Run.mu
	list  []appointment
	over  bool // nothing is done any more
}

// appointment is a timer set for a moment of the run's time.
type appointment struct {
	*time.Timer
	moment int64
}

// at calls f, with the lock held, once the run's time has reached a moment.
func (a *appointments) at(moment int64, f func()) {
	var timer *time.Timer
	timer = time.AfterFunc(time.Duration(moment-a.clock.now()), func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		left := moment - a.clock.now()
		switch {
		case a.over:
		case left > 0: // it was suspended
			timer.Reset(time.Duration(left))
		default:
			f()
		}
	})
	a.list = append(a.list, appointment{timer, moment})
}

// shift has all look at the clock again, which was moved on.
func (a *appointments) shift() {
	for _, one := range a.list {
		if left := one.moment - a.clock.now(); left > 0 {
			one.Reset(time.Duration(left))
		}
	}
}

// cancel calls off whatever is still to come.
func (a *appointments) cancel() {
	a.over = true
	for _, one := range a.list {
		one.Stop()
	}
}
