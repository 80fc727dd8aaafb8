package compare

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/units"
)

// Unknown is shown in place of a figure that is not known.
const Unknown = "–"

// Label names the figure of a finding for people; unit is the unit of throughput.
func (f Finding) Label(unit string) string {
	switch f.Figure {
	case Throughput:
		return unit + "/s"
	case Bytes:
		return "bytes/s"
	case HighestRate, HighestBase:
		return string(f.Figure) + ", " + unit + "/s"
	case ClientCPU, StoreCPU:
		return string(f.Figure) + "/" + each(unit)
	}
	return string(f.Figure)
}

// each is the singular of a unit: "entry" of "entries".
func each(unit string) string {
	if stem, ok := strings.CutSuffix(unit, "ies"); ok {
		return stem + "y"
	}
	return strings.TrimSuffix(unit, "s")
}

// anything is shown in place of a range so wide that it is meaningless: its ends differ
// by a factor of a hundred or more, or it is all that a share can be.
const anything = "?"

// uncertain is shown beside a figure in place of such a range.
const uncertain = "(uncertain)"

// evenly is up to which part of a figure its range is given by its half; a wider one is not even on
// both sides, and is given by its ends.
const evenly = 0.3

// Text formats a side's figure and its range, as in RangeOf. With brief that is left out.
func (f Finding) Text(r Range, brief bool) string {
	text := f.figure(r)
	if by := f.RangeOf(r); by != "" && !brief {
		text += " " + by
	}
	return text
}

// figure formats a side's figure without its range.
func (f Finding) figure(r Range) string {
	switch {
	case r.Vague || math.IsNaN(r.Value):
		return Unknown
	case r.AtLeast:
		return "≥ " + f.amount(r.Value)
	}
	return f.amount(r.Value)
}

// RangeOf formats the range of a side's figure: "± 12 µs", by the distance to its farther end; "(20 to
// 90 ms)" where it is wide, and so not even; "(uncertain)" where it says nothing; empty if it is unknown.
func (f Finding) RangeOf(r Range) string {
	by := r.By()
	switch {
	case r.Vague || r.AtLeast || f.Figure == Max || f.Figure == Outage || !(by > 0) || math.IsInf(by, 0):
		return ""
	case f.Figure.byShare() && r.Lo <= 0 && r.Hi >= 1, !f.Figure.byShare() && r.Hi > 100*r.Lo:
		return uncertain
	case by <= evenly*r.Value:
		return "± " + f.amount(by)
	}
	if f.Figure.byShare() { // how far off a share may be takes no three digits
		return "(" + units.Digits(r.Lo*100, 2) + " to " + units.Digits(r.Hi*100, 2) + " %)"
	}
	return "(" + f.span(r.Lo, "to", r.Hi) + ")"
}

// span formats two values, with the unit once if both have the same.
func (f Finding) span(a float64, between string, b float64) string {
	from, to := f.amount(a), f.amount(b)
	if number, unit, ok := strings.Cut(from, " "); ok && strings.HasSuffix(to, " "+unit) {
		from = number
	}
	return from + " " + between + " " + to
}

// amount formats a value of the figure.
func (f Finding) amount(v float64) string {
	switch f.Figure {
	case Throughput, HighestRate, HighestBase, MostThreads:
		return units.Number(v)
	case Bytes:
		return units.Size(int64(math.Round(v))) + "/s"
	case Errors:
		return percent(v)
	}
	return units.Length(time.Duration(math.Round(v)))
}

// ChangeText formats by how much B differs: "+4.2 %", "×20", "=" if by less than is shown; for errors in points. It is empty if that is unknown.
func (f Finding) ChangeText() string {
	switch by := f.B.Value - f.A.Value; {
	case f.Figure == Outage && by > 0:
		return "+" + f.amount(by)
	case f.Figure == Outage && by < 0:
		return "−" + f.amount(-by)
	case math.IsNaN(f.Change) || math.IsInf(f.Change, 0) || f.A.Vague || f.B.Vague:
		return ""
	case f.Change == 0:
		return "="
	case f.Figure.byShare():
		return signed(f.Change*100, 3) + " points"
	}
	if text := units.Change(f.Change); strings.Trim(text, "+−") != "0.0 %" {
		return text
	}
	return "="
}

// RangeText formats the least and the greatest possible change as ChangeText does the change: "+2.1 … +6.3 %";
// empty if unknown.
func (f Finding) RangeText() string {
	switch {
	case f.Verdict == Noted || math.IsNaN(f.Lo) || math.IsInf(f.Lo, 0) || math.IsInf(f.Hi, 0) || f.Lo == f.Hi:
		return ""
	case f.Figure.byShare():
		return points(f.Lo) + " … " + points(f.Hi) + " points"
	case f.Hi+1 > 100*(f.Lo+1) && !f.Moved():
		return anything
	}
	return units.Between(f.Change, f.Lo, f.Hi)
}

// Sentence describes the change of a figure in one line: "p99: worse, +12.3 %, from 8
// ms to 9 ms".
func (f Finding) Sentence(unit string) string {
	text := f.Label(unit) + ": " + f.Words()
	if f.Verdict == Noted {
		text = f.Label(unit) + ": not compared"
	}
	switch by := f.ChangeText(); by {
	case "":
		return text
	case "=":
	default:
		text += ", " + by
	}
	return text + ", from " + f.Text(f.A, true) + " to " + f.Text(f.B, true)
}

// share formats a fraction: "1.2 %"; a dash if it is not known.
func share(v float64, vague bool) string {
	if vague || math.IsNaN(v) {
		return Unknown
	}
	return percent(v)
}

// points formats a difference of shares with two digits, or whole.
func points(v float64) string {
	if v *= 100; math.Abs(v) >= 10 {
		return units.Minus(fmt.Sprintf("%+.0f", v))
	}
	return signed(v, 2)
}

// signed formats a number with its sign and so many digits.
func signed(v float64, n int) string {
	if v > 0 {
		return "+" + units.Digits(v, n)
	}
	return units.Minus(units.Digits(v, n))
}

// percent formats a fraction with three digits: "1.2 %".
func percent(v float64) string { return units.Digits(v*100, 3) + " %" }
