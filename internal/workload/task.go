package workload

import (
	"context"
	"errors"

	"github.com/perfbench/perfbench/internal/measure"
)

// ErrDone is returned by Task.Do when there is no more work for its worker: the
// iteration does not count, and the worker ends.
var ErrDone = errors.New("no more work")

// Op is the index of an operation in its track's Ops.
type Op int

// Task is one worker's own copy of the work. The engine calls Do on that
// worker's goroutine only, so a Task needs no locks.
//
// Do times its calls to the store with Begin and End. It returns nil; or the
// error of an operation that it has recorded, which makes a closed loop back
// off when the store is unreachable; or ErrDone; or an error wrapped by Fatal,
// which ends the run.
type Task interface {
	Do(ctx context.Context, it *Iteration) error
}

// TaskFunc makes a Task of a function.
type TaskFunc func(ctx context.Context, it *Iteration) error

// Do calls f.
func (f TaskFunc) Do(ctx context.Context, it *Iteration) error { return f(ctx, it) }

type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

// Fatal wraps an error of Task.Do so that it ends the run.
func Fatal(err error) error { return fatal{err} }

// IsFatal reports whether err was wrapped by Fatal.
func IsFatal(err error) bool {
	_, ok := errors.AsType[fatal](err)
	return ok
}

// Clock returns nanoseconds since measurement began, negative during warm-up.
type Clock func() int64

// Recorder takes what a worker has measured. It belongs to that worker.
type Recorder interface {
	// Add records one finished operation.
	Add(measure.Call)
	// Started notes when the operation under way was due and when it began, Ended that there
	// is none, and Again that the one that was due then is about to be tried again.
	Started(due, at int64)
	Ended()
	Again(due int64)
	// Failed returns the class of err, never 0, and keeps the message if it is new.
	Failed(op uint16, err error) uint8
}

// Iteration is one call of Task.Do: what to work with, and where to record. It
// belongs to one worker; the engine reuses it.
type Iteration struct {
	// Worker is the number of the worker within its track, from 0.
	Worker int
	// Seq is the number of the iteration within its track. Numbers are handed out
	// in blocks: they are unique and without gaps over a run, but not ordered
	// between workers. They start again at 0 when measurement begins.
	Seq int64
	// Settings are those in force; read-only.
	Settings *Settings
	// Step is the number of the iteration in its session, from 0; it is always 0 where sessions
	// have no end, or there are none.
	Step int64
	// Warmup means that measurement has not begun.
	Warmup bool
	// Segment is the number of the segment in force.
	Segment uint16

	now   Clock
	rec   Recorder
	base  uint16
	stage uint16 // that of the first stage; 0: there are none
	due   int64
	own   int64                  // how much of the wait may be our own lateness
	late  int64                  // how much of it was
	last  int64                  // the end of its last call
	began int64                  // when its first call was due; until then, when the iteration is
	may   func(class uint8) bool // what fails so may be tried again; nil: nothing may
	cut   func() bool            // whether somebody had calls in progress cut off; nil: nobody can
	again bool                   // something failed that may be tried again
	tried bool                   // the call that was recorded last did
	first bool
	fell  bool // it fell due, and nothing of it has been recorded yet
	open  bool
	mark  Mark
}

// Mark is an operation in progress.
type Mark struct {
	due, start int64
	op         Op
}

// Bind connects an iteration to its clock and recorder; base is the index of the
// track's first operation in the run. Only the engine and tests call it.
func (it *Iteration) Bind(now Clock, rec Recorder, base int) {
	it.now, it.rec, it.base = now, rec, uint16(base)
}

// BindCut says how to know whether whoever runs perfbench had the calls in progress cut off: one that ends for
// that is no error, and is not recorded. Only the engine calls it.
func (it *Iteration) BindCut(cut func() bool) { it.cut = cut }

// BindStages says which index the first stage of the plan has. Only the engine calls it.
func (it *Iteration) BindStages(first int) { it.stage = uint16(first) }

// Reset begins a new iteration that was due at the given time. In a closed loop
// pass a time in the future, so that the time it starts counts instead. Only the
// engine and tests call it.
func (it *Iteration) Reset(due int64) { it.ResetLate(due, 0) }

// ResetLate is Reset for an open loop. own limits how much of the wait counts as
// our own lateness: math.MaxInt64, no limit, for a worker that was free when the
// iteration fell due.
func (it *Iteration) ResetLate(due, own int64) {
	it.due, it.own, it.late, it.first, it.fell, it.began = due, own, 0, true, true, due
}

// Attempt begins an attempt at the iteration. Calls that fail with a class for which may returns
// true count as tried again and not as errors; nil: none does. Only the engine calls it.
func (it *Iteration) Attempt(may func(class uint8) bool) { it.may, it.again = may, false }

// Again reports whether the attempt failed such that another must follow, which is due when the
// first was. Only the engine calls it.
func (it *Iteration) Again() bool {
	if it.again {
		it.due, it.first, it.own, it.fell = min(it.due, it.began), true, it.late, false
		it.rec.Again(it.due)
	}
	return it.again
}

// LastAgain reports whether the call that was recorded last failed such that it counts as tried
// again: of several calls of an iteration, only such need to be made once more.
func (it *Iteration) LastAgain() bool { return it.tried }

// SinceLast returns how much time has passed since the last call ended, or since the last call of
// SinceLast, and has the next one count from now. Only the engine and tests call it.
func (it *Iteration) SinceLast() int64 {
	last := it.last
	it.last = it.now()
	return it.last - last
}

// Lateness returns how much later than necessary the iteration began because of
// us, as far as it has recorded anything.
func (it *Iteration) Lateness() int64 { return it.late }

// Now returns nanoseconds since measurement began.
func (it *Iteration) Now() int64 { return it.now() }

// Begin starts the clock of one operation. The first operation of an iteration is
// due when the iteration was, later ones when they start.
func (it *Iteration) Begin(op Op) Mark {
	start := it.now()
	due := start
	if it.first {
		due, it.first = min(it.due, start), false
		it.began = due
	}
	it.rec.Started(due, start)
	it.mark, it.open = Mark{due, start, op}, true
	return it.mark
}

// End stops the clock, records the operation with the units that it covered, and
// returns err.
func (it *Iteration) End(m Mark, units int, err error) error {
	return it.EndPaused(m, units, 0, err)
}

// EndPaused is End for an operation during which the client paused of its own accord for so
// many ns, which do not count.
func (it *Iteration) EndPaused(m Mark, units int, paused int64, err error) error {
	end := max(it.now()-paused, m.start)
	it.rec.Ended()
	it.open = false
	it.add(m.op, units, m.due, m.start, end, err)
	return err
}

// Record adds an operation that the caller timed itself, such as the journey of a
// message from sender to receiver. Times are those of Now.
func (it *Iteration) Record(op Op, units int, due, start, end int64, err error) {
	it.add(op, units, due, start, end, err)
}

// Stage adds how long a stage of the plan took, by its index in Plan.Stages, in a segment. It
// counts by that segment, whenever it is recorded. Times are those of Now.
func (it *Iteration) Stage(stage int, segment uint16, from, to int64) {
	if it.stage > 0 {
		it.rec.Add(measure.Call{Due: from, Start: from, End: to, Op: it.stage + uint16(stage), Segment: segment, Warm: it.Warmup})
	}
}

// Abort records err for the operation in progress, or for the track's first if
// there is none. The engine calls it when a task panics.
func (it *Iteration) Abort(err error) {
	if it.open {
		_ = it.End(it.mark, 0, err)
		return
	}
	now := it.now()
	it.add(0, 0, min(it.due, now), now, now, err)
}

// Due returns when this iteration was due; in a closed loop, when its first
// operation began, or the current time if none has.
func (it *Iteration) Due() int64 { return min(it.due, it.now()) }

func (it *Iteration) add(op Op, units int, due, start, end int64, err error) {
	if errors.Is(err, context.Canceled) && it.cut != nil && it.cut() {
		it.tried = false
		return
	}
	s := measure.Call{
		Due: due, Start: start, End: end, Units: int32(units),
		Op: it.base + uint16(op), Segment: it.Segment, Worker: uint16(it.Worker), Warm: it.Warmup,
	}
	if end > it.last {
		s.Spent, it.last = end-it.last, end
	}
	if due == it.due {
		s.Opens, it.fell = it.fell, false
	}
	if due == it.due && start > due {
		s.Late = min(start-due, it.own)
		it.late = max(it.late, s.Late)
	}
	if err != nil {
		s.Class = it.rec.Failed(s.Op, err)
		s.Again = it.may != nil && it.may(s.Class)
		it.again = it.again || s.Again
	}
	it.tried = s.Again
	it.rec.Add(s)
}
