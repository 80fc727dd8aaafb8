package engine

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// active is the configuration that a track's workers follow. It is replaced,
// never modified.
type active struct {
	workload.Settings
	at      int64     // when it came into force
	units   int       // of one claim: those of an iteration, or 1 where the schedule is of sessions
	comes   float64   // claims of the schedule, or their units, per second
	sched   *schedule // nil in closed loop
	alarms  *alarms   // nil: workers wait by the runtime's timer alone
	spin    time.Duration
	seqs    *sequence
	segment uint16
	warm    bool
	ended   bool
	// until is when the next planned change of the track comes, or the end of its
	// phase: what is due from then on does not start under these settings.
	until int64
	stale chan struct{} // closed when this is replaced; wakes sleeping workers
}

// track is a pool of workers at work.
//
//	state     begun by            ended by
//	waiting   -                   its phase starting
//	running   supervise           no worker left, and none to start
//	over      -                   -
type track struct {
	run    *Run
	spec   *workload.Track
	index  int
	base   int // index of its first operation
	name   string
	active atomic.Pointer[active]
	wake   chan struct{} // capacity 1
	exits  chan exit
	// out means that a worker has found no more measured work: what falls due from
	// then on does not count as missed.
	out atomic.Bool
	// each and one are the alarms of its workers: see pace. Made under run.mu.
	each, one *alarms
	worked    worked
	visits    visits

	// Guarded by run.mu.
	schedules int   // how many there have been
	ends      int64 // when its phase ends; math.MaxInt64 if the phase has no duration
	state     int
	span      measure.Span
	endedAt   int64     // when it was asked to end
	given     []givenUp // schedules given up recently
	unstarted []int64   // per segment, from schedules given up earlier
}

const (
	waiting = iota
	running
	over
)

// givenUp is a schedule that was replaced or ended.
type givenUp struct {
	sched   *schedule
	at      int64
	segment uint16
}

// rhythm is what becomes of a track's schedule and its sequence numbers.
type rhythm int

// Rhythms.
const (
	keep   rhythm = iota // where the rate is the same, they go on
	bend                 // the schedule goes on at another rate, as in a ramp: units that are behind stay due
	afresh               // the schedule begins anew, as where the rate changes, and the sequence numbers go on
	anew                 // they begin anew
)

// want is what is asked for of the track. The caller holds run.mu.
func (t *track) want() workload.Settings { return t.run.settings.want[t.index] }

// publish puts want into force. The caller holds run.mu.
func (t *track) publish(how rhythm) { t.apply(t.want(), how) }

// apply puts settings into force. The caller holds run.mu.
func (t *track) apply(s workload.Settings, how rhythm) {
	r := t.run
	now := r.now()
	prev := t.active.Load()
	if how != anew && prev != nil && prev.ended {
		return // its phase is over, and only what is under way is left
	}
	a := &active{
		Settings: s, at: now, segment: r.timeline.segment(), warm: now < 0 && !r.measuring, ended: r.stopped,
		until: t.horizon(), stale: make(chan struct{}), units: 1,
	}
	if a.comes = a.Rate; t.spec.InSessions() {
		a.comes /= t.spec.PerArrival(&s)
	} else {
		a.units = t.spec.PerIteration(&s)
	}
	switch {
	case a.Rate <= 0 || a.Paused || !r.pool.paced():
	case t.spec.Recorded != nil:
		a.sched = t.replay(now, how, a, prev)
	case how != anew && how != afresh && prev != nil && prev.comes == a.comes && prev.Coming == a.Coming && !prev.Paused && !a.ended:
		a.sched = prev.sched // keep the rhythm when only something else changed
	case how == bend && prev != nil && prev.sched != nil && prev.Coming == a.Coming && !a.ended:
		a.sched = prev.sched
		a.sched.bend(r.timeline.changed, a.comes)
	default:
		a.sched = t.schedule(now, a)
	}
	if a.sched != nil {
		apart := a.sched.period() * float64(a.units)
		a.alarms, a.spin = t.pace(apart), spinFor(apart, len(r.tracks), runtime.GOMAXPROCS(0), t.spec.Recorded != nil)
	}
	if prev != nil && how != anew {
		a.seqs = prev.seqs
	} else {
		t.out.Store(false)
		limit := t.spec.Iterations
		if a.warm {
			limit = 0
		}
		a.seqs = newSequence(limit, s.Threads)
	}
	t.active.Store(a)
	if prev == nil {
		return
	}
	close(prev.stale)
	if prev.sched != a.sched && t.spec.Recorded == nil {
		t.giveUp(prev, now)
	}
}

// replay returns the schedule of a recording, which goes on from where it has come to: none of
// its calls is left out. The caller holds run.mu.
func (t *track) replay(now int64, how rhythm, a, prev *active) *schedule {
	if prev == nil || prev.sched == nil {
		s := newSchedule(now, a.Rate)
		(*s.legs.Load())[0].unit = t.spec.Recorded.Reached()
		s.recorded = t.spec.Recorded
		return s
	}
	if prev.Rate != a.Rate {
		if how == bend {
			now = t.run.timeline.changed
		}
		prev.sched.bend(now, a.Rate)
	}
	return prev.sched
}

// schedule begins one for the settings. The caller holds run.mu.
func (t *track) schedule(now int64, a *active) *schedule {
	o := &t.run.opts
	come := o.Arrivals.As(a.Coming)
	weight := 1.0
	if t.spec.InSessions() {
		weight = t.spec.PerArrival(&a.Settings)
	}
	if !come.Poisson || 1e9/a.comes*float64(a.units) < leastMean {
		s := newSchedule(now+t.offset(a), a.comes)
		s.weight = weight
		return s
	}
	s := newSchedule(now, a.comes)
	s.weight = weight
	seed := rand.NewPCG(uint64(o.Seed), uint64(o.Stream)<<40|uint64(t.index)<<20|uint64(t.schedules)).Uint64()
	s.gaps, s.units = newGaps(seed), int64(a.units)
	if come.Factor > 0 {
		if t.run.tide == nil {
			t.run.tide = newTide(come, uint64(o.Seed), -int64(o.Warmup))
		}
		s.stretchBy(t.run.tide)
	}
	t.schedules++
	return s
}

// offset is how much later than its settings a track's first iteration falls due, in ns.
// Tracks of one rate would otherwise fall due at the same moments: the worker that wakes
// first keeps the thread that would have woken the second, which starts some 200 µs late on
// a virtual machine. On a virtual clock nobody is late.
func (t *track) offset(a *active) int64 {
	if !t.run.precise {
		return 0
	}
	return int64(1e9 / a.comes * float64(a.units) * float64(t.index) / float64(len(t.run.tracks)))
}

// slack is how much too early rounding may make a due time.
const slack = int64(time.Microsecond)

// horizon returns when the settings of a track will stop being valid, as far as
// that is known: at the next change of the timetable, or at the end of its phase.
// The caller holds run.mu.
func (t *track) horizon() int64 { return t.run.conductor.next(t.ends) - slack }

// giveUp notes that a schedule was replaced or ended, so that units due by it
// that have not started are counted. The caller holds run.mu.
func (t *track) giveUp(prev *active, now int64) {
	if prev.sched != nil && !prev.warm && (t.spec.Recorded != nil || !t.out.Load()) {
		t.given = append(t.given, givenUp{prev.sched, min(now, prev.until-1), prev.segment})
	}
}

// end asks the workers to leave. The caller holds run.mu.
func (t *track) end() {
	if t.state != running {
		t.state = over
		return
	}
	now := t.run.now()
	prev := t.active.Load()
	if prev.ended {
		return
	}
	t.endedAt = now
	a := *prev
	a.ended, a.sched, a.stale = true, nil, make(chan struct{})
	t.active.Store(&a)
	close(prev.stale)
	t.giveUp(prev, now)
	t.nudge()
}

// nudge wakes the supervisor; it never blocks.
func (t *track) nudge() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// supervise starts missing workers until the track is over. On every wake-up it
// compares the wanted number with the running one, so it need not see every
// change.
func (t *track) supervise() {
	var (
		tasks   = map[int]workload.Task{}
		working = map[int]bool{}
		idle    = map[int]bool{} // out of work
		threads int
		warm    bool
	)
	for {
		a := t.active.Load()
		if a.Threads != threads || a.warm != warm {
			clear(idle) // there may be work again, left over by others
			t.out.Store(false)
			threads, warm = a.Threads, a.warm
		}
		for id := 0; id < a.Threads && !a.ended; id++ {
			if working[id] || idle[id] {
				continue
			}
			task, err := t.task(tasks, id)
			if err != nil {
				t.run.Stop(err)
				a = t.active.Load()
				break
			}
			working[id] = true
			fault.Go(func() { t.work(id, task) })
		}
		if len(working) == 0 && (a.ended || !a.warm) {
			t.run.trackOver(t)
			return
		}
		select {
		case <-t.wake:
		case e := <-t.exits:
			delete(working, e.id)
			if e.done {
				idle[e.id] = true
			}
		}
	}
}

func (t *track) task(tasks map[int]workload.Task, id int) (workload.Task, error) {
	if task, ok := tasks[id]; ok {
		return task, nil
	}
	task, err := t.spec.NewTask(t.spec.First + id)
	if err == nil {
		tasks[id] = task
	}
	return task, err
}

// gauge returns the track's current state. The caller holds run.mu.
func (t *track) gauge(now int64) measure.Gauge {
	s := t.want()
	g := measure.Gauge{Running: t.state == running, Threads: s.Threads, Payload: s.Payload, Batch: s.Batch, Rate: s.Rate, Paused: s.Paused}
	a := t.active.Load()
	if a == nil {
		return g
	}
	g.Segment, g.Ended = int(a.segment), a.ended
	if a.sched != nil && t.state == running {
		g.Backlog = a.sched.backlog(now)
	}
	there := t.run.pool.seen(t.index)
	if t.state == running {
		g.Backlog += there.Backlog
	}
	g.Sessions = t.visits.gauge().Plus(there.Sessions)
	return g
}

// settleAfter is how old an abandoned schedule must be before every worker has
// certainly noticed.
const settleAfter = int64(2e9)

// neverStarted returns the units per segment that were due and never started. The
// caller holds run.mu.
func (t *track) neverStarted(now int64, segments int) []int64 {
	for len(t.unstarted) < segments {
		t.unstarted = append(t.unstarted, 0)
	}
	keep := t.given[:0]
	for _, g := range t.given {
		if now-g.at > settleAfter && t.state == running {
			t.unstarted[g.segment] += g.sched.unstarted(g.at)
		} else {
			keep = append(keep, g)
		}
	}
	t.given = keep
	out := append([]int64(nil), t.unstarted...)
	for _, g := range t.given {
		out[g.segment] += g.sched.unstarted(g.at)
	}
	return out
}
