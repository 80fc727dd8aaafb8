package padogrid

import (
	"context"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
)

// Loop is one thread of PadoGrid's tests: it decides what to do next, and records how
// long its loops took. It belongs to its worker.
type Loop[T any] struct {
	// Tally is the worker's record.
	Tally *Tally[T]

	w      *Work[T]
	worker int
	help   int // where to look first for other workers' shares
	timer  *time.Timer

	// The current loop: when it started, under which settings, and the total time of
	// the loops before it.
	looping            bool
	loopStart, loopEnd int64
	before             int64
	settings           *workload.Settings
	epoch              int64 // wall clock time at the start of the measured part

	pausing bool
	until   int64
}

// Loop returns the loop of a worker.
func (w *Work[T]) Loop(worker int) *Loop[T] {
	return &Loop[T]{Tally: w.tally(worker), w: w, worker: worker, help: w.job.From + worker%(w.job.To-w.job.From)}
}

// slice is how long a closed-loop thread sleeps at a time between runs, so that it
// notices the end of the run.
const slice = 50 * time.Millisecond

// Paused reports whether the worker is in the pause between two runs, in which case it
// has slept for part of the pause and this iteration is over.
func (l *Loop[T]) Paused(ctx context.Context, it *workload.Iteration) bool {
	if l.pausing {
		l.pause(ctx, it, slice)
	}
	return l.pausing
}

// Next finds work for up to want units: a piece of the worker's own share or, in an
// open loop and after threads have changed, of another's share. It returns false if
// there is none.
func (l *Loop[T]) Next(it *workload.Iteration, want int64) (Piece, bool) {
	if !l.w.shared || it.Warmup {
		return l.next(it, want)
	}
	l.Tally.snap.Lock()
	defer l.Tally.snap.Unlock()
	p, ok := l.w.redo.take(want)
	if !ok {
		p, ok = l.next(it, want)
	}
	l.Tally.under = p
	return p, ok
}

func (l *Loop[T]) next(it *workload.Iteration, want int64) (Piece, bool) {
	w := l.w
	from, to := w.job.From, w.job.To
	if it.Settings.Threads != to-from && !it.Warmup && !w.changed.Load() {
		w.changed.Store(true)
	}
	if from <= l.worker && l.worker < to {
		if p, ok := w.reserve(l.worker, want, it.Warmup); ok {
			return p, true
		}
	}
	if !it.Warmup && it.Settings.Rate == 0 && !w.changed.Load() {
		return Piece{}, false
	}
	for range to - from {
		if p, ok := w.reserve(l.help, want, it.Warmup); ok {
			return p, true
		}
		if l.help++; l.help == to {
			l.help = from
		}
	}
	return Piece{}, false
}

// reserve takes the next piece of a share that is not done yet.
func (w *Work[T]) reserve(share int, want int64, warm bool) (Piece, bool) {
	n := w.job.Shares[share]
	if warm {
		return w.warm[share].reserve(share, n, Forever, want)
	}
	for {
		p, ok := w.cursors[share].reserve(share, n, w.job.Runs, want)
		if !ok || w.job.Skip == nil || !w.job.Skip(p) {
			return p, ok
		}
	}
}

// Enter begins a loop unless one is in progress. A change of settings ends the previous
// loop, so that time spent parked or paused does not count as loop time. In an open
// loop the first loop of every worker begins with the very first operation, because
// waiting for work to fall due is part of it. In warm-up nothing is recorded.
func (l *Loop[T]) Enter(it *workload.Iteration) {
	if it.Warmup || l.looping && l.settings == it.Settings {
		return
	}
	now := it.Now()
	if l.looping {
		l.before += l.loopEnd - l.loopStart
	}
	l.looping, l.loopStart, l.loopEnd, l.settings = true, now, now, it.Settings
	if l.epoch != 0 {
		return
	}
	l.epoch = time.Now().UnixNano() - now
	l.Tally.began.Store(l.epoch + now)
	l.w.first.CompareAndSwap(-1, now)
	if it.Settings.Rate > 0 {
		l.loopStart = min(l.w.first.Load(), now)
	}
}

// Leave records the outcome of a piece, and pauses after a run of the share. In warm-up
// nothing is recorded.
func (l *Loop[T]) Leave(ctx context.Context, it *workload.Iteration, p Piece, err error) {
	if it.Warmup {
		return
	}
	l.loopEnd = it.Now()
	l.settle(p, err)
	l.Tally.busy.Store(l.before + l.loopEnd - l.loopStart)
	l.Tally.left.Store(l.epoch + l.loopEnd)
	interval := l.w.job.Interval
	if !p.Last || it.Settings.Rate > 0 && interval == 0 {
		return
	}
	l.before += l.loopEnd - l.loopStart
	l.looping = false
	if interval == 0 {
		return
	}
	l.pausing, l.until = true, l.loopEnd+int64(interval)
	if it.Settings.Rate > 0 {
		l.pause(ctx, it, interval) // in an open loop, each return would use up a due time
	}
}

// settle counts a piece.
func (l *Loop[T]) settle(p Piece, err error) {
	if l.w.shared {
		l.Tally.snap.Lock()
		defer l.Tally.snap.Unlock()
		l.Tally.under = Piece{}
	}
	if err == nil {
		l.Tally.Done.Add(p.N)
	} else {
		l.Tally.Failed.Add(p.N)
	}
}

// pause sleeps until the pause between runs is over, but no longer than most.
func (l *Loop[T]) pause(ctx context.Context, it *workload.Iteration, most time.Duration) {
	if rest := time.Duration(l.until - it.Now()); rest > 0 && l.Sleep(ctx, min(rest, most)) != nil {
		l.pausing = false
		return
	}
	now := it.Now()
	l.Tally.left.Store(l.epoch + now)
	l.pausing = now < l.until
}

// Sleep waits for d, or until ctx ends; it then returns the error of ctx.
func (l *Loop[T]) Sleep(ctx context.Context, d time.Duration) error {
	if l.timer == nil {
		l.timer = time.NewTimer(d)
	} else {
		l.timer.Reset(d)
	}
	select {
	case <-l.timer.C:
		return nil
	case <-ctx.Done():
		l.timer.Stop()
		return ctx.Err()
	}
}
