package compare

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
)

const (
	// usually and nearlyAlways are the powers for which it is known how large a change some
	// runs could have shown: they show it in so many of such comparisons. People are told the
	// second.
	usually, nearlyAlways = 0.8, 0.9
	// mostMore is the largest number of further runs that anybody is told to do.
	mostMore = 1000
	// worthwhile is the largest number of further runs a side that anybody would do.
	worthwhile = 50
)

// Power says what a comparison that is unsure could have shown.
type Power struct {
	// Shows and ShowsOften are the smallest changes, as Finding.Change, that these runs would
	// have shown with a power of 80 and of 90 %; infinite if it is unknown, or a hundredfold.
	Shows, ShowsOften float64
	// More is how many further runs a side show a change of Of with a power of 90 %, whether
	// these scatter more or less than is usual: 0 if these are enough, -1 if more than mostMore
	// or unknown.
	More int
	Of   float64
}

// power computes what a finding that was judged with a confidence could have shown; runs are
// how many there are a side.
func (f *Finding) power(confidence, tolerance, runs float64) *Power {
	if f.Figure.byShare() {
		tolerance = sameShare
	}
	p := &Power{Shows: f.shows(confidence, usually), ShowsOften: f.shows(confidence, nearlyAlways), More: -1, Of: tolerance}
	of := tolerance
	if !f.Figure.byShare() {
		of = math.Log1p(tolerance)
	}
	if n := needed(f.change, confidence, of, runs, f.Paired); n > 0 {
		p.More = max(n-int(runs), 0)
	}
	return p
}

// shows returns the smallest change that a test of this confidence finds with this power.
func (f *Finding) shows(confidence, power float64) float64 {
	by := f.change.SE * reach(confidence, power, f.change.DF)
	switch {
	case math.IsNaN(by):
		return math.Inf(1)
	case f.Figure.byShare():
		return by
	case by > math.Log(100):
		return math.Inf(1)
	}
	return math.Expm1(by)
}

// reach returns how many standard errors a change must have for a test of this confidence to
// find it with this power.
func reach(confidence, power, df float64) float64 {
	return stat.T(confidence, df) + stat.T(2*power-1, df)
}

// needed returns how many runs a side show a change, on the figure's scale, in nine of ten
// comparisons; 0 if that is unknown, or too many. A few runs may scatter less than others do by
// chance, so what they show of it counts for no more than so few do, however many will follow
// (Stein 1945): otherwise a change in the tail is found in seven of ten.
func needed(e stat.Estimate, confidence, change, runs float64, paired bool) int {
	if math.IsNaN(e.SE) {
		return 0
	}
	df := e.DF
	if paired {
		df = max(df, runs-1) // stat.Chosen takes one off
	}
	one, by := e.SE*math.Sqrt(runs), reach(confidence, nearlyAlways, df)
	if e.SE*reach(confidence, nearlyAlways, e.DF) <= change {
		return max(int(runs), 1)
	}
	n := math.Ceil(math.Pow(one*by/change, 2))
	if !(n <= runs+mostMore) {
		return 0
	}
	return max(int(n), int(runs)+1)
}

// usualRuns returns how many runs a side show a change, on the figure's scale, in nine of ten
// comparisons, if runs go on to differ by as much as an estimate of one says; 0 if too many.
func usualRuns(one stat.Estimate, confidence, change float64) int {
	df := one.DF // with one run a side, of which the scatter is known
	for n := 1; n <= mostMore; n++ {
		if one.SE*math.Sqrt(2/float64(n))*reach(confidence, nearlyAlways, df) <= change {
			return n
		}
		df = float64(2 * n)
	}
	return 0
}

// aSide returns how many runs there are a side; of unequal sides, so many that would tell as
// much.
func aSide(a, b int) float64 { return 2 / (1/float64(a) + 1/float64(b)) }

// NotJudged says why nothing tells what chance did to the figure, as in "one run of 4 s a side"; "" if something does.
func (f Finding) NotJudged() string {
	switch {
	case f.Verdict != Unsure || f.Figure.bySearch():
		return ""
	case f.ours > 0:
		return fmt.Sprintf("%.0f %% of it is perfbench's own lateness in %s", 100*f.ours, f.of)
	case f.A.Vague || f.B.Vague:
		return f.calls()
	case f.alone && math.IsNaN(f.change.SE):
		return f.one
	case f.blur != "":
		return f.blur
	}
	return ""
}

// PowerText says why the figure is not judged, if so, and what would show a change that counts as one; "" if the
// finding is not unsure, or if these runs are enough.
func (f Finding) PowerText() string {
	why, takes := f.NotJudged(), f.takes()
	if why != "" && takes != "" && takes != why {
		return why + "; " + takes
	}
	return cmp.Or(takes, why)
}

// further returns how many further runs a side a figure that was tested takes; infinitely many if more than anybody
// would do, and none for one that was not tested.
func (f Finding) further() float64 {
	switch p := f.Power; {
	case p == nil || f.NotJudged() != "":
		return 0
	case p.More < 0 || p.More > worthwhile:
		return math.Inf(1)
	default:
		return float64(p.More)
	}
}

// tenfold is the change, as a share, from which on its size is of no use: nobody compares two sides of
// which only one that is ten times the other would be told.
const tenfold = 9

// takes says what would show a change that counts as one; "" if these runs are enough.
func (f Finding) takes() string {
	p := f.Power
	switch {
	case f.ours > 0:
		return f.NotJudged()
	case p != nil && f.open():
		return f.raises()
	case p == nil || p.More == 0:
		return ""
	case f.A.Vague || f.B.Vague:
		return f.calls()
	case p.More == 1:
		return "one more run a side would show " + f.sized(p.Of)
	case p.More > 0 && p.More <= worthwhile:
		return fmt.Sprintf("%d more runs a side would show %s", p.More, f.sized(p.Of))
	case math.IsInf(p.ShowsOften, 0) && f.Figure.bySearch():
		return f.raises()
	}
	return f.advice()
}

// advice says what would tell more where nothing says how much more; "" for other figures.
func (f Finding) advice() string {
	p := f.Power
	switch {
	case f.ours > 0 || p == nil || f.open() || f.A.Vague || f.B.Vague || p.More >= 0 && p.More <= worthwhile:
		return ""
	case math.IsInf(p.ShowsOften, 0) && f.Figure.bySearch():
		return ""
	case f.single:
		if f.short {
			return "two more runs of each (--repeat 3), or runs of 30 s, would tell more"
		}
		return "two more runs of each (--repeat 3), or longer ones, would tell more"
	case math.IsInf(p.ShowsOften, 0):
		return "more runs a side, or longer ones, would tell"
	}
	return "these runs vary too much to show " + f.sized(p.Of) + ": make them longer, or the machine quieter"
}

// calls says what would show a figure that some run does not have: more calls a run, of which a
// percentile needs some.
func (f Finding) calls() string {
	for _, p := range percentiles {
		if p.figure == f.Figure {
			return "it takes " + units.Number(float64(measure.Needs(p.q))) + " calls in each run"
		}
	}
	return "each run must have it"
}

// sized formats the size of a change.
func (f Finding) sized(v float64) string {
	switch {
	case f.Figure.byShare():
		return units.Digits(v*100, 2) + " points"
	case v >= 1:
		return units.Factor(v + 1)
	}
	return units.Digits(v*100, 2) + " %"
}

// Advice says in a sentence what would tell more of the figures that are unsure, if that is the same for several and
// the answer does not say it already; "" otherwise. It is apart from Powers so that a page says it once.
func (p Pair) Advice(unit string) string {
	if p.BySearch() {
		return ""
	}
	for _, f := range p.Findings {
		if text := f.advice(); text != "" {
			if strings.Contains(p.Answer(unit), text) {
				return ""
			}
			return units.Capital(text) + "."
		}
	}
	return ""
}

// Powers says what would tell of the figures that are unsure, or why one cannot be judged, but for what the answer and
// Advice say; "" if nothing is left. Figures of which the same is true stand together, in the order of the first of each.
func (p Pair) Powers(unit string) string {
	if p.BySearch() {
		return "" // the answer says it
	}
	answer, of := p.Answer(unit), map[string][]string{}
	var texts, out []string
	for _, f := range p.Findings {
		text := f.takes()
		why := f.NotJudged()
		if text == f.advice() {
			text = ""
		}
		if why != "" && why != text && !strings.Contains(answer, why) {
			text = strings.TrimSuffix("not judged, "+why+"; "+text, "; ")
		}
		if text == "" || strings.Contains(answer, " "+text) {
			continue
		}
		if of[text] == nil {
			texts = append(texts, text)
		}
		of[text] = append(of[text], f.Label(unit))
	}
	for _, text := range texts {
		out = append(out, strings.Join(of[text], ", ")+": "+text)
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "; ") + "."
}
