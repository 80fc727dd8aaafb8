// Package effect says what each live change of a run did: throughput and p99 (p50 where p99
// cannot be judged) before and after it, and whether they became better or worse, or whether that may be chance. It is reckoned
// from the seconds of a run and nothing else, so that it is the same while the run goes and at
// its end, for whoever looks.
package effect

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// window is how many seconds before a change are compared with those after it, at most: with as many, or
// with fewer as long as there are no more.
// fewest is how many are needed to tell an effect from chance; with fewer than settling it is told as what
// is known so far.
const window, fewest, settling = 30, 3, 8

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
	// Pauses are when perfbench itself did not run.
	Pauses []measure.Pause
	// Commands are those that faults may be.
	Commands []workload.Command
	// Names are those of the operations, where more than one was called.
	Names map[int]string
}

// Second is a finished second, or a few where a long run has no more than these.
type Second struct {
	At     time.Duration
	Length float64 // in seconds
	Count  float64 // units that succeeded
	// Backlog is how many units were due and not begun at its end, over all tracks.
	Backlog int64
	Times   []Times

	// idle means that nothing was done in it although calls were due or under way.
	idle bool
	// stood means that the store stood still in it, of its own accord. catches means that what the
	// last stop had held up was done in it; stopped is when that was.
	stood, catches bool
	stopped        time.Duration
	// out means that it is part of an outage.
	out bool
}

// end is when the second ended.
func (x *Second) end() time.Duration {
	return x.At + max(time.Second, time.Duration(x.Length*float64(time.Second)))
}

// Times are the response times of an operation in a second, and p99 of its service times, in nanoseconds; 0: unknown.
type Times struct {
	Op                int
	P50, P99, Service float64
}

// Segment is a segment of the run.
type Segment struct {
	From, To time.Duration // To is 0 while it goes on
	Settings map[string]float64
	// times are the response times by operation, late how late perfbench was in them.
	times, late map[int]measure.Summary
}

// Live is the course of a run that goes on, of which the verdict so far is v.
func Live(s *measure.Snapshot, v rundir.Verdict, commands []workload.Command) *Course {
	c := &Course{Changes: s.Changes, Pauses: s.Pauses, Commands: commands, Crowded: crowded(v)}
	for _, seg := range s.Segments {
		one := Segment{From: seg.From, To: seg.To, Settings: seg.Settings}
		for op, o := range seg.Ops {
			if s.Counts(op) {
				one.take(op, o.Response, o.Lateness)
			}
		}
		c.Segments = append(c.Segments, one)
	}
	for i, p := range s.Ran {
		if i > 0 {
			c.Phases = append(c.Phases, p.From)
		}
	}
	c.Names = named(len(s.Ops), func(op int) (measure.Operation, int64) { return s.Ops[op].Operation, s.Ops[op].Calls })
	g := newGatherer()
	track := func(op int) string {
		if op < len(s.Ops) {
			return s.Ops[op].Track
		}
		return ""
	}
	first := time.Duration(math.MaxInt64)
	for op, rows := range s.Recent {
		for _, r := range rows {
			first = min(first, time.Duration(r.T)*time.Second)
			if s.Counts(op) {
				at := time.Duration(r.T) * time.Second
				g.add(at, r.Seconds, r.Count, Times{op, float64(r.ResponseP50), float64(r.ResponseP99), float64(r.ServiceP99)})
				g.waits(at, track(op), r.Backlog)
			}
		}
	}
	for op, line := range s.Timeline { // what is longer ago than the last seconds
		for _, p := range line {
			if s.Counts(op) && s.Bucket >= time.Second && p.At+s.Bucket <= first {
				g.add(p.At, p.Seconds, p.Count, Times{op, float64(p.ResponseP50), float64(p.ResponseP99), float64(p.ServiceP99)})
				g.waits(p.At, track(op), p.Backlog)
			}
		}
	}
	c.Seconds = g.list()
	c.idle(s.Undone)
	c.catchUps()
	c.outages()
	return c
}

// Of is the course of a run that is kept.
func Of(f *rundir.Folder) *Course {
	r := &f.Run
	c := &Course{Changes: r.Turned(), Commands: r.Commands, Crowded: crowded(r.Verdict), Over: r.EndedBy != rundir.StillRunning}
	at := func(seconds float64) time.Duration { return time.Duration(math.Round(seconds * float64(time.Second))) }
	ops := map[measure.Operation]int{} // those that count
	for i, o := range r.Operations {
		if r.Counts(o) {
			ops[measure.Operation{Track: o.Track, Op: o.Op}] = i
		}
	}
	if r.Observed != nil {
		for _, p := range r.Observed.PausesAt {
			c.Pauses = append(c.Pauses, measure.Pause{At: int64(at(p.AtS)), For: at(p.ForS)})
		}
	}
	for i := range r.Segments {
		seg := &r.Segments[i]
		one := Segment{From: at(seg.From), To: at(seg.To), Settings: seg.Settings}
		for _, o := range seg.Operations {
			if op, ok := ops[measure.Operation{Track: o.Track, Op: o.Op}]; ok {
				one.take(op, o.Response.Summary(o.Calls), o.Lateness.Summary(o.Calls))
			}
		}
		c.Segments = append(c.Segments, one)
	}
	for i, p := range r.Phases {
		if i > 0 {
			c.Phases = append(c.Phases, at(p.From))
		}
	}
	c.Names = named(len(r.Operations), func(i int) (measure.Operation, int64) {
		o := &r.Operations[i]
		return measure.Operation{Track: o.Track, Op: o.Op}, o.Calls
	})
	g := newGatherer()
	for _, row := range f.Series {
		op, counts := ops[measure.Operation{Track: row.Track, Op: row.Op}]
		if left := r.MeasuredS - float64(row.T); !counts || math.IsNaN(row.Throughput) || c.Over && r.MeasuredS > 0 && left < wholeSecond {
			continue // the part of a second at the end is none: its calls are few
		}
		length := 1.0
		if row.Count > 0 && row.Throughput > 0 {
			length = math.Min(float64(row.Count)/row.Throughput, 1)
		}
		at := time.Duration(row.T) * time.Second
		g.add(at, length, row.Count, Times{op, float64(row.ResponseP50), float64(row.ResponseP99), float64(row.ServiceP99)})
		g.waits(at, row.Track, row.Backlog)
	}
	c.Seconds = g.list()
	var undone []measure.Silence
	for _, o := range rundir.Idle(f) {
		undone = append(undone, measure.Silence{From: at(o.From), To: at(o.To)})
	}
	c.idle(undone)
	c.catchUps()
	c.outages()
	return c
}

// wholeSecond is how long the last second of a run is at least, so that it counts.
const wholeSecond = 0.9

// crowded reports whether other processes had what the run needed.
func crowded(v rundir.Verdict) bool { return slices.Contains(v.Causes, string(verdict.Crowded)) }

// named names the operations of a run, of each of which of says how often it was called; nil if no more
// than one was.
func named(n int, of func(op int) (measure.Operation, int64)) map[int]string {
	called, tracks, out := 0, map[string]bool{}, map[int]string{}
	for op := range n {
		o, calls := of(op)
		tracks[o.Track] = true
		if calls > 0 {
			called++
		}
	}
	if called < 2 {
		return nil
	}
	for op := range n {
		o, _ := of(op)
		out[op] = o.Among(len(tracks))
	}
	return out
}

// take takes what an operation did in the segment: its response times, and how late perfbench was.
func (s *Segment) take(op int, response, late measure.Summary) {
	if response.Count == 0 {
		return
	}
	if s.times == nil {
		s.times, s.late = map[int]measure.Summary{}, map[int]measure.Summary{}
	}
	s.times[op], s.late[op] = response, late
}

// percentile is one that is told of a change: of one operation, the same on both sides of it.
type percentile struct {
	name string
	of   float64
	// second and whole have it of an operation in a second and in a segment.
	second func(Times) float64
	whole  func(measure.Summary) int64
	// op is the operation; -1: none has it.
	op int
	// few means that an operation with too few calls for it may be the slowest, so that nobody knows which
	// is: then screens show none.
	few bool
	// service means that it is one of service times, in which perfbench is never late.
	service bool
}

// rare is which part of the calls beside a change an operation has at most, of which nothing is told as long as
// there are others: what is told is to stand for the run.
const rare = 0.1

// slowest are p50 and p99 of the operations that had the highest in the median second of either side of a
// change, among those that have one on both sides and are not rare. Those with too few calls in a segment beside
// it have none. With service it is p99 of service times, which have no p50 in a second.
func slowest(near []Segment, before, after []Second, service bool) (p50, p99 percentile) {
	p50 = percentile{name: "p50", of: 50, second: func(t Times) float64 { return t.P50 }, whole: func(s measure.Summary) int64 { return s.P50 }}
	p99 = percentile{name: "p99", of: 99, second: func(t Times) float64 { return t.P99 }, whole: func(s measure.Summary) int64 { return s.P99 }}
	if service {
		p50.second = func(Times) float64 { return 0 }
		p99.name, p99.service, p99.second = "service p99", true, func(t Times) float64 { return t.Service }
	}
	for _, p := range []*percentile{&p50, &p99} {
		p.choose(near, before, after)
	}
	return p50, p99
}

func (p *percentile) choose(near []Segment, before, after []Second) {
	few, calls, all := map[int]bool{}, map[int]int64{}, int64(0)
	for _, seg := range near {
		for op, t := range seg.times {
			few[op] = few[op] || !measure.Enough(p.of, t.Count)
			calls[op], all = calls[op]+t.Count, all+t.Count
		}
	}
	seldom := func(op int) bool { return float64(calls[op]) < rare*float64(all) }
	for _, seg := range near {
		var often []measure.Summary
		for op, t := range seg.times {
			if !seldom(op) {
				often = append(often, t)
			}
		}
		p.few = p.few || p.whole(measure.Worst(often)) == measure.Hidden
	}
	p.op = -1
	if p.few {
		return
	}
	least, most := min(fewest, len(after)), 0.0
	was, now := p.each(before), p.each(after)
	for _, rare := range []bool{false, true} {
		for _, op := range slices.Sorted(maps.Keys(now)) {
			if few[op] || min(len(was[op]), len(now[op])) < least || seldom(op) != rare {
				continue
			}
			if longer := max(typically(was[op]).median, typically(now[op]).median); longer > most {
				p.op, most = op, longer
			}
		}
		if p.op >= 0 {
			return
		}
	}
}

// each returns the percentile in some seconds, as far as they have it, of each operation.
func (p *percentile) each(list []Second) map[int][]float64 {
	out := map[int][]float64{}
	for _, x := range list {
		for _, t := range x.Times {
			if v := p.second(t); v > 0 {
				out[t.Op] = append(out[t.Op], v)
			}
		}
	}
	return out
}

// in returns the percentile of its operation in some seconds.
func (p *percentile) in(list []Second) typical {
	var seconds []float64
	for _, x := range list {
		for _, t := range x.Times {
			if v := p.second(t); t.Op == p.op && v > 0 {
				seconds = append(seconds, v)
			}
		}
	}
	return typically(seconds)
}

// typically summarises what a percentile was, second by second.
func typically(seconds []float64) typical {
	out := typical{median: math.NaN()}
	for _, v := range seconds {
		out.logs = append(out.logs, math.Log(v))
	}
	if len(seconds) > 0 {
		out.median = slices.Sorted(slices.Values(seconds))[len(seconds)/2]
	}
	return out
}

// ours returns how much of the percentile was perfbench's own lateness in a segment: as a share, and in
// nanoseconds.
func (p *percentile) ours(seg *Segment) (share, late float64) {
	took := p.whole(seg.times[p.op])
	if took <= 0 || p.service || !measure.Enough(p.of, seg.times[p.op].Count) {
		return 0, 0
	}
	late = float64(p.whole(seg.late[p.op]))
	return min(late/float64(took), 1), late
}

// gatherer adds operations up by the second.
type gatherer struct {
	seconds map[time.Duration]*Second
	// waiting is the backlog of each track, which its operations share.
	waiting map[time.Duration]map[string]int64
}

func newGatherer() *gatherer {
	return &gatherer{seconds: map[time.Duration]*Second{}, waiting: map[time.Duration]map[string]int64{}}
}

func (g *gatherer) add(at time.Duration, length float64, count int64, times Times) {
	if length < measure.ShortestRate {
		return
	}
	x := g.seconds[at]
	if x == nil {
		x = &Second{At: at}
		g.seconds[at] = x
	}
	x.Count += float64(count)
	x.Length, x.Times = max(x.Length, length), append(x.Times, times)
}

// waits notes the backlog of a track at the end of a second.
func (g *gatherer) waits(at time.Duration, track string, backlog int64) {
	if backlog == 0 {
		return
	}
	if g.waiting[at] == nil {
		g.waiting[at] = map[string]int64{}
	}
	g.waiting[at][track] = max(g.waiting[at][track], backlog)
}

func (g *gatherer) list() []Second {
	out := make([]Second, 0, len(g.seconds))
	for at, x := range g.seconds {
		for _, n := range g.waiting[at] {
			x.Backlog += n
		}
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
	// had is how many seconds before the change could be compared, window at most, since how many
	// after it there are; more means that there may be more of these than there are now.
	had, since int
	more       bool
	// given means that throughput is what a rate asks for, so that p99 decides; follows that
	// it came to what it was asked to come to.
	given   bool
	asked   float64 // the rate after it, of all tracks; 0 if one has no limit
	grows   bool    // what was due and not begun became more and more after it
	crowded bool
	// rate is throughput. tail is p99, half is p50, which is told where p99 cannot be judged.
	rate, tail, half Figure
	words            words
}

// stretch summarises a range of finished seconds.
type stretch struct {
	seconds int
	// rate is the mean over all operations together, rates has its logarithm in each second that
	// has one. Each percentile is that of one operation.
	rate     float64
	rates    []float64
	p50, p99 typical
	// low and high are the rates of the slowest and the fastest second, of which one may have none.
	low, high float64
	// stood means that nothing was done in one of the seconds, silent that it was in all, but for one before,
	// own that perfbench itself did not run then.
	stood, silent, own bool
}

// typical is what a percentile was in the median second, and its logarithm in each that has one.
type typical struct {
	median float64
	logs   []float64
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

// effect compares the seconds before an act with those after it, as many at most, excluding those in which
// something else changed.
func (c *Course) effect(list []measure.Act, i int) Effect {
	return c.of(list, i, c.together(list, i), math.MaxInt)
}

// together returns with how many of those before it an act is judged. Where another one left too few seconds
// before it to judge either, it is what both did together, or the last few; and so it is where there were
// enough, but of the same knob, if that can be known. A fault and a knob are two things, however close. The
// first seconds after it decide, so that it is not told anew with each second more.
func (c *Course) together(list []measure.Act, i int) int {
	e := c.of(list, i, 0, settling)
	for more := e; more.scarce() || more.after.seconds >= fewest && !more.early() && more.tooSoon(); {
		next := c.of(list, i, len(more.With)+1, settling)
		if len(next.With) == len(more.With) || next.Until-next.first > window*time.Second || !more.joins(&next.With[len(more.With)]) || next.undone() && !e.scarce() {
			break
		}
		if more = next; !more.tooSoon() && (e.scarce() || more.needs() <= window) {
			e = more
			break
		}
		if e.scarce() && !more.scarce() {
			e = more // together they have figures, however unsure
		}
	}
	return len(e.With)
}

// joins reports whether an act before it may be judged together with it. What it undoes comes to nothing
// with it.
func (e *Effect) joins(before *measure.Act) bool {
	if before.Knob() == e.Knob() && e.By != measure.ByUndo {
		return true
	}
	_, broke := workload.FaultSetting(before.Name)
	_, breaks := workload.FaultSetting(e.Name)
	return e.scarce() && broke == breaks
}

// of compares the seconds before an act, and before so many of those before it, with those after it: with
// most of these.
func (c *Course) of(list []measure.Act, i, many, most int) Effect {
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
	var near []Segment // on either side of it
	for _, seg := range c.Segments {
		if end := seg.To; seg.From < e.first && (end == 0 || end >= e.first) || seg.From >= e.first && (end == 0 || end > e.Until) && seg.From < to {
			near = append(near, seg)
		}
	}
	// A stop before the change says nothing about it, and what it has held up says nothing afterwards; nor
	// does an outage later on, or what comes after that.
	before := slices.DeleteFunc(c.seconds(from, e.first), func(x Second) bool { return x.stood || x.catches })
	if up := slices.DeleteFunc(slices.Clone(before), func(x Second) bool { return x.out }); len(up) >= fewest {
		before = up
	}
	after := slices.DeleteFunc(c.seconds(e.Until, to), func(x Second) bool { return x.catches && x.stopped < e.Until-slack })
	if up := untilOutage(after); len(up) < len(after) {
		after, e.more = up, false
	}
	e.had, e.since = min(len(before), window), len(after)
	k := min(e.had, e.since, most)
	nearest := before[len(before)-e.had:]
	p50, p99 := slowest(near, nearest, after[:k], e.Counts() != "")
	over := func(list []Second) stretch {
		out := over(list, &p50, &p99)
		out.own = c.own(list)
		return out
	}
	noise := drifts(k/2, before[max(len(before)-2*window, 0):], over)
	e.after = over(after[:k])
	if k > 0 { // what was before it does not move while more comes after it
		e.before = over(nearest)
	}
	steady := drifts(k/2, after[:k], over)
	if k > 0 {
		e.asked = c.pace(e.Until)
		e.grows = grows(after[:k], e.asked)
	}
	e.given = e.asked > 0 && c.pace(e.first-1) > 0
	e.rate = e.throughput(noise.rate, steady.rate)
	e.half = e.percentile(&p50, e.before.p50, e.after.p50, [2]float64{noise.half, steady.half}, c.Names, near)
	e.tail = e.percentile(&p99, e.before.p99, e.after.p99, [2]float64{noise.tail, steady.tail}, c.Names, near)
	e.tail.few = p99.few
	e.doubt()
	return e
}

// pace returns the rate at which calls were due at a moment, over all tracks; 0 if one had no limit.
func (c *Course) pace(at time.Duration) (sum float64) {
	set := map[string]float64{}
	for _, seg := range c.Segments {
		if seg.From <= at || len(set) == 0 {
			set = seg.Settings
		}
	}
	own := (words{settings: set}).own("rate")
	if len(own) == 0 {
		return max(set["rate"], 0)
	}
	for _, v := range own {
		if v <= 0 {
			return 0
		}
		sum += v
	}
	return sum
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
		if end := x.end(); x.At >= from && end <= to && !c.paused(x.At, end) {
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

// over summarises seconds.
func over(list []Second, p50, p99 *percentile) stretch {
	out := stretch{seconds: len(list), rate: math.NaN(), low: math.NaN(), high: math.NaN(), p50: p50.in(list), p99: p99.in(list)}
	sum, length, none := 0.0, 0.0, false
	for i, x := range list {
		if v := x.Count / x.Length; i == 0 {
			out.low, out.high = v, v
		} else {
			out.low, out.high = min(out.low, v), max(out.high, v)
		}
		sum, length = sum+x.Count, length+x.Length
		if none = none || x.idle; x.Count > 0 {
			out.rates = append(out.rates, math.Log(x.Count/x.Length))
		}
	}
	if len(list) > 0 {
		out.rate = sum / length
	}
	out.stood = none
	out.silent = out.stood && len(out.rates) <= 1 && list[len(list)-1].Count == 0
	return out
}
