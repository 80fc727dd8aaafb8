package measure

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// Increment is what one of several processes that carry out a run together measured in
// one second. Nothing in it is summarized, so merged parts equal what a single
// process would have measured. It can be encoded with encoding/gob.
type Increment struct {
	// T is the second, counted from the start of measurement; negative during
	// warm-up.
	T int
	// Rows are the process's operations, each under the settings of each segment.
	Rows []IncrementRow
	// Stages are how long stages took, of what came since the last part.
	Stages []IncrementStage
	// Classes and Messages are the failures since the last part.
	Classes  []IncrementClass
	Messages []Message
	// Gauges are the states of the process's tracks at the end of the second.
	// Unstarted is what was due but never started so far, by segment and track.
	Gauges    []Gauge
	Unstarted [][]int64
	// Spans holds when each track ran. Did is how many calls each of its threads
	// has made since the last part.
	Spans []Span
	Did   [][]int64
	// Done has a bit for each hundredth of a second around this one in which something was done, in
	// words of which the first has the number DoneFrom.
	DoneFrom int
	Done     []uint64
	// Arrivals say how iterations came since the last part.
	Arrivals []IncrementArrivals
	// Failed is the same for calls that failed.
	FailedFrom int
	Failed     []uint64
	// Lost is the same for calls that the store answered without a record that it had acknowledged.
	LostFrom int
	Lost     []uint64
	// Open is the same for when a call was due or under way.
	OpenFrom int
	Open     []uint64
}

// IncrementRow holds the samples of one operation under the settings of one segment.
type IncrementRow struct {
	Op, Segment uint16
	Times       packedTimes
}

// Calls is how many calls were timed.
func (r *IncrementRow) Calls() int64 { return r.Times.Closed.total() + r.Times.Open[0].total() }

// IncrementClass counts failures of one operation and class.
type IncrementClass struct {
	Op    uint16
	Class uint8
	Count int64
}

// Sums returns how many units succeeded in the part, and how many calls failed.
func (p *Increment) Sums() (count, errors int64) {
	for _, r := range p.Rows {
		count, errors = count+r.Times.Count, errors+r.Times.Errors
	}
	return count, errors
}

// What a part may claim at most: more than anybody measures, and so little that sums over
// any run stay far from the limits of their types.
const (
	mostSeconds = 1 << 30
	mostCount   = 1 << 40 // in one second
	mostWaiting = 1 << 53 // what is due and not begun, so far
	// mostArrivals is of how many tracks and segments together: a segment can be as short as an
	// iteration.
	mostArrivals = 1 << 16
)

// Segments is one more than the highest number of a segment in the part.
func (p *Increment) Segments() (n int) {
	for _, r := range p.Rows {
		n = max(n, int(r.Segment)+1)
	}
	for _, s := range p.Stages {
		n = max(n, int(s.Segment)+1)
	}
	for _, a := range p.Arrivals {
		n = max(n, int(a.Segment)+1)
	}
	return n
}

// check returns an error if a part from another process does not fit the run.
func (p *Increment) check(ops, tracks, stages int) error {
	if p.T < -mostSeconds || p.T > mostSeconds {
		return fmt.Errorf("figures of second %d, which no run has", p.T)
	}
	if !fits(p.T, p.DoneFrom, p.Done) || !fits(p.T, p.FailedFrom, p.Failed) || !fits(p.T, p.LostFrom, p.Lost) || !fits(p.T, p.OpenFrom, p.Open) {
		return errors.New("times at which nobody can have done anything")
	}
	if err := p.checkTracks(tracks); err != nil {
		return err
	}
	seen := map[[2]uint16]bool{}
	for _, r := range p.Rows {
		if seen[[2]uint16{r.Op, r.Segment}] {
			return errors.New("figures of an operation twice in one second")
		}
		seen[[2]uint16{r.Op, r.Segment}] = true
		if !within(mostCount, r.Times.Count, r.Times.Errors, r.Times.Again) {
			return errors.New("counts that nobody can have measured")
		}
		if int(r.Op) >= ops {
			return errors.New("figures of an operation that this run does not have")
		}
		for _, h := range append(r.Times.Open[:], r.Times.Closed) {
			if !h.sound() || !h.brief() {
				return errors.New("figures that are not a histogram")
			}
		}
	}
	for _, s := range p.Stages {
		if int(s.Stage) >= stages || !s.Times.sound() || !s.Times.brief() {
			return errors.New("figures of a stage that this run does not have")
		}
	}
	for _, c := range p.Classes {
		if int(c.Op) >= ops {
			return errors.New("failures of an operation that this run does not have")
		}
		if !within(mostCount, c.Count) {
			return errors.New("a count of failures that nobody can have seen")
		}
	}
	if len(p.Classes) > ops*(math.MaxUint8+1) || len(p.Messages) > kindMessages*ops*kindsOf {
		return errors.New("more failures than there are kinds")
	}
	for _, m := range p.Messages {
		if len(m.Text) > 2*maxMessageLen || len(m.Class)+len(m.Track)+len(m.Op) > 2*maxMessageLen {
			return errors.New("a message that is too long")
		}
	}
	return nil
}

// checkTracks is check for what the part says of tracks and their threads.
func (p *Increment) checkTracks(tracks int) error {
	if len(p.Did) > tracks || slices.ContainsFunc(p.Did, func(did []int64) bool { return len(did) > math.MaxUint16+1 || !within(mostCount, did...) }) {
		return errors.New("threads that this run does not have")
	}
	if len(p.Gauges) > tracks || len(p.Spans) > tracks {
		return errors.New("tracks that this run does not have")
	}
	for _, g := range p.Gauges {
		if !within(mostWaiting, g.Backlog, g.Sessions.Begun, g.Sessions.Open, g.Sessions.Steps) {
			return errors.New("a backlog or sessions that nobody can have")
		}
	}
	for _, s := range p.Spans {
		if s.From < -mostSeconds*int64(time.Second) || s.To < -mostSeconds*int64(time.Second) || s.From > mostSeconds*int64(time.Second) || s.To > mostSeconds*int64(time.Second) {
			return errors.New("a time that no run has")
		}
	}
	if len(p.Arrivals) > mostArrivals || slices.ContainsFunc(p.Arrivals, func(a IncrementArrivals) bool { return !a.sound(p.T, tracks) }) {
		return errors.New("arrivals that this run cannot have")
	}
	for _, row := range p.Unstarted {
		if len(row) > tracks || !within(mostWaiting, row...) {
			return errors.New("a count of what never started that nobody can have")
		}
	}
	return nil
}

// within reports whether all numbers are in 0..most.
func within(most int64, all ...int64) bool {
	return !slices.ContainsFunc(all, func(n int64) bool { return n < 0 || n > most })
}

// parts holds what other processes have measured, for the collector's goroutine.
type parts struct {
	mu      sync.Mutex
	waiting []Increment
	sent    map[errorKey]int64 // failures that our parts have reported
	told    int                // messages that they have reported
	did     [][]int64          // calls of threads that they have reported
}

// Merge adds what another process measured. Samples of a second that is already
// closed join the open one, so that they count in the whole run and in their
// segment. Any goroutine may call it; the part belongs to the collector
// afterwards. It returns an error if the part is not of this run.
func (c *Collector) Merge(p Increment) error {
	if err := p.check(len(c.cfg.Ops), len(c.cfg.Tracks), c.cfg.Stages); err != nil {
		return err
	}
	c.keepPace(p.T)
	c.parts.mu.Lock()
	defer c.parts.mu.Unlock()
	c.parts.waiting = append(c.parts.waiting, p)
	return nil
}

// abreast is how many seconds figures being merged again may be ahead of the open
// one.
const abreast = mostAhead / 2

// keepPace waits, while figures that were kept are being merged again, until the
// collector has come far enough for them to find their second.
func (c *Collector) keepPace(second int) {
	for c.cfg.Reread != nil && c.cfg.Reread() != math.MaxInt64 && int64(second) > c.at.Load()+abreast {
		select {
		case <-c.done:
			return
		case <-time.After(settle / 10):
		}
	}
}

// takeParts moves merged parts into their seconds.
func (c *Collector) takeParts() {
	c.parts.mu.Lock()
	list := c.parts.waiting
	c.parts.waiting = nil
	c.parts.mu.Unlock()
	for i := range list {
		p := &list[i]
		if p.T < 0 && c.win.second >= 0 {
			continue // of the warm-up, which is over
		}
		a := &c.win.accs[0]
		if p.T > c.win.second {
			a = c.win.later(int64(p.T)*int64(time.Second), p.T < 0)
		}
		for _, r := range p.Rows {
			r.Times.into(a.of(r.Op, r.Segment))
		}
		c.all.stages.merge(p.Stages)
		c.all.doneAt.merge(p.DoneFrom, p.Done)
		c.all.joined.Add(p.Arrivals)
		c.all.failedAt.merge(p.FailedFrom, p.Failed)
		c.all.lostAt.merge(p.LostFrom, p.Lost)
		c.all.openAt.merge(p.OpenFrom, p.Open)
		for _, n := range p.Classes {
			c.all.errs[errorKey{n.Op, n.Class}] += n.Count
			a.fail(errorKey{n.Op, n.Class}, n.Count)
		}
		for _, m := range p.Messages {
			c.log.add(m)
		}
		for track, did := range p.Did {
			c.all.tally.tracks[track].more(did)
		}
	}
}

// more adds to the counts of threads' calls.
func (t *trackTally) more(did []int64) {
	for len(t.did) < len(did) {
		t.did = append(t.did, 0)
	}
	for i, n := range did {
		t.did[i] += n
	}
}

// part returns the open second, which is being closed, as an Increment for another
// process.
func (c *Collector) part(a *accumulator) *Increment {
	p := &Increment{T: c.win.second, Gauges: slices.Clone(c.gauges), Stages: c.all.stages.part()}
	for op, list := range a.ops {
		for _, t := range list {
			if t.count > 0 || t.errors > 0 || t.again > 0 || t.calls() > 0 {
				p.Rows = append(p.Rows, IncrementRow{uint16(op), t.segment, t.pack()})
			}
		}
	}
	if c.parts.sent == nil {
		c.parts.sent = map[errorKey]int64{}
	}
	for k, n := range c.all.errs {
		if n > c.parts.sent[k] {
			p.Classes = append(p.Classes, IncrementClass{k.op, k.class, n - c.parts.sent[k]})
			c.parts.sent[k] = n
		}
	}
	messages := c.log.messages()
	p.Messages, c.parts.told = messages[c.parts.told:], len(messages)
	p.Spans = c.all.control.Spans
	p.DoneFrom, p.Done = c.all.doneAt.part(c.win.second)
	p.FailedFrom, p.Failed = c.all.failedAt.part(c.win.second)
	p.LostFrom, p.Lost = c.all.lostAt.part(c.win.second)
	p.OpenFrom, p.Open = c.all.openAt.part(c.win.second)
	for track := range c.all.tally.tracks {
		now := slices.Clone(c.all.tally.tracks[track].did)
		did := slices.Clone(now)
		if track == len(c.parts.did) {
			c.parts.did = append(c.parts.did, nil)
		}
		for i, n := range c.parts.did[track] {
			did[i] -= n
		}
		p.Did, c.parts.did[track] = append(p.Did, did), now
	}
	for track := range c.all.arrivals {
		p.Arrivals = append(p.Arrivals, c.all.arrivals[track].part(track)...)
	}
	for _, s := range c.all.control.Segments {
		p.Unstarted = append(p.Unstarted, s.Unstarted)
	}
	return p
}

// lateness is how long a second stays open for processes that have not delivered
// it.
const lateness = 3 * time.Second

// awaited reports whether a second has to wait for other processes.
func (c *Collector) awaited(now int64) bool {
	if c.cfg.Reread != nil {
		now = min(now, c.cfg.Reread())
	}
	return c.cfg.Complete != nil && !c.cfg.Complete(c.win.second) && now < int64(c.win.second+1)*int64(time.Second)+int64(lateness)
}
