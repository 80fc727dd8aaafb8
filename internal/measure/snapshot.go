package measure

import (
	"slices"
	"time"
)

// publish makes a new snapshot. Counts are those of this instant; percentiles
// are as of the last finished second, for they cost more.
func (c *Collector) publish(now int64) {
	c.cfg.Source.Gauges(c.gauges)
	c.inFlight(now)
	c.number++
	prev := c.snap.Load()
	s := &Snapshot{
		Number: c.number, At: time.Duration(now), Began: time.Duration(c.cfg.Start), Tracks: c.cfg.Tracks,
		Apart: c.cfg.Apart, Gauges: slices.Clone(c.gauges), Recent: slices.Clone(c.recent),
	}
	if prev != nil && c.second == prev.open {
		s.Ops, s.Segments, s.Errors, s.Changes, s.Timeline, s.Bucket = slices.Clone(prev.Ops), prev.Segments, prev.Errors, prev.Changes, prev.Timeline, prev.Bucket
		s.Spreads = prev.Spreads
	} else {
		r := c.result()
		s.Ops, s.Segments, s.Errors, s.Changes = r.Ops, r.Segments, r.Errors, r.Changes
		s.Bucket, s.Timeline = c.timelines()
		s.Spreads = make([][]Spread, len(c.spreads))
		for op, l := range c.spreads {
			s.Spreads[op] = l.list
		}
	}
	s.open = c.second
	s.Messages = c.log.messages()
	ctl := c.cfg.Source.Control()
	s.Changes, s.Marks, s.Phases, s.Ran, s.Total = ctl.Changes, ctl.Marks, ctl.Phases, ctl.Ran, ctl.Total
	s.Current = make([]Row, len(c.cfg.Ops))
	for op := range c.cfg.Ops {
		s.Current[op] = c.current(op, now)
		s.Ops[op].Count, s.Ops[op].Errors = c.whole[op].count, c.whole[op].errors
		if c.second >= 0 {
			s.Ops[op].Count += s.Current[op].Count
			s.Ops[op].Errors += s.Current[op].Errors
		}
		if op >= len(c.cfg.Parts) || !c.cfg.Parts[op] {
			s.Done += s.Ops[op].Count
		}
	}
	c.snap.Store(s)
}

// current describes the second in progress.
func (c *Collector) current(op int, now int64) Row {
	from := int64(c.second) * int64(time.Second)
	r := Row{T: c.second, Op: op, Gauge: c.gauges[c.cfg.OpTrack[op]], Seconds: max(time.Duration(now-max(from, c.cfg.Start)).Seconds(), 0)}
	if t := merged(c.accs[0].ops[op]); t != nil {
		fillRow(&r, t)
	}
	return r
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

// timeline is the whole run of one operation in at most maxPoints buckets: when
// they run out, neighbours join. Past buckets are drawn the same until then.
type timeline struct {
	points []Point
	width  int
}

func (l *timeline) add(r Row) {
	if l.width == 0 {
		l.width = 1
	}
	p := Point{
		T: r.T, Count: r.Count, Errors: r.Errors, Seconds: r.Seconds, ResponseP50: r.ResponseP50, ResponseP99: r.ResponseP99,
		ResponseMax: r.ResponseMax, ServiceP99: r.ServiceP99, Backlog: r.Backlog, Oldest: r.Oldest, Segment: r.Segment, Warmup: r.T < 0,
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

// join appends p, or adds it to the last point when both lie in one bucket. It
// does not change points that have been published.
func (l *timeline) join(points []Point, p Point) []Point {
	p.T = floorTo(p.T, l.width)
	n := len(points)
	if n == 0 || points[n-1].T != p.T || points[n-1].Warmup != p.Warmup {
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

func floorTo(t, width int) int {
	m := t % width
	if m < 0 {
		m += width
	}
	return t - m
}

// timelines returns all timelines in buckets of one common width.
func (c *Collector) timelines() (int, [][]Point) {
	width := 1
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
