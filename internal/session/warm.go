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

// warming is the state of a run's warm-up.
type warming struct {
	// warmup is its length; settled watches for its end, and is used only by the sink.
	warmup  atomic.Int64
	settled settle.Warm
	// tells are the operations that settled is told of, by index.
	tells []bool
	// isOver means that a warm-up that ends itself has ended.
	isOver bool
	// numbering is held while seconds are renumbered, and while samples get their
	// numbers.
	numbering sync.Mutex
}

// WarmsItself reports whether the warm-up ends once the run has settled, rather than at
// Inputs.Warmup.
func (p *Prepared) WarmsItself() bool { return p.Inputs.Values["warmup"].Text == settle.Auto }

// Warmup returns the length of the warm-up or, for one that ends itself and has not
// yet, the longest that it may last.
func (l *Live) Warmup() time.Duration { return time.Duration(l.warmup.Load()) }

// warm ends a warm-up that ends itself as soon as a second shows that it can. That
// second and all earlier ones are then renumbered.
func (l *Live) warm(s *measure.Second) {
	if !l.WarmsItself() || l.isOver {
		return
	}
	if !s.Warmup { // it reached its limit
		l.isOver = true
		l.journal.Update(func(r *rundir.Run) { r.WarmupUnsettled = true })
		return
	}
	if l.tells == nil {
		l.tells = l.Plan.Warming()
	}
	count, p99 := int64(0), int64(0)
	for _, r := range s.Rows {
		if l.tells[r.Op] {
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

// cutWarmup records how long the warm-up took in a run that ended before measurement
// began.
func (l *Live) cutWarmup(run *rundir.Run) {
	if now := l.run.Elapsed(); run.MeasuredS == 0 && now < 0 {
		run.WarmupS = max(0, (l.Warmup() + now).Round(time.Millisecond)).Seconds()
	}
}

// ahead returns by how much the numbers of samples, when taken, exceed those of their
// seconds. A sample may arrive after the seconds were renumbered, but counted from the
// beginning of the run, the numbers agree.
func (l *Live) ahead() int { return int(l.Warmup() / time.Second) }

// sampled hands samples to the journal, under the current numbers of their seconds.
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

// renumber shifts the numbers of the seconds that have not been read.
func (s *seconds) renumber(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.unread {
		s.unread[i].T += by
	}
}
