package engine

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// How sessions are carried out (see workload.Sessions):
//
// A worker acts for one user from the first call of a session to the last, and sleeps while
// the user thinks. What a schedule hands out, in open loop, are the users: a worker claims one,
// and makes the calls of the session without asking the schedule again. The first call is due
// when the user came; later ones are due when they start, as in a closed loop, since no user
// asks again before the answer.

// visit is the session of the user for whom a worker acts. It belongs to the worker.
type visit struct {
	length, pause func(bits uint64) int64
	lots          *rand.Rand
	// open means that a session is under way, left is how many iterations it still has.
	open       bool
	left       int64
	due, began int64
	// counted means that it counts as begun since measurement did.
	counted bool
	// thinks means that the user thinks, since from: times as long as is usual, and rest ns.
	thinks bool
	from   int64
	times  float64
	rest   int64
}

// visits are how many sessions of a track there have been. Workers add to them once a session.
type visits struct{ begun, steps, open atomic.Int64 }

func (v *visits) gauge() measure.Visits {
	return measure.Visits{Begun: v.begun.Load(), Open: v.open.Load(), Steps: v.steps.Load()}
}

// prepare readies a worker for sessions, if its track has any.
func (w *worker) prepare() {
	s, o := w.t.spec.Sessions, &w.t.run.opts
	if s == nil {
		return
	}
	w.visit.lots = rand.New(rand.NewPCG(uint64(o.Seed)^0x5e55, uint64(o.Stream)<<40|uint64(w.t.index)<<20|uint64(w.id)))
	if s.Draw != nil {
		w.visit.length, w.visit.pause = s.Draw()
	}
}

// proceeds reports whether the worker's next iteration does not depend on the schedule: in closed
// loop, and within a session.
func (w *worker) proceeds(a *active) bool { return !a.Paused && (a.sched == nil || w.visit.open) }

// thought waits until the user has thought; false if the settings changed first.
func (w *worker) thought(a *active) bool {
	v := &w.visit
	if !v.thinks {
		return true
	}
	for {
		left := v.from + v.rest + a.Thinks(v.times) - w.t.run.now()
		if left <= 0 {
			v.thinks = false
			return true
		}
		if !w.sleep(time.Duration(left), a.stale) {
			return false
		}
	}
}

// enter begins a session unless one is under way, before an iteration that is due then.
func (w *worker) enter(a *active, due int64) {
	v, s := &w.visit, w.t.spec.Sessions
	v.thinks = false
	if s.Mean == 0 {
		return
	}
	if !v.open {
		now := w.t.run.now()
		v.open, v.counted, v.due, v.began = true, false, min(due, now), now
		v.left, w.it.Step = int64(s.Mean), 0
		if v.length != nil {
			v.left = max(v.length(v.lots.Uint64()), 1)
		}
		w.t.visits.open.Add(1)
	}
	if !v.counted && !a.warm {
		v.counted = true
		w.t.visits.begun.Add(1)
	}
}

// step goes on in the session after an iteration: the user thinks, or goes.
func (w *worker) step(a *active) {
	v := &w.visit
	v.thinks, v.from, v.times, v.rest = true, w.t.run.now(), v.lots.ExpFloat64(), 0
	if !v.open {
		return
	}
	v.left--
	w.it.Step++
	if v.left > 0 {
		return
	}
	w.it.Record(workload.Op(w.t.spec.SessionOp()), 1, v.due, v.began, v.from, nil)
	if !a.warm {
		w.t.visits.steps.Add(w.it.Step)
	}
	w.quit()
	if v.pause != nil {
		v.times, v.rest = 0, v.pause(v.lots.Uint64())
	}
}

// quit ends the session that is under way, if there is one.
func (w *worker) quit() {
	if v := &w.visit; v.open {
		v.open = false
		w.it.Step = 0
		w.t.visits.open.Add(-1)
	}
}
