package padogrid

import (
	"slices"
	"sync"
	"sync/atomic"
)

// redo is what is to be done again, before anything else, of a part that was another
// process's. Its methods may be called from any goroutine; it calls nothing of others, so that
// whoever calls it may hold what locks he likes.
type redo struct {
	some atomic.Bool // there is any: who asks in the hot path takes no lock

	mu     sync.Mutex
	pieces []Piece
}

// set replaces all that there is.
func (r *redo) set(pieces []Piece) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pieces = pieces
	r.some.Store(len(pieces) > 0)
}

// list returns all that there is.
func (r *redo) list() []Piece {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.pieces)
}

// take takes up to want units of it.
func (r *redo) take(want int64) (Piece, bool) {
	if !r.some.Load() {
		return Piece{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.pieces)
	if n == 0 {
		return Piece{}, false
	}
	p := r.pieces[n-1]
	if p.N <= want {
		r.pieces = r.pieces[:n-1]
		r.some.Store(n > 1)
		return p, true
	}
	r.pieces[n-1].Off, r.pieces[n-1].N = p.Off+want, p.N-want
	p.N, p.Last = want, false
	return p, true
}
