package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// leastRounds is how many rounds are needed for pairs to be meaningful.
const leastRounds = 3

// rounds returns pairs of runs, by their index on each side: the two that took turns in
// one round. It is nil if the sets did not take turns, or in too few rounds.
func rounds(a, b Set) [][2]int {
	there := turnsOf(b)
	var out [][2]int
	for turn, i := range turnsOf(a) {
		if j, ok := there[turn]; ok {
			out = append(out, [2]int{i, j})
		}
	}
	if len(out) < leastRounds {
		return nil
	}
	slices.SortFunc(out, func(p, q [2]int) int { return cmp.Compare(p[0], q[0]) })
	return out
}

// turnsOf returns the index of the run that had each turn on a side; nil if two have
// the same turn, or one has none.
func turnsOf(s Set) map[rundir.Turn]int {
	out := map[rundir.Turn]int{}
	for i, r := range s.Runs {
		if r.Conditions.Turn == nil {
			return nil
		}
		out[*r.Conditions.Turn] = i
	}
	if len(out) < len(s.Runs) {
		return nil
	}
	return out
}

// inRounds estimates by how much a figure differs, from the differences within rounds;
// false if they are few and do not differ by more than chance, or a run does not have the figure.
func (f Figure) inRounds(a, b []Estimate, pairs [][2]int) (stat.Estimate, bool) {
	var x, y []float64
	own, known := 0.0, true
	for _, p := range pairs {
		v, w := f.on(a[p[0]]), f.on(b[p[1]])
		x, y = append(x, v.Value), append(y, w.Value)
		for _, se := range []float64{v.SE, w.SE} {
			if math.IsNaN(se) {
				known = false
			} else {
				own += se * se
			}
		}
	}
	d, drifts := stat.Paired(x, y)
	// A few pairs may agree by chance, so the error is at least the one derived from
	// the runs' seconds, if they show one.
	if !known {
		d, drifts = stat.Chosen(d), drifts && len(pairs) > leastRounds // three would show nothing
	}
	d.SE = max(d.SE, math.Sqrt(own)/float64(len(pairs)))
	return d, drifts
}

// paired says for which figures the differences within rounds were used.
func paired(c *Comparison) string {
	if len(c.Parts) == 0 {
		return ""
	}
	var names []string
	for _, f := range c.Parts[0].Findings {
		if f.Paired {
			names = append(names, string(f.Figure))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("The runs took turns in rounds, which are many or differ by more than chance: for %s, the differences within each round count.", units.Listed(names))
}
