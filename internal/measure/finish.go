package measure

import (
	"slices"
	"time"
)

// finish closes every second that has settled.
func (c *Collector) finish(now int64) {
	for now >= c.win.end+int64(settle) && !c.awaited(now) {
		c.takeParts() // parts that arrived while it was checked whether all have
		c.closeOpen(c.win.end, false)
	}
}

// conclude closes what is left; the last second may be short.
func (c *Collector) conclude(now int64) {
	for now >= c.win.end {
		c.closeOpen(c.win.end, false)
	}
	for i := range c.win.accs[1:] { // whatever ended while we were closing
		c.win.accs[1+i].fold(&c.win.accs[0])
	}
	c.closeOpen(now, true)
	c.publish(now)
	c.last = c.all.result(c.gauges)
}

// closeOpen ends the open second at the given time.
func (c *Collector) closeOpen(until int64, last bool) {
	c.all.control = c.cfg.Source.Control()
	c.readTracks()
	if c.cfg.Then != nil {
		c.cfg.Then(c.gauges, until)
	}
	c.inFlight(until)
	c.open(until)
	c.closeSecond(&c.win.accs[0], until, last)
	c.win.next()
	c.at.Store(int64(c.win.second))
}

// open notes what is due or under way as the open second ends at the given time.
func (c *Collector) open(until int64) {
	for op, track := range c.cfg.OpTrack {
		if g := &c.gauges[track]; c.cfg.counts(op) {
			from := until - int64(g.OldestDue)
			switch {
			case g.Backlog > 0 && c.was != nil && c.was[track].Backlog > 0:
				from = min(from, int64(c.win.second)*int64(time.Second))
			case g.Backlog > 0:
				from = min(from, until-1)
			}
			if from < until {
				c.all.openAt.span(from, until-1)
			}
		}
	}
}

// closeSecond ends the open second, whose samples are in a, at the given time: it
// merges them into the whole run and its segments, and hands the second to the
// sink. In what is drawn live, a rest of the run's last second joins the second before;
// the journal does the same with the series once the run is over.
func (c *Collector) closeSecond(a *accumulator, until int64, last bool) {
	c.all.until = until
	from := int64(c.win.second) * int64(time.Second)
	rest := last && isRest(from, until)
	warm := c.win.second < 0
	if !warm {
		c.all.tally.observe(c.gauges)
	}
	if c.cfg.Increment != nil {
		c.cfg.Increment(c.part(a))
	}
	sec := Second{T: c.win.second, Length: time.Duration(until - max(from, c.cfg.Start)).Seconds(), Warmup: warm}
	for k, n := range a.failed {
		if !warm {
			sec.Failed = append(sec.Failed, ErrorCount{Operation: c.cfg.Ops[k.op], Class: className(c.cfg.Classes, k.class), Count: n})
		}
	}
	all, given := c.together(), c.givenUp()
	for op := range c.cfg.Ops {
		total := merged(a.ops[op])
		row, ran := c.row(op, total, from, until, warm)
		row.GivenUp = given[c.cfg.OpTrack[op]]
		if c.cfg.Lost != 0 {
			row.Lost = a.failed[errorKey{uint16(op), c.cfg.Lost}]
		}
		if ran {
			sec.Rows = append(sec.Rows, row)
			c.view.remember(op, row, rest)
			all.add(row, total)
		}
		if total != nil && total.calls() > 0 {
			second := c.win.second
			if n := len(c.all.spreads[op].list); rest && n > 0 && c.all.spreads[op].list[n-1].T >= 0 {
				second-- // its bucket has the whole second already
			}
			c.all.spreads[op].add(total.views().response, second)
		}
		if warm || total == nil {
			continue
		}
		if c.cfg.Sink != nil && total.calls() > 0 {
			sec.Intervals = append(sec.Intervals, total.interval(c.cfg.Ops[op]))
		}
		c.all.ops[op].merge(total)
		for _, t := range a.ops[op] {
			c.all.segment(int(t.segment)).merge(op, t.times)
		}
	}
	if row, ran := all.row(); ran {
		c.view.remember(len(c.cfg.Ops), row, rest)
	}
	if c.cfg.Sink != nil && !c.failed {
		sec.Result = c.all.result(c.gauges)
		if err := c.cfg.Sink(&sec); err != nil {
			c.failed = true
			c.cfg.SinkFailed(err)
		}
	}
}

// givenUp returns, per track that ended in the open second, how many units were due and not started then.
func (c *Collector) givenUp() []int64 {
	out, never := make([]int64, len(c.gauges)), make([]int64, len(c.gauges))
	for _, s := range c.all.control.Segments {
		for track, n := range s.Unstarted {
			never[track] += n
		}
	}
	for track, g := range c.gauges {
		if g.Ended && c.was != nil && !c.was[track].Ended {
			out[track] = never[track] - c.never[track]
		}
	}
	c.was, c.never = slices.Clone(c.gauges), never
	return out
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
	r := Row{T: c.win.second, Op: op, Gauge: g}
	if warm {
		r.Seconds = time.Duration(until - max(from, c.cfg.Start)).Seconds()
	} else if len(c.all.control.Spans) > 0 {
		r.Seconds = c.all.control.Spans[c.cfg.OpTrack[op]].within(from, until).Seconds()
	}
	if t != nil {
		fillRow(&r, t)
	}
	// The moment until all workers have ended is not worth a row.
	return r, t != nil || (r.Seconds > settle.Seconds() && (g.Running || !warm))
}

func fillRow(r *Row, t *times) {
	r.Count, r.Errors, r.Retries = t.count, t.errors, t.again
	if t.calls() == 0 {
		return
	}
	v := t.views()
	r.ResponseP50, r.ResponseP99, r.ServiceP99 = v.response.at(50), v.response.at(99), v.service.at(99)
	r.ResponseMax = v.response.top()
}

// isRest reports whether an interval is what a run has left over at its end: after the
// warm-up, and too short for figures of its own.
func isRest(from, until int64) bool {
	return from > 0 && time.Duration(until-from).Seconds() < ShortestRate
}

// addRest adds the rest of the run, whose calls are too few for percentiles, to its last
// second.
func (r *Row) addRest(rest Row) {
	r.Count, r.Errors, r.Seconds = r.Count+rest.Count, r.Errors+rest.Errors, r.Seconds+rest.Seconds
	r.Retries, r.Lost = r.Retries+rest.Retries, r.Lost+rest.Lost
	if r.ResponseMax == 0 {
		r.ResponseP50, r.ResponseP99, r.ServiceP99 = rest.ResponseP50, rest.ResponseP99, rest.ServiceP99
	}
	r.ResponseMax = max(r.ResponseMax, rest.ResponseMax)
}
