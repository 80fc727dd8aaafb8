package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// worker is one goroutine of a track.
type worker struct {
	t     *track
	id    int
	task  workload.Task
	shard *measure.Shard
	it    workload.Iteration
	timer *time.Timer

	seen    *active // the settings that it follows
	since   int64   // when it began to follow them
	seqs    *sequence
	block   span
	held    slot // a due time waiting to be served
	idle    bool // it has been free since the time in field free
	free    int64
	debt    int64 // the lateness of its last iteration, which may delay the next
	alarm   *alarm
	pool    *alarms // of alarm
	credit  float64 // retries that it may still make, where these are limited
	lots    *rand.Rand
	fails   int  // consecutive failures to reach the store
	reached bool // it has come to the end of its work
	visit   visit
}

// exit tells the supervisor that a worker has ended.
type exit struct {
	id int
	// done means that it has no more work, rather than having been asked to leave.
	done bool
}

func (t *track) work(id int, task workload.Task) {
	w := &worker{t: t, id: id, task: task, shard: t.run.col.Shard(t.index), timer: time.NewTimer(time.Hour)}
	w.timer.Stop()
	w.it.Worker = t.spec.First + id
	w.idle, w.free = true, t.active.Load().at
	w.bind()
	w.it.BindStages(t.run.stages)
	w.prepare()
	for w.loop() {
	}
	if w.reached && !w.seen.warm {
		t.out.Store(true)
	}
	w.letGo()
	w.shard.Close()
	t.exits <- exit{id, w.reached}
}

// bind gives the worker its clock and its recorder.
func (w *worker) bind() {
	r := w.t.run
	w.it.BindCut(r.Killed)
	if r.opts.binds != nil {
		r.opts.binds(&w.it, r.now, w.shard, w.t.base)
		return
	}
	w.it.Bind(r.now, w.shard, w.t.base)
}

// loop runs iterations until the worker should leave. It returns true if a panic
// in the task cut it short: the panic is recorded as an error, and the worker
// goes on.
func (w *worker) loop() (again bool) {
	defer func() {
		if v := recover(); v != nil {
			w.it.Abort(&panicError{value: v, at: origin(debug.Stack())})
			w.block.from++
			w.held, w.idle = slot{}, false
			again = !w.pauseAfterFailure()
		}
	}()
	t, it := w.t, &w.it
	for {
		a := t.active.Load() // the one shared read of an iteration
		if a != w.seen {
			w.adopt(a)
		}
		if a.ended || w.id >= a.Threads {
			return false
		}
		if w.block.from >= w.block.to {
			if w.block = w.seqs.reserve(); w.block.from >= w.block.to {
				w.reached = true
				return false
			}
		}
		due, own, ok := w.ready(a)
		if !ok {
			continue // the settings changed, or the run is over: look again
		}
		it.Seq = w.block.from
		it.ResetLate(due, own)
		if t.spec.Sessions != nil {
			w.enter(a, due)
		}
		err := w.do()
		w.idle, w.debt = false, it.Lateness()
		if err == nil {
			w.block.from++
			w.held, w.fails = slot{}, 0
			if t.spec.Sessions != nil {
				w.step(a)
			}
			continue
		}
		if !w.failed(a, err) {
			return false
		}
	}
}

// failed handles an error of Do and reports whether to go on.
func (w *worker) failed(a *active, err error) bool {
	switch {
	case errors.Is(err, workload.ErrDone):
		w.reached = true
		return false
	case workload.IsFatal(err):
		w.t.run.Stop(err)
		return false
	}
	w.block.from++
	w.held = slot{}
	if w.t.spec.Sessions != nil {
		w.step(a)
	}
	class := w.t.run.opts.Classify(err)
	if a.sched != nil || w.t.run.opts.Unreachable == nil || !w.t.run.opts.Unreachable(class) {
		w.fails = 0
		return true
	}
	w.fails++
	w.pauseAfterFailure()
	return true
}

// pauseAfterFailure keeps a closed loop from spinning while the store is away: it
// waits 1 ms, doubling up to 100 ms, cut short by any change of settings. It
// reports whether the run has ended.
func (w *worker) pauseAfterFailure() bool {
	a := w.t.active.Load()
	if a.ended {
		return true
	}
	w.sleep(min(time.Millisecond<<min(w.fails, 10), 100*time.Millisecond), a.stale)
	return w.t.active.Load().ended
}

// adopt switches the worker to new settings.
func (w *worker) adopt(a *active) {
	w.account()
	w.seen = a
	w.it.Settings, w.it.Segment, w.it.Warmup = &a.Settings, a.segment, a.warm
	if w.seqs != a.seqs {
		w.seqs, w.block = a.seqs, span{}
	}
	switch {
	case w.held.from == nil:
	case w.held.from == a.sched:
		w.held.due = a.sched.again(w.held) // a ramp may have moved it
	default:
		w.held.from.abandoned.Add(w.held.units)
		w.held = slot{}
		w.giveBack()
	}
}

// account adds up the time for which the worker has followed its settings, up to its last call.
func (w *worker) account() {
	idle, now := w.it.SinceLast(), w.t.run.now()
	if w.seen != nil && !w.seen.warm {
		w.t.worked.add(w.seen.segment, now-w.since-idle)
	}
	w.since = now
}

// letGo hands back what the worker has claimed and will not do.
func (w *worker) letGo() {
	w.account()
	w.quit()
	w.giveBack()
	w.seqs.handBack(w.block)
	if s := w.held.from; s != nil && s.recorded == nil {
		if w.reached {
			s.abandoned.Add(w.held.units)
		} else {
			s.handBack(w.held)
		}
	}
}

// panicError is the error that a panic in a task becomes.
type panicError struct {
	value any
	at    string
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v (at %s)", p.value, p.at) }

// origin finds the line that panicked in a stack trace.
func origin(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	panicked := false
	for i := 0; i+1 < len(lines); i++ {
		switch l := lines[i]; {
		case strings.HasPrefix(l, "panic("):
			panicked = true
			i++
		case !panicked || strings.HasPrefix(l, "\t") || strings.HasPrefix(l, "runtime."):
		default: // the first function outside the runtime
			where, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +")
			if k := strings.LastIndexByte(where, '/'); k >= 0 {
				where = where[k+1:]
			}
			return where
		}
	}
	return "unknown"
}

// IsPanic reports whether an operation's error came from a panic in a task.
func IsPanic(err error) bool {
	_, ok := errors.AsType[*panicError](err)
	return ok
}
