package padogrid

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Forever is the number of runs of a plan that only its duration ends.
const Forever = math.MaxInt32

// Cursor is how far a share has been given out, in units over all runs. It fills a
// cache line, because usually only its own worker touches it.
type Cursor struct {
	atomic.Int64
	_ [120]byte
}

// Piece is a part of a share to work on in one call.
type Piece struct {
	Share int
	// Run counts the repetitions of the share from 0, Off is where in the share the
	// piece begins, and N how many units it has.
	Run, Off, N int64
	// Last means that it ends its run of the share.
	Last bool
}

// reserve takes up to want units of a share of length n, never crossing the end of a run.
func (c *Cursor) reserve(share int, n, runs, want int64) (Piece, bool) {
	if n == 0 {
		return Piece{}, false
	}
	for {
		p := c.Load()
		run, off := p/n, p%n
		if run >= runs {
			return Piece{}, false
		}
		k := min(want, n-off)
		if c.CompareAndSwap(p, p+k) {
			return Piece{share, run, off, k, off+k == n}, true
		}
	}
}

// Job is what the threads of a map or a group are to do.
type Job struct {
	// Shares are the lengths of the threads' shares, in units.
	Shares []int64
	// Runs is how often each share is done, Interval the pause of each thread after
	// every run.
	Runs     int64
	Interval time.Duration
	// From and To give this process's range of shares, with To excluded, if others have
	// the rest; both 0: all of them.
	From, To int
	// Skip, if set, reports whether a piece has been done already and is to be left
	// out. Several goroutines may call it.
	Skip func(Piece) bool
}

// Work is a job in progress with its record; a profile adds a T of its own for each
// worker. It is safe for use by several goroutines.
type Work[T any] struct {
	job Job
	// cursors and warm give out the shares, in the run and in its warm-up.
	cursors, warm []Cursor
	// changed means that the number of threads was changed during the run: from then
	// on, workers without work of their own help others.
	changed atomic.Bool
	// first is when the first measured operation began, by the measurement clock; -1:
	// not yet.
	first atomic.Int64

	// shared says that others have the rest, and are told of this.
	shared bool
	redo   redo

	// mu guards the following. Whoever holds it may take the snap of tallies, not the other way
	// round.
	mu      sync.Mutex
	parts   map[int]*parted
	told    map[int]TallyDelta
	fresh   func(*T)
	own     func(*T) []*atomic.Int64
	tallies map[int]*Tally[T]
}

// NewWork returns a Work of which nothing is done. fresh, which may be nil, initializes
// the T of a new worker; own lists the counters in it that are told to other processes, always
// in the same order.
func NewWork[T any](job Job, fresh func(*T), own func(*T) []*atomic.Int64) *Work[T] {
	n := len(job.Shares)
	shared := job.To > 0
	if !shared {
		job.To = n
	}
	w := &Work[T]{job: job, shared: shared, told: map[int]TallyDelta{}, cursors: make([]Cursor, n), warm: make([]Cursor, n), fresh: fresh, own: own, tallies: map[int]*Tally[T]{}, parts: map[int]*parted{}}
	w.first.Store(-1)
	return w
}

// Tally is what one worker has done in the measured part. Only the worker writes it;
// anybody may read the atomic fields.
type Tally[T any] struct {
	// Done is the number of units that succeeded, Failed of those that did not.
	Done, Failed atomic.Int64
	// busy is the total time of the worker's loops in ns, without pauses between runs.
	busy atomic.Int64
	// began and left are wall clock times in Unix ns: the start of its first operation,
	// and the end of its last one or of the pause after it.
	began, left atomic.Int64
	// Own is what the profile counts in addition.
	Own T
	// under is what it works on, where others are told; snap guards it and Done and Failed,
	// so that what is told of these is of one moment.
	snap  sync.Mutex
	under Piece
	_     [64]byte
}

// tally returns the record of a worker.
func (w *Work[T]) tally(worker int) *Tally[T] {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tallies[worker]
	if t == nil {
		t = &Tally[T]{}
		if w.fresh != nil {
			w.fresh(&t.Own)
		}
		w.tallies[worker] = t
	}
	return t
}

// Reached returns how many distinct units have been given out so far, warm-up included,
// summed over the shares.
func (w *Work[T]) Reached() int64 {
	var n int64
	for i := range w.cursors {
		most := max(w.cursors[i].Load(), w.warm[i].Load())
		n += min(most, w.job.Shares[i])
	}
	return n
}

// Over reports whether every unit of every run has been given out.
func (w *Work[T]) Over() bool {
	for i, n := range w.job.Shares {
		if i < w.job.From || i >= w.job.To {
			continue
		}
		if n > 0 && w.cursors[i].Load() < n*w.job.Runs {
			return false
		}
	}
	return !w.redo.some.Load()
}

// Record is the outcome of a work in the measured part, as kept in facts.
type Record struct {
	Done, Failed int64
	// Started and Stopped are the start of the first operation, and the end of the last
	// one or of the pause after it; nil before there were any.
	Started, Stopped *time.Time
	// ThreadMS is the time of each thread's loops over all runs, in milliseconds,
	// thread 1 first.
	ThreadMS []int64
	// ThreadsChanged means that the number of threads was changed during the run, so a
	// thread may have done parts of other threads' shares.
	ThreadsChanged bool
}

// Record sums up what has been done so far, and calls own with what the profile counts
// for each worker.
func (w *Work[T]) Record(own func(*T)) Record {
	r := Record{ThreadMS: make([]int64, len(w.job.Shares)), ThreadsChanged: w.changed.Load()}
	w.mu.Lock()
	defer w.mu.Unlock()
	var began, left int64
	for worker, t := range w.tallies {
		r.Done += t.Done.Load()
		r.Failed += t.Failed.Load()
		own(&t.Own)
		b := t.began.Load()
		if b == 0 {
			continue
		}
		if worker >= len(r.ThreadMS) {
			r.ThreadMS = append(r.ThreadMS, slices.Repeat([]int64{0}, worker+1-len(r.ThreadMS))...)
		}
		r.ThreadMS[worker] = t.busy.Load() / int64(time.Millisecond)
		if began == 0 || b < began {
			began = b
		}
		left = max(left, t.left.Load(), b)
	}
	if began != 0 {
		from, to := time.Unix(0, began), time.Unix(0, left)
		r.Started, r.Stopped = &from, &to
	}
	return r
}
