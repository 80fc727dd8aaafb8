package engine

import (
	"math"
	"sync/atomic"
	"time"
)

// How an open loop waits, on systems that have alarms (see alarm):
//
// A free worker first checks whether something is already due, and takes it.
// Otherwise it takes an alarm, claims the next due time and sleeps until then:
// coarsely with the runtime's timer, which a change of the settings interrupts,
// and for the last stretch precisely with the alarm. It returns the alarm when it
// starts. There are few alarms, so that thousands of idle workers cost neither
// file descriptors nor timers; they are taken in the order of the due times.
//
// Even an alarm needs some microseconds to wake a goroutine, dozens on a virtual
// machine, and not always as many. It is set earlier by what waking nearly always
// takes (see lead), and by as much again as the worker may spend reading the clock
// until the moment has come: see spin. That evens out how long wake-ups take, for at
// most a fiftieth of a processor, or where the moments are those of a recording, an eighth of all,
// up to half of one. A worker that wakes earlier still sleeps again.
//
// Above about 20,000 wake-ups a second, alarms cost more than they are worth.
// Then there is only one, which rings at most every 20 µs: the worker that has it
// passes it on when it starts, and all workers take what has fallen due since.
const (
	// coarse is how long before the due time the alarm takes over: the runtime's
	// timers are up to a millisecond late, and the scheduler adds some more.
	coarse = 1500 * time.Microsecond
	// fewAlarms is how many workers of a track can sleep on alarms at a time. Where each makes
	// calls of its own, all have one, if they are no more than mostAlarms.
	fewAlarms  = 64
	mostAlarms = 512
	// batched is the interval of due times below which they are served in batches,
	// and oneRing the time between two rings in that case.
	batched = 50 * time.Microsecond
	oneRing = 20 * time.Microsecond
	// mostSpin is the longest that a worker reads the clock before a due time, and
	// spinShare the share of the time between two of them that this may take, over all
	// tracks. For a recording it is so much for each processor.
	mostSpin       = 60 * time.Microsecond
	spinShare      = 0.02
	spinRecorded   = 0.125
	mostOfRecorded = 0.5
)

// spinFor returns how long a worker may read the clock before each due time, where these
// are apart nanoseconds apart and that many tracks share the processors. With a single
// one, it would take it from the store. The moments of a recording, which have pauses of any
// length between them, are worth more of the processors.
func spinFor(apart float64, tracks, processors int, recorded bool) time.Duration {
	if processors < 2 {
		return 0
	}
	share := spinShare
	if recorded {
		share = min(spinRecorded*float64(processors), mostOfRecorded)
	}
	return min(time.Duration(share*apart/float64(max(tracks, 1))), mostSpin)
}

// alarms is a pool of alarms. Workers waiting for one are served in order.
type alarms struct {
	free chan *alarm
	made atomic.Int32
	// least is the shortest sleep.
	least time.Duration
	// lead is how much earlier alarms are set, in ns: the time that at least eight
	// of nine wake-ups take until the worker runs. Concurrent updates may overwrite
	// each other.
	lead atomic.Int64
}

const (
	firstLead = 25 * time.Microsecond
	maxLead   = 150 * time.Microsecond
)

// learn adjusts lead to the time that an alarm took: down by a quarter if that
// was less, up by a thirty-second if it was more, so that it settles where one in
// nine is less.
func (p *alarms) learn(took int64) {
	lead := p.lead.Load()
	if took < lead {
		lead -= lead / 4
	} else {
		lead += lead / 32
	}
	p.lead.Store(min(max(lead, int64(time.Microsecond)), int64(maxLead)))
}

// newAlarms returns a pool of at most n alarms, or nil if the system has none.
func newAlarms(n int, least time.Duration) *alarms {
	p := &alarms{free: make(chan *alarm, n), least: least}
	a, err := newAlarm()
	if err != nil {
		return nil
	}
	p.made.Store(1)
	p.lead.Store(int64(firstLead))
	p.free <- a
	return p
}

// acquire returns an alarm, which must be given back, or nil if stale was closed
// before one was free.
func (p *alarms) acquire(stale <-chan struct{}) *alarm {
	select {
	case a := <-p.free:
		return a
	default:
	}
	// An alarm that cannot be made counts as made, so that it is not tried again.
	if int(p.made.Load()) < cap(p.free) && int(p.made.Add(1)) <= cap(p.free) {
		if a, err := newAlarm(); err == nil {
			return a
		}
	}
	select {
	case a := <-p.free:
		return a
	case <-stale:
		return nil
	}
}

// close frees the alarms, all of which must have been given back.
func (p *alarms) close() {
	if p == nil {
		return
	}
	for {
		select {
		case a := <-p.free:
			a.close()
		default:
			return
		}
	}
}

// pace chooses how the workers wait for due times that are apart nanoseconds
// apart; nil means by the runtime's timer alone. The caller holds run.mu.
func (t *track) pace(apart float64) *alarms {
	if !t.run.precise {
		return nil
	}
	pool, n, least := &t.each, fewAlarms, time.Duration(0)
	switch {
	case t.spec.Recorded != nil: // nobody else can make the calls of a worker that waits for an alarm
		if n = t.want().Threads; n > mostAlarms {
			return nil
		}
	case apart < float64(batched):
		pool, n, least = &t.one, 1, oneRing
	}
	if *pool == nil {
		*pool = newAlarms(n, least)
	}
	return *pool
}

// ready waits until the next iteration may start and returns when it was due; in
// a closed loop that is a time in the future. If it returns false, the worker
// must look at the settings again.
//
// It also decides who is to blame when an iteration starts late. If the worker
// was free when the iteration fell due, all of the wait is our lateness; likewise
// if another worker is free and has not woken yet. A worker that was busy at that
// time may still be behind because it began its last iteration late: at most that
// much is lateness, and the rest is backlog. own is how much of the wait may be
// lateness.
func (w *worker) ready(a *active) (due, own int64, ok bool) {
	if w.proceeds(a) {
		return math.MaxInt64, 0, w.thought(a) && w.hasNext(a)
	}
	now := w.t.run.now()
	if !w.idle {
		w.idle, w.free = true, now
	}
	if a.Paused {
		<-a.stale
		return 0, 0, false
	}
	own = w.debt
	if w.held.from == nil {
		w.held = w.claim(a, now, a.alarms == nil)
		if w.held.from == nil && !w.claimByAlarm(a) {
			return 0, 0, false
		}
		if a.sched.waiting.Load() > 0 && a.sched.recorded == nil {
			own = math.MaxInt64
		}
	}
	if w.held.due >= w.free {
		own = math.MaxInt64
	}
	if w.held.due >= a.until { // it belongs to the settings that come then, or to nobody
		<-a.stale
		return 0, 0, false
	}
	if w.held.due > now && !w.await(a) {
		return 0, 0, false
	}
	w.giveBack()
	return w.held.due, own, true
}

// hasNext waits until it is known which call of a recording is next for the worker; false if the
// settings changed first.
func (w *worker) hasNext(a *active) bool {
	if w.t.spec.Recorded == nil {
		return true
	}
	_, _, known := w.t.spec.Recorded.Next(w.it.Worker, a.stale)
	return known
}

// claim claims the next due time of the schedule; see next.
func (w *worker) claim(a *active, now int64, ahead bool) slot {
	if a.sched.recorded != nil {
		return a.sched.follow(w.it.Worker, now, ahead, a.stale)
	}
	return a.sched.next(a.units, now, ahead)
}

// claimByAlarm waits for an alarm and then claims a due time; false if the settings
// changed first.
func (w *worker) claimByAlarm(a *active) bool {
	if w.alarm == nil {
		a.sched.waiting.Add(1)
		w.alarm, w.pool = a.alarms.acquire(a.stale), a.alarms
		a.sched.waiting.Add(-1)
	}
	if w.alarm == nil {
		return false
	}
	w.held = w.claim(a, 0, true)
	return w.held.from != nil
}

// await sleeps until the worker's claim is due; false if the settings changed
// first.
func (w *worker) await(a *active) bool {
	s := a.sched
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	for fine := w.alarm != nil; ; {
		left := time.Duration(w.held.due - w.t.run.now())
		switch {
		case left <= 0:
			return true
		case fine && left <= a.spin:
			for w.held.due > w.t.run.now() { //nolint:revive // nothing else is left to do
			}
			return true
		case fine && left <= coarse:
			fine = w.nap(left, a.spin)
			continue
		case fine:
			left -= coarse
		}
		if !w.sleep(left, a.stale) {
			return false
		}
	}
}

// nap sleeps on the alarm until about spin before the time that is left has passed; false
// if it could not.
func (w *worker) nap(left, spin time.Duration) bool {
	lead := time.Duration(w.pool.lead.Load())
	if left = max(left-spin, w.pool.least); left < 2*lead {
		return w.alarm.sleep(left)
	}
	until := w.t.run.now() + int64(left-lead)
	ok := w.alarm.sleep(left - lead)
	w.pool.learn(w.t.run.now() - until)
	return ok
}

// giveBack returns the alarm to the pool.
func (w *worker) giveBack() {
	if w.alarm != nil {
		w.pool.free <- w.alarm
		w.alarm = nil
	}
}

// sleep waits for d with the runtime's timer; it returns false if stale was
// closed first.
func (w *worker) sleep(d time.Duration, stale <-chan struct{}) bool {
	w.timer.Reset(d)
	select {
	case <-w.timer.C:
		return true
	case <-stale:
		w.timer.Stop()
		return false
	}
}
