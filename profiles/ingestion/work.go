package ingestion

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/store"
)

// cursor is how far a share has been given out, in entries over all runs. It has
// a cache line of its own: as a rule only its own worker touches it.
type cursor struct {
	pos atomic.Int64
	_   [120]byte
}

// piece is a stretch of a share to write in one call.
type piece struct {
	share   int
	run     int64
	off, n  int64
	lastOne bool // it ends its run of the share
}

// claim takes up to want entries of a share whose length is n, never across the
// end of a run.
func (c *cursor) claim(share int, n, runs, want int64) (piece, bool) {
	if n == 0 {
		return piece{}, false
	}
	for {
		p := c.pos.Load()
		run, off := p/n, p%n
		if run >= runs {
			return piece{}, false
		}
		take := min(want, n-off)
		if c.pos.CompareAndSwap(p, p+take) {
			return piece{share, run, off, take, off+take == n}, true
		}
	}
}

// load is the work on one map and what has become of it. Tasks share it; all of
// it is safe for use by several goroutines.
type load struct {
	s     *spec
	m     *mapSpec
	space store.Space
	// cursors and warm give out the shares, in the run and in its warm-up.
	cursors, warm []cursor
	// changed says that the number of threads was changed in mid-run: from then on
	// workers without work of their own help others.
	changed atomic.Bool
	// first is when the map's first measured operation began, by the clock of
	// measurement; -1: not yet.
	first atomic.Int64
	acked *marks

	mu      sync.Mutex
	tallies map[int]*tally
	sizes   []int // of values written
	existed bool  // the space was there before this run
	before  int64 // upper bound of the entries that were there
}

func newLoad(s *spec, m *mapSpec) *load {
	l := &load{
		s: s, m: m, space: m.space(s), acked: newMarks(m),
		cursors: make([]cursor, len(m.shares)), warm: make([]cursor, len(m.shares)),
		tallies: map[int]*tally{},
	}
	l.first.Store(-1)
	return l
}

// tally is what one worker has done in the measured part. The worker alone
// writes it; anybody may read it.
type tally struct {
	// acked, failed are entries; attempted is both and what is under way.
	attempted, acked, failed atomic.Int64
	// busy is the time of its loops in ns, without pauses between runs.
	busy atomic.Int64
	// began and left are wall-clock times in Unix ns of its first operation's start
	// and the end of its last one, or of the pause after it.
	began, left atomic.Int64
	_           [80]byte
}

// tally returns the record of a worker.
func (l *load) tally(worker int) *tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tallies[worker] == nil {
		l.tallies[worker] = &tally{}
	}
	return l.tallies[worker]
}

// noteSize remembers that values of a size are written.
func (l *load) noteSize(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.sizes, n) {
		l.sizes = append(l.sizes, n)
	}
}

// attempted is how many distinct entries have been given out, warm-up included.
func (l *load) attempted() int64 {
	var n int64
	for i := range l.cursors {
		most := max(l.cursors[i].pos.Load(), l.warm[i].pos.Load())
		n += min(most, l.m.shares[i].Entries)
	}
	return n
}

// wall returns the Unix time in ns at which the clock of measurement stood at 0.
func wall(now int64) int64 { return time.Now().UnixNano() - now }
