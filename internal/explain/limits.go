package explain

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// Held is all the time of a run in which one thing held it back. Its figures are the means of that
// time, and it has a hint only if that holds for all of it.
type Held struct {
	rundir.WhyPart
	// Seconds are how long it was, Periods how many times.
	Seconds float64
	Periods int
}

// Limits lists what held a run back, each thing once: a few in order if each was there once, else the longest
// first. A pause of the user is no limit, unless there is nothing else. All of a search is one. An outage is one, whatever
// held the run back before and after it.
func Limits(w *rundir.Why) (out []Held) {
	last := -1
	for _, p := range whole(parted(w)) {
		at := slices.IndexFunc(out, func(h Held) bool { return Limit(&h.WhyPart) == Limit(&p) })
		if at < 0 {
			at, out = len(out), append(out, Held{WhyPart: p})
		} else {
			out[at].add(&p)
		}
		if out[at].Seconds += p.To - p.From; at != last {
			out[at].Periods++
		}
		last = at
	}
	if others := slices.DeleteFunc(slices.Clone(out), func(h Held) bool { return IsPause(h.WhyPart) }); len(others) > 0 {
		out = others
	}
	if !inOrder(out) {
		slices.SortStableFunc(out, func(a, b Held) int { return cmp.Compare(b.Seconds, a.Seconds) })
	}
	return out
}

// inOrder reports whether limits are told in the order in which they were there.
func inOrder(list []Held) bool {
	return len(list) <= mostLimits && !slices.ContainsFunc(list, func(h Held) bool { return h.Periods > 1 })
}

// whole returns parts with all that a search set as one, whatever was between.
func whole(parts []rundir.WhyPart) []rundir.WhyPart {
	first := slices.IndexFunc(parts, func(p rundir.WhyPart) bool { return setBySearch(&p) })
	if first < 0 {
		return parts
	}
	last := first
	for i := range parts {
		if setBySearch(&parts[i]) {
			last = i
		}
	}
	search := parts[first]
	search.To = parts[last].To
	return slices.Concat(parts[:first], []rundir.WhyPart{search}, parts[last+1:])
}

// add adds a period of the same limit.
func (h *Held) add(p *rundir.WhyPart) {
	h.Uses = means(h.Uses, h.Seconds, p.Uses, p.To-p.From)
	hint := common(h.Hint, p.Hint)
	if p.To-p.From > h.To-h.From {
		h.From, h.To, h.Text, h.Hint, h.Evidence = p.From, p.To, p.Text, p.Hint, p.Evidence
	}
	if text, hinted := strings.CutSuffix(h.Text, h.Hint+"."); hinted && hint != h.Hint {
		h.Text = strings.TrimRight(text+hint, ":; ") + "."
	}
	h.Hint = hint
}

// common returns the clauses that two hints have in common.
func common(a, b string) string {
	if a == b {
		return a
	}
	list := clauses.Split(b, -1)
	return strings.Join(slices.DeleteFunc(clauses.Split(a, -1), func(c string) bool { return !slices.Contains(list, c) }), "; ")
}

// clauses are what stands between those of a hint.
var clauses = regexp.MustCompile(`; |, and `)

// means returns the means of the figures that two times have in common, each of so many seconds.
func means(a []rundir.Use, long float64, b []rundir.Use, other float64) (out []rundir.Use) {
	for _, u := range a {
		at := slices.IndexFunc(b, func(v rundir.Use) bool { return v.What == u.What && v.Unit == u.Unit })
		if at < 0 {
			continue
		}
		v := b[at]
		u.Used, u.Of = (u.Used*long+v.Used*other)/(long+other), (u.Of*long+v.Of*other)/(long+other)
		if u.Note != v.Note {
			u.Note = ""
		}
		out = append(out, u)
	}
	return out
}

// mostLimits is how many of several limits are named.
const mostLimits = 3

// Limited says on a line what held a run back: with its figure if it was one thing all the time, else
// for how long each: "the requested rate for 40 s, then the processors of this machine for 20 s". Its name is
// enough of a resource that is told of elsewhere.
func Limited(w *rundir.Why, told func(resource string) bool) string {
	list := Limits(w)
	if len(list) == 1 {
		p := &list[0].WhyPart
		if told != nil && told(p.Resource) {
			return Limit(p)
		}
		return Brief(p)
	}
	between := ", then "
	if !inOrder(list) {
		between = ", "
	}
	var said []string
	for i := range list[:min(len(list), mostLimits)] {
		said = append(said, list[i].For())
	}
	if n := len(list) - mostLimits; n > 0 {
		said = append(said, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(said, between)
}

// Main is the one of some limits that held a run back for longest.
func Main(list []Held) Held {
	return slices.MaxFunc(list, func(a, b Held) int { return cmp.Compare(a.Seconds, b.Seconds) })
}

// For says what it was and for how long: "the requested rate for 40 s".
func (h *Held) For() string { return Limit(&h.WhyPart) + " for " + h.long() }

// Meanwhile heads its figures where others held the run back at other times.
func (h *Held) Meanwhile() string {
	if h.Resource == Unknown {
		return "Used in the " + h.long() + " of which the limit is not known:"
	}
	return "Used in the " + h.long() + " limited by " + Limit(&h.WhyPart) + ":"
}

func (h *Held) long() string {
	return units.Duration(time.Duration(math.Round(h.Seconds)) * time.Second)
}
