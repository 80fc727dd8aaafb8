package eventstore

import (
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/stage"
)

// Facts returns the record of the run so far, as far as r has its figures.
func (b *binding) Facts(r *measure.Result) any {
	s := b.s
	stands := b.others.Told()
	f := &report.Facts{
		Schema: s.layout.schema, Store: s.driver, Compression: s.codecName, Pacing: s.load.pacing, Compat: s.Compat, Durability: b.tr.Durability,
		Config: s.config, Book: string(s.Book), Page: s.page, Scope: string(s.Scope), Transport: b.way.name(),
		Crashes: b.way.crashed(), Drain: drainOf(stands, b.drain.report), Limits: b.limits(stands),
	}
	if f.Drain != nil {
		f.Drain.Left = b.ledger.Left() // nothing of a process that was lost
	}
	for _, one := range stands {
		b.counts.RaiseMaxBatch(one.MaxBatch)
	}
	f.Steps = stepsOf(r, b.counts, f.Drain, int64(s.load.duration))
	f.Series, f.SeriesEveryNs = b.series.report()
	wrong := b.wrong(stands)
	f.Losses, f.Errors = wrong.Losses, wrong.List()
	b.account.sums(&f.Ledger)
	f.Machine, f.Processes = b.watcher.report(len(stands), b.series.workers)
	if b.search != nil {
		f.Search = b.search.report(b.clock.zero.Load())
	}
	return f
}

// stand is how a process stands: its drain, nil before that has begun, the most that its store
// stage has held and was given at once in each step, and what went wrong.
type stand struct {
	Drain    *report.Drain
	Peaks    report.Limits
	MaxBatch []int64
	Wrong    stage.Wrong
}

// sound reports whether it can be that of another process.
func (s *stand) sound() bool { return s.Wrong.Sound() && len(s.MaxBatch) <= stage.Steps+1 }

func (b *binding) stand() stand {
	return stand{b.drain.report(), b.limits(nil), b.counts.MaxBatch(), b.failures.Told()}
}

// wrong is what went wrong in all processes.
func (b *binding) wrong(stands []stand) stage.Wrong {
	all := b.failures.Told()
	for i := range stands {
		all.Join(&stands[i].Wrong)
	}
	return all
}

// drainOf tells of the drain of all processes, which is own if there is one; nil: none has begun.
func drainOf(stands []stand, own func() *report.Drain) *report.Drain {
	if len(stands) == 0 {
		return own()
	}
	var all *report.Drain
	for _, o := range stands {
		switch {
		case o.Drain == nil:
		case all == nil:
			all = new(*o.Drain)
		default:
			all.Join(o.Drain)
		}
	}
	return all
}

// limits are those of the store stages of all processes, and what they have held.
func (b *binding) limits(stands []stand) report.Limits {
	one := report.Limits{MaxTasks: b.s.stage.MaxTasks, MaxTaskBytes: b.s.stage.MaxTaskBytes}
	if len(stands) == 0 {
		_, _, one.PeakTasks, one.PeakBytes = b.way.inside()
		return one
	}
	var all report.Limits
	for _, o := range stands {
		all.MaxTasks += one.MaxTasks
		all.MaxTaskBytes += one.MaxTaskBytes
		all.PeakTasks += o.Peaks.PeakTasks
		all.PeakBytes += o.Peaks.PeakBytes
	}
	return all
}
