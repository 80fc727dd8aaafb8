package group

import (
	"sync"
	"sync/atomic"
	"time"
)

// cursor is how far a share has been given out, in invocations over all runs. It
// has a cache line of its own: as a rule only its own worker touches it.
type cursor struct {
	pos atomic.Int64
	_   [120]byte
}

// piece is one invocation of a share.
type piece struct {
	share    int
	run, off int64
	lastOne  bool // it ends its run of the share
}

// claim takes the next invocation of a share whose length is n.
func (c *cursor) claim(share int, n, runs int64) (piece, bool) {
	if n == 0 {
		return piece{}, false
	}
	for {
		p := c.pos.Load()
		run, off := p/n, p%n
		if run >= runs {
			return piece{}, false
		}
		if c.pos.CompareAndSwap(p, p+1) {
			return piece{share, run, off, off+1 == n}, true
		}
	}
}

// groupRun is the work of one group and what has become of it. Tasks share it; all
// of it is safe for use by several goroutines.
type groupRun struct {
	s *spec
	g *groupSpec
	// cursors and warm give out the shares, in the run and in its warm-up.
	cursors, warm []cursor
	// bulk are the positions of bulk operations in the shares' slices of keys, by the
	// operation's place in the group.
	bulk, warmBulk [][]cursor
	// changed says that the number of threads was changed in mid-run: from then on
	// workers without work of their own help others.
	changed atomic.Bool
	// first is when the group's first measured invocation began, by the clock of
	// measurement; -1: not yet.
	first atomic.Int64
	under atomic.Int64 // invocations under way
	// done are those of each share that an earlier run has carried out, found how many
	// these are; nil when none was looked for.
	done  [][]uint64
	found atomic.Int64

	mu      sync.Mutex
	tallies map[int]*tally
}

func newGroupRun(s *spec, g *groupSpec) *groupRun {
	r := &groupRun{s: s, g: g, cursors: make([]cursor, len(g.shares)), warm: make([]cursor, len(g.shares)), tallies: map[int]*tally{}}
	r.first.Store(-1)
	r.bulk, r.warmBulk = make([][]cursor, len(g.ops)), make([][]cursor, len(g.ops))
	for i, o := range g.ops {
		if o.act.bulk() {
			r.bulk[i], r.warmBulk[i] = make([]cursor, len(g.shares)), make([]cursor, len(g.shares))
		}
	}
	return r
}

// over says that every invocation has been given out and has ended.
func (r *groupRun) over() bool {
	for i := range r.cursors {
		if n := r.g.shares[i]; n > 0 && r.cursors[i].pos.Load() < n*r.s.runs() {
			return false
		}
	}
	return r.under.Load() == 0
}

// tally is what one worker has done in the measured part. The worker alone writes
// it; anybody may read it.
type tally struct {
	acked, failed atomic.Int64
	// busy is the time of its loops in ns, without pauses between runs.
	busy atomic.Int64
	// began and left are wall-clock times in Unix ns of its first invocation's start
	// and the end of its last one, or of the pause after it.
	began, left atomic.Int64
	ops         []opTally // by the track's operations
}

// opTally is what became of one operation at one worker.
type opTally struct {
	calls, entries, misses, failed atomic.Int64
}

func (r *groupRun) tally(worker int) *tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tallies[worker] == nil {
		r.tallies[worker] = &tally{ops: make([]opTally, len(r.g.names))}
	}
	return r.tallies[worker]
}

// wall returns the Unix time in ns at which the clock of measurement stood at 0.
func wall(now int64) int64 { return time.Now().UnixNano() - now }
