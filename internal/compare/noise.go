package compare

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
)

// NoiseFolder is the folder, beside those of runs, that keeps what was found out about noise:
// a baseline for each plan on each machine.
const NoiseFolder = "noise"

// NoiseSides are the numbers of runs a side for which a Noise says what they would show.
var NoiseSides = []int{1, 3, 5, 10}

// Noise says how much the figures of the same run differ with nothing changed, and what a
// comparison on this machine and store can therefore show.
type Noise struct {
	Of        Set
	Tolerance float64
	Figures   []NoiseOf
	// Alarms is how many of Pairs comparisons of a run with the next called any figure better
	// or worse: they are false.
	Alarms, Pairs int
	// Halves compares every second run with the others; nil with fewer than four.
	Halves *Comparison
}

// NoiseOf is the noise of one figure of all calls.
type NoiseOf struct {
	Spread
	// Next is by how much a run differs from the next: a standard deviation, relative to the
	// figure or, for errors, a fraction of all calls.
	Next float64
	// Shows is the smallest change, as Finding.Change, that so many runs a side as in
	// NoiseSides find in 9 of 10 comparisons, although these judge all figures together; Need is
	// how many runs a side find one as large as the tolerance, 0 if too many.
	Shows []float64
	Need  int

	next stat.Estimate // on the figure's scale
}

// AA compares the runs of one side with each other. With fewer than three it fails with the
// code of bad input, and also if they are no repeats of each other.
func AA(s Set, tolerance float64) (*Noise, error) {
	if tolerance <= 0 {
		tolerance = DefaultTolerance
	}
	if len(s.Runs) < leastEarlier {
		return nil, fault.Input(fmt.Errorf("aa: %s has %d of the %d runs that it takes to tell how much runs differ", s.Name, len(s.Runs), leastEarlier),
			"perfbench run ... --repeat 10 --aa makes them")
	}
	if why := slices.Concat(repeats("A", s), failures("A", s)); len(why) > 0 {
		return nil, fault.Input(errors.New("aa: "+why[0]), "name repeats of one run")
	}
	n := &Noise{Of: s, Tolerance: tolerance}
	all := s.part(nil)
	for _, spread := range Repeats(s) {
		if next := spread.Figure.noise(of(spread.Figure, all)); spread.Figure != Max && spread.Figure != Outage && spread.Figure != Bytes && !spread.Vague && !math.IsNaN(next.SE) {
			n.Figures = append(n.Figures, NoiseOf{Spread: spread, Next: next.SE, next: next})
		}
	}
	for i := range n.Figures {
		n.Figures[i].shows(1-(1-certainty)/float64(len(n.Figures)), tolerance)
	}
	side := func(runs ...*Run) Set { return Set{Name: s.Name, Runs: runs} }
	for i := 1; i < len(s.Runs); i++ {
		n.Pairs++
		c := Sets(side(s.Runs[i-1]), side(s.Runs[i]), Options{Tolerance: tolerance, Earlier: s.Runs})
		if len(c.Parts) > 0 && slices.ContainsFunc(c.Parts[0].Findings, func(f Finding) bool { return f.Verdict == Better || f.Verdict == Worse }) {
			n.Alarms++
		}
	}
	if len(s.Runs) >= 2*leastEarlier {
		var a, b []*Run
		for i, r := range s.Runs {
			if i%2 == 0 {
				a = append(a, r)
			} else {
				b = append(b, r)
			}
		}
		n.Halves = Sets(side(a...), side(b...), Options{Tolerance: tolerance})
	}
	return n, nil
}

// shows computes what comparisons show that judge the figure with this confidence.
func (n *NoiseOf) shows(confidence, tolerance float64) {
	next, by := n.next, math.Log1p(tolerance)
	if n.Figure.byShare() {
		by = sameShare
	}
	next.SE = max(next.SE, finest)
	for _, runs := range NoiseSides {
		f := Finding{Figure: n.Figure, change: stat.Estimate{SE: next.SE * math.Sqrt(2/float64(runs)), DF: next.DF}}
		if runs > 1 {
			f.change.DF = float64(2*runs - 2)
		}
		n.Shows = append(n.Shows, f.shows(confidence, nearlyAlways))
	}
	n.Need = usualRuns(next, confidence, by)
}

// Texts formats the figure with its mean, by how much runs differ, what each of NoiseSides
// would show, and how many runs a side it takes; unit is the unit of throughput.
func (n NoiseOf) Texts(unit string) []string {
	f := Finding{Figure: n.Figure}
	out := []string{f.Label(unit), f.Text(n.Range, false), share(n.Next, false)}
	for _, v := range n.Shows {
		out = append(out, f.sized(v))
	}
	if n.Need == 0 {
		return append(out, fmt.Sprintf("> %d", mostMore))
	}
	return append(out, fmt.Sprint(n.Need))
}

// KeepNoise keeps the runs of a noise in the folder out, with those of the same plan and
// machine that are there, for the comparisons that Earlier serves. It returns the file.
func KeepNoise(out string, s Set) (string, error) {
	file := noiseFile(out, &s.Runs[0].Conditions)
	runs := s.Runs
	if before, err := readBaseline(file); err == nil {
		runs = merged(before, runs)
	}
	data, err := Baseline(runs[max(len(runs)-MostEarlier, 0):])
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("keep the noise: %w", err)
	}
	return file, rundir.WriteFiles(dir, []rundir.File{{Name: filepath.Base(file), Data: data}})
}

// keptNoise reads the runs that KeepNoise has kept of the same plan and machine as one; none
// where that cannot be read.
func keptNoise(out string, of *Conditions) []*Run {
	runs, _ := readBaseline(noiseFile(out, of)) // what cannot be read shows nothing
	return runs
}

// merged returns two lists of runs as one, each run once, in the order in which they began.
func merged(a, b []*Run) []*Run {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y *Run) int {
		return cmp.Or(x.Conditions.Started.Compare(y.Conditions.Started), cmp.Compare(x.Conditions.ID, y.Conditions.ID))
	})
	return slices.CompactFunc(all, func(x, y *Run) bool {
		return x.Conditions.ID == y.Conditions.ID && x.Conditions.Started.Equal(y.Conditions.Started)
	})
}

// noiseFile is where the noise of a plan on a machine is kept.
func noiseFile(out string, c *Conditions) string {
	params := maps.Clone(c.Parameters)
	delete(params, "seed")
	s := &c.Store
	h := fnv.New64a()
	_, _ = io.WriteString(h, keyOf(c.Profile, c.Mode, c.Target, s.Name, s.Product, s.Version, s.Topology, c.Settings, params, c.Machine)) // never fails
	return filepath.Join(out, NoiseFolder, fmt.Sprintf("%s-%s-%016x.json", c.Profile, c.Store.Name, h.Sum64()))
}
