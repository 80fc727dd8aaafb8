package measure

import (
	"cmp"
	"slices"
)

// MostStaged is in how many segments stages are told apart: what comes in later ones counts in
// the last of these, so that a run whose settings change all the time does not grow without
// limit.
const MostStaged = 200

// stages are how long the stages took that operations pass on their way, by segment. They
// belong to the collector's goroutine.
type stages struct {
	n    int
	segs [][]distribution
	// news is what came since the last part, by stage and segment; nil: no parts are made.
	news map[stageKey]*distribution
}

func newStages(cfg *Config) stages {
	a := stages{n: cfg.Stages}
	if cfg.Increment != nil {
		a.news = map[stageKey]*distribution{}
	}
	return a
}

type stageKey struct{ stage, segment uint16 }

// IncrementStage is how long a stage took in one segment.
type IncrementStage struct {
	Stage, Segment uint16
	Times          packed
}

// add adds a value; what one of the segments before the last gets comes late.
func (a *stages) add(stage, segment uint16, ns int64) {
	segment = min(segment, MostStaged-1)
	a.of(stage, segment).record(ns)
	if a.news == nil {
		return
	}
	k := stageKey{stage, segment}
	if a.news[k] == nil {
		a.news[k] = &distribution{}
	}
	a.news[k].record(ns)
}

func (a *stages) of(stage, segment uint16) *distribution {
	for len(a.segs) <= int(segment) {
		a.segs = append(a.segs, make([]distribution, a.n))
	}
	return &a.segs[segment][stage]
}

// part returns what came since the last part.
func (a *stages) part() (out []IncrementStage) {
	for k, d := range a.news {
		if p := d.take(); len(p.Index) > 0 {
			out = append(out, IncrementStage{k.stage, k.segment, p})
		}
	}
	slices.SortFunc(out, func(a, b IncrementStage) int {
		return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.Stage, b.Stage))
	})
	return out
}

// merge adds what another process measured.
func (a *stages) merge(list []IncrementStage) {
	for _, s := range list {
		a.of(s.Stage, min(s.Segment, MostStaged-1)).merge(s.Times)
	}
}

// summaries are those of all segments so far, and has those before the last take little room.
func (a *stages) summaries() [][]Summary {
	out := make([][]Summary, len(a.segs))
	for i, seg := range a.segs {
		out[i] = make([]Summary, a.n)
		for stage := range seg {
			if d := &seg[stage]; i+1 < len(a.segs) {
				d.pack()
			}
			out[i][stage] = seg[stage].summary()
		}
	}
	return out
}

// distribution counts durations like a histogram, which takes 270 KB. At rest it takes only ten
// bytes for each bucket in use. The zero value is empty and at rest.
type distribution struct {
	live *hist // nil at rest
	rest packed
	sum  Summary // of rest
}

// record counts a duration in nanoseconds. Negative durations count as 0, those over an hour as
// an hour.
func (d *distribution) record(ns int64) { d.wake().record(ns, 1) }

// merge adds the counts of another one.
func (d *distribution) merge(p packed) { p.into(d.wake()) }

// wake makes d ready to grow.
func (d *distribution) wake() *hist {
	if d.live == nil {
		d.live = newHist()
		d.rest.into(d.live)
		d.rest, d.sum = packed{}, Summary{}
	}
	return d.live
}

// pack makes d small. Another value makes it grow again.
func (d *distribution) pack() {
	if d.live != nil {
		d.rest, d.sum, d.live = d.live.pack(), d.live.summary(), nil
	}
}

// take returns the counts, and empties d.
func (d *distribution) take() packed {
	h := d.wake()
	p := h.pack()
	h.reset()
	return p
}

// summary summarizes what has been counted so far.
func (d *distribution) summary() Summary {
	if d.live != nil {
		return d.live.summary()
	}
	return d.sum
}
