package measure

import (
	"slices"
	"time"
)

// publish makes a new snapshot. Counts are current; percentiles are as of the
// last finished second, because they cost more.
func (c *Collector) publish(now int64) {
	c.readTracks()
	c.inFlight(now)
	c.number++
	prev := c.snap.Load()
	s := &Snapshot{
		Number: c.number, At: time.Duration(now), Began: time.Duration(c.cfg.Start), Tracks: c.cfg.Tracks,
		Apart: c.cfg.Apart, Within: c.within, Gauges: slices.Clone(c.gauges), Recent: slices.Clone(c.view.recent[:len(c.cfg.Ops)]),
		Together: c.view.recent[len(c.cfg.Ops)],
	}
	if prev != nil && c.win.second == prev.open {
		s.Ops, s.All, s.Segments, s.Changes = slices.Clone(prev.Ops), prev.All, prev.Segments, prev.Changes
		s.Spreads, s.Silence, s.Undone = prev.Spreads, prev.Silence, prev.Undone
		s.Bucket, s.Timeline, s.Whole = prev.Bucket, prev.Timeline, prev.Whole
	} else {
		r := c.all.result(c.gauges)
		s.Ops, s.All, s.Segments, s.Changes = r.Ops, r.All, r.Segments, r.Changes
		for _, q := range r.Unanswered {
			if q.To-q.From >= time.Second {
				s.Silence = q
			}
		}
		for _, q := range r.Undone {
			if q.To-q.From >= time.Second {
				s.Undone = append(s.Undone, q)
			}
		}
		s.Spreads = make([][]Spread, len(c.all.spreads))
		for op, l := range c.all.spreads {
			s.Spreads[op] = l.list
		}
		var lines [][]Point
		s.Bucket, lines = c.view.timelines()
		s.Timeline, s.Whole = lines[:len(c.cfg.Ops)], lines[len(c.cfg.Ops)]
	}
	s.open = c.win.second
	s.Errors, s.Messages = c.all.errorCounts(), c.log.messages()
	ctl := c.cfg.Source.Control()
	s.Pauses, s.Paused = ctl.Pauses, s.Silence.Paused(ctl.Pauses)
	s.Changes, s.Marks, s.Phases, s.Ran, s.Total = ctl.Changes, ctl.Marks, ctl.Phases, ctl.Ran, ctl.Total
	for op := range c.cfg.Ops {
		s.Ops[op].Count, s.Ops[op].Errors = c.all.ops[op].count, c.all.ops[op].errors
		if c.win.second >= 0 {
			c.win.counts(&s.Ops[op], op)
		}
		if op >= len(c.cfg.Parts) || !c.cfg.Parts[op] {
			s.Done += s.Ops[op].Count
		}
	}
	c.snap.Store(s)
}

// readTracks reads the state of each track. A schedule knows no end: what is due beyond the
// units that a track has left is no backlog.
func (c *Collector) readTracks() {
	c.cfg.Source.Gauges(c.gauges)
	for i, n := range c.cfg.Plans {
		if n <= 0 || c.gauges[i].Backlog == 0 {
			continue
		}
		for op, track := range c.cfg.OpTrack {
			if track != i || op < len(c.cfg.Parts) && c.cfg.Parts[op] {
				continue
			}
			t := Totals{Count: c.all.ops[op].count, Errors: c.all.ops[op].errors}
			if c.win.second >= 0 {
				c.win.counts(&t, op)
			}
			n -= t.Count + t.Errors
		}
		c.gauges[i].Backlog = min(c.gauges[i].Backlog, max(n, 0))
	}
}

func (c *Collector) inFlight(now int64) {
	for i := range c.gauges {
		c.gauges[i].InFlight, c.gauges[i].Oldest, c.gauges[i].OldestDue = 0, 0, 0
	}
	c.intake.calling(func(track int, due, since int64) {
		g := &c.gauges[track]
		g.OldestDue = max(g.OldestDue, time.Duration(now-c.skip.since(due)))
		if since == none {
			return
		}
		g.InFlight++
		g.Oldest = max(g.Oldest, time.Duration(now-c.skip.since(since)))
	})
}
