package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/rundir"
)

// sought are the figures that searches find, by what they raise and whether the store has to
// recover by itself from an overload.
var sought = []struct {
	figure   Figure
	over     string
	recovers bool
}{
	{HighestRate, "rate", false},
	{MostThreads, "threads", false},
	{HighestBase, "rate", true},
}

// bySearch reports whether a figure is what a search found.
func (f Figure) bySearch() bool { return f == HighestRate || f == MostThreads || f == HighestBase }

// search adds what the search of a run found, if it was one.
func (r *Run) search(dir string) error {
	s, err := rundir.ReadSought(dir)
	if s == nil || err != nil {
		return err
	}
	for _, w := range sought {
		if w.over == s.Over && w.recovers == (s.Recovery != nil) {
			r.Conditions.Sought, r.Conditions.Under = w.figure, s.Under
			if s.Found > 0 {
				r.Parts[0].Figures[w.figure] = estimate(s)
			}
		}
	}
	return nil
}

// estimate is the highest level that held. It lies anywhere below the lowest that did not: that is
// its error within a run.
func estimate(s *rundir.Sought) Estimate {
	e := Estimate{Value: s.Found, SE: math.NaN(), DF: math.Inf(1)}
	if e.AtLeast = s.AtLeast(); !e.AtLeast {
		e.SE = (s.TooMuch - s.Found) / math.Sqrt(12)
	}
	return e
}

// searched returns the figure that all runs of these sets searched for; "" if there is none. The
// other figures of such runs are those of many levels, and say nothing.
func searched(sets ...Set) Figure {
	one := sets[0].Runs[0].Conditions.Sought
	for _, s := range sets {
		if slices.ContainsFunc(s.Runs, func(r *Run) bool { return r.Conditions.Sought != one }) {
			return ""
		}
	}
	return one
}

// sides are the names of the two sides.
var sides = [...]string{"A", "B"}

// unlike says that a side was searched and the other was not, or for something else, and what can be
// compared instead; "" otherwise. Such a search's figures are those of many levels.
func unlike(a, b Set) string {
	if searched(a, b) != "" {
		return ""
	}
	var of []string
	other, fixed := "", "a fixed rate"
	for i, s := range []Set{a, b} {
		switch s.Runs[0].Conditions.Sought {
		case "":
			other = sides[i]
			continue
		case MostThreads:
			fixed = "a fixed number of threads"
		}
		of = append(of, sides[i])
	}
	switch len(of) {
	case 0:
		return ""
	case 1:
		return of[0] + " is a search: its figures are of many levels, so none is judged. " +
			"Compare two searches, or " + other + " with a run at " + fixed + "."
	}
	return "A and B did not search for the same: their figures are of many levels, so none is judged. " +
		"Compare searches for the same."
}

// withdrawn leaves no figure judged.
func withdrawn(fs []Finding) {
	for i := range fs {
		f := &fs[i]
		f.Verdict, f.Within, f.Apart, f.Power, f.ours = Noted, 0, false, nil, 0
	}
}

// atLeast returns the least error of a difference: for what a search found, that of its steps.
func (f Figure) atLeast(a, b []Estimate) float64 {
	switch {
	case f.byShare(): // errors vary no less than random events would
		return math.Hypot(within(a), within(b))
	case f.bySearch():
		return math.Hypot(within(f.relative(a)), within(f.relative(b)))
	}
	return finest
}

// relative returns estimates on the figure's scale; an error that is not known is none.
func (f Figure) relative(runs []Estimate) []Estimate {
	out := make([]Estimate, len(runs))
	for i, e := range runs {
		on := f.on(e)
		if math.IsNaN(on.SE) {
			on.SE = finest
		}
		out[i] = Estimate{Value: on.Value, SE: on.SE}
	}
	return out
}

// open reports whether a side held at the highest level that was tried, so that the change may be
// another one.
func (f Finding) open() bool { return f.A.AtLeast || f.B.AtLeast }

// bounded withdraws a verdict that would not stand if an open side held any more.
func (f *Finding) bounded() {
	if f.open() && f.Verdict != Noted && (f.Verdict != Better || f.A.AtLeast) && (f.Verdict != Worse || f.B.AtLeast) {
		f.Verdict, f.Within = Unsure, 0
	}
}

// BySearch reports whether what searches found is compared.
func (p Pair) BySearch() bool { return len(p.Findings) == 1 && p.Findings[0].Figure.bySearch() }

// holds says under which conditions B holds more or less than A, by how much, and how sure that is, or
// what it would take to know; unit is that of rates.
func (f Finding) holds(unit string, under []string) string {
	what, of, verb := "rate", " "+unit+"/s", "holds"
	switch f.Figure {
	case MostThreads:
		what, of = "number of threads", " threads"
	case HighestBase:
		what, verb, under = "base load", "recovers by itself from", nil // the condition is that it does
	}
	lead, while := "", ""
	if len(under) > 0 {
		lead, while = "Under "+strings.Join(under, " and ")+" ", " under "+strings.Join(under, " and ")
	}
	switch f.Verdict {
	case Better, Worse:
		way := map[Verdict]string{Better: "higher", Worse: "lower"}[f.Verdict]
		return fmt.Sprintf("%sB %s a %s %s than A: %s%s.", lead, verb, way, what, f.by(), of)
	case Same:
		return fmt.Sprintf("%sB %s as high a %s as A: %s.", lead, verb, what, f.Words())
	case Unsure:
		text := fmt.Sprintf("It cannot be told whether B %s a higher or a lower %s than A%s: the highest was %s%s in A and %s%s in B", verb, what, while,
			f.Text(f.A, true), of, f.Text(f.B, true), of)
		if takes := f.takes(); takes != "" {
			text += "; " + takes
		}
		return text + "."
	}
	return ""
}

// raises says what would tell more about searches; "" if they are enough.
func (f Finding) raises() string {
	who := "both sides"
	switch {
	case !f.open():
		return "several searches a side (--repeat 5) would tell"
	case !f.B.AtLeast:
		who = "A"
	case !f.A.AtLeast:
		who = "B"
	}
	return who + " held at the highest level that was tried, so --to has to be higher"
}

// alone withdraws the error of a difference between two single searches: nobody knows how much one
// differs from the next.
func (f Figure) alone(d stat.Estimate) stat.Estimate {
	if f.bySearch() {
		d.SE = math.NaN()
	}
	return d
}
