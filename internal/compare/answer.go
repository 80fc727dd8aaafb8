package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/perfbench/perfbench/internal/units"
)

// Answer says in a sentence what B is better, worse or the same in: by how much, and how sure that is, or
// what it would take to know: in throughput, and in all percentiles that have changed; where none has, in p99,
// or the highest percentile below it that is judged. Where the size of what is moved differs, it says what B
// does of each. First comes what went wrong on a side. It is empty if nothing is judged; unit is the unit of
// throughput.
func (p Pair) Answer(unit string) string {
	if p.BySearch() {
		return p.Findings[0].holds(unit, p.under)
	}
	return strings.TrimSpace(strings.Join([]string{p.happened(), p.rates + p.judgement(unit)}, " "))
}

// longest is how many characters of a sentence two lines of a narrow terminal have room for.
const longest = 148

// judgement says how B differs from A, in as many figures as two lines have room for.
func (p Pair) judgement(unit string) string {
	judged := p.deciding()
	switch {
	case len(judged) == 0 && p.judges():
		return "Not judged: too few calls were timed; longer runs would tell."
	case len(judged) == 0:
		return ""
	}
	text := p.judging(judged, len(judged), unit)
	for most := len(judged) - 1; most > 0 && utf8.RuneCountInString(text) > longest; most-- {
		text = p.judging(judged, most, unit)
	}
	return text
}

// judging says how B differs from A in some figures, of which those after so many are only counted, but for the
// first that is better and the first that is worse.
func (p Pair) judging(judged []Finding, most int, unit string) string {
	by, more := map[Verdict][]string{}, map[Verdict]int{}
	var unjudged []string // why some are not judged
	of := map[string][]string{}
	sizes, alone := moves(judged, unit), false
	for i, f := range judged {
		name := f.Label(unit)
		alone = alone || f.alone && f.changed()
		if sizes != "" && !f.Figure.percentile() && f.Verdict != Unsure {
			continue // sizes says it
		}
		if i >= most && f.changed() && len(by[f.Verdict]) > 0 {
			more[f.Verdict]++
			continue
		}
		switch f.Verdict {
		case Better, Worse:
			name += " (" + f.ChangeText() + ")"
		case Same:
			if f.Within > 0 {
				name += " (" + strings.TrimPrefix(f.Words(), "same ") + ")"
			}
		default:
			if change := f.ChangeText(); change != "" && change != "=" {
				name += " (" + change + ")"
			}
		}
		if why := f.NotJudged(); why != "" {
			if of[why] == nil {
				unjudged = append(unjudged, why)
			}
			of[why] = append(of[why], name)
		}
		by[f.Verdict] = append(by[f.Verdict], name)
	}
	var parts []string
	for _, v := range []struct {
		verdict Verdict
		words   string
	}{{Better, "better in "}, {Worse, "worse in "}, {Same, "the same in "}} {
		if names := by[v.verdict]; len(names) > 0 {
			if n := more[v.verdict]; n > 0 {
				names = append(names, fmt.Sprintf("%d more", n))
			}
			parts = append(parts, v.words+units.Listed(names))
		}
	}
	text := units.Listed(parts)
	switch {
	case sizes != "" && text != "":
		text = "B " + sizes + ", and is " + text
	case sizes != "":
		text = "B " + sizes
	case text != "":
		text = "B is " + text
	}
	open := by[Unsure]
	switch {
	case len(open) == len(judged) && p.happened() != "":
		return "Unsure: " + units.Listed(open) + "." // not chance: what went wrong may have done it
	case len(open) == len(judged) && len(unjudged) == 1 && len(of[unjudged[0]]) == len(open):
		return "Not judged, " + unjudged[0] + ": " + units.Listed(open) + p.wants(judged) + "."
	}
	var may []string
	if tested := slices.DeleteFunc(slices.Clone(open), func(name string) bool {
		return slices.ContainsFunc(unjudged, func(why string) bool { return slices.Contains(of[why], name) })
	}); len(tested) > 0 {
		may = append(may, units.Listed(tested)+" may be chance")
	}
	for _, why := range unjudged {
		may = append(may, units.Listed(of[why])+" not judged: "+why)
	}
	if len(open) == len(judged) {
		return "Unsure: " + strings.Join(may, "; ") + p.wants(judged) + "."
	}
	text += fmt.Sprintf(", with %.0f %% confidence", 100*certainty)
	if alone {
		text += " for these two runs"
	}
	return strings.Join(append([]string{text}, may...), "; ") + "."
}

// wants says what it would take to know of all figures that are unsure, which is what the one takes that needs the
// most further runs; "" where the answer begins with something else.
func (p Pair) wants(judged []Finding) string {
	f := slices.MaxFunc(judged, func(x, y Finding) int { return cmp.Compare(x.further(), y.further()) })
	text := f.takes()
	if p.brief || p.rates != "" || text == "" || text == f.NotJudged() {
		return ""
	}
	return "; " + text
}

// moves says what B surely does in units and in bytes, where their size differs, which is no better or worse
// as a whole: "does 85 % fewer entries/s and moves 4.6 times the bytes"; "" for other comparisons, and where
// neither can be told.
func moves(judged []Finding, unit string) string {
	var said []string
	both := 0
	for _, f := range judged {
		verb, what := "does ", " "+unit+"/s"
		switch f.Figure {
		case Throughput:
		case Bytes:
			verb, what = "moves ", " bytes"
		default:
			continue
		}
		both++
		switch by := math.Abs(f.Change); {
		case f.Verdict == Same:
			said = append(said, verb+"about as many"+what)
		case !f.changed():
		case f.Change >= 1:
			said = append(said, verb+strings.TrimPrefix(units.Factor(f.Change+1), "×")+" times the"+what)
		case f.Change > 0:
			said = append(said, verb+units.Digits(100*by, 2)+" % more"+what)
		default:
			said = append(said, verb+units.Digits(100*min(by, 0.99), 2)+" % fewer"+what)
		}
	}
	if both < 2 {
		return ""
	}
	return units.Listed(said)
}

// deciding are the findings that the answer is about, in their order: throughput, unless a rate decided it, and
// each percentile that has changed. Up to p99 the highest of which enough calls tell stands for them if none has,
// and beside them if it is unsure.
func (p Pair) deciding() (out []Finding) {
	var tail *Finding
	moved := false
	for i := range p.Findings {
		f := &p.Findings[i]
		switch {
		case f.Verdict == Noted || f.figure(f.A) == Unknown || f.figure(f.B) == Unknown:
		case (f.Figure == Throughput || f.Figure == Bytes) && !f.Held:
			out = append(out, *f)
		case f.Figure.percentile(): // the lowest first
			if f.changed() {
				out, moved = append(out, *f), true
			}
			if f.Figure != P999 {
				tail = f
			}
		}
	}
	if tail != nil && (!moved || tail.Verdict == Unsure) {
		out = append(out, *tail)
	}
	return out
}

// judges reports whether a response time is to be judged, of which too few calls may tell.
func (p Pair) judges() bool {
	for _, f := range p.Findings {
		if f.Verdict != Noted && f.Figure.percentile() {
			return true
		}
	}
	return false
}

// Answer is that of all calls; before it, why the two should not be compared, and in which load they differ.
func (c *Comparison) Answer(p Pair) string {
	text := p.Answer(c.Unit(p.Operation))
	if text != "" && otherLoad(c.A, c.B) == "" {
		text = apartBy(&c.A.Runs[0].Conditions, &c.B.Runs[0].Conditions, p.rates != "") + text
	}
	if len(c.Refusals) > 0 {
		text = strings.TrimSpace("Compared although " + strings.Join(c.Refusals, ", and ") + ". " + text)
	}
	return text
}

// changed reports whether the figure is better or worse.
func (f Finding) changed() bool { return f.Verdict == Better || f.Verdict == Worse }

// by says by how much a figure has changed, in which range, and from what to what.
func (f Finding) by() string {
	by := f.ChangeText()
	if text := f.RangeText(); text != "" && text != anything {
		by += " (" + text + ")"
	}
	return by + ", from " + f.figure(f.A) + " to " + f.figure(f.B)
}
