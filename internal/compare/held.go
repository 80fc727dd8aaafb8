package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/perfbench/perfbench/internal/units"
)

// keepsUp is the fraction of its target rate from which a run counts as having kept to
// it.
const keepsUp = 0.98

// held returns the target rate, in units per second, that every run of a side was given and
// kept to; 0 if there is none. Where both sides have one, throughput is what was requested,
// and says nothing about the store.
func held(s Set) float64 {
	rate := math.NaN()
	for _, r := range s.Runs {
		asked, done := r.Conditions.Settings["rate"], r.Parts[0].Figures[Throughput].Value
		if !(asked > 0) || r.Conditions.Changes > 0 || asked != rate && !math.IsNaN(rate) || math.Abs(done/asked-1) > 1-keepsUp {
			return 0
		}
		rate = asked
	}
	return rate
}

// atRate reports whether both sides were held at a rate, be it the same one or not.
func atRate(a, b Set) bool { return held(a) > 0 && held(b) > 0 }

// ungiven says why the throughput of two sides is no finding though they were not both held at a rate:
// that it changed as a run went, or that the lower one is all that was asked for; "" if it is one.
func ungiven(a, b Set, unit string) string {
	var paced []string
	for i, s := range []Set{a, b} {
		if s.Runs[0].Conditions.Paced && !sameTimetable(a, b) {
			paced = append(paced, sides[i])
		}
	}
	x, y := held(a), held(b)
	done := func(s Set) float64 { return s.Runs[0].Parts[0].Figures[Throughput].Value }
	switch {
	case len(paced) > 0:
		return fmt.Sprintf("The requested rate of %s changed during the run, so throughput says how much was asked for, not how much the store can do, and is not judged. ",
			strings.Join(paced, " and "))
	case x > 0 && done(b) > done(a):
		return fmt.Sprintf("A was asked for only %s %s/s and kept up, so throughput is not compared. ", units.Number(x), unit)
	case y > 0 && done(a) > done(b):
		return fmt.Sprintf("B was asked for only %s %s/s and kept up, so throughput is not compared. ", units.Number(y), unit)
	}
	return ""
}

// sameTimetable reports whether two sides had the same timetable, so that their throughput can be compared.
func sameTimetable(a, b Set) bool {
	x, y := a.Runs[0].Conditions.Parameters["at"], b.Runs[0].Conditions.Parameters["at"]
	return x != "" && x == y
}

// limited withdraws the judgement on a throughput that was determined by the target
// rate; alike says that each side had and kept one.
func limited(fs []Finding, alike bool) {
	for i := range fs {
		if f := &fs[i]; (f.Figure == Throughput || f.Figure == Bytes) && f.Verdict != Noted {
			if f.Verdict, f.Within, f.Held, f.Power = Same, 0, true, nil; !alike || math.Abs(f.Change) > 1-keepsUp {
				f.Verdict = Noted // another rate, or bytes of another size at the same one
			}
		}
	}
}

// heldNote says why throughput was not judged.
func heldNote(c *Comparison) string {
	a, b := held(c.A), held(c.B)
	unit, other := c.A.Runs[0].Conditions.Unit, c.B.Runs[0].Conditions.Unit
	if a != b || unit != other {
		return fmt.Sprintf("A was asked for %s %s/s and B for %s %s/s, and both kept up, so their throughput says nothing about the store; their latency does, at the rate that each had.",
			units.Number(a), unit, units.Number(b), other)
	}
	return fmt.Sprintf("Both sides were held at %s %s/s and kept up, so their throughput says nothing about the store; their latency does.",
		units.Number(a), unit)
}
