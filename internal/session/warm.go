package session

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session/settle"
)

// warming is the warm-up of a run.
type warming struct {
	// warmup is its length, settled watches for its end; the sink alone uses the latter.
	warmup  atomic.Int64
	settled settle.Warm
	// isOver says that one that ends itself has.
	isOver bool
	// numbering is held by who numbers seconds anew, and who gives numbers to samples.
	numbering sync.Mutex
}

// WarmsItself says whether the warm-up ends once the run has settled, or at
// Inputs.Warmup.
func (p *Prepared) WarmsItself() bool { return p.Inputs.Values["warmup"].Text == settle.Auto }

// Warmup is how long the warm-up is: the longest that it may be, while one that ends
// itself has not.
func (l *Live) Warmup() time.Duration { return time.Duration(l.warmup.Load()) }

// warm ends a warm-up that ends itself, once a second shows that it can. That second and
// all before are numbered anew then.
func (l *Live) warm(s *measure.Second) {
	if !l.WarmsItself() || l.isOver {
		return
	}
	if !s.Warmup { // it came to its bound
		l.isOver = true
		l.journal.Update(func(r *rundir.Run) { r.WarmupUnsettled = true })
		return
	}
	count, p99 := int64(0), int64(0)
	for _, r := range s.Rows {
		if l.counted()[r.Op] {
			count, p99 = count+r.Count, max(p99, r.ResponseP99)
		}
	}
	if !l.settled.Add(measure.Rate(count, s.Length), time.Duration(p99)) {
		return
	}
	l.isOver = true
	l.numbering.Lock()
	defer l.numbering.Unlock()
	by := l.run.EndWarmup()
	length := time.Duration(l.warmup.Add(-int64(by)))
	begins := time.Now().Add(-l.run.Elapsed())
	n := int(by / time.Second)
	s.T += n
	s.Rows = slices.Clone(s.Rows)
	for i := range s.Rows {
		s.Rows[i].T += n
	}
	l.journal.Renumber(n)
	l.journal.Update(func(r *rundir.Run) {
		r.WarmupS, r.Measured = length.Seconds(), begins.Truncate(time.Microsecond)
	})
	l.seconds.renumber(n)
}

// ahead is what the numbers of samples are ahead of those of their seconds while they are
// taken. A sample may come late, after the seconds were numbered anew: from the beginning
// of the run they count the same.
func (l *Live) ahead() int { return int(l.Warmup() / time.Second) }

// sampled hands samples to the journal, by the numbers that their seconds have now.
func (l *Live) sampled(samples []rundir.Sample) {
	l.numbering.Lock()
	defer l.numbering.Unlock()
	for i := range samples {
		samples[i].T -= l.ahead()
	}
	l.lastSamples.Store(&samples)
	l.journal.Sampled(samples)
	l.feed.Sampled(samples)
}

// renumber adds to the numbers of the seconds that nobody has read.
func (s *seconds) renumber(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.unread {
		s.unread[i].T += by
	}
}
