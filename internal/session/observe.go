package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session/sampler"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/telemetry"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch/self"
)

// observer gathers what the verdict is based on, apart from the run's own figures.
type observer struct {
	// seen is the last observation of process and machine; nil before the first second.
	seen atomic.Pointer[verdict.Observed]
	// lastSamples are those of the last second sampled.
	lastSamples atomic.Pointer[[]rundir.Sample]
	// judged is the verdict as of the last finished second.
	judged atomic.Pointer[rundir.Verdict]
	// over is closed when observation has ended.
	over chan struct{}

	mu sync.Mutex
	// onSecond are called with each second.
	onSecond []func(*measure.Second)
	// waits and waitNs are the counters of the connection pool when measurement began.
	waits, waitNs int64
	// backlog holds the backlog of each second since the rate last changed.
	backlog []int64
	rate    float64
	// ceilings holds how many calls per second the harness alone makes in each phase,
	// as far as that is known.
	ceilings []verdict.PhaseCeiling
}

// lookEvery is how many beats pass between two looks at the machine.
const lookEvery = int(time.Second / self.Beat)

// observe watches process and machine until the run has ended. It costs one wake-up per
// self.Beat and some 100 µs a second.
func (l *Live) observe() {
	defer close(l.over)
	ctx := context.Background() // reading /proc does not block
	own := self.Watch(ctx)
	look := func() {
		o := own.Observed(ctx)
		l.seen.Store(&o)
	}
	l.poolBegins()
	warm := l.Inputs.Warmup > 0
	known := 0 // number of suspensions
	timer := time.NewTimer(self.Beat)
	defer timer.Stop()
	for n := 1; ; n++ {
		set := time.Now()
		timer.Reset(self.Beat)
		select {
		case <-l.run.Done():
			look()
			<-l.sampler.Over()
			return
		case <-timer.C:
		}
		gone := own.Beaten(time.Since(set))
		for _, g := range l.run.Suspensions()[known:] {
			gone += g.For
			known++
		}
		if gone > 0 {
			l.run.Mark("suspended for " + units.Duration(gone.Round(time.Millisecond)))
		}
		if warm && l.run.Snapshot().At >= 0 {
			warm, n = false, 0
			own.Restart(ctx)
			l.sampler.Restart()
			l.poolBegins()
		}
		if n%lookEvery == 0 {
			look()
		}
	}
}

// sample starts sampling resource use.
func (l *Live) sample(ctx context.Context) {
	o := sampler.Options{Role: l.Driver.Name, Agent: l.Inputs.Agent, Pool: l.Pool, Also: l.crew.Samples, Take: l.sampled}
	if l.Info.NoFigure == "" {
		o.Server, _ = l.conn.(store.Metered)
		if o.Book, _ = l.conn.(store.Notebook); l.Inputs.Namespace != "" {
			o.Own = l.Inputs.Namespace + ":"
		}
		if port := l.Driver.Port; port > 0 && !strings.Contains(l.Target.Scheme, "sentinel") {
			for _, h := range l.Target.Hosts {
				o.Addrs = append(o.Addrs, store.HostPort(h, port))
			}
		}
	}
	l.sampler = sampler.New(ctx, o)
	if l.plan.Watch != nil {
		l.plan.Watch(ctx, l.sampler.Set())
	}
	if tells, err := l.sampler.Begin(context.WithoutCancel(ctx)); err != nil { // an interrupt is not the store's refusal
		how := "reports nothing"
		if tells {
			how = "does not report everything"
		}
		why := strings.ReplaceAll(err.Error(), "\n", "; ")
		l.Notices = append(l.Notices, l.mask(fmt.Sprintf("%s %s about itself during the run: %s", l.Info.Name, how, why)))
	}
	if err := l.sampler.BeginOthers(context.WithoutCancel(ctx)); err != nil {
		l.Notices = append(l.Notices, l.mask("not everything besides "+l.Info.Name+" reports about itself during the run: "+strings.ReplaceAll(err.Error(), "\n", "; ")))
	}
}

func (l *Live) poolBegins() {
	pool, _ := l.Pool()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits, l.waitNs = pool.Waits, pool.WaitNs
}

// observedNow returns what has been observed of this process and machine so far; nil if
// nothing has.
func (l *Live) observedNow() *verdict.Observed {
	seen := l.seen.Load()
	if seen == nil {
		return nil
	}
	o := *seen
	o.Processes, o.Store = l.sampler.Report()
	o.Noted, o.NotedMore = l.sampler.Noted()
	l.mu.Lock()
	defer l.mu.Unlock()
	if pool, ok := l.Pool(); ok {
		o.PoolSize, o.PoolWaits, o.PoolWaitNs = pool.Size, pool.Waits-l.waits, pool.WaitNs-l.waitNs
	}
	o.Suspensions = suspensions(o.Suspensions, l.run.Suspensions())
	o.Ceilings = l.ceilings
	o.Growth = verdict.Grown(l.backlog, l.rate)
	return &o
}

// suspensions merges stops of the process into suspensions of the machine, in order.
func suspensions(naps []verdict.Suspension, stops []*measure.Gap) []verdict.Suspension {
	all := slices.Clone(naps)
	for _, g := range stops {
		if g.At >= 0 { // in warm-up it does not matter
			all = append(all, verdict.Suspension{AtS: time.Duration(g.At).Seconds(), ForS: g.For.Seconds(), Untimed: g.Untimed.Load()})
		}
	}
	slices.SortFunc(all, func(a, b verdict.Suspension) int { return cmp.Compare(a.AtS, b.AtS) })
	return all
}

// Verdict returns the verdict on the run as of its last finished second.
func (l *Live) Verdict() rundir.Verdict {
	if v := l.judged.Load(); v != nil {
		return *v
	}
	return rundir.Verdict{State: verdict.Valid}
}

// judgeSecond judges the run as it is after a second, which the journal has already
// taken.
func (l *Live) judgeSecond(s *measure.Second) {
	if s.Warmup {
		return
	}
	l.noteBacklog(s)
	run := l.journal.Run()
	run.EndedBy = rundir.StillRunning
	v := run.Judge()
	l.judged.Store(&v)
	if s.Length >= 1 {
		l.mayAbort(&run, time.Duration(s.T+1)*time.Second)
	}
}

// leave exports the figures of the run, if there is an outlet for them.
func (l *Live) leave() {
	if l.env.Outlet == nil {
		return
	}
	l.feed = l.env.Outlet.Begin(telemetry.Source{
		Run: l.journal.Run(), Operations: l.plan.Operations(), Counts: l.plan.Counted(), Verdict: l.Verdict,
	})
	l.OnSecond(l.feed.Second)
}

// noteBacklog keeps how many units were due and not begun, over all tracks.
func (l *Live) noteBacklog(s *measure.Second) {
	l.counted() // initializes the operations
	var backlog int64
	var rate float64
	seen := map[string]bool{}
	for _, r := range s.Rows {
		if track := l.operations[r.Op].Track; !seen[track] {
			seen[track] = true
			backlog += r.Backlog
			rate += r.Rate
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if rate != l.rate {
		l.backlog, l.rate = nil, rate
	}
	if s.Length >= 1 {
		l.backlog = append(l.backlog, backlog)
	}
}
