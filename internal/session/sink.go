package session

import (
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
)

// sink is what is done with each second of a run that finishes: its parts listen to it in
// the order in which second calls them.
type sink struct {
	journal *rundir.Journal
	sampler *Sampler
	// running is closed once the run is there: its first second may come before.
	running chan struct{}
	// stop ends the run, first is the first second that no other session has seen.
	stop  func(cause error)
	first int
	// measured is what has been measured up to the last finished second.
	measured *atomic.Pointer[measure.Result]

	thresholds  *thresholds
	warmup      *warmup
	summary     *summary
	convergence *convergence
	seconds     *seconds
	backlog     *backlog
	judged      atomic.Pointer[rundir.Verdict] // as of the last finished second
	listeners   *listeners
}

func newSink(o *Opened, stop func(cause error)) *sink {
	p := o.Prepared
	ops := operations{list: p.Plan.Operations(), counted: p.Plan.Counted()}
	k := &sink{
		journal: o.journal, sampler: o.sampler, running: make(chan struct{}), stop: stop, first: o.first, measured: &o.measured,
		thresholds: newThresholds(p.Thresholds, o.Dir()),
		summary:    &summary{operations: ops}, convergence: &convergence{goal: p.Until}, seconds: &seconds{},
		backlog: &backlog{operations: ops}, listeners: &listeners{},
	}
	k.warmup = newWarmup(p, o.journal, k.seconds)
	return k
}

// second is the engine's sink.
func (k *sink) second(s *measure.Second) error {
	<-k.running
	k.thresholds.add(s)
	k.warmup.add(s)
	sum, times := k.summary.of(s, k.warmup.length())
	if k.convergence.add(s, times, sum) {
		k.stop(Reached("until"))
	}
	k.measured.Store(s.Result)
	news := s.T >= k.first // no other session has seen it
	if news {
		k.seconds.add(sum)
	}
	if err := k.journal.Second(s); err != nil {
		return err
	}
	if news {
		k.sampler.Second(s.T + k.warmup.ahead())
	}
	if !s.Warmup {
		k.backlog.add(s)
		k.judge(s)
	}
	k.listeners.call(s)
	return nil
}

// judge judges the run as it is after a second, which the journal already has.
func (k *sink) judge(s *measure.Second) {
	run := k.journal.Run()
	run.EndedBy = rundir.StillRunning
	run.Verdict.Thresholds = k.thresholds.soFar(&run)
	v := run.Judge()
	k.judged.Store(&v)
	if s.Length >= 1 && k.thresholds.end(&run, time.Duration(s.T+1)*time.Second) {
		k.stop(Reached("threshold"))
	}
}

// verdict returns the verdict as of the last finished second.
func (k *sink) verdict() rundir.Verdict {
	if v := k.judged.Load(); v != nil {
		return *v
	}
	return rundir.Verdict{State: verdict.Valid}
}
