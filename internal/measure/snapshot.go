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
		Apart: c.cfg.Apart, Gauges: slices.Clone(c.gauges), Recent: slices.Clone(c.recent),
	}
	if prev != nil && c.second == prev.open {
		s.Ops, s.Segments, s.Errors, s.Changes = slices.Clone(prev.Ops), prev.Segments, prev.Errors, prev.Changes
		s.Spreads = prev.Spreads
	} else {
		r := c.result()
		s.Ops, s.Segments, s.Errors, s.Changes = r.Ops, r.Segments, r.Errors, r.Changes
		s.Spreads = make([][]Spread, len(c.spreads))
		for op, l := range c.spreads {
			s.Spreads[op] = l.list
		}
	}
	if prev != nil && c.passed == prev.passed {
		s.Bucket, s.Timeline = prev.Bucket, prev.Timeline
	} else {
		s.Bucket, s.Timeline = c.drawn()
	}
	s.open, s.passed = c.second, c.passed
	s.Messages = c.log.messages()
	ctl := c.cfg.Source.Control()
	s.Changes, s.Marks, s.Phases, s.Ran, s.Total = ctl.Changes, ctl.Marks, ctl.Phases, ctl.Ran, ctl.Total
	for op := range c.cfg.Ops {
		s.Ops[op].Count, s.Ops[op].Errors = c.whole[op].count, c.whole[op].errors
		if c.second >= 0 {
			c.addOpen(&s.Ops[op], op)
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
			t := Totals{Count: c.whole[op].count, Errors: c.whole[op].errors}
			if c.second >= 0 {
				c.addOpen(&t, op)
			}
			n -= t.Count + t.Errors
		}
		c.gauges[i].Backlog = min(c.gauges[i].Backlog, max(n, 0))
	}
}

// addOpen adds an operation's counts in the second in progress.
func (c *Collector) addOpen(to *Totals, op int) {
	for _, a := range []*accumulator{&c.sum, &c.accs[0]} {
		for _, t := range a.ops[op] {
			to.Count, to.Errors = to.Count+t.count, to.Errors+t.errors
		}
	}
}

func (c *Collector) inFlight(now int64) {
	for i := range c.gauges {
		c.gauges[i].InFlight, c.gauges[i].Oldest = 0, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.shards {
		if since := s.since.Load(); since != none {
			g := &c.gauges[s.track]
			g.InFlight++
			g.Oldest = max(g.Oldest, time.Duration(now-c.skip.since(since)))
		}
	}
}

// maxPoints is how many buckets a timeline may have before they double.
const maxPoints = 480

// timeline is the whole run of one operation in at most maxPoints buckets. When
// they run out, neighbours are joined; until then, past buckets do not change.
type timeline struct {
	points []Point
	width  time.Duration
}

// point returns the row as a bucket of a timeline that begins at at.
func (r Row) point(at time.Duration) Point {
	return Point{
		At: at, Count: r.Count, Errors: r.Errors, Seconds: r.Seconds, ResponseP50: r.ResponseP50, ResponseP99: r.ResponseP99,
		ResponseMax: r.ResponseMax, ServiceP99: r.ServiceP99, Backlog: r.Backlog, Oldest: r.Oldest, Segment: r.Segment, Warmup: at < 0,
	}
}

func (l *timeline) add(p Point) {
	if l.width == 0 {
		l.width = time.Second
	}
	l.points = l.join(slices.Clip(l.points), p)
	for len(l.points) > maxPoints {
		l.width *= 2
		var wide []Point
		for _, p := range l.points {
			wide = l.join(wide, p)
		}
		l.points = wide
	}
}

// join appends p, or merges it into the last point if both lie in one bucket. It
// does not modify points that have been published.
func (l *timeline) join(points []Point, p Point) []Point {
	p.At = floorTo(p.At, l.width)
	n := len(points)
	if n == 0 || points[n-1].At != p.At || points[n-1].Warmup != p.Warmup {
		return append(points, p)
	}
	last := points[n-1]
	last.Count += p.Count
	last.Errors += p.Errors
	last.Seconds += p.Seconds
	last.ResponseP50 = max(last.ResponseP50, p.ResponseP50)
	last.ResponseP99 = max(last.ResponseP99, p.ResponseP99)
	last.ResponseMax = max(last.ResponseMax, p.ResponseMax)
	last.ServiceP99 = max(last.ServiceP99, p.ServiceP99)
	last.Backlog = max(last.Backlog, p.Backlog)
	last.Oldest = max(last.Oldest, p.Oldest)
	last.Segment = p.Segment
	return append(slices.Clone(points[:n-1]), last)
}

func floorTo[T ~int | ~int64](t, width T) T {
	m := t % width
	if m < 0 {
		m += width
	}
	return t - m
}

// drawn returns the timelines of the run so far, in steps until the first second
// without steps has closed.
func (c *Collector) drawn() (time.Duration, [][]Point) {
	if c.young > 0 && c.second <= c.first+c.young {
		return Step, slices.Clone(c.steps)
	}
	clear(c.steps)
	return c.timelines()
}

// timelines returns all timelines, in buckets of one common width.
func (c *Collector) timelines() (time.Duration, [][]Point) {
	width := time.Second
	for _, l := range c.lines {
		width = max(width, l.width)
	}
	out := make([][]Point, len(c.lines))
	for op, l := range c.lines {
		if l.width == width || l.width == 0 {
			out[op] = l.points
			continue
		}
		wide := timeline{width: width}
		for _, p := range l.points {
			wide.points = wide.join(wide.points, p)
		}
		out[op] = wide.points
	}
	return width, out
}
