package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
)

const (
	// leastEarlier is how many earlier runs it takes to show how much runs differ, and
	// MostEarlier is how many are worth reading.
	leastEarlier = 3
	MostEarlier  = 20
	// alikeFor is how much longer than another a run of the same plan may be.
	alikeFor = 1.25
)

// Repeats reports whether two runs are of the same plan on the same machine: they differ
// in nothing but their seed, and hardly in length.
func (c *Conditions) Repeats(of *Conditions) bool {
	long, short := max(c.MeasuredS, of.MeasuredS), min(c.MeasuredS, of.MeasuredS)
	return long <= alikeFor*short && !slices.ContainsFunc(Differences(c, of), func(d Difference) bool { return d.Name != "seed" })
}

// earlier selects the runs that show how much a run of A differs from the next. They do so
// for B as well: that a setting changes how much runs differ is the exception.
func earlier(a, b Set, all []*Run) Set {
	s := Set{}
	if len(a.Runs) > 1 || len(b.Runs) > 1 {
		return s
	}
	for _, r := range all {
		if !r.is(a.Runs[0]) && !r.is(b.Runs[0]) && r.tells(a.Runs[0]) {
			s.Runs = append(s.Runs, r)
		}
	}
	if n := len(s.Runs); n > MostEarlier {
		s.Runs = s.Runs[n-MostEarlier:]
	}
	if len(s.Runs) < leastEarlier {
		return Set{}
	}
	return s
}

// contradicted says of the first change that is certain, where another run of the same plan as a side's only one
// differs from that by half as much or more, that it does, though there are too few to count; empty if none does.
func (c *Comparison) contradicted(all []*Run) string {
	if len(c.A.Runs) > 1 || len(c.B.Runs) > 1 || len(c.before.Runs) > 0 || len(c.Parts) == 0 {
		return ""
	}
	for _, f := range c.Parts[0].Findings {
		if !f.changed() || f.Figure != Throughput && !f.Figure.percentile() {
			continue
		}
		most, text := math.Abs(math.Log1p(f.Change))/2, ""
		for i, own := range []*Run{c.A.Runs[0], c.B.Runs[0]} {
			is := []Range{f.A, f.B}[i]
			for _, r := range all {
				if !r.tells(own) || r.is(c.A.Runs[0]) || r.is(c.B.Runs[0]) {
					continue
				}
				was := r.Parts[0].Figures[f.Figure]
				by := math.Abs(math.Log(was.Value / is.Value))
				if was.Vague || !(by >= most) {
					continue
				}
				had := f.figure(Range{Value: was.Value}) + " " + f.Label(c.Unit(nil))
				if f.Figure.percentile() {
					had = "a " + f.Label("") + " of " + f.figure(Range{Value: was.Value})
				}
				most, text = by, fmt.Sprintf("another run of the same plan as %s had %s, not %s; more runs of each would tell more than these two", sides[i], had, f.figure(is))
			}
		}
		if text != "" {
			return text
		}
	}
	return ""
}

// is reports whether two runs are the same one.
func (r *Run) is(o *Run) bool {
	return o.Conditions.ID == r.Conditions.ID && o.Conditions.Started.Equal(r.Conditions.Started)
}

// tells reports whether a run shows how much another one differs from the next.
func (r *Run) tells(of *Run) bool {
	c := &r.Conditions
	return !c.Failed && c.State != verdict.Invalid && c.Repeats(&of.Conditions)
}

// noise is by how much a figure differs from one run to the next, on its scale.
func (f Figure) noise(before []Estimate) stat.Estimate {
	vals := slices.DeleteFunc(f.values(before), math.IsNaN)
	if len(vals) < leastEarlier {
		return stat.Unknown()
	}
	return stat.FromOneToTheNext(vals)
}

// noLessThan widens a change between two runs to what runs differ by without one.
func (f Figure) noLessThan(change stat.Estimate, before []Estimate) stat.Estimate {
	n := f.noise(before)
	if by := math.Sqrt2 * n.SE; by >= finest && !(change.SE >= by) && !math.IsNaN(change.Value) {
		change.SE, change.DF = by, n.DF
	}
	return change
}

// Earlier is how many earlier runs tell how much one run a side differs from the next; 0 if none do.
func (c *Comparison) Earlier() int {
	if math.IsNaN(Throughput.noise(of(Throughput, c.before.part(nil))).SE) {
		return 0
	}
	return len(c.before.Runs)
}

// Single is what a comparison of one run a side notes, where no earlier runs tell how much one differs from the next.
const Single = "One run a side: only its own variation counts as chance."

// shorter is how long the shorter of the first runs of both sides measured, in seconds.
func (c *Comparison) shorter() float64 {
	return min(c.A.Runs[0].Conditions.MeasuredS, c.B.Runs[0].Conditions.MeasuredS)
}

// Short reports whether one of two single runs is too short to show what is chance.
func (c *Comparison) Short() bool { return c.shorter() < leastBatches }

// lone is the reason not to judge one run a side.
func (c *Comparison) lone() string {
	if c.Short() {
		return fmt.Sprintf("one run of %.2g s a side", c.shorter())
	}
	return "one run a side"
}

// tooShort is what is noted of it.
func (c *Comparison) tooShort() string {
	return fmt.Sprintf("One run a side, of %.2g s, cannot show what is chance.", c.shorter())
}

// TooFew reports whether a note only says that one run a side is few.
func (c *Comparison) TooFew(note string) bool { return note == Single || note == c.tooShort() }

// Open reports whether a figure is unsure that more runs may make sure.
func (p Pair) Open() bool {
	return slices.ContainsFunc(p.Findings, func(f Finding) bool { return f.Verdict == Unsure })
}

// single says what one run a side can show, and what would tell more.
func single(c *Comparison) []string {
	if noise := Throughput.noise(of(Throughput, c.before.part(nil))); !math.IsNaN(noise.SE) {
		text := fmt.Sprintf("One run a side: what %d earlier runs of the same plan on this machine differed by, one from the next, counts as chance (%s %% in throughput).", len(c.before.Runs), units.Digits(100*noise.SE, 2))
		if n := usualRuns(noise, certainty, math.Log1p(c.Tolerance)); n > 1 {
			text += fmt.Sprintf(" It takes some %d runs a side to find a change of %.3g %% (--repeat).", max(n, leastEarlier), 100*c.Tolerance)
		}
		return []string{text}
	}
	out := []string{Single}
	if c.Short() {
		out = []string{c.tooShort()}
	}
	return out
}
