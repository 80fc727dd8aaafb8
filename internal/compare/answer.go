package compare

import (
	"fmt"
	"slices"
	"strings"
)

// Answer says in one sentence or a few whether B is slower or faster: by how much, and how sure
// that is, or what it would take to know. p99 decides where it is judged, and otherwise the
// highest percentile that is. It is empty if no percentile is judged; unit is the unit of
// throughput.
func (p Pair) Answer(unit string) string {
	if p.BySearch() {
		return p.Findings[0].holds(unit)
	}
	var judged []Finding
	for _, one := range slices.Backward(percentiles) {
		for _, f := range p.Findings {
			if f.Figure == one.figure && f.Verdict != Noted && f.Figure != P999 {
				judged = append(judged, f)
			}
		}
	}
	if len(judged) == 0 {
		return ""
	}
	if known := slices.IndexFunc(judged, func(f Finding) bool { return f.Text(f.A, true) != Unknown && f.Text(f.B, true) != Unknown }); known > 0 {
		judged = judged[known:] // too few calls tell of those above it
	} else if known < 0 {
		return "It cannot be told whether B is slower or faster: too few calls were timed; longer runs would tell."
	}
	lead := judged[0]
	moved := slices.IndexFunc(judged, Finding.changed)
	unsure := slices.ContainsFunc(judged, func(f Finding) bool { return f.Verdict == Unsure })
	var out []string
	switch {
	case lead.changed():
		out = append(out, lead.slower())
	case lead.Verdict == Same:
		out = append(out, fmt.Sprintf("B is as fast as A at %s: %s.", lead.Label(unit), lead.Words()))
	case moved >= 0:
		out = append(out, judged[moved].slower(), "At "+lead.Label(unit)+" it cannot be told.")
	default:
		text := fmt.Sprintf("It cannot be told whether B is slower or faster: %s was %s in A and %s in B, which may be chance", lead.Label(unit), lead.Text(lead.A, true), lead.Text(lead.B, true))
		if takes := lead.takes(); takes != "" {
			text += "; " + takes
		}
		out = append(out, text+".")
	}
	for _, f := range p.Findings {
		if f.Figure == Throughput && !f.Held && f.changed() {
			out = append(out, fmt.Sprintf("Throughput is %s: %s, %s.", f.Verdict, f.ChangeText(), f.fromTo()))
		}
	}
	if moved >= 0 && unsure {
		out = append(out, "Each percentile is judged by its own scatter, so one may be certain where the next is unsure.")
	}
	return strings.Join(out, " ")
}

// Answer is that of all calls; before it, why the two should not be compared.
func (c *Comparison) Answer(p Pair) string {
	text := p.Answer(c.A.Runs[0].Conditions.UnitOf(p.Operation))
	if len(c.Refusals) > 0 {
		text = strings.TrimSpace("Compared although " + strings.Join(c.Refusals, ", and ") + ". " + text)
	}
	return text
}

// changed reports whether the figure is better or worse.
func (f Finding) changed() bool { return f.Verdict == Better || f.Verdict == Worse }

// slower says which way a percentile has changed, and by how much.
func (f Finding) slower() string {
	way := "faster"
	if f.Verdict == Worse {
		way = "slower"
	}
	return fmt.Sprintf("B is %s at %s: %s.", way, f.Figure, f.by())
}

// by says by how much a figure has changed, in which range, and from what to what.
func (f Finding) by() string {
	by := f.ChangeText()
	if text := f.RangeText(); text != "" && text != anything {
		by += " (" + text + ")"
	}
	return by + ", " + f.fromTo()
}

func (f Finding) fromTo() string { return "from " + f.Text(f.A, true) + " to " + f.Text(f.B, true) }
