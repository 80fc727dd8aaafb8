package kept

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
)

// Answer says in a few words what came out: the throughput of a run, the level that a search
// found, the knee of a sweep and its best point, each with its throughput, how the sides of a comparison differ. Rates are in unit
// per second; with an empty unit they end in "/s". A word says why a run has none; a dash: nothing
// came out.
func (i *Item) Answer(unit string) string {
	per := "/s"
	if unit != "" {
		per = " " + unit + "/s"
	}
	switch {
	case i.Sweep != nil:
		return i.swept(per)
	case i.Group != nil && !math.IsNaN(i.Group.Rate):
		return i.Group.Answer + per
	case i.Group != nil:
		return i.Group.Answer
	case i.Run.Sought != nil:
		return i.sought(per)
	}
	switch rate, _, _ := i.Figures(); {
	case !math.IsNaN(rate):
		return i.Run.RateSign() + units.Number(rate) + per
	case i.Run.EndedBy == rundir.StillRunning:
		return "running"
	case i.Run.Failed():
		return "unverified"
	}
	return "–"
}

// Brief is the answer where there is little room: the first thing that it says, without a range; a knee
// that only seems to be there has a question mark, and so has what a search that ended early found.
func (i *Item) Brief() string {
	if i.Group != nil && !math.IsNaN(i.Group.Rate) {
		return units.Number(i.Group.Rate) + "/s"
	}
	text, _, _ := strings.Cut(i.Answer(""), ",")
	if i.Sweep != nil && !strings.HasPrefix(text, unsure) { // at which point is in its row
		text, _, _ = strings.Cut(text, " (")
		text = strings.TrimPrefix(strings.TrimSuffix(text, " threads"), "best ")
	}
	if strings.HasSuffix(i.Answer(""), early) {
		text += "?"
	}
	if may, ok := strings.CutPrefix(text, unsure+" ("); ok {
		may = strings.NewReplacer(" to ", "–", " threads", "", " thread", "").Replace(strings.TrimSuffix(may, ")"))
		if least, open := strings.CutSuffix(may, " or more"); open {
			may = "≥ " + least
		}
		text = "knee " + may + "?"
	}
	if at, ok := strings.CutPrefix(text, seems); ok {
		text = "knee " + at + "?"
	}
	return text
}

// sought says what a search found, and that it ended early where a higher or lower level may hold.
func (i *Item) sought(per string) string {
	text := i.found(per)
	if s := i.Run.Sought; !s.Complete && s.TooMuch > 0 && !s.Unknown() {
		text += early
	}
	return text
}

// early is said of what a search found that did not finish.
const early = ", ended early"

// found is the level that a search found, or what was done there if that was less.
func (i *Item) found(per string) string {
	s := i.Run.Sought
	what, level := per, s.Found
	if s.Over != "rate" {
		what = " " + s.Over
	}
	switch {
	case s.Found == 0 && s.TooMuch == 0:
		return "none tried"
	case s.Unknown():
		return "not known"
	case s.Found == 0:
		return "below " + units.Number(s.TooMuch) + what
	case 0 < s.Best && s.Best < s.Found:
		return units.Number(s.Best) + what + " do most"
	case s.Behind > 0: // the rate is more than was done
		level = s.Done
	}
	text := units.Number(level) + what
	if s.AtLeast() {
		text = "≥ " + text
	}
	return text
}

// swept says where the knee of a sweep is, and what its best point is; of one with crashes, how
// many points lost writes.
func (i *Item) swept(per string) string {
	r := i.Sweep.Result
	if r.Crash != "" {
		known, lossy := 0, 0
		for _, p := range r.Points {
			if p.Loss != nil && p.Loss.Known > 0 {
				known++
				if p.Loss.Lossy > 0 {
					lossy++
				}
			}
		}
		if known == 0 {
			return "–"
		}
		return fmt.Sprintf("%d of %d lost writes", lossy, known)
	}
	var parts []string
	if knee := i.knee(per); knee != "" {
		parts = append(parts, knee)
	}
	at, best := i.stands(), r.Best()
	did := func(point int) string { return units.Number(*r.Points[point].Done) + per }
	if len(parts) > 0 && at >= 0 && r.OverRate() < 0 && r.Points[at].Done != nil {
		parts[0] += " (" + did(at) + ")"
	}
	if best >= 0 && r.OverRate() < 0 && (best != at || len(parts) == 0) {
		parts = append(parts, "best "+did(best)+" ("+r.Named(best)+")")
	}
	if len(parts) == 0 {
		return "–"
	}
	return strings.Join(parts, ", ")
}

// stands returns the point of a sweep whose figures stand for it: that of its knee or, where none is named, the best;
// -1 if no single one does.
func (i *Item) stands() int {
	r := i.Sweep.Result
	over, knee := r.OverRate(), 0.0
	switch {
	case r.Crash != "" || over >= 0 && len(r.Axes) > 1:
		return -1
	case over >= 0:
		if knee, _ = r.RateKnee(over, ""); knee == 0 {
			return -1
		}
	case i.knee("") == "":
		return r.Best()
	case len(r.Lines) != 1 || r.Lines[0].Doubt != "":
		return -1
	default:
		over, knee = r.Across(), r.Lines[0].Knee
	}
	return slices.IndexFunc(r.Points, func(p sweep.Point) bool { return r.N(p, over) == knee })
}

// seems begins the answer of a sweep that cannot show its knee for certain, as its page says.
const seems = "knee seems at "

// unsure is the answer of a sweep that cannot tell at which of several numbers of threads its knee is, which follow.
const unsure = "knee unsure"

// knee says where the knees of a sweep are, over rates or threads; "" if there is none.
func (i *Item) knee(per string) string {
	r := i.Sweep.Result
	low, high, missed, word := math.Inf(1), 0.0, false, "knee "
	over, what := r.OverRate(), per
	if over < 0 {
		for _, l := range r.Lines {
			switch may := l.MayBe(r); {
			case l.Doubt != "" && may != "" && len(r.Lines) == 1:
				return unsure + " (" + may + ")"
			case l.Doubt != "":
				return unsure
			}
			if missed = true; l.Knee > 0 {
				low, high = min(low, l.Knee), max(high, l.Knee)
				if l.Thin(r) != "" {
					word = seems
				}
			}
		}
		what = " threads"
	} else {
		for _, at := range r.Others(over) {
			knee, beyond := r.RateKnee(over, at)
			low, high, missed = min(low, knee), max(high, knee), missed || beyond > 0
		}
	}
	switch {
	case over >= 0 && high == 0 && missed:
		return "no rate was met"
	case high == 0:
		return ""
	case !missed:
		return "no knee up to " + units.Number(high) + what
	case low < high:
		return word + units.Number(low) + " to " + units.Number(high) + what
	}
	return word + units.Number(high) + what
}
