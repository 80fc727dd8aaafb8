package measure

import (
	"slices"
	"time"
)

// skip is time that was left out of the warm-up: the run's time was moved forward
// by by, to the moment at. The zero value means none.
type skip struct{ at, by int64 }

// across reports whether an interval contains the skipped time.
func (s skip) across(from, to int64) bool { return s.by > 0 && from < s.at && to >= s.at }

// since returns when something would have begun if the skipped time had never
// existed.
func (s skip) since(moment int64) int64 {
	if moment < s.at {
		return moment + s.by
	}
	return moment
}

// Skip shifts everything collected by whole seconds, in ns, as the run's time has
// just been shifted during warm-up. Only Config.Sink may call it; the second
// passed to the sink keeps its number.
func (c *Collector) Skip(by int64) {
	n := int(by / int64(time.Second))
	c.skip = skip{c.cfg.Source.Now(), by}
	c.first += n
	c.second += n
	c.until += by
	c.cfg.Start += by
	c.log.moveOn(time.Duration(by))
	for op := range c.recent {
		c.recent[op] = slices.Clone(c.recent[op]) // published slices stay as they are
		for i := range c.recent[op] {
			c.recent[op][i].T += n
		}
		l := &c.lines[op]
		l.points = movedOn(l.points, time.Duration(by), max(l.width, time.Second))
		c.steps[op] = movedOn(c.steps[op], time.Duration(by), Step)
	}
}

// movedOn returns the points shifted by by, in buckets of the given width.
func movedOn(points []Point, by, width time.Duration) []Point {
	points = slices.Clone(points)
	for i, p := range points {
		points[i].At = floorTo(p.At+by, width)
	}
	return points
}
