package rundir

import (
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// Fault is the account of one fault of the timetable: what the callers lost by it, and when all
// was as before. Times are in seconds, to some hundredths, or those of the series to the end of a
// whole one; units are the run's.
type Fault struct {
	// Kind and Size are as in --at: "delay", "5ms"; "exec", "./failover.sh"; Size is "on" for a fault
	// without one.
	Kind string `json:"kind"`
	Size string `json:"size"`
	// From and To count from when measurement began. Healed is false if the run ended first.
	From   float64 `json:"from_s"`
	To     float64 `json:"to_s"`
	Healed bool    `json:"healed"`
	// Due is how many units fell due from From to To; nil in closed loop. Done and Failed are
	// how many units were done and calls failed in the seconds of the fault, Waiting the most
	// units that were due and not begun, until all was as before.
	Due     *float64 `json:"due,omitempty"`
	Done    int64    `json:"done"`
	Failed  int64    `json:"failed"`
	Waiting int64    `json:"waiting"`
	// Classes are the calls that failed in the seconds of the fault by class, Retries is how many
	// were tried again in them, which are no errors. Neither is known of a run that did not come to
	// its end.
	Classes map[string]int64 `json:"failed_by_class,omitempty"`
	Retries int64            `json:"retries,omitempty"`
	// Connections is how many connections the client opened from the fault until all was as before,
	// Redirects how often a server sent it to another; 0 if that is not known.
	Connections int64 `json:"connections,omitempty"`
	Redirects   int64 `json:"redirects,omitempty"`
	// Silent is the longest time in which nothing was done, Longest the longest response time of
	// what was done, from the fault until all was as before.
	Silent  float64 `json:"silent_s"`
	Longest float64 `json:"longest_s"`
	// FirstError is from the beginning of the fault to the first error; nil: there was none.
	FirstError *float64 `json:"first_error_s"`
	// FirstDone is from the end of the fault until something was done, Recovered until throughput
	// and p99 were as before; nil if that did not happen, or cannot be told, for the reason Why.
	FirstDone *float64 `json:"first_success_s"`
	Recovered *float64 `json:"recovered_s"`
	Why       string   `json:"why,omitempty"`
}

const (
	// usualMost and usualLeast are how many undisturbed seconds before a fault say what is usual.
	usualMost, usualLeast = 30, 5
	// backFor is how many seconds in a row have to be as before.
	backFor = 3
)

// Name names the fault as --at does: "delay:5ms", "pause".
func (f *Fault) Name() string {
	if f.Size == "on" {
		return f.Kind
	}
	return f.Kind + ":" + f.Size
}

// FaultsOf gives the account of every fault of a run's timetable, the earliest first, from the
// run's changes and series. Nothing of what it returns belongs to the folder.
//
// As before means: throughput and p99 are within what they were in the undisturbed seconds before
// the fault, widened by their own range. Three seconds in a row have to be so.
func FaultsOf(f *Folder) []Fault {
	list := FaultSpans(&f.Run)
	if len(list) == 0 || len(f.Series) == 0 {
		return list
	}
	s := perSecondOf(f)
	for i := range list {
		s.account(&list[i], list)
	}
	return list
}

// FaultSpans returns when which faults were.
func FaultSpans(r *Run) []Fault {
	var out []Fault
	under := map[int]int{} // index in out of the fault of each kind that has not ended
	for _, c := range r.Changes {
		kind, ok := workload.FaultSetting(c.Name)
		if !ok {
			continue
		}
		if i, ok := under[kind]; ok {
			out[i].To, out[i].Healed = c.At, true
			delete(under, kind)
		}
		if c.To != 0 {
			k := &workload.FaultKinds()[kind]
			under[kind] = len(out)
			out = append(out, Fault{Kind: k.Name, Size: workload.FaultSize(k, c.To, r.Commands), From: c.At, To: r.MeasuredS})
		}
	}
	return out
}

// perSecond is what the account is made from, by second of the series.
type perSecond struct {
	incidents     []incident
	counts        map[[2]string]bool // the operations that count
	first         int                // the second of the first value
	done, failed  []int64
	waiting       []int64
	due           []float64 // NaN in closed loop
	rates         []float64
	p99, slowest  []float64
	otherSettings []float64         // when settings other than faults changed
	silences      []measure.Silence // exact, or else whole seconds
	exact, sound  []measure.Silence // nil if that is not known
}

func perSecondOf(f *Folder) *perSecond {
	line := Of(f)
	n := len(line.Rates)
	s := &perSecond{
		silences: f.Run.Silences, exact: f.Run.Silences, sound: f.Run.Sound,
		first: line.First, rates: line.Rates, p99: line.P99, slowest: line.Max,
		done: make([]int64, n), failed: make([]int64, n), waiting: make([]int64, n), due: Gaps(n),
	}
	counts := map[[2]string]bool{}
	for _, o := range f.Run.Operations {
		counts[[2]string{o.Track, o.Op}] = f.Run.Counts(o)
	}
	s.incidents, s.counts = f.incidents, counts
	type place struct {
		track string
		i     int
	}
	rates, backlogs := map[place]float64{}, map[place]int64{} // the operations of a track share them
	for _, r := range f.Series {
		i := r.T - s.first
		if i < 0 || i >= n || !counts[[2]string{r.Track, r.Op}] {
			continue
		}
		s.done[i] += r.Count
		s.failed[i] += r.Errors
		at := place{r.Track, i}
		rates[at], backlogs[at] = max(rates[at], r.Rate), max(backlogs[at], r.Backlog)
	}
	for at, v := range rates {
		if v > 0 {
			s.due[at.i] = known(s.due[at.i]) + v
		}
		s.waiting[at.i] += backlogs[at]
	}
	if s.silences == nil {
		s.silences = s.idle(f.Run.MeasuredS)
	}
	for _, c := range f.Run.Changes {
		if _, ok := workload.FaultSetting(c.Name); !ok {
			s.otherSettings = append(s.otherSettings, c.At)
		}
	}
	return s
}

// end returns the second after the last.
func (s *perSecond) end() int { return s.first + len(s.rates) }

// seconds returns the seconds of a fault, from one to the one after the last: those that lie in it
// for the most part, or else the one in which it began. Faults begin and end some tenths of a
// millisecond after they were to.
func (s *perSecond) seconds(f *Fault) (from, to int) {
	from, to = int(math.Round(f.From)), int(math.Round(f.To))
	if to <= from {
		from = int(math.Floor(f.From))
		to = from + 1
	}
	return from, min(to, s.end())
}

// account fills in what is known of a fault, one of all.
func (s *perSecond) account(f *Fault, all []Fault) {
	from, to := s.seconds(f)
	for t := max(from, s.first); t < to; t++ {
		i := t - s.first
		f.Done += s.done[i]
		f.Failed += s.failed[i]
	}
	for i, rate := range s.due {
		at := float64(s.first + i)
		if share := min(f.To, at+1) - max(f.From, at); !math.IsNaN(rate) && share > 0 {
			if f.Due == nil {
				f.Due = new(float64)
			}
			*f.Due += rate * share
		}
	}
	until := s.recovery(f, all, to)
	s.worst(f, max(from, s.first), until)
	tell(s.incidents, f, from, to, until, s.counts)
}

// recovery finds when all was as before, from a second on, and returns the second up to which the
// fault had effects.
func (s *perSecond) recovery(f *Fault, all []Fault, from int) int {
	switch {
	case !f.Healed:
		f.Why = "it lasted to the end of the run"
		return s.end()
	case slices.ContainsFunc(all, func(g Fault) bool { return g.From < f.To && g.To > f.To }):
		f.Why = "another fault went on when it ended"
		return from
	}
	low, high, ok := s.usual(f, all)
	if !ok {
		f.Why = "fewer than five undisturbed seconds before it say what is usual"
	}
	row := 0
	for t := from; t < s.end(); t++ {
		i := t - s.first
		for _, g := range all {
			if g.From > f.To && g.From < float64(t+1) {
				f.Why = "another fault began before all was as before"
				return t
			}
		}
		if ok && slices.ContainsFunc(s.otherSettings, func(at float64) bool { return at > f.From && at < float64(t+1) }) {
			f.Why, ok = "settings were changed before all was as before", false
		}
		if s.rates[i] >= low && s.p99[i] <= high {
			row++
		} else {
			row = 0
		}
		if ok && row == backFor {
			f.Recovered = new(max(float64(t+1-backFor)-f.To, 0))
			return t + 1 - backFor
		}
	}
	if f.Why == "" {
		f.Why = "the run ended before three seconds in a row were as before"
	}
	return s.end()
}

// usual returns the lowest throughput and the highest p99 that are as before a fault; false if too
// little is known of what was before it.
func (s *perSecond) usual(f *Fault, all []Fault) (low, high float64, ok bool) {
	begin := 0.0
	for _, at := range s.otherSettings {
		if at <= f.From {
			begin = max(begin, at)
		}
	}
	for _, g := range all {
		switch {
		case g.From >= f.From:
		case g.Recovered != nil:
			begin = max(begin, g.To+*g.Recovered)
		default:
			begin = max(begin, g.To)
		}
	}
	var rates, p99 []float64
	for t := int(math.Floor(f.From)) - 1; float64(t) >= begin && len(rates) < usualMost; t-- {
		if i := t - s.first; i >= 0 && i < len(s.rates) && !math.IsNaN(s.rates[i]) && !math.IsNaN(s.p99[i]) {
			rates, p99 = append(rates, s.rates[i]), append(p99, s.p99[i])
		}
	}
	if len(rates) < usualLeast {
		return 0, 0, false
	}
	slices.Sort(p99)
	top := p99[len(p99)-1]
	least, most := slices.Min(rates), slices.Max(rates)
	return 2*least - most, top * top / p99[len(p99)/2], true
}

// worst finds the figures that are about the fault and what came of it, up to a second.
func (s *perSecond) worst(f *Fault, from, until int) {
	for t := from; t < until; t++ {
		i := t - s.first
		f.Waiting = max(f.Waiting, s.waiting[i])
		if s.slowest[i] > 0 { // NaN is a gap
			f.Longest = max(f.Longest, s.slowest[i]/1e9)
		}
		if s.failed[i] > 0 && f.FirstError == nil {
			f.FirstError = new(after(s.sound, f.From, float64(t+1)))
		}
	}
	for _, q := range s.silences {
		if q.From.Seconds() < float64(until) && q.To.Seconds() > f.From {
			f.Silent = max(f.Silent, (q.To - q.From).Seconds())
		}
	}
	for t := int(math.Floor(f.To)); f.Healed && t < s.end() && f.FirstDone == nil; t++ {
		if i := t - s.first; i >= 0 && s.done[i] > 0 {
			f.FirstDone = new(after(s.exact, f.To, float64(t+1)))
		}
	}
}

// after returns how long after a moment something happened first that did not happen in the given
// times: 0 for less than a tenth of a second. If they are not known, it is how many seconds at most, by
// end, that of the second in which it did.
func after(without []measure.Silence, at, end float64) float64 {
	if without == nil {
		return math.Ceil(max(end-at, 0))
	}
	for _, q := range without {
		if q.From.Seconds() <= at+measure.SilenceSlot.Seconds() && q.To.Seconds() > at {
			return q.To.Seconds() - at
		}
	}
	return 0
}
