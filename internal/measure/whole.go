package measure

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// segment holds the histograms of one segment, packed once the next has begun.
type segment struct {
	live   []*times
	rest   []packedTimes
	totals []Totals // of rest; nil: not computed yet
	all    Summary  // likewise
}

// whole is all that was measured up to the last closed second: by operation, by segment, and
// what failed.
type whole struct {
	cfg    *Config
	log    *errorLog
	ops    []*times
	segs   []*segment
	errs   map[errorKey]int64
	tally  tally
	stages stages
	// arrivals are those of each track, and joined those of other processes.
	arrivals []arrivals
	joined   Joined
	accounts []accounts // of each track
	doneAt   moments    // when something was done that counts
	failedAt moments    // when a call failed of what counts
	lostAt   moments    // when the store answered without a record that it had acknowledged
	openAt   moments    // when a call that counts was due or under way
	spreads  []spreads
	control  Control
	paused   []Span // when the run was paused, as of the last result
	until    int64  // the end of the last closed second
	union    union
}

func newWhole(cfg *Config, log *errorLog) whole {
	n := len(cfg.Ops)
	a := whole{cfg: cfg, log: log, ops: make([]*times, n), errs: map[errorKey]int64{}, tally: newTally(cfg), stages: newStages(cfg), arrivals: make([]arrivals, len(cfg.Tracks)), accounts: make([]accounts, len(cfg.Tracks)), spreads: make([]spreads, n)}
	for i := range a.ops {
		a.ops[i] = &times{}
	}
	if cfg.Increment != nil {
		for i := range a.arrivals {
			a.arrivals[i].news = new([openSpans]spanCounts)
		}
	}
	return a
}

func (a *whole) segment(i int) *segment {
	for len(a.segs) <= i {
		if n := len(a.segs); n > 0 {
			a.segs[n-1].pack()
		}
		s := &segment{live: make([]*times, len(a.cfg.Ops))}
		for op := range s.live {
			s.live[op] = &times{}
		}
		a.segs = append(a.segs, s)
	}
	return a.segs[i]
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

// digest summarizes the segment: each operation, and all calls that count as one.
func (s *segment) digest(cfg *Config, u *union) ([]Totals, Summary) {
	if s.totals != nil {
		return slices.Clone(s.totals), s.all
	}
	out := make([]Totals, len(cfg.Ops))
	u.reset()
	for op := range cfg.Ops {
		t := &times{}
		if s.live != nil {
			t = s.live[op]
		} else {
			s.rest[op].into(t)
		}
		out[op] = t.totals(cfg.Ops[op])
		out[op].InTime = t.inTime(cfg.Deadline)
		if cfg.counts(op) {
			u.add(t)
		}
	}
	all := u.summary()
	if s.live == nil {
		s.totals, s.all = slices.Clone(out), all
	}
	return out, all
}

// result summarizes the run up to the last closed second; gauges are the state of its
// tracks.
func (a *whole) result(gauges []Gauge) *Result {
	ctl := &a.control
	r := &Result{
		Changes: ctl.Changes, Marks: ctl.Marks, Messages: a.log.messages(), Errors: a.errorCounts(),
		Ops: make([]Totals, len(a.cfg.Ops)), Shares: a.tally.shares(a.cfg.Tracks, gauges), Stages: a.stages.summaries(),
	}
	a.union.reset()
	for op := range a.cfg.Ops {
		r.Ops[op] = a.ops[op].totals(a.cfg.Ops[op])
		r.Ops[op].InTime = a.ops[op].inTime(a.cfg.Deadline)
		if a.cfg.counts(op) {
			a.union.add(a.ops[op])
		}
	}
	r.All = a.union.summary()
	a.paused = pausedIn(a.paused[:0], ctl.Segments)
	for _, sp := range ctl.Spans {
		r.Measured = max(r.Measured, time.Duration(min(sp.To, a.until)))
	}
	for _, p := range ctl.Ran {
		if p.To = min(p.To, time.Duration(a.until)); p.From < p.To {
			r.Phases = append(r.Phases, p)
		}
	}
	for i, info := range ctl.Segments {
		if i > 0 && int64(info.From) >= a.until {
			break // opened after the last closed second
		}
		info.To = min(info.To, r.Measured)
		s := Segment{From: info.From, To: info.To, Settings: info.Settings, SettingsEnd: info.SettingsEnd}
		s.Ops, s.All = a.segment(i).digest(a.cfg, &a.union)
		a.fill(s.Ops, info.Unstarted, int64(info.From), int64(info.To))
		for track := range a.arrivals {
			how, ok := a.arrivals[track].in(i)
			if !ok {
				how, ok = a.joined.In(track, i)
			}
			if ok {
				how.Track = a.cfg.Tracks[track]
				s.Arrivals = append(s.Arrivals, how)
			}
			if acc, ok := a.account(track, i, s.Ops); ok {
				s.Accounts = append(s.Accounts, acc)
			}
		}
		r.Segments = append(r.Segments, s)
		for op := range r.Ops {
			r.Ops[op].Unstarted += s.Ops[op].Unstarted
		}
	}
	a.fill(r.Ops, nil, 0, int64(r.Measured))
	r.Sessions = a.sessions(gauges, r.Ops)
	r.Silences, r.Sound = a.doneAt.silences(r.Measured), a.failedAt.silences(r.Measured)
	r.Undone = a.openAt.within(r.Silences)
	r.Unanswered = r.Undone
	if len(a.lostAt.slots) > 0 {
		answered := a.doneAt.or(&a.lostAt)
		r.Unanswered = a.openAt.within(answered.silences(r.Measured))
	}
	return r
}

// pausedIn appends when the run was paused.
func pausedIn(list []Span, segments []SegmentInfo) []Span {
	for i := range segments {
		if s := &segments[i]; s.Settings["paused"] != 0 {
			list = append(list, Span{From: int64(s.From), To: int64(s.To), Begun: true})
		}
	}
	return list
}

// fill adds to totals what the engine knows: how long the track ran within the
// interval, pauses left out, and what never started.
func (a *whole) fill(ops []Totals, unstarted []int64, from, to int64) {
	for op, track := range a.cfg.OpTrack {
		if len(a.control.Spans) > track {
			ran := a.control.Spans[track]
			ops[op].Active = ran.within(from, to)
			for _, p := range a.paused {
				ops[op].Active -= ran.within(max(from, p.From), min(to, p.To))
			}
		}
	}
	for track, n := range unstarted {
		a.spread(ops, track, n)
	}
}

// spread divides what a track never sent among its operations that count, by what they did: which operation a call
// is of is drawn when it is sent. Where none did anything, the first has it all.
func (a *whole) spread(ops []Totals, track int, never int64) {
	var of []int
	var done int64
	for op := range ops {
		if a.cfg.OpTrack[op] == track && a.cfg.counts(op) && ops[op].Count > 0 {
			of, done = append(of, op), done+ops[op].Count
		}
	}
	if len(of) == 0 {
		if op := slices.Index(a.cfg.OpTrack, track); op >= 0 {
			ops[op].Unstarted = never
		}
		return
	}
	for _, op := range of { // what is left over by rounding goes to the last
		n := int64(math.Round(float64(never) * float64(ops[op].Count) / float64(done)))
		ops[op].Unstarted = n
		never, done = never-n, done-ops[op].Count
	}
}

func (a *whole) errorCounts() []ErrorCount {
	var out []ErrorCount
	for k, n := range a.errs {
		out = append(out, ErrorCount{Operation: a.cfg.Ops[k.op], Class: className(a.cfg.Classes, k.class), Count: n})
	}
	slices.SortFunc(out, func(a, b ErrorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Track, b.Track), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Class, b.Class))
	})
	return out
}
