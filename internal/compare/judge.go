package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/measure"
)

// Verdict is how B's figure compares with A's.
type Verdict string

// The verdicts.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	Same   Verdict = "same"
	Unsure Verdict = "unsure"
	Noted  Verdict = "" // reported, not judged
)

const (
	// sameWithin is the smallest change that matters to anybody.
	sameWithin = 0.01
	// sameShare is the same for error rates: a tenth of a percentage point.
	sameShare = 0.001
	// finest is the precision of figures: histograms keep three digits. The effect of
	// chance is never taken to be smaller.
	finest = 0.0005
)

// Finding is the judgement on one figure.
type Finding struct {
	Figure Figure
	A, B   Range
	// Change is how B differs from A: 0.05 is 5 % more or, for errors, 5 percentage
	// points of all calls. NaN if unknown. Lo and Hi are the ends of its confidence
	// interval, infinite if unknown.
	Change, Lo, Hi float64
	Verdict        Verdict
	// Within is, for the verdict Same, the bound within which it is the same.
	Within float64
	// Paired means that the differences within rounds were used, because rounds differ
	// by more than chance.
	Paired bool
	// Held means that the figure is what was asked for, on each side or on the lower one, or that of a
	// timetable, so it is not judged.
	Held bool
	// Apart means that two single runs are so far apart that chance cannot have made the change,
	// although the error of their means is not known well enough: Lo and Hi are those of most of
	// their seconds.
	Apart bool
	// Along means that the figure is judged as two other percentiles are, which have changed for
	// certain.
	Along bool
	// Power says, for the verdict Unsure, what the runs could have shown; nil otherwise.
	Power *Power

	change stat.Estimate // on the figure's scale
	single bool          // each side has one run
	short  bool          // of which one is too short to show what is chance
	ours   float64       // how much of a percentile is perfbench's own lateness, on the side named by of
	of     string
	alone  bool   // and no earlier runs tell how much runs differ
	one    string // why it is then not judged
	blur   string // why seconds do not tell what chance did, although the ranges of A and B do not touch
	// counted means that errors are judged by their number.
	counted bool
}

// Words returns the verdict for people: "worse", "same within 2 %", "rate-limited" if
// it is what was asked for, "not judged" if nothing tells what chance did; "" if nothing was judged.
func (f Finding) Words() string {
	switch {
	case f.Held:
		return "rate-limited"
	case f.NotJudged() != "":
		return "not judged"
	case f.Verdict != Same:
		return string(f.Verdict)
	case f.Within == 0:
		return "same"
	case f.Figure.byShare():
		return fmt.Sprintf("same within %.3g points", f.Within*100)
	}
	return fmt.Sprintf("same within %.3g %%", f.Within*100)
}

// Moved reports whether the change is certain: larger than chance explains.
func (f Finding) Moved() bool { return f.Lo > 0 || f.Hi < 0 }

// beyond reports whether a figure has changed by more than the tolerance; errors are
// compared relative to how many there were.
func (f Finding) beyond(tolerance float64) bool {
	if f.Figure.byShare() {
		return f.Change > tolerance*f.A.Value
	}
	return math.Abs(f.Change) > tolerance
}

// findings judges two sides, figure by figure, or only in one that is named; pairs are those that took turns in
// rounds, and before is what earlier runs of the same plan measured.
func findings(only Figure, a, b []Measured, pairs [][2]int, before []Measured, tolerance float64) []Finding {
	var out []Finding
	single := len(a) == 1 && len(b) == 1
	for _, figure := range figures {
		if figure != only && (only != "" || figure.bySearch()) {
			continue
		}
		x, y := of(figure, a), of(figure, b)
		f := Finding{Figure: figure, A: figure.side(x), B: figure.side(y), change: stat.Unknown(), single: single}
		if math.IsNaN(f.A.Value) && math.IsNaN(f.B.Value) && figure != Throughput && figure != P50 {
			continue // neither side has it
		}
		if figure == Outage && f.A.Value == 0 && f.B.Value == 0 {
			continue
		}
		if figure != Max && figure != Outage && !f.A.Vague && !f.B.Vague {
			f.change, f.Paired = figure.difference(x, y, pairs)
			if single {
				f.alone = math.IsNaN(figure.noise(of(figure, before)).SE)
				f.change = figure.noLessThan(alikeWithin(f.change, x[0], y[0]), of(figure, before))
			}
			if figure == Errors {
				f.byCount(a, b)
			}
		}
		out = append(out, f)
	}
	for i, confidence := range together(out) {
		f := &out[i]
		if f.judge(confidence, tolerance) == Unsure {
			f.Power = f.power(confidence, tolerance, aSide(len(a), len(b)))
			if single {
				f.farApart(of(f.Figure, a)[0], of(f.Figure, b)[0], f.Figure.noise(of(f.Figure, before)).SE)
			}
		}
		f.asRanges()
		if f.alone && !f.Apart {
			f.cut(of(f.Figure, a)[0], of(f.Figure, b)[0])
		}
	}
	alongWith(out)
	for i := range out {
		if f := &out[i]; f.isOurs(a, b) {
			f.Verdict, f.Apart, f.Along, f.Lo, f.Hi = Unsure, false, false, math.Inf(-1), math.Inf(1)
		}
	}
	return out
}

// isOurs reports whether a figure that has changed is mostly perfbench's own lateness in the median run
// of a side.
func (f *Finding) isOurs(a, b []Measured) bool {
	if !f.changed() || !f.Figure.percentile() {
		return false
	}
	for i, side := range [][]Measured{a, b} {
		var shares []float64
		for _, m := range side {
			shares = append(shares, m.late[f.Figure])
		}
		slices.Sort(shares)
		if share := shares[len(shares)/2]; share > f.ours {
			f.ours, f.of = share, string(rune('A'+i))
		}
	}
	if f.ours < measure.MostlyOurs {
		f.ours = 0
	}
	return f.ours > 0
}

// together returns the confidence level for each range such that all figures together
// raise no false alarm with the desired confidence, by Holm's method: the figure with
// the most certain change must pass the test for all of them, the next one the test for
// all but one, and so on until one does not; the others are tested as that one was.
func together(fs []Finding) []float64 {
	out := make([]float64, len(fs))
	var tested []int
	for i, f := range fs {
		out[i] = certainty
		if !math.IsNaN(f.change.SE) {
			tested = append(tested, i)
		}
	}
	slices.SortFunc(tested, func(i, j int) int { return cmp.Compare(fs[j].change.Certainty(), fs[i].change.Certainty()) })
	left, stands := len(tested), true
	for n, i := range tested {
		if stands {
			left = len(tested) - n
		}
		out[i] = 1 - (1-certainty)/float64(left)
		stands = stands && fs[i].change.Certainty() > out[i]
	}
	return out
}

// without returns what was measured, but for a figure.
func without(f Figure, ms []Measured) []Measured {
	out := slices.Clone(ms)
	for i := range out {
		out[i].Figures = maps.Clone(out[i].Figures)
		delete(out[i].Figures, f)
	}
	return out
}

func of(f Figure, ms []Measured) []Estimate {
	out := make([]Estimate, len(ms))
	for i, m := range ms {
		e, ok := m.Figures[f]
		if !ok {
			e = none
		}
		out[i] = e
	}
	return out
}

// difference estimates by how much a figure differs, on its scale, and reports whether
// it used the differences within rounds.
func (f Figure) difference(a, b []Estimate, pairs [][2]int) (d stat.Estimate, paired bool) {
	if pairs != nil {
		d, paired = f.inRounds(a, b, pairs)
	}
	switch {
	case paired:
	case len(a) == 1 && len(b) == 1:
		d = f.alone(stat.Difference(f.on(a[0]), f.on(b[0])))
	default:
		d = stat.Between(f.values(a), f.values(b))
	}
	d.SE = max(d.SE, f.atLeast(a, b)) // NaN stays NaN
	return d, paired
}

func (f Figure) values(runs []Estimate) []float64 {
	out := make([]float64, len(runs))
	for i, e := range runs {
		out[i] = f.on(e).Value
	}
	return out
}

// within returns the standard error of the mean of some runs, as far as it follows from
// their own errors.
func within(runs []Estimate) float64 {
	sum := 0.0
	for _, e := range runs {
		sum += e.SE * e.SE
	}
	return math.Sqrt(sum) / float64(len(runs))
}

// judge determines and returns the verdict, with ranges of the given confidence.
func (f *Finding) judge(confidence, tolerance float64) Verdict {
	share, least := f.Figure.byShare(), sameWithin
	if share {
		least, tolerance = sameShare, sameShare
	}
	back := func(d float64) float64 {
		if share {
			return d
		}
		return math.Expm1(d)
	}
	f.Change = f.B.Value - f.A.Value
	if !share {
		f.Change = f.B.Value/f.A.Value - 1
	}
	lo, hi := f.change.Interval(confidence)
	f.Lo, f.Hi = back(lo), back(hi)
	most := max(math.Abs(f.Lo), math.Abs(f.Hi))
	switch {
	case f.Figure == Max, math.IsNaN(f.Change):
		f.Verdict = Noted
	case f.Figure == Outage:
		f.Verdict = f.quiet()
	case share && f.A.Value == 0 && f.B.Value == 0:
		f.Verdict, f.Lo, f.Hi = Same, 0, 0
	case most <= least && !(f.Moved() && f.none()): // any error is more than none
		f.Verdict, f.Within = Same, least
	case f.Moved() && (f.Change > 0) == f.Figure.better():
		f.Verdict = Better
	case f.Moved():
		f.Verdict = Worse
	case most <= tolerance:
		f.Verdict, f.Within = Same, math.Ceil(most*100)/100
	default:
		f.Verdict = Unsure
	}
	f.bounded()
	return f.Verdict
}
