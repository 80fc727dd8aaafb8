package measure

import (
	"cmp"
	"slices"
	"time"
)

// recentSeconds is how many finished seconds a snapshot shows individually.
const recentSeconds = 120

// finish closes every step and second that has settled.
func (c *Collector) finish(now int64) {
	for now >= c.end+int64(settle) && !c.awaited(now) {
		c.takeParts() // parts that arrived while it was checked whether all have
		c.closeOpen(c.end, false)
	}
}

// conclude closes what is left; the last second may be short.
func (c *Collector) conclude(now int64) {
	for now >= c.end {
		c.closeOpen(c.end, false)
	}
	for i := range c.accs[1:] { // whatever ended while we were closing
		c.fold(&c.accs[1+i], &c.accs[0])
	}
	c.closeOpen(now, true)
	c.publish(now)
	c.last = c.result()
}

// closeOpen ends the open step at the given time and, if it was the last step or
// there are none, the open second too.
func (c *Collector) closeOpen(until int64, last bool) {
	c.control = c.cfg.Source.Control()
	c.readTracks()
	if c.cfg.Then != nil {
		c.cfg.Then(c.gauges, until)
	}
	c.inFlight(until)
	a := &c.accs[0]
	if c.stepped() {
		c.closeStep(a, until, last)
		a = &c.sum
	}
	if c.step++; last || !c.stepped() || c.step == stepsEach {
		c.closeSecond(a, until, last)
		a.reset()
		c.second++
		c.at.Store(int64(c.second))
		c.step = 0
	}
	if !c.stepped() {
		c.sum = newAccumulator(len(c.cfg.Ops)) // its contents are not needed again
	}
	c.passed++
	used := c.accs[0]
	c.accs = slices.Delete(c.accs, 0, 1)
	if len(c.accs) == 1 { // usually; those added because of a delay are not kept
		used.reset()
		c.accs = append(c.accs, used)
	}
	c.open()
}

// closeStep adds the samples of the open step to the timeline and to the second. What is
// left over of the run's last step joins the step before.
func (c *Collector) closeStep(a *accumulator, until int64, last bool) {
	from := c.opened()
	rest := last && isRest(from, until)
	for op := range c.cfg.Ops {
		if r, ran := c.row(op, merged(a.ops[op]), from, until, c.second < 0); ran {
			c.steps[op] = appendPoint(c.steps[op], r.point(time.Duration(from)), rest)
		}
	}
	c.fold(a, &c.sum)
}

// closeSecond ends the open second, whose samples are in a, at the given time: it
// merges them into the whole run and its segments, and hands the second to the
// sink. In what is drawn live, a rest of the run's last second joins the second before;
// the journal does the same with the series once the run is over.
func (c *Collector) closeSecond(a *accumulator, until int64, last bool) {
	c.until = until
	from := int64(c.second) * int64(time.Second)
	rest := last && isRest(from, until)
	warm := c.second < 0
	if !warm {
		c.tally.observe(c.gauges)
	}
	if c.cfg.Part != nil {
		c.cfg.Part(c.part(a))
	}
	sec := Second{T: c.second, Length: time.Duration(until - max(from, c.cfg.Start)).Seconds(), Warmup: warm}
	for op := range c.cfg.Ops {
		total := merged(a.ops[op])
		row, ran := c.row(op, total, from, until, warm)
		if ran {
			sec.Rows = append(sec.Rows, row)
			c.remember(op, row, rest)
		}
		if total != nil && total.calls() > 0 {
			second := c.second
			if n := len(c.spreads[op].list); rest && n > 0 && c.spreads[op].list[n-1].T >= 0 {
				second-- // its bucket has the whole second already
			}
			c.spreads[op].add(total.views().response, second)
		}
		if warm || total == nil {
			continue
		}
		if c.cfg.Sink != nil && total.calls() > 0 {
			sec.Intervals = append(sec.Intervals, total.interval(c.cfg.Ops[op]))
		}
		c.whole[op].merge(total)
		for _, t := range a.ops[op] {
			c.segment(int(t.segment)).merge(op, t.times)
		}
	}
	if c.cfg.Sink != nil && !c.failed {
		sec.Result = c.result()
		if err := c.cfg.Sink(&sec); err != nil {
			c.failed = true
			c.cfg.SinkFailed(err)
		}
	}
}

// interval exports t for the journal; histograms that are shared stay shared.
func (t *times) interval(op Operation) Interval {
	v := t.views()
	iv := Interval{Op: op, Response: v.response.export(), Wait: v.wait.export()}
	iv.Service, iv.Lateness = iv.Response, iv.Wait
	if t.hasOpen {
		iv.Service, iv.Lateness = v.service.export(), v.lateness.export()
	}
	return iv
}

// fold appends the contents of from to into.
func (c *Collector) fold(from, into *accumulator) {
	for op, list := range from.ops {
		for _, t := range list {
			into.of(uint16(op), t.segment).merge(t.times)
		}
	}
	from.reset()
}

// merged returns the sum over segments; a single segment is returned as it is.
func merged(list []segTimes) *times {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0].times
	}
	sum := &times{}
	for _, t := range list {
		sum.merge(t.times)
	}
	return sum
}

func (c *Collector) row(op int, t *times, from, until int64, warm bool) (Row, bool) {
	g := c.gauges[c.cfg.OpTrack[op]]
	r := Row{T: c.second, Op: op, Gauge: g}
	if warm {
		r.Seconds = time.Duration(until - max(from, c.cfg.Start)).Seconds()
	} else if len(c.control.Spans) > 0 {
		r.Seconds = c.control.Spans[c.cfg.OpTrack[op]].within(from, until).Seconds()
	}
	if t != nil {
		fillRow(&r, t)
	}
	// The moment until all workers have ended is not worth a row.
	return r, t != nil || (r.Seconds > settle.Seconds() && (g.Running || !warm))
}

func fillRow(r *Row, t *times) {
	r.Count, r.Errors = t.count, t.errors
	if t.calls() == 0 {
		return
	}
	v := t.views()
	r.ResponseP50, r.ResponseP99, r.ServiceP99 = v.response.at(50), v.response.at(99), v.service.at(99)
	r.ResponseMax = lowestAt(v.response.hi) + sizeAt(v.response.hi) - 1
}

// isRest reports whether an interval is what a run has left over at its end: after the
// warm-up, and too short for figures of its own.
func isRest(from, until int64) bool {
	return from > 0 && time.Duration(until-from).Seconds() < ShortestRate
}

func (c *Collector) remember(op int, r Row, rest bool) {
	rows := c.recent[op]
	if n := len(rows); rest && n > 0 && rows[n-1].T == r.T-1 {
		c.recent[op] = slices.Clone(rows)
		c.recent[op][n-1].addRest(r)
		c.lines[op].points = appendPoint(c.lines[op].points, r.point(time.Duration(r.T)*time.Second), true)
		return
	}
	if len(rows) >= recentSeconds {
		rows = rows[len(rows)-recentSeconds+1:]
	}
	c.recent[op] = append(slices.Clip(rows), r) // published slices stay as they are
	c.lines[op].add(r.point(time.Duration(r.T) * time.Second))
}

// addRest adds the rest of the run, whose calls are too few for percentiles, to its last
// second.
func (r *Row) addRest(rest Row) {
	r.Count, r.Errors, r.Seconds = r.Count+rest.Count, r.Errors+rest.Errors, r.Seconds+rest.Seconds
	if r.ResponseMax == 0 {
		r.ResponseP50, r.ResponseP99, r.ServiceP99 = rest.ResponseP50, rest.ResponseP99, rest.ServiceP99
	}
	r.ResponseMax = max(r.ResponseMax, rest.ResponseMax)
}

// appendPoint appends a point or, if it is a rest, adds it to the last one as take does.
// Published slices stay as they are.
func appendPoint(points []Point, p Point, rest bool) []Point {
	n := len(points)
	if !rest || n == 0 || points[n-1].Warmup {
		return append(slices.Clip(points), p)
	}
	points = slices.Clone(points)
	last := &points[n-1]
	last.Count, last.Errors, last.Seconds = last.Count+p.Count, last.Errors+p.Errors, last.Seconds+p.Seconds
	if last.ResponseMax == 0 {
		last.ResponseP50, last.ResponseP99, last.ServiceP99 = p.ResponseP50, p.ResponseP99, p.ServiceP99
	}
	last.ResponseMax, last.Oldest = max(last.ResponseMax, p.ResponseMax), max(last.Oldest, p.Oldest)
	return points
}

// segment holds the histograms of one segment, packed once the next has begun.
type segment struct {
	live   []*times
	rest   []packedTimes
	totals []Totals // of rest; nil: not computed yet
}

func (c *Collector) segment(i int) *segment {
	for len(c.segs) <= i {
		if n := len(c.segs); n > 0 {
			c.segs[n-1].pack()
		}
		s := &segment{live: make([]*times, len(c.cfg.Ops))}
		for op := range s.live {
			s.live[op] = &times{}
		}
		c.segs = append(c.segs, s)
	}
	return c.segs[i]
}

func (s *segment) pack() {
	s.rest = make([]packedTimes, len(s.live))
	for op, t := range s.live {
		s.rest[op] = t.pack()
	}
	s.live, s.totals = nil, nil
}

func (s *segment) merge(op int, t *times) {
	if s.live != nil {
		s.live[op].merge(t)
		return
	}
	open := &times{} // a straggler: it began under settings changed since
	s.rest[op].into(open)
	open.merge(t)
	s.rest[op], s.totals = open.pack(), nil
}

func (s *segment) digest(ops []Operation) []Totals {
	if s.totals != nil {
		return slices.Clone(s.totals)
	}
	out := make([]Totals, len(ops))
	for op := range ops {
		t := &times{}
		if s.live != nil {
			t = s.live[op]
		} else {
			s.rest[op].into(t)
		}
		out[op] = t.totals(ops[op])
	}
	if s.live == nil {
		s.totals = slices.Clone(out)
	}
	return out
}

// result summarizes the run up to the last closed second.
func (c *Collector) result() *Result {
	ctl := &c.control
	r := &Result{
		Changes: ctl.Changes, Marks: ctl.Marks, Messages: c.log.messages(), Errors: c.errorCounts(),
		Ops: make([]Totals, len(c.cfg.Ops)), Shares: c.tally.shares(c.cfg.Tracks, c.gauges),
	}
	for op := range c.cfg.Ops {
		r.Ops[op] = c.whole[op].totals(c.cfg.Ops[op])
	}
	for _, sp := range ctl.Spans {
		r.Measured = max(r.Measured, time.Duration(min(sp.To, c.until)))
	}
	for _, p := range ctl.Ran {
		if p.To = min(p.To, time.Duration(c.until)); p.From < p.To {
			r.Phases = append(r.Phases, p)
		}
	}
	for i, info := range ctl.Segments {
		if i > 0 && int64(info.From) >= c.until {
			break // opened after the last closed second
		}
		info.To = min(info.To, r.Measured)
		s := Segment{From: info.From, To: info.To, Settings: info.Settings, SettingsEnd: info.SettingsEnd, Ops: c.segment(i).digest(c.cfg.Ops)}
		c.fill(s.Ops, info.Unstarted, int64(info.From), int64(info.To))
		r.Segments = append(r.Segments, s)
		for op := range r.Ops {
			r.Ops[op].Unstarted += s.Ops[op].Unstarted
		}
	}
	c.fill(r.Ops, nil, 0, int64(r.Measured))
	return r
}

// fill adds to totals what the engine knows: how long the track ran within the
// interval and what never started.
func (c *Collector) fill(ops []Totals, unstarted []int64, from, to int64) {
	for op, track := range c.cfg.OpTrack {
		if len(c.control.Spans) > track {
			ops[op].Active = c.control.Spans[track].within(from, to)
		}
		if len(unstarted) > track && slices.Index(c.cfg.OpTrack, track) == op {
			ops[op].Unstarted = unstarted[track]
		}
	}
}

func (c *Collector) errorCounts() []ErrorCount {
	var out []ErrorCount
	for k, n := range c.errs {
		out = append(out, ErrorCount{Operation: c.cfg.Ops[k.op], Class: className(c.cfg.Classes, k.class), Count: n})
	}
	slices.SortFunc(out, func(a, b ErrorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Track, b.Track), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Class, b.Class))
	})
	return out
}
