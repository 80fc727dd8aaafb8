package session

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/telemetry"
)

// WarmsItself reports whether the warm-up ends once the run has settled, rather than at
// Inputs.Warmup.
func (p *Prepared) WarmsItself() bool { return p.Inputs.Values["warmup"].Text == condition.Auto }

// warmup is that of a run, which may end itself. Only the sink calls add.
type warmup struct {
	run     *engine.Run
	journal *rundir.Journal
	seconds *seconds

	// lasts is its length; of one that ends itself and has not yet, the longest.
	lasts atomic.Int64
	// open means that it ends itself and has not yet: settled finds out when it can, by the
	// operations that counts names, by index.
	open    bool
	settled condition.Warmup
	counts  []bool
	// numbering is held while seconds are renumbered, and while samples get their
	// numbers.
	numbering sync.Mutex
}

func newWarmup(p *Prepared, j *rundir.Journal, unread *seconds) *warmup {
	w := &warmup{journal: j, seconds: unread, open: p.WarmsItself()}
	if w.open {
		w.counts = p.Plan.Warming()
	}
	w.lasts.Store(int64(p.Inputs.Warmup))
	return w
}

func (w *warmup) length() time.Duration { return time.Duration(w.lasts.Load()) }

// add ends a warm-up that ends itself as soon as a second shows that it can. That second
// and all earlier ones are then renumbered.
func (w *warmup) add(s *measure.Second) {
	if !w.open {
		return
	}
	if !s.Warmup { // it reached its limit
		w.open = false
		w.journal.Update(func(r *rundir.Run) { r.WarmupUnsettled = true })
		return
	}
	count, p99 := int64(0), int64(0)
	for _, r := range s.Rows {
		if w.counts[r.Op] {
			count, p99 = count+r.Count, max(p99, r.ResponseP99)
		}
	}
	if w.settled.Add(measure.Rate(count, s.Length), time.Duration(p99)) {
		w.end(s)
	}
}

// end ends the warm-up with a second.
func (w *warmup) end(s *measure.Second) {
	w.open = false
	w.numbering.Lock()
	defer w.numbering.Unlock()
	by := w.run.EndWarmup()
	length := time.Duration(w.lasts.Add(-int64(by)))
	begins := time.Now().Add(-w.run.Elapsed())
	n := int(by / time.Second)
	s.T += n
	s.Rows = slices.Clone(s.Rows)
	for i := range s.Rows {
		s.Rows[i].T += n
	}
	w.journal.Renumber(n)
	w.journal.Update(func(r *rundir.Run) {
		r.WarmupS, r.Measured = length.Seconds(), begins.Truncate(time.Microsecond)
	})
	w.seconds.renumber(n)
}

// cut records how long the warm-up was in a run that ended before measurement began.
func (w *warmup) cut(run *rundir.Run) {
	if now := w.run.Elapsed(); run.MeasuredS == 0 && now < 0 {
		run.WarmupS = max(0, (w.length() + now).Round(time.Millisecond)).Seconds()
	}
}

// ahead returns by how much the numbers of samples, when taken, exceed those of their
// seconds. A sample may arrive after the seconds were renumbered, but counted from the
// beginning of the run, the numbers agree.
func (w *warmup) ahead() int { return int(w.length() / time.Second) }

// samples passes on those of each second.
type samples struct {
	warmup  *warmup
	journal *rundir.Journal
	feed    *telemetry.Feed // nil: they are not exported
	ledger  *ledger
	// last are those of the last second sampled.
	last atomic.Pointer[[]rundir.Sample]
}

// keep hands samples to the journal, under the current numbers of their seconds.
func (s *samples) keep(list []rundir.Sample) {
	s.warmup.numbering.Lock()
	defer s.warmup.numbering.Unlock()
	for i := range list {
		list[i].T -= s.warmup.ahead()
	}
	s.last.Store(&list)
	s.ledger.sampled(list)
	s.journal.Sampled(list)
	s.feed.Sampled(list)
}
