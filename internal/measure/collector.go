package measure

import (
	"sync/atomic"
	"time"
)

// Source is the collector's view of the engine. Its methods are called on the
// collector's goroutine.
type Source interface {
	// Now returns nanoseconds since measurement began.
	Now() int64
	// Gauges fills in the state of each track, except for what is in flight.
	Gauges(dst []Gauge)
	// Control returns the change log, segments and spans; the caller may keep them.
	Control() Control
}

// Control is what the engine knows of a run and the collector does not.
type Control struct {
	Changes  []Change
	Marks    []Mark
	Segments []SegmentInfo
	// Spans holds, per track, when its measured part began and ended.
	Spans []Span
	// Worked holds, per track that is over, how long its workers were at their calls and the
	// pauses before them, by segment and by the engine's own account.
	Worked [][]int64
	// Phases names the phases in progress; Ran are those whose measured part has
	// begun.
	Phases []string
	Ran    []Phase
	Total  int64
	// Pauses are the first in which the process did not run.
	Pauses []Pause
}

// SegmentInfo describes a segment.
type SegmentInfo struct {
	From, To time.Duration // To is the current time for the segment in force
	// SettingsEnd is what the settings of a ramp have come to; nil: they did not change.
	Settings, SettingsEnd map[string]float64
	// Unstarted holds, per track, the units that were due but never started.
	Unstarted []int64
}

// Span is when a track ran, since measurement began.
type Span struct {
	From, To int64
	// Begun means that From is known.
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
	// Plans holds, per track, how many units it will do; 0 or missing: unknown.
	Plans []int64
	// Sessions holds, per track, the operation as which whole sessions count; -1: there is none.
	Sessions []int
	// Apart holds, per operation, whether it is left out of totals; nil: none is.
	Apart []bool
	// Parts holds, per operation, whether it is only a part of other work, and so
	// does not count towards what is done; nil: none is.
	Parts []bool
	// Stages is how many stages there are. A call of one has as Op its number, counted on from
	// the last of Ops. Stages are timed by segment, and are in nothing else.
	Stages   int
	Classify func(error) uint8
	Classes  []string
	// Timeout is the class of operations that took longer than allowed: they are
	// timed, other failures are only counted.
	Timeout uint8
	// Lost is the class of calls that the store answered without a record that it had acknowledged:
	// they fail, and are answers; 0: there is none.
	Lost uint8
	// Deadline is until when after its due time the answer of a call is of use; 0: at any time.
	Deadline time.Duration
	// Start is when the run begins: the negative of the warm-up.
	Start  int64
	Source Source
	// Sink takes each finished second; SinkFailed is called with its first error.
	Sink       func(*Second) error
	SinkFailed func(error)
	// Increment, when set, takes each closed second, before Sink does, for the process
	// that combines the parts of the run.
	Increment func(*Increment)
	// Complete, when set, reports whether all other processes have delivered a
	// second. The second stays open for them, within limits.
	Complete func(second int) bool
	// Reread, when set, returns the time up to which figures that were kept have
	// been merged again, math.MaxInt64 once all have. Then sets the gauges of
	// tracks to their values at a moment long past.
	Reread func() int64
	Then   func(gauges []Gauge, at int64)
	// Gaps lists the suspensions so far, in order; nil: there are none.
	Gaps func() []*Gap
}

// Gap is a period in which the process was stopped. The run's time stands still
// during it: At is that time, both before and after.
type Gap struct {
	At  int64
	For time.Duration
	// Untimed counts the operations that were in progress across the gap: they are
	// counted but not timed.
	Untimed atomic.Int64
}

// Pause is a period in which the process did not run and which is part of the run's time.
type Pause struct {
	At  int64
	For time.Duration
}

// Collector turns calls into seconds, a result and snapshots. One goroutine, in Run, does all
// the work and owns what is gathered. Shards feed it; any goroutine may call Snapshot.
type Collector struct {
	cfg Config
	// within is that of every snapshot.
	within []bool
	intake
	stop  chan struct{}
	done  chan struct{}
	snap  atomic.Pointer[Snapshot]
	log   errorLog
	parts parts
	// at is the open second, for goroutines other than the collector's.
	at atomic.Int64

	// The fields below belong to the collector's goroutine.
	win    window
	all    whole
	view   view
	gauges []Gauge
	// was is how each track was at the end of the second before, never how many of its units had never
	// been started by then.
	was    []Gauge
	never  []int64
	number int64
	failed bool
	gaps   []*Gap
	skip   skip
	last   *Result
}

type errorKey struct {
	op    uint16
	class uint8
}

// accumulator gathers the samples of a second, per operation and
// segment.
type accumulator struct {
	ops [][]segTimes
	// failed counts the calls that failed; nil before the first.
	failed map[errorKey]int64
}

func newAccumulator(ops int) accumulator { return accumulator{ops: make([][]segTimes, ops)} }

// fail counts calls that failed.
func (a *accumulator) fail(k errorKey, n int64) {
	if a.failed == nil {
		a.failed = map[errorKey]int64{}
	}
	a.failed[k] += n
}

type segTimes struct {
	segment uint16
	*times
}

// NewCollector returns a collector; the caller must start Run.
func NewCollector(cfg Config) *Collector {
	n := len(cfg.Ops)
	c := &Collector{
		cfg: cfg,
		// Room for every worker of a large run to hand over a batch without
		// blocking.
		intake: intake{in: make(chan *batch, 1024), free: make(chan *batch, 1024)},
		stop:   make(chan struct{}), done: make(chan struct{}),
		win: newWindow(n, floorSecond(cfg.Start)), view: newView(n), gauges: make([]Gauge, len(cfg.Tracks)),
	}
	c.within = partsOf(&c.cfg)
	c.log = newErrorLog(&c.cfg)
	c.intake.log, c.all = &c.log, newWhole(&c.cfg, &c.log)
	c.at.Store(int64(c.win.second))
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

// Snapshot returns the newest state, never nil. Any goroutine may call it.
func (c *Collector) Snapshot() *Snapshot { return c.snap.Load() }

// Run collects until Close. It needs a goroutine of its own.
func (c *Collector) Run() {
	defer close(c.done)
	timer := time.NewTimer(c.nextTick())
	defer timer.Stop()
	for {
		select {
		case b := <-c.intake.in:
			c.addBatch(b)
			c.intake.recycle(b)
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

// tick is the interval between snapshots. settle is how long after its end a second
// is closed, to wait for samples of workers that lost the processor in
// between.
const (
	tick   = 100 * time.Millisecond
	settle = 10 * time.Millisecond
)

func (c *Collector) nextTick() time.Duration {
	now := c.cfg.Source.Now()
	end := c.win.end + int64(settle)
	if end <= now && c.awaited(now) {
		return settle
	}
	return max(min(tick, time.Duration(end-now)), time.Millisecond)
}

// gather takes the batches that workers have handed over and those they are
// filling.
func (c *Collector) gather() {
	for {
		select {
		case b := <-c.intake.in:
			c.addBatch(b)
			c.intake.recycle(b)
			continue
		default:
		}
		break
	}
	c.takeParts()
	c.intake.filling(c.addBatch)
}

func (c *Collector) addBatch(b *batch) {
	n := b.n.Load()
	if c.cfg.Gaps != nil {
		c.gaps = c.cfg.Gaps() // after n: all that these samples can have seen
	}
	for i := b.taken; i < n; i++ {
		c.add(&b.s[i])
	}
	b.taken = n
}

func (c *Collector) add(s *Call) {
	warm := s.Warm
	if warm && (c.win.second >= 0 || s.End >= 0) {
		return // began in warm-up, ended after it: belongs to neither
	}
	if stage := int(s.Op) - len(c.cfg.Ops); stage >= 0 {
		if !warm && !c.skip.across(s.Start, s.End) && c.across(s) == nil {
			c.all.stages.add(uint16(stage), s.Segment, s.End-s.Start)
		}
		return
	}
	a := &c.win.accs[0]
	if s.End >= c.win.end {
		a = c.win.later(s.End, warm)
	}
	if s.Opens && !warm {
		c.all.arrivals[c.cfg.OpTrack[s.Op]].add(s)
	}
	t := a.of(s.Op, s.Segment)
	if !warm && c.cfg.counts(int(s.Op)) {
		c.all.openAt.span(min(s.Due, s.Start), s.End)
	}
	timed := c.timed(s) && !s.Again && (s.Class == 0 || s.Class == c.cfg.Timeout)
	if timed {
		t.record(s)
	}
	if !warm {
		c.all.accounts[c.cfg.OpTrack[s.Op]].add(s, timed)
	}
	if s.Class == 0 {
		t.count += int64(s.Units)
		if !warm {
			c.all.tally.add(c.cfg.OpTrack[s.Op], s)
			if c.cfg.counts(int(s.Op)) {
				c.all.doneAt.add(s.End)
			}
		}
		return
	}
	if s.Again {
		t.again++
		return
	}
	t.errors++
	a.fail(errorKey{s.Op, s.Class}, 1)
	if !warm {
		c.all.errs[errorKey{s.Op, s.Class}]++
		if c.cfg.counts(int(s.Op)) {
			c.all.failedAt.add(s.End)
			if s.Class == c.cfg.Lost {
				c.all.lostAt.add(s.End)
			}
		}
	}
}

// partsOf returns, per operation, whether it is part of another of its track, which fails with it.
func partsOf(cfg *Config) []bool {
	part := func(op int) bool { return op < len(cfg.Parts) && cfg.Parts[op] }
	out := make([]bool, len(cfg.Ops))
	for op := range out {
		for other := range cfg.Ops {
			out[op] = out[op] || part(op) && !part(other) && cfg.Ops[other].Track == cfg.Ops[op].Track
		}
	}
	return out
}

// counts reports whether an operation counts in totals.
func (c *Config) counts(op int) bool {
	return (c.Parts == nil || !c.Parts[op]) && (c.Apart == nil || !c.Apart[op])
}

// timed reports whether a sample's times mean anything. Those of operations that
// were in progress while the process was stopped, or while time was skipped, do
// not.
func (c *Collector) timed(s *Call) bool {
	if c.skip.across(min(s.Due, s.Start), s.End) {
		return false
	}
	gap := c.across(s)
	if gap != nil {
		gap.Untimed.Add(1)
	}
	return gap == nil
}

// across returns the last suspension during which a call was in progress; nil: there was none.
func (c *Collector) across(s *Call) *Gap {
	for i := len(c.gaps) - 1; i >= 0 && s.Start < c.gaps[i].At; i-- {
		if s.End >= c.gaps[i].At {
			return c.gaps[i]
		}
	}
	return nil
}

func (a *accumulator) of(op, segment uint16) *times {
	list := a.ops[op]
	for i := range list {
		if list[i].segment == segment {
			return list[i].times
		}
	}
	// Reuse what an earlier second has left beyond the end of the slice.
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
	clear(a.failed)
}

// fold moves the contents of a into another one.
func (a *accumulator) fold(into *accumulator) {
	for op, list := range a.ops {
		for _, t := range list {
			into.of(uint16(op), t.segment).merge(t.times)
		}
	}
	for k, n := range a.failed {
		into.fail(k, n)
	}
	a.reset()
}
