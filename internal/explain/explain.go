// Package explain says why a run went as it did: what was at its limit and held it
// back, with the figures that show it, or that this is unknown; and what coincided with
// unusual seconds. It is a pure function of the seconds of a run and of the samples
// taken beside them, the same for every profile and store.
package explain

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// Names of what may hold a run back.
const (
	Pacing  = "pacing"
	Fault   = "fault"
	Think   = "think time"
	Client  = "client CPU"
	Thread  = "store's main thread"
	Store   = "store CPU"
	Machine = "machine CPU"
	Sync    = "disk sync"
	Locks   = "locks"
	Pool    = "pool"
	Network = "network"
	Threads = "threads"
	Unknown = "unknown"
)

// leastSeconds is how many whole seconds a period must have for anything to be said
// about it.
const leastSeconds = 3

// choppy is said of segments that are 3 s long and have fewer whole seconds, and of several in a row.
var (
	choppyHint = fmt.Sprintf("settings changed too often; leave each for %d s or longer", leastSeconds+1)
	choppy     = unknown + ": " + choppyHint + "."
)

// pausedText is said of a pause that the user made, if it is leastPause long.
const (
	pausedText = "The run was paused, so nothing was done."
	leastPause = 1
)

// IsPause reports whether a part of a run is a pause that the user made, of which pacing is the resource
// though no rate paced it.
func IsPause(p rundir.WhyPart) bool { return p.Text == pausedText }

// Of explains a run. It needs its series and samples, not its histograms.
func Of(f *rundir.Folder) *rundir.Why {
	from, to := counting(&f.Run)
	whole := stretchOf(f, from, to)
	w := &rundir.Why{Parts: []rundir.WhyPart{}}
	var cuts []rundir.Stretch
	mixed := false
	for _, s := range f.Run.Stretches() {
		mixed = mixed || s.From > from && s.From < to
		least := float64(leastSeconds)
		if s.Settings["paused"] != 0 {
			least = leastPause
		}
		if s.From, s.To = max(s.From, from), min(s.To, to); s.To-s.From >= least {
			cuts = append(cuts, s)
		}
	}
	var before *stretch
	moved := shiftsIn(f)
	for _, s := range cuts {
		part := stretchOf(f, s.From, s.To)
		part.settings, part.end, part.before = s.Settings, s.End, before
		if !s.Ramp() && s.Last == s.First { // laws of means hold while settings do
			part.ops = s.Operations
		}
		one := part.part()
		repaced := one.Resource == Pacing && len(one.Uses) > 0 && before != nil && units.Number(part.asked) != units.Number(before.asked)
		if one.Text != pausedText {
			before = part
			if part.n < leastSeconds {
				one.Text, one.Hint = choppy, choppyHint
			}
		}
		parts := []rundir.WhyPart{one}
		switch edges := part.lateEdges(); {
		case one.Full: // it may have been there for a while only
			parts = part.split(shiftEdges(moved))
		case one.Resource == Pacing && len(edges) > 0:
			parts = part.split(edges)
		}
		if repaced { // what is said names the rate
			w.Parts, parts = append(w.Parts, parts[0]), parts[1:]
		}
		for _, p := range parts {
			w.Parts = join(w.Parts, p)
		}
	}
	if len(w.Parts) <= 1 {
		if mixed { // laws of means hold while settings do
			whole.ops = nil
		}
		if len(cuts) == 1 {
			whole.settings, whole.end = cuts[0].Settings, cuts[0].End
		}
		if one := whole.part(); len(w.Parts) == 0 || w.Parts[0].Resource == one.Resource || w.Parts[0].Text == choppy {
			w.Parts = []rundir.WhyPart{one}
		}
	}
	dead := slices.Concat(outages(f), emptied(f))
	for i := range w.Parts {
		besides(&w.Parts[i], dead)
		apart(&w.Parts[i], dead)
	}
	w.Coincidences = slices.Concat(dead, evicted(f), coincidences(f), shifts(f, moved))
	return w
}

// counting returns the period in which operations ran whose units count in the totals,
// without what comes before or after in phases of its own, such as a drain or queries.
func counting(r *rundir.Run) (from, to float64) {
	from, to = r.MeasuredS, 0
	for _, p := range r.Phases {
		if p.To > p.From && slices.ContainsFunc(r.Operations, func(o rundir.Operation) bool { return r.Counts(o) && slices.Contains(p.Tracks, o.Track) }) {
			from, to = min(from, p.From), max(to, p.To)
		}
	}
	if to <= from {
		return 0, r.MeasuredS
	}
	if from < 1 { // nothing that takes time came before
		from = 0
	}
	return from, min(to, r.MeasuredS)
}

// join appends a part, or extends the last one if the same is to be said of it: a part of which other figures are told is
// one of its own.
func join(list []rundir.WhyPart, p rundir.WhyPart) []rundir.WhyPart {
	n := len(list) - 1
	if n < 0 || list[n].Resource != p.Resource || list[n].Text != p.Text {
		return append(list, p)
	}
	last := &list[n]
	if p.Text != choppy {
		last.Uses = means(last.Uses, last.To-last.From, p.Uses, p.To-p.From)
	}
	if p.To-p.From > last.To-last.From { // the longer part is more significant
		last.Evidence = p.Evidence
	}
	last.To = p.To
	return list
}

// mostParts is how many periods a paragraph tells, the longest of them.
const mostParts = 3

// Paragraph says in a few sentences what held a run back: first of all, when nothing was done.
func Paragraph(w *rundir.Why) string { return strings.Join(Paragraphs(w), " ") }

// Paragraphs is Paragraph with what is said of each time by itself.
func Paragraphs(w *rundir.Why) []string {
	if w == nil || len(w.Parts) == 0 {
		return nil
	}
	told := map[int]bool{}
	order := make([]int, len(w.Parts))
	for i := range order {
		order[i] = i
	}
	length := func(i int) float64 { return w.Parts[i].To - w.Parts[i].From }
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(length(j), length(i)) })
	for _, i := range order[:min(mostParts, len(order))] {
		told[i] = true
	}
	var out []string
	for _, c := range w.Coincidences {
		if c.Outage || c.Lost {
			out = append(out, sentence(c.Text))
		}
	}
	if len(Limits(w)) > 1 {
		out = append(out, "Limited by "+Limited(w, nil)+".")
	}
	type span struct {
		from, to float64
		last     int // of its parts
	}
	var causes []string // of the shorter ones, each once
	rest := map[string][]span{}
	for i, p := range w.Parts {
		if !told[i] {
			what := p.Resource
			if p.Text == pausedText {
				what = "a pause"
			}
			spans := rest[what]
			switch n := len(spans) - 1; {
			case what == Unknown: // says nothing
			case n >= 0 && spans[n].last == i-1:
				spans[n].to, spans[n].last = p.To, i
			default:
				if n < 0 {
					causes = append(causes, what)
				}
				rest[what] = append(spans, span{p.From, p.To, i})
			}
			continue
		}
		text := p.Text
		switch {
		case setBySearch(&p) && slices.Contains(out, text): // of all its levels
			continue
		case len(w.Parts) > 1 && !setBySearch(&p):
			text = fmt.Sprintf("From %s: %s", plot.Between(p.From, p.To), text)
		}
		if shown := Shown(&p); len(shown) > 0 {
			text += " " + sentence(strings.Join(shown, "; "))
		}
		out = append(out, text)
	}
	if len(causes) > 0 {
		list := make([]string, len(causes))
		for i, what := range causes {
			var times []string
			for _, r := range rest[what] {
				times = append(times, fmt.Sprintf("from %s to %s", plot.Clock(r.from), plot.Clock(r.to)))
			}
			list[i] = what + " " + units.Listed(times)
		}
		out = append(out, "In the shorter stretches of the run it was "+strings.Join(list, ", ")+".")
	}
	return out
}

// Shown lists in clauses what shows what held a part back: the figures, then the rest.
func Shown(p *rundir.WhyPart) (out []string) {
	for i := range p.Uses {
		out = append(out, p.Uses[i].Words())
	}
	return append(out, p.Evidence...)
}

// sentence adds a capital letter and a full stop.
func sentence(s string) string {
	return units.Capital(s) + "."
}

// Noted returns the coincidences that neither Paragraph nor a doubt of the verdict has told, one sentence each.
func Noted(w *rundir.Why, v rundir.Verdict) (out []string) {
	if w == nil {
		return nil
	}
	for _, c := range w.Coincidences {
		if !c.Outage && !c.Lost && !v.Shows(c.Text) {
			out = append(out, c.Text+".")
		}
	}
	return out
}

// stretch is a period of a run, and what is known about it.
type stretch struct {
	f        *rundir.Folder
	from, to float64
	// first and n give the whole seconds in it; dead are those of them in which an outage was,
	// which no figure has in it, and silent is for how long it was there.
	first, n int
	dead     map[int]bool
	silent   float64
	// settings were in force at its beginning, end at its end.
	settings, end map[string]float64
	before        *stretch
	// ops are the operations of the period.
	ops []rundir.Operation
	// free means that in some of its seconds counted work had no rate.
	free bool
	// done is units per second, and asked what fell due, 0 in a closed loop. backlog is
	// the mean of what was due and not begun, threads the intended number of threads,
	// and failed errors per second.
	done, asked, backlog, threads, failed float64
}

func stretchOf(f *rundir.Folder, from, to float64) *stretch {
	s := &stretch{f: f, from: from, to: to, first: int(math.Ceil(from - 1e-6)), settings: f.Run.Settings, end: f.Run.Settings, ops: f.Run.Operations}
	s.n = max(int(math.Floor(to+1e-6))-s.first, 0)
	s.dead = map[int]bool{}
	for _, o := range rundir.Idle(f) {
		if within := min(o.To, to) - max(o.From, from); within > 0 {
			s.silent += within
		}
		for t := max(s.first, int(o.From)); t < s.first+s.n && float64(t) < o.To; t++ {
			s.dead[t] = s.dead[t] || min(o.To, float64(t+1))-max(o.From, float64(t)) >= deadShare
		}
	}
	maps.DeleteFunc(s.dead, func(_ int, dead bool) bool { return !dead })
	counts, tracks := map[measure.Operation]bool{}, map[string]bool{}
	for _, o := range f.Run.Operations {
		counts[measure.Operation{Track: o.Track, Op: o.Op}] = f.Run.Counts(o)
		tracks[o.Track] = tracks[o.Track] || f.Run.Counts(o)
	}
	type of struct {
		t     int
		track string
	}
	seen, rated := map[of]bool{}, map[string]bool{}
	seconds := map[int]bool{}
	for _, r := range f.Series {
		if r.T >= s.first && r.T < s.first+s.n {
			if r.Rate > 0 {
				rated[r.Track] = true
			}
		}
	}
	for _, o := range rundir.Idle(f) {
		if t := int(o.To); len(rated) > 0 && t >= s.first && t < s.first+s.n {
			s.dead[t] = true // what was held up is done in it, besides what is due
		}
	}
	life := lives(f.Series, s.first, s.n)
	paces := map[string]float64{} // by track, of the second before
	for _, r := range f.Series {
		if r.T < s.first || r.T >= s.first+s.n || s.dead[r.T] {
			continue
		}
		seconds[r.T] = true
		s.failed += float64(r.Errors)
		counted := counts[measure.Operation{Track: r.Track, Op: r.Op}]
		edge := r.T == life[r.Track].from && r.T > s.first || r.T == life[r.Track].to && r.T < s.first+s.n-1
		if counted {
			s.done += float64(r.Count)
		}
		if counted && edge && rated[r.Track] { // a track does not fill the seconds in which it begins and ends
			s.asked += float64(r.Count)
		}
		if key := (of{r.T, r.Track}); !seen[key] {
			seen[key] = true
			pace := r.Rate
			if before := paces[r.Track]; r.T == s.first+s.n-1 && before > 0 { // the next rate, or none, may have begun as it ended
				pace = before
			}
			paces[r.Track] = pace
			if tracks[r.Track] && !edge { // in the unit of what was done
				s.asked += pace
				s.free = s.free || pace <= 0
			}
			s.backlog += float64(r.Backlog)
			s.threads += float64(r.Threads)
		}
	}
	if n := float64(len(seconds)); n > 0 {
		s.done, s.asked, s.backlog, s.threads, s.failed = s.done/n, s.asked/n, s.backlog/n, s.threads/n, s.failed/n
	}
	return s
}

// lives returns from which to which second each track was active.
func lives(rows []rundir.SeriesRow, first, n int) map[string]struct{ from, to int } {
	out := map[string]struct{ from, to int }{}
	for _, r := range rows {
		if r.T < first || r.T >= first+n {
			continue
		}
		l, ok := out[r.Track]
		if !ok {
			l.from = r.T
		}
		l.from, l.to = min(l.from, r.T), max(l.to, r.T)
		out[r.Track] = l
	}
	return out
}

// mean returns the mean of a number of store.csv, added up over its nodes; false if it
// was sampled in fewer than half of the seconds.
func (s *stretch) mean(source, name string) (float64, bool) {
	values := rundir.Sampled(s.f, source, name, s.first, s.n)
	alive := values[:0]
	for i, v := range values {
		if !s.dead[s.first+i] {
			alive = append(alive, v)
		}
	}
	return mean(alive)
}

// alive is how many whole seconds it has without an outage, length how long it was without.
func (s *stretch) alive() int { return s.n - len(s.dead) }

func (s *stretch) length() float64 { return s.to - s.from - s.silent }

func mean(values []float64) (float64, bool) {
	sum, n := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 || 2*n < len(values) {
		return 0, false
	}
	return sum / float64(n), true
}

// most returns the mean of the node with the highest one, and that node.
func (s *stretch) most(source, name string) (v float64, node string, ok bool) {
	sums, n := map[string]float64{}, map[string]int{}
	for _, x := range s.f.Samples {
		if x.Source == source && x.Name == name && x.T >= s.first && x.T < s.first+s.n && !s.dead[x.T] {
			sums[x.Node] += x.Value
			n[x.Node]++
		}
	}
	for _, k := range slices.Sorted(keys(n)) {
		if m := sums[k] / float64(n[k]); 2*n[k] >= s.alive() && (!ok || m > v) {
			v, node, ok = m, k, true
		}
	}
	return v, node, ok
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// paused reports whether somebody had paused the run for all of the period.
func (s *stretch) paused() bool {
	return slices.ContainsFunc(s.f.Run.Segments, func(g rundir.Segment) bool {
		return g.From <= s.from && g.To >= s.to && g.Settings["paused"] != 0
	})
}

// part says what held the period back: the first rule that finds its resource at the
// limit. If none does, it says that the cause is unknown, and how far everything was
// from its limit.
func (s *stretch) part() rundir.WhyPart {
	p := rundir.WhyPart{From: s.from, To: s.to, Resource: Unknown, Evidence: []string{}}
	broken := inForce(s.f, s.from, s.to)
	switch {
	case s.paused():
		p.Resource, p.Limit, p.Text = Pacing, "a pause", pausedText
		return p
	case s.n < leastSeconds && s.f.Run.MeasuredS >= leastSeconds:
		return notKnown(p, fmt.Sprintf("its counted operations ran for fewer than %d whole seconds", leastSeconds))
	case s.n < leastSeconds:
		return notKnown(p, fmt.Sprintf("it lasted fewer than %d whole seconds", leastSeconds))
	case s.done <= 0 && len(broken) > 0:
		return limited(p, Fault, found{limit: ofItself(broken), hint: "nothing succeeded while it was there"})
	case s.done <= 0:
		return notKnown(p, "nothing succeeded")
	case s.alive() < leastSeconds:
		return notKnown(p, fmt.Sprintf("fewer than %d whole seconds tell of it", leastSeconds))
	}
	for _, r := range rules {
		if r.server && s.f.Run.Store.InProcess || r.alone && len(s.f.Run.Workers) > 0 {
			continue
		}
		f := r.look(s)
		switch {
		case f.limit == "":
			continue
		case r.resource == Pacing && s.sought():
			p.Resource, p.Limit, p.Hint, p.Text = Pacing, searchLimit, searchHint, searchPace
			return p
		case r.resource == Pacing, r.resource == Think:
			f.hint = strings.Trim(f.hint+"; "+s.room(), "; ")
		}
		p.Uses = f.uses
		for _, u := range s.headroom() {
			u.Limit = u.What == f.full
			p.Uses = append(p.Uses, u)
		}
		slices.SortStableFunc(p.Uses, func(a, b rundir.Use) int {
			switch {
			case a.Limit == b.Limit:
				return 0
			case a.Limit:
				return -1
			}
			return 1
		})
		p.Full = r.full()
		return limited(p, r.resource, f)
	}
	if s.f.Run.Store.InProcess {
		return notKnown(p, "the store lives in perfbench itself, and what each of them used cannot be told apart")
	}
	p.Uses = s.headroom()
	law := s.law()
	switch _, full := s.full(); {
	case len(p.Uses) == 0:
		return notKnown(p, "no resources were sampled")
	case full && len(s.f.Run.Workers) > 0:
		return notKnown(p, "the processors of the coordinator's machine were at their limit, which the store or a worker may share")
	case full:
		return notKnown(p, "the processors of this machine were at their limit, mostly with other processes, of which the store may be one")
	case len(broken) > 0:
		p.Limit, p.Hint = "most likely "+ofItself(broken), "nothing else that was sampled was at its limit"
		p.Resource, p.Text = Fault, "What held the run back is "+p.Limit+": "+p.Hint+"."
		return p
	case law != "":
		return notKnown(p, law+", and "+nothingFull)
	case s.late():
		return notKnown(p, "the run was behind its rate, and "+nothingFull)
	}
	return notKnown(p, nothingFull)
}

// nothingFull is said where no resource was near its limit.
const nothingFull = "nothing that was sampled was at its limit"

// notKnown is a part of which the cause is not known, with what is.
func notKnown(p rundir.WhyPart, hint string) rundir.WhyPart {
	p.Hint, p.Text = hint, unknown+": "+hint+"."
	return p
}

// limited is a part that what a rule found held back.
func limited(p rundir.WhyPart, resource string, f found) rundir.WhyPart {
	p.Resource, p.Limit, p.Hint, p.Evidence = resource, f.limit, f.hint, append(p.Evidence, f.evidence...)
	verb, between := " held the run back", ": "
	switch resource {
	case Pacing, Think:
		verb, between = " set the pace", "; "
	case Fault:
		verb = ", held it back"
	}
	if p.Text = units.Capital(f.limit) + verb; f.hint != "" {
		p.Text += between + f.hint
	}
	p.Text += "."
	return p
}
