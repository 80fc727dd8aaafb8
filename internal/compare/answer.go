package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/perfbench/perfbench/internal/units"
)

// Answer says in a sentence or two whether B is better or worse: by how much, and how sure that is, or
// what it would take to know. Throughput decides, and the percentile that has changed most surely;
// where none has, p99, or the highest percentile below it that is judged. Where the size of what is
// moved differs, it says what B does of each. It is empty if nothing is judged; unit is the unit of
// throughput.
func (p Pair) Answer(unit string) string {
	if p.BySearch() {
		return p.Findings[0].holds(unit, p.under)
	}
	judged := p.deciding()
	switch {
	case len(judged) == 0 && p.judges():
		return p.rates + "It cannot be told whether B is better or worse: too few calls were timed; longer runs would tell."
	case len(judged) == 0:
		return strings.TrimSpace(p.rates)
	}
	var changed, same, open []string
	better, worse, alone := false, false, false
	for _, f := range judged {
		name := f.Label(unit)
		switch f.Verdict {
		case Better, Worse:
			alone = alone || f.alone
			better, worse = better || f.Verdict == Better, worse || f.Verdict == Worse
			changed = append(changed, name+" "+f.by())
		case Same:
			same = append(same, name+" "+f.Words())
		default:
			open = append(open, name)
		}
	}
	if len(changed) == 0 && len(open) > 0 {
		return p.rates + notTold(judged, unit)
	}
	which := "is the same as A"
	switch sizes := moves(judged, unit); {
	case sizes != "":
		which = sizes
	case better && worse:
		which = "is better in one thing and worse in another"
	case better:
		which = "is better"
	case worse:
		which = "is worse"
	}
	sure := fmt.Sprintf("with %.0f %% confidence", 100*certainty)
	if alone {
		sure += " as far as one run a side tells (how much runs differ is not known)"
	}
	text := p.rates + fmt.Sprintf("B %s, %s: %s.", which, sure, strings.Join(append(changed, same...), "; "))
	if len(open) > 0 {
		text += " Of " + strings.Join(open, " and ") + " it cannot be told."
	}
	return text
}

// moves says what B does in units and in bytes, where their size differs, which is no better or worse
// as a whole: "does 85 % fewer entries/s and moves 4.6 times the bytes"; "" for other comparisons, and where
// neither can be told.
func moves(judged []Finding, unit string) string {
	said, told := map[Figure]string{}, false
	for _, f := range judged {
		told = told || (f.Figure == Throughput || f.Figure == Bytes) && (f.Verdict == Same || f.changed())
		switch by := math.Abs(f.Change); {
		case f.Figure != Throughput && f.Figure != Bytes:
		case f.Verdict == Same:
			said[f.Figure] = "about as many"
		case !f.changed():
			said[f.Figure] = "perhaps as many"
		case f.Change >= 1:
			said[f.Figure] = strings.TrimPrefix(units.Factor(f.Change+1), "×") + " times the"
		case f.Change > 0:
			said[f.Figure] = fmt.Sprintf("%.2g %% more", 100*by)
		default:
			said[f.Figure] = fmt.Sprintf("%.2g %% fewer", 100*by)
		}
	}
	if len(said) < 2 || !told {
		return ""
	}
	return "does " + said[Throughput] + " " + unit + "/s and moves " + said[Bytes] + " bytes"
}

// deciding are the findings that the answer is about: throughput, unless a rate decided it, and the
// percentile that has changed most surely, with the highest that has changed if that went the other
// way. Up to p99 the highest of which enough calls tell stands for them if none has changed, and beside
// them if it is unsure.
func (p Pair) deciding() (out []Finding) {
	var tail, surest, highest *Finding
	for i := range p.Findings {
		f := &p.Findings[i]
		switch {
		case f.Verdict == Noted || f.figure(f.A) == Unknown || f.figure(f.B) == Unknown:
		case (f.Figure == Throughput || f.Figure == Bytes) && !f.Held:
			out = append(out, *f)
		case f.Figure.percentile() && f.Figure != P999: // the lowest first
			if tail = f; f.changed() {
				highest = f
				if surest == nil || f.atLeast() >= surest.atLeast() {
					surest = f
				}
			}
		case f.Figure == P999 && f.changed() && surest == nil:
			surest, highest = f, f
		}
	}
	if surest != nil {
		out = append(out, *surest)
		if highest.Verdict != surest.Verdict {
			out = append(out, *highest)
		}
	}
	if tail != nil && (surest == nil || tail.Verdict == Unsure) {
		out = append(out, *tail)
	}
	return out
}

// atLeast returns by how much a figure that has changed has done so for certain, on the scale on which
// half is as far from no change as double.
func (f Finding) atLeast() float64 {
	return min(math.Abs(math.Log1p(f.Lo)), math.Abs(math.Log1p(f.Hi)))
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

// notTold says which figures went from what to what, what these runs could have shown, and what it
// would take.
func notTold(judged []Finding, unit string) string {
	var went, same []string
	var first *Finding
	for i := range judged {
		f := &judged[i]
		if f.Verdict == Same {
			same = append(same, f.Label(unit)+" is "+f.Words())
			continue
		}
		if first == nil {
			first = f
		}
		text := f.Label(unit) + " was " + f.figure(f.A) + " in A and " + f.figure(f.B) + " in B"
		if by := f.ChangeText(); by != "" && by != "=" {
			text += " (" + by + ")"
		}
		went = append(went, text)
	}
	text := "It cannot be told whether B is better or worse: " + strings.Join(went, ", ") + ", which may be chance"
	for _, more := range []string{first.at(), first.takes()} {
		if more != "" {
			text += "; " + more
		}
	}
	if text += "."; len(same) > 0 {
		text += " " + strings.Join(same, ", ") + "."
	}
	return text
}

// at says how large a change these runs would have shown; "" if that is not known.
func (f Finding) at() string {
	if f.Power == nil || f.open() {
		return ""
	}
	switch {
	case !f.hopeless():
		return "only a change of " + f.sized(f.Power.ShowsOften) + " or more would have stood out from chance"
	case f.single:
		return "one run a side cannot tell a change from chance"
	}
	return "these runs differ too much among themselves to tell a change from chance"
}

// Answer is that of all calls; before it, why the two should not be compared.
func (c *Comparison) Answer(p Pair) string {
	text := p.Answer(c.Unit(p.Operation))
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
