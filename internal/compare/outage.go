package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/units"
)

// silent is for how long the store of some runs answered nothing, in all of them, and in how many of them;
// known is false if that was not recorded.
func silent(runs []Measured) (long time.Duration, in int, known bool) {
	for _, m := range runs {
		e, ok := m.Figures[Outage]
		if known = ok; !ok {
			return 0, 0, false
		}
		if e.Value > 0 {
			long, in = long+time.Duration(e.Value), in+1
		}
	}
	return long, in, known
}

// failed counts the calls of some runs that failed, and all calls.
func failed(runs []Measured) (failed, all int64) {
	for _, m := range runs {
		failed, all = failed+m.Errors, all+m.Calls-m.TimedOut+m.Errors
	}
	return failed, all
}

// byCount takes for chance in how much error rates differ what there is in how many calls failed, where one
// side has ten times the other's, or the other none. How errors scatter over the seconds of one side, as
// those of an outage do, tells nothing of a side that has none; the ranges of both sides stay as they are.
func (f *Finding) byCount(a, b []Measured) {
	failedA, allA := failed(a)
	failedB, allB := failed(b)
	x, y := float64(failedA)/float64(allA), float64(failedB)/float64(allB)
	if allA == 0 || allB == 0 || !farMore(x, y) && !farMore(y, x) {
		return
	}
	by := func(r Range, failed, all int64) stat.Estimate { // that of none is not known exactly either
		return stat.Estimate{Value: r.Value, SE: math.Sqrt(float64(failed)+1) / float64(all), DF: math.Inf(1)}
	}
	f.change, f.Paired, f.alone, f.counted = stat.Difference(by(f.A, failedA, allA), by(f.B, failedB, allB)), false, false, true
}

// asRanges gives a change that was decided by number the range that the sides have: its far end, and the end near
// no change unless that would take the verdict back. What then reaches farther than close to no change is not the same.
func (f *Finding) asRanges() {
	if !f.counted || !f.Moved() {
		return
	}
	lo, hi := f.B.Lo-f.A.Hi, f.B.Hi-f.A.Lo
	if lo > 0 || f.Hi < 0 {
		f.Lo = lo
	}
	if hi < 0 || f.Lo > 0 {
		f.Hi = hi
	}
	if f.Verdict == Same && max(math.Abs(f.Lo), math.Abs(f.Hi)) > f.Within {
		f.Verdict, f.Within = Worse, 0
		if (f.Change > 0) == f.Figure.better() {
			f.Verdict = Better
		}
	}
}

// farMore reports whether there is ten times as much of a trouble as of another, or some where there is none.
func farMore(much, little float64) bool { return much > 0 && much >= (1+tenfold)*little }

// quiet judges for how long the stores of both sides did not answer: no chance makes that ten times as
// long as it was, or of nothing.
func (f *Finding) quiet() Verdict {
	switch {
	case farMore(f.B.Value, f.A.Value):
		return Worse
	case farMore(f.A.Value, f.B.Value):
		return Better
	}
	return Noted
}

// none reports whether a figure of errors is one of a side that has none.
func (f *Finding) none() bool { return f.Figure == Errors && (f.A.Value == 0 || f.B.Value == 0) }

// happened says what went wrong: for how long the store of a side did not answer, and how many calls
// failed where the sides differ in that; "" if nothing did.
func (p Pair) happened() string {
	longA, inA, knownA := silent(p.A)
	longB, inB, knownB := silent(p.B)
	errors := false
	for _, f := range p.Findings {
		errors = errors || f.Figure == Errors && f.changed()
	}
	if longA == 0 && longB == 0 && !errors {
		return ""
	}
	failedA, _ := failed(p.A)
	failedB, _ := failed(p.B)
	none := "had none"
	if failedA+failedB == 0 {
		none = "always answered"
	}
	a, b := "A "+trouble(p.A, longA, inA, none), "B "+trouble(p.B, longB, inB, none)
	switch unknown := "whether %s always answered is not known"; { // of a baseline of an earlier version
	case longB > 0 && !knownA:
		a = fmt.Sprintf(unknown, "A")
	case longA > 0 && !knownB:
		b = fmt.Sprintf(unknown, "B")
	}
	if longA == 0 && (longB > 0 || failedA == 0) {
		a, b = b, a // the worse one first
	}
	return a + "; " + b + "."
}

// trouble says what went wrong on a side; none is said where nothing did.
func trouble(runs []Measured, long time.Duration, in int, none string) string {
	n, all := failed(runs)
	text := "did not answer for " + units.Duration(long)
	if len(runs) > 1 {
		text += fmt.Sprintf(" in %d of its %d runs", in, len(runs))
	}
	switch {
	case long > 0 && n > 0:
		return text + " (" + units.Many(n, "error") + ")"
	case long > 0:
		return text
	case n > 0:
		return fmt.Sprintf("had %s (%s of its calls)", units.Many(n, "error"), percent(float64(n)/float64(all)))
	}
	return none
}

// covers says what the figures of all calls are of, where a store did not answer for a while, or calls failed
// on one side more than on the other; "" elsewhere.
func (c *Comparison) covers() string {
	if len(c.Parts) == 0 || c.Parts[0].BySearch() || c.Parts[0].happened() == "" {
		return ""
	}
	longA, _, _ := silent(c.Parts[0].A)
	longB, _, _ := silent(c.Parts[0].B)
	text := "Response times are those of the calls that were answered."
	if longA+longB > 0 {
		text = "Throughput includes the time without answers; response times are those of the calls that were answered."
	}
	if slices.ContainsFunc(slices.Concat(c.Parts[0].A, c.Parts[0].B), func(m Measured) bool { return m.TimedOut > 0 }) {
		text = strings.TrimSuffix(text, ".") + " or timed out."
	}
	return text
}
