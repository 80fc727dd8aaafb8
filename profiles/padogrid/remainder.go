package padogrid

import (
	"slices"

	"github.com/perfbench/perfbench/internal/workload"
)

// How the rest of a part goes from a process that was lost to another: shares go on where
// they were, pieces that had been given out and not come to their end are done again, and so
// is as much as the process had done and not measured, so that figures come to what was asked
// for. What is done twice are writes of the same values, or calls that only the count matters
// of.

// parted is what is known of the part of another process.
type parted struct {
	done  int64 // units that succeeded, as it told
	under []Piece
}

// part notes what another process has told of its part.
func (w *Work[T]) part(from int, done int64, under []Piece) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.parts[from]
	if p == nil {
		p = &parted{}
		w.parts[from] = p
	}
	p.done, p.under = p.done+done, under
}

// stretch is the range of the shares of a process, with to excluded.
func (w *Work[T]) stretch(of workload.Process) (from, to int) {
	return workload.Stretch(len(w.job.Shares), of.Of, of.Part)
}

// Remainder is what is left of a part.
type Remainder struct {
	Delta
	// Again are pieces to be done before anything else.
	Again []Piece
}

// Left tells what is left of the part of a lost process. What figures do not have does not
// count as done any more.
func (w *Work[T]) Left(of workload.Process, did []workload.Did) Remainder {
	from, to := w.stretch(of)
	w.mu.Lock()
	defer w.mu.Unlock()
	r := Remainder{Delta: Delta{From: from, Changed: w.changed.Load()}}
	for i := from; i < to; i++ {
		r.Cursors, r.Warm = append(r.Cursors, w.cursors[i].Load()), append(r.Warm, w.warm[i].Load())
	}
	p := w.parts[from]
	if p == nil {
		return r
	}
	r.Again = slices.Clone(p.under)
	over := max(p.done-did[0].Units, 0)
	p.done -= over
	r.Again = append(r.Again, w.last(from, to, over, p.under)...)
	for worker, t := range w.tallies {
		if worker >= from && worker < to && over > 0 {
			n := min(t.Done.Load(), over)
			t.Done.Add(-n)
			over -= n
		}
	}
	return r
}

// last are so many units, the last ones that were done of each share between from and to as
// far as it goes; a piece that is in but is not among them. The caller holds w.mu.
func (w *Work[T]) last(from, to int, units int64, but []Piece) (out []Piece) {
	for i := from; i < to; i++ {
		end, share := w.cursors[i].Load(), w.job.Shares[i]
		for _, u := range but {
			if u.Share == i {
				end -= u.N
			}
		}
		// As a rule each has as much of it as others. The last makes up for those that do not.
		n := (units + int64(to-i) - 1) / int64(to-i)
		for n = min(n, end); n > 0 && len(out) < mostPieces; {
			one := min(n, (end-1)%share+1)
			end, n, units = end-one, n-one, units-one
			out = append(out, Piece{Share: i, Run: end / share, Off: end % share, N: one})
		}
	}
	return out
}

// mostPieces is how many pieces are done again at most: figures that lag behind by more are
// not believed.
const mostPieces = 1 << 16

// Upto is how far a share has been done, in units over all runs, less what is to be done
// again.
func (r *Remainder) Upto(share int) int64 {
	at := r.Cursors[share-r.From]
	for _, p := range r.Again {
		if p.Share == share {
			at -= p.N
		}
	}
	return max(at, 0)
}

// Inherit goes on with the rest of another process's part, which is this one's from the
// beginning.
func (w *Work[T]) Inherit(r Remainder, _ int) bool {
	n := w.job.To - w.job.From
	if r.From != w.job.From || len(r.Cursors) != n || len(r.Warm) != n {
		return false
	}
	for _, p := range r.Again {
		if p.Share < r.From || p.Share >= w.job.To || !w.has(p) {
			return false
		}
	}
	for i := range n {
		w.cursors[r.From+i].Store(r.Cursors[i])
		w.warm[r.From+i].Store(r.Warm[i])
	}
	w.changed.Store(r.Changed)
	w.redo.set(r.Again)
	return true
}
