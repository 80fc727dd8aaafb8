// Package effect says what each live change of a run did: throughput and p99 before and after
// it, and whether they became better or worse, or whether that may be chance. It is reckoned
// from the seconds of a run and nothing else, so that it is the same while the run goes and at
// its end, for whoever looks.
package effect

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// window is how many seconds before a change are compared with as many after it, at most.
// fewest is how many are needed to tell an effect from chance.
const window, fewest = 30, 3

// Course is what effects are reckoned from. Its times are since measurement began.
type Course struct {
	// Seconds are the finished ones of all operations that count, in order.
	Seconds  []Second
	Changes  []measure.Change
	Segments []Segment
	// Phases are when phases began, the first one left out.
	Phases []time.Duration
	// Crowded means that other processes took from perfbench or the store what they needed of
	// this machine. Over means that the run has ended.
	Crowded, Over bool
	// Commands are those that faults may be.
	Commands []workload.Command
}

// Second is a finished second, or a few where a long run has no more than these.
type Second struct {
	At     time.Duration
	Length float64 // in seconds
	Count  float64 // units that succeeded
	P99    float64 // response time of the slowest operation in nanoseconds; 0: unknown
}

// Segment is a segment of the run.
type Segment struct {
	From, To time.Duration // To is 0 while it goes on
	Settings map[string]float64
	// slowest is the highest p99 of an operation in nanoseconds, ours how much of it was
	// perfbench's own lateness, as a share, late the same in nanoseconds.
	slowest    int64
	ours, late float64
}

// Live is the course of a run that goes on, of which the verdict so far is v.
func Live(s *measure.Snapshot, v rundir.Verdict, commands []workload.Command) *Course {
	c := &Course{Changes: s.Changes, Commands: commands, Crowded: crowded(v)}
	for _, seg := range s.Segments {
		one := Segment{From: seg.From, To: seg.To, Settings: seg.Settings}
		for _, o := range seg.Ops {
			one.lateness(o.Response.P99, o.Lateness.P99)
		}
		c.Segments = append(c.Segments, one)
	}
	for i, p := range s.Ran {
		if i > 0 {
			c.Phases = append(c.Phases, p.From)
		}
	}
	g := gatherer{}
	first := time.Duration(math.MaxInt64)
	for op, rows := range s.Recent {
		for _, r := range rows {
			first = min(first, time.Duration(r.T)*time.Second)
			if s.Counts(op) {
				g.add(time.Duration(r.T)*time.Second, r.Seconds, r.Count, r.ResponseP99)
			}
		}
	}
	for op, line := range s.Timeline { // what is longer ago than the last seconds
		for _, p := range line {
			if s.Counts(op) && s.Bucket >= time.Second && p.At+s.Bucket <= first {
				g.add(p.At, p.Seconds, p.Count, p.ResponseP99)
			}
		}
	}
	c.Seconds = g.list()
	return c
}

// Of is the course of a run that is kept.
func Of(f *rundir.Folder) *Course {
	r := &f.Run
	c := &Course{Changes: r.Turned(), Commands: r.Commands, Crowded: crowded(r.Verdict), Over: r.EndedBy != rundir.StillRunning}
	at := func(seconds float64) time.Duration { return time.Duration(math.Round(seconds * float64(time.Second))) }
	for i := range r.Segments {
		seg := &r.Segments[i]
		one := Segment{From: at(seg.From), To: at(seg.To), Settings: seg.Settings}
		for _, o := range seg.Operations {
			one.lateness(o.Response.P99, o.Lateness.P99)
		}
		c.Segments = append(c.Segments, one)
	}
	for i, p := range r.Phases {
		if i > 0 {
			c.Phases = append(c.Phases, at(p.From))
		}
	}
	counts := map[measure.Operation]bool{}
	for _, o := range r.Operations {
		counts[measure.Operation{Track: o.Track, Op: o.Op}] = r.Counts(o)
	}
	g := gatherer{}
	for _, row := range f.Series {
		if !counts[measure.Operation{Track: row.Track, Op: row.Op}] || math.IsNaN(row.Throughput) {
			continue
		}
		length := 1.0
		if row.Count > 0 && row.Throughput > 0 {
			length = math.Min(float64(row.Count)/row.Throughput, 1)
		}
		g.add(time.Duration(row.T)*time.Second, length, row.Count, row.ResponseP99)
	}
	c.Seconds = g.list()
	return c
}

// crowded reports whether other processes had what the run needed.
func crowded(v rundir.Verdict) bool { return slices.Contains(v.Causes, string(verdict.Crowded)) }

// lateness takes an operation: that of the slowest counts.
func (s *Segment) lateness(p99, late int64) {
	if p99 > s.slowest {
		s.slowest, s.late = p99, float64(late)
		s.ours = min(s.late/float64(p99), 1)
	}
}

// gatherer adds operations up by the second.
type gatherer map[time.Duration]*Second

func (g gatherer) add(at time.Duration, length float64, count, p99 int64) {
	if length < measure.ShortestRate {
		return
	}
	x := g[at]
	if x == nil {
		x = &Second{At: at}
		g[at] = x
	}
	x.Count += float64(count)
	x.Length, x.P99 = max(x.Length, length), max(x.P99, float64(p99))
}

func (g gatherer) list() []Second {
	out := make([]Second, 0, len(g))
	for _, x := range g {
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b Second) int { return cmp.Compare(a.At, b.At) })
	return out
}

// Effect is what somebody did, and what came of it: of the act alone, or of it and the last few
// before it together, where there were too few seconds between them to tell them apart.
type Effect struct {
	measure.Act
	// With are the acts before it that it cannot be told from, the newest first. Next means
	// the other way round: it is part of what is told of a later one.
	With []measure.Act
	Next bool

	first         time.Duration // when the first of them began
	before, after stretch
	// had is how many seconds before the change could be compared, window at most; more means
	// that there may be more after it than there are now.
	had  int
	more bool
	// given means that throughput is what a rate asks for, so that p99 decides; follows that
	// it came to what it was asked to come to.
	given   bool
	crowded bool
	// ours is how much of the p99 of the slowest operation was perfbench's own lateness, before
	// the change or after it, whichever is more: 0 to 1. It is 0 if p99 changed by more than
	// twice of that.
	ours float64

	rate, tail Figure
	words      words
}

// stretch summarises a range of finished seconds.
type stretch struct {
	seconds int
	// rate is the mean over all operations together. p99 is that of a typical second: the
	// median over the seconds of the slowest operation's p99.
	rate, p99 float64
	// rates and tails are the logarithms of rate and p99 of each second that has one.
	rates, tails []float64
	// stood means that nothing was done in one of the seconds.
	stood bool
}

// Effects returns what each act of the run did, in order.
func Effects(c *Course) []Effect {
	list := measure.Acts(c.Changes)
	out := make([]Effect, len(list))
	for i := range list {
		out[i] = c.effect(list, i)
	}
	for i := range out {
		for k := range out[i].With {
			out[i-1-k].Next = true
		}
	}
	return out
}

// Last returns what the last act did, and false if nothing was done.
func Last(c *Course) (e Effect, ok bool) {
	list := measure.Acts(c.Changes)
	if len(list) == 0 {
		return e, false
	}
	return c.effect(list, len(list)-1), true
}

// effect compares the seconds before an act with as many after it, excluding those in which
// something else changed. Where another one left too few seconds before it to judge either, it is
// what both did together, or the last few, if that can be known; and so it is where there were
// enough, but of the same knob. A fault and a knob are two things, however close.
func (c *Course) effect(list []measure.Act, i int) Effect {
	e := c.of(list, i, 0)
	for more := e; more.scarce() || more.after.seconds >= fewest && more.tooSoon(); {
		next := c.of(list, i, len(more.With)+1)
		if len(next.With) == len(more.With) || next.Until-next.first > window*time.Second || !more.joins(&next.With[len(more.With)]) {
			return e
		}
		if more = next; !more.tooSoon() {
			return more
		}
	}
	return e
}

// joins reports whether an act before it may be judged together with it.
func (e *Effect) joins(before *measure.Act) bool {
	if before.Knob() == e.Knob() {
		return true
	}
	_, broke := workload.FaultSetting(before.Name)
	_, breaks := workload.FaultSetting(e.Name)
	return e.scarce() && broke == breaks
}

// of compares the seconds before an act, and as many acts before it, with as many after them.
func (c *Course) of(list []measure.Act, i, many int) Effect {
	e := Effect{Act: list[i], first: list[i].At, crowded: c.Crowded, more: !c.Over}
	e.words.commands = c.Commands
	if n := list[i].Last; n >= 0 && n < len(c.Segments) {
		e.words.settings = c.Segments[n].Settings
	}
	from, to := time.Duration(math.MinInt64), time.Duration(math.MaxInt64)
	for k := i - 1; k >= 0; k-- {
		p := list[k]
		if e.Pauses() || p.Pauses() || c.phaseBetween(p.Until, e.first) || len(e.With) == many {
			from = p.Until
			break
		}
		e.With = append(e.With, p)
		e.first = p.At
	}
	if i+1 < len(list) {
		to, e.more = list[i+1].At, false
	}
	for _, p := range c.Phases {
		if p <= e.first {
			from = max(from, p)
		} else if p < to {
			to, e.more = p, false
		}
	}
	if e.Pauses() {
		return e
	}
	before, after := c.seconds(from, e.first), c.seconds(e.Until, to)
	k := min(len(before), len(after), window)
	e.had = min(len(before), window)
	noise := drifts(max(k/2, 2), before[max(len(before)-2*window, 0):])
	e.before, e.after = over(before[len(before)-k:]), over(after[:k])
	steady := drifts(max(k/2, 2), after[:k])
	e.given = k > 0 && c.paced(e.first-1) && c.paced(e.Until)
	latest := 0.0
	for _, seg := range c.Segments {
		if end := seg.To; seg.From < e.first && (end == 0 || end >= e.first) || seg.From >= e.first && (end == 0 || end > e.Until) && seg.From < to {
			e.ours, latest = max(e.ours, seg.ours), max(latest, seg.late)
		}
	}
	if latest < mostlyOurs*math.Abs(e.after.p99-e.before.p99) {
		e.ours = 0 // the change is far more than perfbench was late at any time
	}
	e.rate, e.tail = e.throughput(noise, steady), e.p99(noise, steady)
	return e
}

// paced reports whether calls were due at a rate at a moment, on each track.
func (c *Course) paced(at time.Duration) bool {
	set := map[string]float64{}
	for _, seg := range c.Segments {
		if seg.From <= at || len(set) == 0 {
			set = seg.Settings
		}
	}
	if own := (words{settings: set}).own("rate"); len(own) > 0 {
		return !slices.ContainsFunc(own, func(v float64) bool { return v <= 0 })
	}
	return set["rate"] > 0
}

// phaseBetween reports whether a phase begins after one moment and not after another.
func (c *Course) phaseBetween(after, until time.Duration) bool {
	return slices.ContainsFunc(c.Phases, func(p time.Duration) bool { return p > after && p <= until })
}

// slack is how much of a second may lie before a change and still count as after it: what a timetable
// does at a second is done a little later.
const slack = 50 * time.Millisecond

// seconds returns the finished ones that lie in from..to and in no pause, in order.
func (c *Course) seconds(from, to time.Duration) (out []Second) {
	if from > math.MinInt64 {
		from -= slack
	}
	for _, x := range c.Seconds {
		end := x.At + max(time.Second, time.Duration(x.Length*float64(time.Second)))
		if x.At >= from && end <= to && !c.paused(x.At, end) {
			out = append(out, x)
		}
	}
	return out
}

// paused reports whether the run was paused at any time between two moments.
func (c *Course) paused(from, to time.Duration) bool {
	since := map[string]time.Duration{}
	for _, x := range c.Changes {
		if x.Knob() != "paused" {
			continue
		}
		if x.To != 0 {
			since[x.Name] = x.At
			continue
		}
		if at, ok := since[x.Name]; ok && at < to && x.At > from {
			return true
		}
		delete(since, x.Name)
	}
	for _, at := range since {
		if at < to {
			return true
		}
	}
	return false
}

// busy is from how many units a second on a second without any means that the store stood still.
const busy = 10

// over summarises seconds.
func over(list []Second) stretch {
	out := stretch{seconds: len(list), rate: math.NaN(), p99: math.NaN()}
	sum, length, none := 0.0, 0.0, false
	var p99 []float64
	for _, x := range list {
		sum, length = sum+x.Count, length+x.Length
		if x.Count > 0 {
			out.rates = append(out.rates, math.Log(x.Count/x.Length))
		} else {
			none = true
		}
		if x.P99 > 0 {
			p99 = append(p99, x.P99)
			out.tails = append(out.tails, math.Log(x.P99))
		}
	}
	if len(list) > 0 {
		out.rate = sum / length
	}
	out.stood = none && (out.rate >= busy || len(out.rates) == 0)
	if len(p99) > 0 {
		slices.Sort(p99)
		out.p99 = p99[len(p99)/2]
	}
	return out
}
