package padogrid

import (
	"context"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
)

// Loop is one thread of PadoGrid's tests: what it does next, and how long its loops
// took. It belongs to its worker.
type Loop[T any] struct {
	// Tally is the worker's.
	Tally *Tally[T]

	w      *Work[T]
	worker int
	help   int // where to look first for work of others
	timer  *time.Timer

	// The loop under way: from its start, under which settings, and the time of loops
	// before it.
	looping            bool
	loopStart, loopEnd int64
	before             int64
	settings           *workload.Settings
	epoch              int64 // wall clock at 0 of the measured part

	pausing bool
	until   int64
}

// Loop returns the loop of a worker.
func (w *Work[T]) Loop(worker int) *Loop[T] {
	return &Loop[T]{Tally: w.tally(worker), w: w, worker: worker, help: w.job.From + worker%(w.job.To-w.job.From)}
}

// slice is how long a thread in closed loop sleeps at once between runs, so that it
// hears of the end of the run.
const slice = 50 * time.Millisecond

// Paused says whether the worker is in the pause between two runs, a part of which it
// has slept: then this iteration is over.
func (l *Loop[T]) Paused(ctx context.Context, it *workload.Iteration) bool {
	if l.pausing {
		l.pause(ctx, it, slice)
	}
	return l.pausing
}

// Next finds work for up to want units: a piece of the worker's own share, or else,
// in open loop and once threads have changed, of another's. false: there is none.
func (l *Loop[T]) Next(it *workload.Iteration, want int64) (Piece, bool) {
	w := l.w
	from, to := w.job.From, w.job.To
	if it.Settings.Threads != to-from && !it.Warmup && !w.changed.Load() {
		w.changed.Store(true)
	}
	if from <= l.worker && l.worker < to {
		if p, ok := w.take(l.worker, want, it.Warmup); ok {
			return p, true
		}
	}
	if !it.Warmup && it.Settings.Rate == 0 && !w.changed.Load() {
		return Piece{}, false
	}
	for range to - from {
		if p, ok := w.take(l.help, want, it.Warmup); ok {
			return p, true
		}
		if l.help++; l.help == to {
			l.help = from
		}
	}
	return Piece{}, false
}

// take takes the next piece of a share that is not done yet.
func (w *Work[T]) take(share int, want int64, warm bool) (Piece, bool) {
	n := w.job.Shares[share]
	if warm {
		return w.warm[share].take(share, n, Forever, want)
	}
	for {
		p, ok := w.cursors[share].take(share, n, w.job.Runs, want)
		if !ok || w.job.Skip == nil || !w.job.Skip(p) {
			return p, ok
		}
	}
}

// Enter begins a loop unless one is under way. A change of settings ends the one
// before, so that time spent parked or paused is not taken for loop time. In open
// loop the first loop of every worker begins with the first operation of all: waiting
// for work to be due is part of it. Nothing is noted in warm-up.
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

// Leave notes what became of a piece, and pauses after a run of the share. Nothing is
// noted in warm-up.
func (l *Loop[T]) Leave(ctx context.Context, it *workload.Iteration, p Piece, err error) {
	if it.Warmup {
		return
	}
	l.loopEnd = it.Now()
	if err == nil {
		l.Tally.Done.Add(p.N)
	} else {
		l.Tally.Failed.Add(p.N)
	}
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
		l.pause(ctx, it, interval) // each return costs an open loop one of its due times
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

// Sleep waits for so long, or until ctx ends, whose error it returns then.
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
