package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

// Limit names what held a part of a run back, by its keyword in runs of earlier versions.
func Limit(p *rundir.WhyPart) string {
	switch {
	case p.Limit != "":
		return p.Limit
	case p.Resource == Unknown:
		return "not known"
	case IsPause(*p):
		return "a pause"
	}
	return p.Resource
}

// figured is Limit with the figure of what was at its limit.
func figured(p *rundir.WhyPart) string {
	for i := range p.Uses {
		if u := &p.Uses[i]; u.Limit {
			return Limit(p) + ": " + u.Amount()
		}
	}
	return Limit(p)
}

// Brief says on a line what held a part of a run back: "the store's main thread: 0.89 of 1 processor". Of
// earlier versions it has the sentence of the run.
func Brief(p *rundir.WhyPart) string {
	text := figured(p)
	switch between := ": "; {
	case p.Limit == "" && p.Hint == "":
		return strings.TrimSuffix(p.Text, ".")
	case p.Hint == "":
		return text
	case strings.Contains(text, between):
		return text + "; " + p.Hint
	default:
		return text + between + p.Hint
	}
}

// Period is a time of a run in which one thing held it back, which Text names.
type Period struct {
	From, To float64
	Text     string
}

// setBySearch reports whether a search set the pace of a part.
func setBySearch(p *rundir.WhyPart) bool { return p.Limit == searchLimit || p.Text == searchPace }

// mostPeriods is how many periods of a run are listed.
const mostPeriods = 8

// Periods lists the periods of a run in order, the longest of them if there are many, and says how many
// others there are. All that a search set is one, as in Limits.
func Periods(w *rundir.Why) (list []Period, others int) {
	parts := whole(parted(w))
	for i := range parts {
		p := &parts[i]
		text, last := figured(p), len(list)-1
		if law, _, ok := strings.Cut(p.Hint, "; "); ok && p.Resource == Threads {
			text += ": " + law
		}
		if last >= 0 && list[last].Text == text {
			list[last].To = p.To
		} else {
			list = append(list, Period{p.From, p.To, text})
		}
	}
	if others = len(list) - mostPeriods; others <= 0 {
		return list, 0
	}
	slices.SortStableFunc(list, func(a, b Period) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	list = list[:mostPeriods]
	slices.SortFunc(list, func(a, b Period) int { return cmp.Compare(a.From, b.From) })
	return list, others
}

// Besides lists in sentences what there is to know of a part beside its Limit and Uses.
func Besides(p *rundir.WhyPart) (out []string) {
	switch {
	case p.Hint != "":
		out = append(out, sentence(p.Hint))
	case p.Limit == "": // of an earlier version
		out = append(out, p.Text)
	}
	if len(p.Evidence) > 0 {
		out = append(out, sentence(strings.Join(p.Evidence, "; ")))
	}
	return out
}
