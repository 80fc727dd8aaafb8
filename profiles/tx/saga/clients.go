package saga

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
)

// clients are all clients, and what each has done. It is safe for use by several goroutines.
type clients struct {
	// seconds is for how long the run can have gone on.
	seconds func() int64

	mu      sync.Mutex
	tallies map[int]*tally
}

// of returns what a client has done.
func (c *clients) of(worker int) *tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tallies[worker] == nil {
		c.tallies[worker] = &tally{}
	}
	return c.tallies[worker]
}

// all returns what each has done.
func (c *clients) all() map[int]*tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.tallies)
}

// tallyDelta is what one client has done: numbers as they stand, and the rest since it was
// told of the last time.
type tallyDelta struct {
	Worker   int
	Counts   []int64
	Seq      int64
	From     int // of outcomes
	Outcomes []uint8
	Marks    []markDelta
	Gaps     []gapDelta
}

type (
	markDelta struct {
		At  int64 `told:"time"`
		Seq int64
	}
	gapDelta struct{ From, To int64 }
)

// tellings is how far what a client did has been told.
type tellings struct {
	seq                   int64
	outcomes, marks, gaps int
}

func (t *tally) list() []*atomic.Int64 {
	return []*atomic.Int64{
		&t.done, &t.undone, &t.undecided, &t.unknown, &t.Retries, &t.Ongoing, &t.Duplicates, &t.Nulls, &t.Refused, &t.TooLate, &t.Moved, &t.Taken,
		&t.LostSubmits, &t.Queries, &t.expected, &t.uncertain, &t.early, &t.late, &t.all, &t.last, &t.tried,
	}
}

// Delta returns what each client has done.
func (c *clients) Delta() (told []tallyDelta) {
	for worker, t := range c.all() {
		told = append(told, t.delta(worker))
	}
	return told
}

func (t *tally) delta(worker int) tallyDelta {
	out := tallyDelta{Worker: worker}
	for _, n := range t.list() {
		out.Counts = append(out.Counts, n.Load())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	// Of the last transaction the outcome may not have been known, and of the last ones that no
	// outcome was known of nothing was told.
	out.From = min(int(max(t.told.seq-1, 0)/4), t.told.outcomes)
	out.Seq, out.Outcomes = t.seq, slices.Clone(t.outcomes[out.From:])
	for _, m := range t.marks[t.told.marks:] {
		out.Marks = append(out.Marks, markDelta{m.at.UnixNano(), m.seq})
	}
	for _, g := range t.gaps[t.told.gaps:] {
		out.Gaps = append(out.Gaps, gapDelta{g.from, g.to})
	}
	t.told = tellings{t.seq, len(t.outcomes), len(t.marks), len(t.gaps)}
	return out
}

// What other processes may tell at most: clients, and transactions of one client a second.
const (
	mostClients = 8 * workload.MaxThreads
	mostASecond = 1_000_000
)

// Merge takes in what clients of another process have done.
func (c *clients) Merge(_ workload.Process, told []tallyDelta) bool {
	seconds := c.seconds()
	for i := range told {
		if one := &told[i]; !one.sound(seconds) || !c.knows(one.Worker) || !c.of(one.Worker).merge(one, seconds) {
			return false
		}
	}
	return true
}

// knows reports whether a client can be one of this run: there are not too many of them.
func (c *clients) knows(worker int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tallies[worker] != nil || len(c.tallies) < mostClients
}

// sound reports whether a client can have done this in so many seconds.
func (o *tallyDelta) sound(seconds int64) bool {
	if o.Worker > workload.MaxThreads*workload.MaxThreads || o.Seq/mostASecond > seconds || int64(len(o.Marks)) > seconds+1 {
		return false
	}
	if int64(o.From) > o.Seq/4 || int64(o.From+len(o.Outcomes)) > o.Seq/4+1 || len(o.Gaps) > maxGaps {
		return false
	}
	return !slices.ContainsFunc(o.Marks, func(m markDelta) bool { return m.Seq > o.Seq })
}

// merge takes in what the client has done in another process, in a run that has gone on for so
// many seconds at most.
func (t *tally) merge(one *tallyDelta, seconds int64) bool {
	counts := t.list()
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(one.Counts) != len(counts) || one.From > len(t.outcomes) || int64(len(t.marks)+len(one.Marks)) > seconds+1 || len(t.gaps)+len(one.Gaps) > maxGaps {
		return false
	}
	for i, n := range counts {
		n.Store(one.Counts[i])
	}
	t.seq = one.Seq
	t.outcomes = append(t.outcomes[:one.From], one.Outcomes...)
	for _, m := range one.Marks {
		t.marks = append(t.marks, mark{time.Unix(0, m.At), m.Seq})
	}
	for _, g := range one.Gaps {
		t.gaps = append(t.gaps, gap{g.From, g.To})
	}
	return true
}
