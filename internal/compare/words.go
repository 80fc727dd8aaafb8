package compare

import (
	"fmt"
	"math"
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
	case HighestRate, HighestBase:
		return string(f.Figure) + ", " + unit + "/s"
	case ClientCPU, StoreCPU:
		return string(f.Figure) + "/op"
	}
	return string(f.Figure)
}

// anything is shown in place of a range so wide that it is meaningless: its ends differ
// by a factor of a hundred or more. vague follows a figure whose range is twice as large as the
// figure, or as all that a share can be.
const anything, vague = "vague", " (vague)"

// Text formats a side's figure: "831 µs ± 12 µs", where ± gives the distance to the end
// of its range, or "831 µs (vague)" where that says nothing. With brief that is left out.
func (f Finding) Text(r Range, brief bool) string {
	if r.Vague || math.IsNaN(r.Value) {
		return Unknown
	}
	text, by := f.amount(r.Value), r.By()
	if r.AtLeast {
		return "≥ " + text
	}
	if brief || f.Figure == Max || math.IsInf(by, 0) || f.Figure.byShare() && by == 0 {
		return text
	}
	if by > 2*r.Value && (!f.Figure.byShare() || by >= 1) {
		return text + vague
	}
	return text + " ± " + f.amount(by)
}

// amount formats a value of the figure.
func (f Finding) amount(v float64) string {
	switch f.Figure {
	case Throughput, HighestRate, HighestBase, MostThreads:
		return units.Number(v)
	case Errors:
		return fmt.Sprintf("%.3g %%", v*100)
	}
	return units.Duration(time.Duration(math.Round(v)))
}

// ChangeText formats by how much B differs: "+4.2 %", "=", "×20"; for errors in points.
// It is empty if that is unknown.
func (f Finding) ChangeText() string {
	switch {
	case math.IsNaN(f.Change) || math.IsInf(f.Change, 0) || f.A.Vague || f.B.Vague:
		return ""
	case f.Change == 0:
		return "="
	case f.Figure.byShare():
		return fmt.Sprintf("%+.3g points", f.Change*100)
	case f.Change >= 10:
		return "×" + units.Number(math.Round(f.Change+1))
	}
	return fmt.Sprintf("%+.1f %%", f.Change*100)
}

// RangeText formats the least and the greatest possible change: "+2.1 … +6.3 %"; empty
// if unknown.
func (f Finding) RangeText() string {
	switch {
	case f.Verdict == Noted || math.IsNaN(f.Lo) || math.IsInf(f.Lo, 0) || math.IsInf(f.Hi, 0) || f.Lo == f.Hi:
		return ""
	case f.Figure.byShare():
		return fmt.Sprintf("%+.2g … %+.2g points", f.Lo*100, f.Hi*100)
	case f.Hi+1 > 100*(f.Lo+1):
		return anything
	case f.Hi >= 10:
		return fmt.Sprintf("×%.2g … ×%s", f.Lo+1, units.Number(math.Round(f.Hi+1)))
	}
	return fmt.Sprintf("%+.1f … %+.1f %%", f.Lo*100, f.Hi*100)
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
	return fmt.Sprintf("%.3g %%", v*100)
}
