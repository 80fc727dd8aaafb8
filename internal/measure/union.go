package measure

// union adds up the response times of several operations. It is used by one goroutine.
type union struct {
	one *hist // of the only operation so far; nil: there is none, or several are in sum
	sum *hist
}

// reset takes everything out.
func (u *union) reset() {
	if u.one = nil; u.sum != nil {
		u.sum.reset()
	}
}

// add adds the calls of an operation, which must not change before summary or hist.
func (u *union) add(t *times) {
	if t == nil || t.calls() == 0 {
		return
	}
	h := t.views().response
	if u.one == nil && (u.sum == nil || u.sum.total == 0) {
		u.one = h
		return
	}
	grow(&u.sum).merge(u.one)
	u.sum.merge(h)
	u.one = nil
}

// hist returns what was added, valid until the next reset; nil: nothing was.
func (u *union) hist() *hist {
	if u.one != nil {
		return u.one
	}
	if u.sum == nil || u.sum.total == 0 {
		return nil
	}
	return u.sum
}

// summary summarizes what was added.
func (u *union) summary() Summary {
	if h := u.hist(); h != nil {
		return h.summary()
	}
	return Summary{}
}

// together adds up the rows of a step or a second of the operations that count.
type together struct {
	cfg  *Config
	sum  Row
	some bool
	*union
}

// together begins with none. What it adds up is valid until it is called again.
func (c *Collector) together() together {
	c.all.union.reset()
	return together{cfg: &c.cfg, union: &c.all.union, sum: Row{T: c.win.second, Op: len(c.cfg.Ops)}}
}

// add adds an operation that counts: its row, and its times or nil.
func (a *together) add(r Row, t *times) {
	if !a.cfg.counts(r.Op) {
		return
	}
	a.some = true
	a.sum.Count, a.sum.Errors, a.sum.Seconds, a.sum.Segment = a.sum.Count+r.Count, a.sum.Errors+r.Errors, max(a.sum.Seconds, r.Seconds), r.Segment
	a.sum.Backlog, a.sum.Oldest = a.sum.Backlog+r.Backlog, max(a.sum.Oldest, r.Oldest)
	a.union.add(t)
}

// row returns the sum, and whether any operation ran that counts.
func (a *together) row() (Row, bool) {
	if h := a.hist(); h != nil {
		a.sum.ResponseP50, a.sum.ResponseP99, a.sum.ResponseMax = h.at(50), h.at(99), h.top()
	}
	return a.sum, a.some
}
