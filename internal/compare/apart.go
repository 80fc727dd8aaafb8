package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/units"
)

// Two single runs may be so far apart that no error of their means has to be known: most of the
// seconds of one are beyond most of those of the other, by far.
const (
	// outside is the share of a run's batches that is left out at either end of its spread.
	outside = 0.1
	// fewOwn is up to how many degrees of freedom seconds are so much alike that the run shows little
	// of how far its pace wanders.
	fewOwn = 1.2
	// leastFactor is how many times as large a figure is at least in one run as in the other where
	// their spreads are hardly farther apart than they are wide.
	leastFactor = 2.5
	// beyondNoise is how many times what earlier runs differed by a change is.
	beyondNoise = 4.0
)

// spread returns between which values the batches of a run lie, without a share of them at either
// end; 0 if there are too few. What is not known is left out.
func spread(vals []float64, without float64) (low, high float64) {
	vals = slices.DeleteFunc(slices.Clone(vals), math.IsNaN)
	if len(vals) < leastBatches {
		return 0, 0
	}
	slices.Sort(vals)
	out := int(without * float64(len(vals)))
	return vals[out], vals[len(vals)-1-out]
}

// step is how far apart two runs must be, in shares of the wider spread, if a figure is at least so many
// times as large in one as in the other.
type step struct{ factor, clear float64 }

// steps returns what is asked of two runs, of which the one whose seconds are more alike has these
// degrees of freedom: any of the steps is enough.
func steps(df float64) []step {
	if df < fewOwn {
		return []step{{1.2, 5}, {1.5, 2.5}, {6, 1.0 / 3}}
	}
	return []step{{1.2, 5}, {1.5, 2.5}, {leastFactor, 1}, {4, 1.0 / 3}}
}

// farApart makes a finding of two single runs that is unsure a certain one if they are so far apart
// that chance cannot have made it, and otherwise says in its power which change would have been.
// noise is what earlier runs differ by, from one to the next, on the figure's scale; NaN if unknown.
func (f *Finding) farApart(a, b Estimate, noise float64) {
	if f.Verdict != Unsure || f.Figure.byShare() || f.Figure.bySearch() || !(a.Low > 0) || !(b.Low > 0) {
		return
	}
	least := 0.0
	if !math.IsNaN(noise) {
		least = beyondNoise * math.Sqrt2 * noise
	}
	lo, hi := math.Log(b.Low/a.High), math.Log(b.High/a.Low)
	wideA, wideB := math.Log(a.High/a.Low), math.Log(b.High/b.Low)
	gap, wider, by := max(lo, -hi), max(wideA, wideB), math.Log1p(f.Change)
	seen, far := math.Inf(1), false
	for _, s := range steps(min(a.DF, b.DF)) {
		seen = min(seen, max(least, math.Log(s.factor), (wideA+wideB)/2+s.clear*wider))
		far = far || math.Abs(by) >= max(least, math.Log(s.factor)) && gap >= s.clear*wider
	}
	if gap <= 0 || !far || (by > 0) != (lo > 0) {
		if p := f.Power; p != nil {
			p.Shows, p.ShowsOften = min(p.Shows, math.Expm1(seen)), min(p.ShowsOften, math.Expm1(seen))
		}
		return
	}
	f.Apart, f.Power = true, nil
	f.Lo, f.Hi = math.Expm1(lo), math.Expm1(hi)
	if f.Verdict = Worse; (f.Change > 0) == f.Figure.better() {
		f.Verdict = Better
	}
}

// figuresOf names the figures of which some finding is one that is asked for, each once.
func (c *Comparison) figuresOf(is func(*Finding) bool) (names []string) {
	for _, p := range c.Parts {
		for i := range p.Findings {
			f := &p.Findings[i]
			if name := string(f.Figure); is(f) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// asunder says which figures were judged by how far apart the runs are; "" if none.
func asunder(c *Comparison) string {
	names := c.figuresOf(func(f *Finding) bool { return f.Apart })
	if len(names) == 0 {
		return ""
	}
	share := "at least eight tenths of the seconds of one lie beyond as many of the other"
	if longer := max(c.A.Runs[0].Conditions.MeasuredS, c.B.Runs[0].Conditions.MeasuredS); longer*outside < 1 {
		share = "all seconds of one lie beyond all of the other"
	}
	return fmt.Sprintf("The runs are far apart in %s: %s, by far more than chance makes. The range of the change is that of these seconds.", units.Listed(names), share)
}

// fewAlike is below how many degrees of freedom the seconds of a run resemble each other so much that
// the error of their mean is itself hardly known.
const fewAlike = 4.0

// alikeWithin adds to the difference of two single runs what their seconds hide if they are much
// alike: up to as much again. Without that, there are up to 9 false alarms in 100 where 5 are allowed.
func alikeWithin(d stat.Estimate, a, b Estimate) stat.Estimate {
	if df := min(a.DF, b.DF); df < fewAlike {
		d.SE *= 1 + 1.5/df
	}
	return d
}
