package measure

import "time"

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
	c.win.second += n
	c.all.until += by
	c.cfg.Start += by
	c.log.moveOn(time.Duration(by))
	c.view.moveOn(time.Duration(by))
}
