package remote

import (
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// State is how it stands with a worker.
type State string

// States of a worker.
const (
	// Working: it joined and is heard of.
	Working State = "working"
	// Stalled: it is connected, and silent.
	Stalled State = "stalled"
	// Gone: its connection ended, and it is silent.
	Gone State = "gone"
	// GivenUp: it was silent for so long that nobody waits for it. Only notices say it; the
	// state stays what it was.
	GivenUp State = "given up"
	// Ended: its work is done and all of its figures are here.
	Ended State = "ended"
	// Refused: what it sent cannot be used, and nothing more of it is taken. Only notices say
	// it; the state is Ended.
	Refused State = "refused"
)

// Member is a worker as reports show it.
type Member struct {
	Hello
	State State
	// Offset is how far its clock is ahead of the coordinator's, known to half of Trip, the
	// fastest way there and back.
	Offset, Trip time.Duration
	// Skew is how much later than the moment agreed on it began; negative: earlier.
	Skew time.Duration
	// Last is the last second that it told of, Count the units that it did, Errors the
	// calls that failed.
	Last          int
	Count, Errors int64
	// LostAt is when it was found to be gone, or given up, since the start of the run; 0: it
	// was not.
	LostAt time.Duration
	// GivenUp says that nobody waited for it any longer at some time; it may have come back.
	GivenUp bool
	// Stalls is how often it was silent for a while and came back.
	Stalls int
	// Slowest is the longest that a change of settings took to get there.
	Slowest time.Duration
	// Applied is when the last change of each segment came into force there, by our clock,
	// since the run began.
	Applied map[int]time.Duration
	Doubts  []string
	Company *verdict.Company
	Err     string
	// Unusable says that something it sent could not be used, for which Err has the reason:
	// nothing later of it counts.
	Unusable bool
	// Part is the number of the part that it has, its own number unless it does the rest of
	// another's. Heir is the number of the worker that does the rest of its part; 0: none does.
	Part, Heir int
	// Dismissed says that it was back after its part was dealt to another, and told to end.
	Dismissed bool
}

// worker is a member as the coordinator knows it; guarded by Coordinator.mu.
type worker struct {
	Hello Hello
	ready bool
	state State
	beat  time.Time

	Offset, Trip, Skew, LostAt, Slowest time.Duration

	began         bool
	number        int64 // of its last report
	last          int
	count, errors int64
	gauges        []measure.Gauge
	unstarted     [][]int64
	ends          map[int]time.Duration // of the tracks that it is through with
	applied       map[int]time.Duration // by segment
	stalls        int
	away          bool // for so long that nobody waits for it
	givenUp       bool // it once was
	doubts        []string
	company       *verdict.Company
	err           string
	unusable      bool // what it sent; nothing of it is taken any more

	part     int // the number of its part
	did      []workload.Did
	idle     bool // it is through, and stays for others
	released bool // it may leave
	// given says that its part is done by another from now on, its heir; dismissed that it has
	// been told. host is the worker in whose process an heir is.
	given, dismissed bool
	heir, host       int
}

func newWorker(h Hello) *worker {
	return &worker{Hello: h, beat: time.Now(), last: -1 << 40, ends: map[int]time.Duration{}, applied: map[int]time.Duration{}}
}

// through takes that the worker ended its part of a track then.
func (w *worker) through(track int, at time.Duration) {
	if w.ends[track] == 0 {
		w.ends[track] = max(at, 1)
	}
}

// done says that it is not waited for.
func (w *worker) done() bool { return w.state == Ended || w.away }

// Members tells of all workers.
func (c *Coordinator) Members() []Member {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Member
	for _, w := range c.workers {
		m := Member{
			Hello: w.Hello, State: w.state, Offset: w.Offset, Trip: w.Trip, Skew: w.Skew, Last: w.last, Count: w.count, Errors: w.errors,
			Applied: maps.Clone(w.applied), LostAt: w.LostAt, GivenUp: w.givenUp, Stalls: w.stalls, Slowest: w.Slowest, Doubts: slices.Clone(w.doubts), Company: w.company, Err: w.err, Unusable: w.unusable,
			Part: w.part, Heir: w.heir, Dismissed: w.dismissed,
		}
		if m.State == "" {
			m.State = Working
		}
		out = append(out, m)
	}
	return out
}

// tellMembers tells of all workers who asks for them, but not their ids: who has one can speak
// for its worker.
func (c *Coordinator) tellMembers(m *nats.Msg) {
	all := c.Members()
	for i := range all {
		all[i].ID = ""
	}
	answer(m, encoded(all))
}

func (c *Coordinator) beat(m *nats.Msg) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, w := c.of(m.Subject)
	if w == nil || w.state == Ended || !c.rested { // else it goes by what the store says
		answer(m, nil)
	}
	if w == nil {
		return
	}
	if w.given {
		c.returned(i, w)
		return
	}
	if w.unusable {
		return
	}
	w.beat = time.Now()
	if w.state == Stalled || w.state == Gone {
		w.stalls++
		c.notice(i, w, Working)
		w.state, w.away, w.LostAt = "", false, 0
	}
}

// notice puts a worker in another state, and says so. The caller holds c.mu.
func (c *Coordinator) notice(i int, w *worker, now State) {
	if w.state != now && c.o.Noticed != nil && !c.at.IsZero() {
		go c.o.Noticed(i, w.Hello.Host, now) // it may ask us
	}
	w.state = now
}

// figures takes a report. What was sent twice counts once.
func (c *Coordinator) figures(m jetstream.Msg) {
	defer c.passed(m)
	c.taking.Lock()
	defer c.taking.Unlock()
	var r Report
	c.mu.Lock()
	i, w := c.of(m.Subject())
	known, began := w != nil && !w.given && !w.unusable, c.at
	c.mu.Unlock()
	if !known {
		return
	}
	err := r.unpack(m.Data())
	if err == nil {
		err = r.check(began, c.tracks())
	}
	if err == nil {
		if r.N <= w.number { // only this goroutine writes it
			return
		}
		if at := c.upto.Load(); r.Part != nil && at != math.MaxInt64 {
			c.upto.Store(max(at, int64(r.Part.T+1)*int64(time.Second)))
		}
		err = c.o.Take(i, &r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w.number = max(w.number, r.N)
	if err != nil {
		c.refuse(i, w, err)
		return
	}
	w.beat = time.Now()
	if r.Began != 0 && !w.began {
		w.began, w.Skew = true, time.Duration(r.Began-c.at.Add(w.Offset).UnixNano())
	}
	if p := r.Part; p != nil {
		w.last = p.T
		w.gauges, w.unstarted = p.Gauges, p.Unstarted
		for track, g := range p.Gauges {
			if track < len(p.Spans) && !g.Running && p.Spans[track].To > 0 {
				w.through(track, time.Duration(p.Spans[track].To))
			}
		}
		c.end()
		if p.T >= 0 {
			count, errors := p.Sums()
			w.count, w.errors = w.count+count, w.errors+errors
		}
		w.tallyUp(p)
	}
	if r.Idle {
		w.idle = true
		c.end()
	}
	if r.Over {
		w.state, w.err, w.doubts, w.company = Ended, r.Err, r.Doubts, r.Company
		c.end()
	}
}

// refuse takes nothing more of a worker that sent what cannot be used, waits for it no longer,
// and has it end. The caller holds c.mu.
func (c *Coordinator) refuse(i int, w *worker, why error) {
	w.err = workload.PlainText("what it sent cannot be used: "+why.Error(), mostText)
	w.state, w.unusable = Ended, true
	if c.o.Noticed != nil && !c.at.IsZero() {
		go c.o.Noticed(i, w.Hello.Host, Refused)
	}
	go c.command(i, Command{Stop: w.err}, false)
	c.end()
	c.wake()
}

// tracks is how many tracks the run has, as far as is known.
func (c *Coordinator) tracks() int {
	if c.o.Tracks > 0 {
		return c.o.Tracks
	}
	return mostTracks
}

// end closes what says that nobody works on a track any more. The caller holds c.mu.
func (c *Coordinator) end() {
	for track, over := range c.over {
		if len(c.workers) < c.o.Workers || slices.ContainsFunc(c.workers, func(w *worker) bool { return !w.done() && w.ends[track] == 0 && (track < 0 || !w.idle) }) {
			continue
		}
		select {
		case <-over:
		default:
			close(over)
		}
	}
	c.letGo()
}

// Over is closed when no worker is at work on a track any more; of a track below 0, when
// each has told everything, too.
func (c *Coordinator) Over(track int) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	over := c.over[track]
	if over == nil {
		over = make(chan struct{})
		c.over[track] = over
		c.end()
	}
	return over
}

// ended takes that a worker is through with a track. The seconds that it tells of say so,
// too, but later.
func (c *Coordinator) ended(m *nats.Msg) {
	var e ended
	c.mu.Lock()
	defer c.mu.Unlock()
	i, w := c.of(m.Subject)
	if w == nil || w.given || w.unusable {
		return
	}
	err := decoded(m.Data, mostWord, &e)
	if err == nil && (e.Track < 0 || e.Track >= c.tracks() || !c.at.IsZero() && e.At > workload.Elapsed(c.at)+mostApart) {
		err = errors.New("it ended a track that there is none of, or at a time that is to come")
	}
	if err != nil {
		c.refuse(i, w, err)
		return
	}
	w.through(e.Track, e.At)
	c.end()
}

// Complete says whether all workers that work have told of a second.
func (c *Coordinator) Complete(second int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(c.workers, func(w *worker) bool { return w.state == "" && !w.idle && w.last < second })
}

// Seen tells how many units of a track are due and not begun, over all workers, and when
// the last of them ended it, since measurement began; 0: one has not.
func (c *Coordinator) Seen(track int) (backlog int64, ended time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := true
	for _, w := range c.workers {
		if track < len(w.gauges) && !w.done() {
			backlog += w.gauges[track].Backlog
		}
		known = known && (w.done() || w.ends[track] > 0)
		ended = max(ended, w.ends[track])
	}
	if !known {
		ended = 0
	}
	return backlog, ended
}

// Unstarted is how many units of a track were due in a segment and never begun.
func (c *Coordinator) Unstarted(segment, track int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var n int64
	for _, w := range c.workers {
		if segment < len(w.unstarted) && track < len(w.unstarted[segment]) {
			n += w.unstarted[segment][track]
		}
	}
	return n
}

// Elapsed is how long the run has gone on.
func (c *Coordinator) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.at)
}

// Change tells each worker its settings; of gives them, nil for one that is not told. It does not wait for the answers:
// how long they took stands in Members.
func (c *Coordinator) Change(segment int, of func(worker int) []workload.Settings) {
	c.settle(segment, of, true)
}

// Deal is Change of how settings that are in force already are shared out; of gives nil for a
// worker that is not told.
func (c *Coordinator) Deal(segment int, of func(worker int) []workload.Settings) {
	c.settle(segment, of, false)
}

func (c *Coordinator) settle(segment int, of func(worker int) []workload.Settings, changed bool) {
	c.mu.Lock()
	c.changes++
	c.mu.Unlock()
	told := time.Now().UnixNano()
	for i := range c.all() {
		if mine := of(i); mine != nil {
			c.command(i, Command{Settings: mine, Segment: segment, Told: told}, changed)
		}
	}
}

// Enter tells all workers that a phase may begin.
func (c *Coordinator) Enter(phase string) {
	c.mu.Lock()
	c.phases[phase] = time.Since(c.at)
	c.mu.Unlock()
	for i := range c.all() {
		c.command(i, Command{Phase: phase}, false)
	}
}

// Stop tells all workers to end.
func (c *Coordinator) Stop(why string) {
	for i := range c.all() {
		c.command(i, Command{Stop: why}, false)
	}
}

// again is how long a worker that did not answer is left in peace.
const again = 200 * time.Millisecond

// command tells a worker something, again and again until it has answered: it may be cut
// off for a while. Settings that others have replaced meanwhile are not told any more. timed
// says that how long it takes is of interest.
func (c *Coordinator) command(i int, cmd Command, timed bool) {
	data, number, sent := encoded(cmd), c.number(), time.Now()
	c.mu.Lock()
	of := c.changes
	c.mu.Unlock()
	go func() { // ends with the answer, the worker, or the coordinator
		for {
			answer, err := c.ask(c.life, i, "control", number, data)
			c.mu.Lock()
			w, old := c.workers[i], cmd.Settings != nil && of != c.changes || cmd.Handoff != nil && c.workers[cmd.Handoff.Index].done()
			over := old || w.state == Ended
			var a applied
			if err == nil && decoded(answer, mostWord, &a) == nil && a.At > 0 && a.At < math.MaxInt64/2 {
				over = true
				if timed {
					took, at := time.Duration(a.At-sent.Add(w.Offset).UnixNano()), time.Duration(a.At-c.at.Add(w.Offset).UnixNano())
					w.Slowest = max(w.Slowest, min(took, workload.Elapsed(sent)+mostApart))
					w.applied[cmd.Segment] = max(min(at, workload.Elapsed(c.at)+mostApart), 0)
				}
			}
			c.mu.Unlock()
			if over {
				return
			}
			select {
			case <-time.After(again):
			case <-c.life.Done():
				return
			}
		}
	}()
}
