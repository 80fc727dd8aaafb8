package rundir

import (
	"cmp"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/verdict"
)

// Of outages: how long one is at least, and how many units would have been done in that time, so that
// it is no chance.
const (
	leastOutage = time.Second
	leastMissed = 10
	// leastEmptied is for how long at least a store answers without its records, so that it is told.
	leastEmptied = 100 * time.Millisecond
)

// idle returns the measured seconds in which nothing was done, where no more is known of a run.
func (s *perSecond) idle(measured float64) (out []measure.Silence) {
	for i := max(-s.first, 0); i < len(s.done); i++ {
		from := i
		for i < len(s.done) && s.done[i] == 0 && float64(s.first+i+1) <= measured {
			i++
		}
		if i > from {
			out = append(out, measure.Silence{From: time.Duration(s.first+from) * time.Second, To: time.Duration(s.first+i) * time.Second})
		}
	}
	return out
}

// outages returns those silences with calls due or under way that are outages: a second or more in which nothing was
// done, though neither a pause nor a low rate was the reason, nor calls that take as long.
func outages(r *Run, silences []measure.Silence) (out []verdict.Outage) {
	var done, p50 int64
	for _, o := range r.Operations {
		if r.Counts(o) {
			done, p50 = done+o.Count, max(p50, o.Service.P50)
		}
	}
	for _, q := range silences {
		o, long := verdict.Outage{From: q.From.Seconds(), To: q.To.Seconds()}, q.To-q.From
		missed := float64(done) * long.Seconds() / r.MeasuredS
		for _, s := range r.Segments {
			if threads, ok := s.Settings["threads"]; s.From < o.To && s.To > o.From && (s.Settings["paused"] != 0 || ok && threads == 0) {
				missed = 0
			} else if rate := s.Settings["rate"]; s.From < o.To && s.To > o.From && rate > 0 {
				missed = min(missed, rate*long.Seconds())
			}
		}
		if long >= max(leastOutage, 2*time.Duration(p50)) && missed >= leastMissed && r.works(o.From, o.To) {
			out = append(out, o)
		}
	}
	return out
}

// without returns what is left of times without others, where that is long enough to be told.
func without(list, others []verdict.Outage) (out []verdict.Outage) {
	for _, o := range list {
		for _, x := range others {
			if x.To <= o.From || x.From >= o.To {
				continue
			}
			if x.From-o.From >= leastEmptied.Seconds() {
				out = append(out, verdict.Outage{From: o.From, To: x.From})
			}
			o.From = x.To
		}
		if o.To-o.From >= leastEmptied.Seconds() {
			out = append(out, o)
		}
	}
	return out
}

// Idle returns when nothing was done in a run, in order: its outages, and when the store answered without
// its records.
func Idle(f *Folder) []verdict.Outage {
	out := slices.Concat(f.Run.Outages, f.Run.Emptied)
	slices.SortFunc(out, func(a, b verdict.Outage) int { return cmp.Compare(a.From, b.From) })
	return out
}

// works reports whether a time is in a phase whose work counts.
func (r *Run) works(from, to float64) bool {
	return len(r.Phases) == 0 || slices.ContainsFunc(r.Phases, func(p Phase) bool {
		return p.From <= from+0.5 && to <= p.To+0.5 &&
			slices.ContainsFunc(r.Operations, func(o Operation) bool { return r.Counts(o) && slices.Contains(p.Tracks, o.Track) })
	})
}
