package engine

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/workload"
)

// schedule hands out the due times of an open loop, in units. Claiming is a
// single atomic add; it never waits for replies.
type schedule struct {
	// legs are stretches with one rate each, in order; the slice is replaced, never
	// modified. A schedule has one leg, plus one for each step of a ramp.
	legs   atomic.Pointer[[]leg]
	ticket atomic.Int64
	// gaps are those between iterations of this many units; nil: they are even.
	gaps  *gaps
	units int64
	tide  *tide // nil: there are no bursts
	// weight is how many units come with each of the schedule's: 1, or those of a session.
	weight float64
	// recorded is when its calls were made before; nil: units are claimed by their numbers.
	recorded workload.Recorded
	// abandoned counts units that were claimed but not started.
	abandoned atomic.Int64
	// waiting is how many workers are free and asleep.
	waiting atomic.Int32

	spare    atomic.Int32
	mu       sync.Mutex
	returned []slot // due times whose worker left before they came
}

// leg is the part of a schedule from the moment epoch, in ns since measurement
// began. By epoch, unit of the schedule's units were to have fallen due on average,
// counting fractions.
type leg struct {
	epoch  int64
	unit   float64
	period float64 // ns per unit
	// passed is the schedule's time at epoch, where a tide stretches it.
	passed float64
}

// slot is a due time held by one worker.
type slot struct {
	from   *schedule
	unit   int64   // its number in the schedule
	moment float64 // of a recording, in place of a number
	due    int64
	units  int64
}

func newSchedule(now int64, rate float64) *schedule {
	s := &schedule{weight: 1}
	s.legs.Store(&[]leg{{epoch: now, period: 1e9 / rate}})
	return s
}

// stretchBy has a tide stretch the time of a schedule that has just been made.
func (s *schedule) stretchBy(t *tide) {
	first := (*s.legs.Load())[0]
	first.passed = t.scheduled(first.epoch)
	s.tide = t
	s.legs.Store(&[]leg{first})
}

// bend continues at another rate from a moment on without starting over: units
// that were due and have not started stay due, and the rhythm has no gap. One
// goroutine at a time may call it.
func (s *schedule) bend(moment int64, rate float64) {
	legs := *s.legs.Load()
	last := legs[len(legs)-1]
	next := leg{epoch: moment, unit: s.by(last, moment), period: 1e9 / rate}
	if s.tide != nil {
		next.passed = s.tide.scheduled(moment)
	}
	legs = append(legs[:len(legs):len(legs)], next)
	s.legs.Store(&legs)
}

// period returns the current interval between due times, in ns per unit.
func (s *schedule) period() float64 {
	legs := *s.legs.Load()
	return legs[len(legs)-1].period
}

// by returns how many units are to have fallen due on average by a moment of a leg.
func (s *schedule) by(l leg, moment int64) float64 {
	if s.tide != nil {
		return l.unit + (s.tide.scheduled(moment)-l.passed)/l.period
	}
	return l.unit + float64(moment-l.epoch)/l.period
}

// place returns how many units are to have fallen due on average when a unit does.
func (s *schedule) place(unit int64) float64 {
	if s.gaps == nil {
		return float64(unit)
	}
	if s.units == 1 {
		return s.gaps.at(unit)
	}
	n, more := unit/s.units, unit%s.units
	x := s.gaps.at(n)
	if more > 0 { // the iterations have other sizes now
		x += (s.gaps.at(n+1) - x) * float64(more) / float64(s.units)
	}
	return x * float64(s.units)
}

// due returns when a unit is due.
func (s *schedule) due(unit int64) int64 { return s.at(s.place(unit)) }

// again returns when what a worker holds is due by now.
func (s *schedule) again(c slot) int64 {
	if s.recorded != nil {
		return s.at(c.moment)
	}
	return s.due(c.unit)
}

// at returns when it is that so many units are to have fallen due on average.
func (s *schedule) at(x float64) int64 {
	legs := *s.legs.Load()
	i := len(legs) - 1
	for i > 0 && x < legs[i].unit {
		i--
	}
	after := (x - legs[i].unit) * legs[i].period
	if s.tide != nil {
		return s.tide.moment(legs[i].passed + after)
	}
	return legs[i].epoch + int64(after)
}

// next claims the next due time, for an iteration of that many units. Unless
// ahead is true, it takes only one that has come by now, or none.
func (s *schedule) next(units int, now int64, ahead bool) slot {
	if s.spare.Load() > 0 {
		if c, ok := s.takeBack(); ok {
			return c
		}
	}
	n := int64(units)
	if ahead {
		first := s.ticket.Add(n) - n
		return slot{from: s, unit: first, due: s.due(first), units: n}
	}
	for {
		first := s.ticket.Load()
		due := s.due(first)
		if due > now {
			return slot{}
		}
		if s.ticket.CompareAndSwap(first, first+n) {
			return slot{from: s, unit: first, due: due, units: n}
		}
	}
}

// follow returns the due time of a worker's next call of a recording, or none; see next. A
// worker without one finds that out at once.
func (s *schedule) follow(worker int, now int64, ahead bool, stale <-chan struct{}) slot {
	moment, more, known := s.recorded.Next(worker, stale)
	if !known {
		return slot{}
	}
	due := now
	if more {
		due = s.at(moment)
	}
	if !ahead && due > now {
		return slot{}
	}
	return slot{from: s, moment: moment, due: due, units: 1}
}

// handBack returns a due time that its worker will not serve, so that another
// can.
func (s *schedule) handBack(c slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.returned = append(s.returned, c)
	s.spare.Store(int32(len(s.returned)))
}

func (s *schedule) takeBack() (slot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.returned) == 0 {
		return slot{}, false
	}
	c := s.returned[0]
	s.returned = s.returned[1:]
	s.spare.Store(int32(len(s.returned)))
	c.due = s.due(c.unit)
	return c, true
}

// dueBy returns how many units were due at a time.
func (s *schedule) dueBy(now int64) int64 {
	legs := *s.legs.Load()
	i := len(legs) - 1
	for i > 0 && now < legs[i].epoch {
		i--
	}
	if now < legs[i].epoch {
		return 0
	}
	x := s.by(legs[i], now)
	if s.recorded != nil {
		return s.recorded.Count(x)
	}
	if s.gaps != nil {
		return s.gaps.count(x/float64(s.units)) * s.units
	}
	return int64(x) + 1
}

// backlog returns how many units are due and unclaimed.
func (s *schedule) backlog(now int64) int64 {
	if s.recorded != nil {
		return max(s.dueBy(now)-s.recorded.Made(), 0)
	}
	return s.weigh(s.dueBy(now) - s.ticket.Load())
}

// weigh returns how many units of the track so many of the schedule's are.
func (s *schedule) weigh(n int64) int64 { return int64(math.Round(float64(max(n, 0)) * s.weight)) }

// unstarted returns how many units were due when the schedule was given up and
// had not started. It is exact once every worker has noticed.
func (s *schedule) unstarted(at int64) int64 {
	if s.recorded != nil {
		return s.backlog(at)
	}
	s.mu.Lock()
	left := int64(0)
	for _, c := range s.returned {
		left += c.units
	}
	s.mu.Unlock()
	return s.weigh(s.dueBy(at) - (s.ticket.Load() - s.abandoned.Load() - left))
}

// sequence numbers iterations. Workers take blocks of numbers, so that the shared
// counter is rarely touched; numbers that a leaving worker has not used go to the
// others.
type sequence struct {
	next  atomic.Int64
	limit int64 // 0: none
	block int64

	spare    atomic.Int32
	mu       sync.Mutex
	returned []span
}

type span struct{ from, to int64 }

func newSequence(limit int64, threads int) *sequence {
	s := &sequence{limit: limit, block: 64}
	if limit > 0 { // small enough that every worker gets its share
		s.block = min(max(limit/int64(8*max(threads, 1)), 1), 64)
	}
	return s
}

// reserve returns a block of numbers, empty when they have run out.
func (s *sequence) reserve() span {
	if s.spare.Load() > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := len(s.returned); n > 0 {
			b := s.returned[n-1]
			s.returned = s.returned[:n-1]
			s.spare.Store(int32(n - 1))
			return b
		}
	}
	to := s.next.Add(s.block)
	b := span{to - s.block, to}
	if s.limit > 0 {
		b.from, b.to = min(b.from, s.limit), min(b.to, s.limit)
	}
	return b
}

func (s *sequence) handBack(b span) {
	if b.from >= b.to {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.returned = append(s.returned, b)
	s.spare.Store(int32(len(s.returned)))
}
