package padogrid

import (
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/workload"
)

// Delta is what a process reports about its part of a work to the process that has the
// whole: how far its shares have come, and what its threads have done since the last
// report.
type Delta struct {
	// From is the number of the first share; Cursors and Warm have a value for each
	// share.
	From          int
	Cursors, Warm []int64
	// Changed means that the number of threads was changed during the run.
	Changed bool
	Tallies []TallyDelta
	// Under are the pieces that were given out and had not come to their end.
	Under []Piece
}

// TallyDelta is what one thread has done since the last report; Began and Left are
// moments. Own has what the profile counts in addition, in the order of its own
// function.
type TallyDelta struct {
	Worker       int
	Done, Failed int64
	Busy         int64 `told:"signed"`
	Began, Left  int64 `told:"time"`
	Own          []int64
}

func (t *TallyDelta) same(o TallyDelta) bool {
	return t.Done == o.Done && t.Failed == o.Failed && t.Busy == o.Busy && t.Began == o.Began && t.Left == o.Left && slices.Equal(t.Own, o.Own)
}

// Delta returns what has been done since the last call.
func (w *Work[T]) Delta() Delta {
	out := Delta{From: w.job.From, Changed: w.changed.Load()}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.tallies {
		t.snap.Lock()
		defer t.snap.Unlock()
		if t.under.N > 0 {
			out.Under = append(out.Under, t.under)
		}
	}
	out.Under = append(out.Under, w.redo.list()...) // nobody takes of it: that needs a tally's snap
	for i := w.job.From; i < w.job.To; i++ {
		out.Cursors, out.Warm = append(out.Cursors, w.cursors[i].Load()), append(out.Warm, w.warm[i].Load())
	}
	for worker, t := range w.tallies {
		now := TallyDelta{worker, t.Done.Load(), t.Failed.Load(), t.busy.Load(), t.began.Load(), t.left.Load(), nil}
		for _, n := range w.own(&t.Own) {
			now.Own = append(now.Own, n.Load())
		}
		was := w.told[worker]
		w.told[worker] = now
		if now.same(was) {
			continue
		}
		now.Done, now.Failed, now.Busy, now.Own = now.Done-was.Done, now.Failed-was.Failed, now.Busy-was.Busy, slices.Clone(now.Own)
		for i, n := range was.Own {
			now.Own[i] -= n
		}
		out.Tallies = append(out.Tallies, now)
	}
	return out
}

// Merge takes in what another process told.
func (w *Work[T]) Merge(_ workload.Process, told Delta) bool {
	if !w.fits(&told) {
		return false
	}
	for i := range told.Cursors {
		w.cursors[told.From+i].Store(told.Cursors[i])
		w.warm[told.From+i].Store(told.Warm[i])
	}
	if told.Changed {
		w.changed.Store(true)
	}
	done := int64(0)
	for _, more := range told.Tallies {
		t := w.tally(more.Worker)
		t.Done.Add(more.Done)
		done += more.Done
		t.Failed.Add(more.Failed)
		t.busy.Add(more.Busy)
		mine := w.own(&t.Own)
		if len(mine) != len(more.Own) {
			return false
		}
		for i, n := range mine {
			n.Add(more.Own[i])
		}
		if began := t.began.Load(); began == 0 || more.Began < began {
			t.began.Store(more.Began)
		}
		t.left.Store(max(t.left.Load(), more.Left))
	}
	w.part(told.From, done, told.Under)
	return true
}

// fits reports whether what another process has told can be of this work: shares and threads
// that there are, shares done at most as often as they are to be, and no more done since the
// last report than anybody can have.
func (w *Work[T]) fits(told *Delta) bool {
	n := len(told.Cursors)
	if told.From < 0 || told.From > len(w.cursors) || n > len(w.cursors)-told.From || len(told.Warm) != n || len(told.Under) > mostThreads {
		return false
	}
	for i := range n {
		share := w.job.Shares[told.From+i]
		if past(share, w.job.Runs, told.Cursors[i]) || past(share, Forever, told.Warm[i]) {
			return false
		}
	}
	for _, p := range told.Under {
		if !w.has(p) || p.Share < told.From || p.Share >= told.From+n {
			return false
		}
	}
	for _, t := range told.Tallies {
		if t.Worker < 0 || t.Worker > mostThreads || beyond(mostNews, t.Done, t.Failed, max(t.Busy, -t.Busy)) || beyond(mostNews, t.Own...) || beyond(math.MaxInt64, t.Began, t.Left) {
			return false
		}
	}
	return true
}

// has reports whether a piece can be one of this work.
func (w *Work[T]) has(p Piece) bool {
	if p.Share < 0 || p.Share >= len(w.job.Shares) {
		return false
	}
	share := w.job.Shares[p.Share]
	return !beyond(share, p.Off, p.N) && p.Off+p.N <= share && !beyond(w.job.Runs, p.Run)
}

// past reports whether a share cannot have been done up to n units in that many runs.
func past(share, runs, n int64) bool {
	return n < 0 || n > 0 && (share == 0 || (n-1)/share >= runs)
}

// beyond reports whether one of the counts is more than most, or less than nothing.
func beyond(most int64, counts ...int64) bool {
	return slices.ContainsFunc(counts, func(n int64) bool { return n < 0 || n > most })
}

// Lose takes all that a lost process had to do for given out.
func (w *Work[T]) Lose(of workload.Process) {
	from, to := w.stretch(of)
	for i := from; i < to; i++ {
		w.cursors[i].Store(max(w.cursors[i].Load(), w.job.Shares[i]))
	}
}

// What another process may tell at most: the number of a thread, and units or ns since its
// last report.
const (
	mostThreads = 1 << 16
	mostNews    = 1 << 48
)
