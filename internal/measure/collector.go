package measure

import (
	"sync"
	"sync/atomic"
	"time"
)

// Source is what the collector asks the engine. It is called on the collector's
// goroutine.
type Source interface {
	// Now tells nanoseconds since measurement began.
	Now() int64
	// Gauges fills in the state of each track but for what is in flight.
	Gauges(dst []Gauge)
	// Control returns the change log, segments and spans; the caller keeps it.
	Control() Control
}

// Control is what the engine knows of a run and the collector does not.
type Control struct {
	Changes  []Change
	Marks    []Mark
	Segments []SegmentInfo
	// Spans holds, per track, when its measured part began and ended.
	Spans []Span
	// Phases names the phases under way, Ran those that have begun to be measured.
	Phases []string
	Ran    []Phase
	Total  int64
}

// SegmentInfo describes a segment.
type SegmentInfo struct {
	From, To time.Duration // To is the present for the segment in force
	Settings map[string]float64
	// Unstarted holds, per track, the units that were due and never started.
	Unstarted []int64
}

// Span is when a track ran, since measurement began.
type Span struct {
	From, To int64
	// Begun says that From is known.
	Begun bool
}

func (s Span) within(from, to int64) time.Duration {
	if !s.Begun {
		return 0
	}
	return time.Duration(max(min(s.To, to)-max(s.From, from), 0))
}

// Config says what to collect.
type Config struct {
	Tracks []string
	Ops    []Operation
	// OpTrack holds the track of each operation; the first operation of a track
	// carries what never started.
	OpTrack []int
	// Apart holds, per operation, whether it stays out of totals; nil: none does.
	Apart []bool
	// Parts holds, per operation, whether it is no work of its own, and so no part of
	// what is done; nil: all are.
	Parts    []bool
	Classify func(error) uint8
	Classes  []string
	// Timeout is the class of operations that took longer than they may: they are
	// timed, other failures are only counted.
	Timeout uint8
	// Start is when the run begins: the negative of the warm-up.
	Start  int64
	Source Source
	// Sink takes each finished second; SinkFailed is told of its first error.
	Sink       func(*Second) error
	SinkFailed func(error)
	// Part, when set, takes each second that has closed, before Sink does, for the process
	// that brings the run's parts together.
	Part func(*Part)
	// Complete, when set, says whether all other processes have told of a second: it stays
	// open for them, within reason.
	Complete func(second int) bool
	// Reread, when set, says up to when figures that were kept have been merged again,
	// math.MaxInt64 once all have, and Then puts into the states of tracks what they were at
	// a moment that is long past.
	Reread func() int64
	Then   func(gauges []Gauge, at int64)
	// Gaps lists the suspensions so far, in order; nil: there are none.
	Gaps func() []*Gap
}

// Gap is a stretch in which the process was stopped. The time of the run stands
// still meanwhile: At is its moment before and after.
type Gap struct {
	At  int64
	For time.Duration
	// Untimed counts the operations under way across it: counted, not timed.
	Untimed atomic.Int64
}

// Collector owns every histogram of a run. One goroutine, Run, does all the work;
// shards feed it, Snapshot is for everyone.
type Collector struct {
	cfg   Config
	in    chan *batch
	free  chan *batch
	stop  chan struct{}
	done  chan struct{}
	snap  atomic.Pointer[Snapshot]
	log   errorLog
	parts parts
	// at is the open second, for others than the collector's goroutine.
	at atomic.Int64

	mu     sync.Mutex
	shards []*Shard

	// Below: the collector goroutine's.
	first   int           // the second in which the run began
	second  int           // the open second
	step    int           // the open step of it
	young   int           // how many seconds have steps
	end     int64         // of what is open: a step, or a second that has none
	passed  int           // how many of these have closed
	accs    []accumulator // of what is open and what comes after it
	sum     accumulator   // of the steps of the open second that have closed
	whole   []*times
	segs    []*segment
	errs    map[errorKey]int64
	gauges  []Gauge
	control Control
	until   int64 // the end of the last closed second
	recent  [][]Row
	lines   []timeline
	steps   [][]Point // while the run is young
	tally   tally
	spreads []spreads
	number  int64
	failed  bool
	gaps    []*Gap
	skip    skip
	last    *Result
}

type errorKey struct {
	op    uint16
	class uint8
}

// accumulator gathers a step or a second, per operation and segment.
type accumulator struct {
	ops [][]segTimes
}

func newAccumulator(ops int) accumulator { return accumulator{make([][]segTimes, ops)} }

type segTimes struct {
	segment uint16
	*times
}

// NewCollector returns a collector that Run must serve.
func NewCollector(cfg Config) *Collector {
	n := len(cfg.Ops)
	c := &Collector{
		cfg: cfg,
		// Room for every worker of a large run to hand over a batch without waiting.
		in: make(chan *batch, 1024), free: make(chan *batch, 1024),
		stop: make(chan struct{}), done: make(chan struct{}),
		first: floorSecond(cfg.Start), second: floorSecond(cfg.Start), young: youngFor(&cfg),
		accs: []accumulator{newAccumulator(n), newAccumulator(n)}, sum: newAccumulator(n), steps: make([][]Point, n),
		whole: make([]*times, n), errs: map[errorKey]int64{},
		gauges: make([]Gauge, len(cfg.Tracks)), recent: make([][]Row, n), lines: make([]timeline, n), tally: newTally(&cfg),
		spreads: make([]spreads, n),
	}
	c.log = errorLog{classify: cfg.Classify, classes: cfg.Classes, ops: cfg.Ops, now: cfg.Source.Now}
	for i := range c.whole {
		c.whole[i] = &times{}
	}
	c.at.Store(int64(c.second))
	c.open()
	c.publish(cfg.Start)
	return c
}

func floorSecond(ns int64) int {
	s := ns / int64(time.Second)
	if ns%int64(time.Second) < 0 {
		s--
	}
	return int(s)
}

// Snapshot returns the newest state; never nil. Any goroutine may call it.
func (c *Collector) Snapshot() *Snapshot { return c.snap.Load() }

// Run collects until Close. It belongs on a goroutine of its own.
func (c *Collector) Run() {
	defer close(c.done)
	timer := time.NewTimer(c.nextTick())
	defer timer.Stop()
	for {
		select {
		case b := <-c.in:
			c.take(b)
			c.recycle(b)
		case <-timer.C:
			c.gather()
			now := c.cfg.Source.Now()
			c.finish(now)
			c.publish(c.skip.since(now))
			timer.Reset(c.nextTick())
		case <-c.stop:
			c.gather()
			c.conclude(c.cfg.Source.Now())
			return
		}
	}
}

// Close ends the collection once all shards are closed, hands the last second to
// the sink and returns the result.
func (c *Collector) Close() *Result {
	close(c.stop)
	<-c.done
	return c.last
}

// tick is how often snapshots are made; settle is how long after its end a step or a second
// is closed, for the samples of workers that lost the processor in between.
const (
	tick   = 100 * time.Millisecond
	settle = 10 * time.Millisecond
)

func (c *Collector) nextTick() time.Duration {
	now := c.cfg.Source.Now()
	end := c.end + int64(settle)
	if end <= now && c.awaited(now) {
		return settle
	}
	return max(min(tick, time.Duration(end-now)), time.Millisecond)
}

// gather takes what has been handed over and what workers have begun to fill.
func (c *Collector) gather() {
	for {
		select {
		case b := <-c.in:
			c.take(b)
			c.recycle(b)
			continue
		default:
		}
		break
	}
	c.takeParts()
	c.mu.Lock()
	defer c.mu.Unlock()
	live := c.shards[:0]
	for _, s := range c.shards {
		if b := s.now.Load(); b != nil {
			c.take(b)
			live = append(live, s)
		}
	}
	clear(c.shards[len(live):])
	c.shards = live
}

func (c *Collector) recycle(b *batch) {
	b.taken = 0
	b.n.Store(0)
	select {
	case c.free <- b:
	default:
	}
}

func (c *Collector) take(b *batch) {
	n := b.n.Load()
	if c.cfg.Gaps != nil {
		c.gaps = c.cfg.Gaps() // after n: all that these samples may have seen
	}
	for i := b.taken; i < n; i++ {
		c.add(&b.s[i])
	}
	b.taken = n
}

func (c *Collector) add(s *Sample) {
	warm := s.Warm
	if warm && (c.second >= 0 || s.End >= 0) {
		return // began in warm-up, ended after it: in neither
	}
	a := &c.accs[0]
	if s.End >= c.end {
		a = c.later(s.End, warm)
	}
	t := a.of(s.Op, s.Segment)
	timed := c.timed(s)
	if s.Class == 0 {
		t.count += int64(s.Units)
		if !warm {
			c.tally.add(c.cfg.OpTrack[s.Op], s)
		}
		if timed {
			t.record(s)
		}
		return
	}
	t.errors++
	if timed && s.Class == c.cfg.Timeout {
		t.record(s)
	}
	if !warm {
		c.errs[errorKey{s.Op, s.Class}]++
	}
}

// mostAhead is how many steps or seconds after the open one are kept apart; what ended
// after those joins the last.
const mostAhead = 32

// later returns the accumulator of a moment after what is open: the next as a rule,
// others when a sink has held up the collector. What was measured is never put into
// warm-up, for that would lose it.
func (c *Collector) later(at int64, warm bool) *accumulator {
	open := c.slot(c.opened())
	n := min(c.slot(at)-open, mostAhead)
	if !warm {
		n = max(n, c.slot(0)-open)
	}
	for len(c.accs) <= n {
		c.accs = append(c.accs, newAccumulator(len(c.cfg.Ops)))
	}
	return &c.accs[n]
}

// timed says whether a sample's times mean anything: not those of an operation that
// was under way while the process was stopped, or while time was skipped.
func (c *Collector) timed(s *Sample) bool {
	if c.skip.across(min(s.Due, s.Start), s.End) {
		return false
	}
	for i := len(c.gaps) - 1; i >= 0 && s.Start < c.gaps[i].At; i-- {
		if s.End >= c.gaps[i].At {
			c.gaps[i].Untimed.Add(1)
			return false
		}
	}
	return true
}

func (a *accumulator) of(op, segment uint16) *times {
	list := a.ops[op]
	for i := range list {
		if list[i].segment == segment {
			return list[i].times
		}
	}
	// Reuse what an earlier second has left behind the slice's end.
	if n := len(list); n < cap(list) && list[:n+1][n].times != nil {
		a.ops[op] = list[:n+1]
		a.ops[op][n].segment = segment
		return a.ops[op][n].times
	}
	a.ops[op] = append(list, segTimes{segment, &times{}})
	return a.ops[op][len(list)].times
}

func (a *accumulator) reset() {
	for op, list := range a.ops {
		for _, t := range list {
			t.reset()
		}
		a.ops[op] = list[:0]
	}
}
