package runs

import (
	"fmt"
	"math"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/widget"
)

// finding is one row of a comparison, in words.
type finding struct {
	group, name, a, b string
	// change is how B differs from A, with a direction; verdict what that means.
	change  string
	verdict compare.Verdict
}

// unknown is how a figure is written that cannot be told.
const unknown = "–"

// inWords writes the findings of a part.
func inWords(unit string, p compare.Part) []finding {
	out := make([]finding, 0, len(p.Findings))
	group := "latency"
	for _, f := range p.Findings {
		row := finding{name: string(f.Figure), change: movement(f.A.Value, f.B.Value), verdict: f.Verdict}
		switch f.Figure {
		case compare.Throughput:
			row.group, row.name, row.a, row.b = string(f.Figure), unit+"/s", withError(f.A), withError(f.B)
		case compare.Errors:
			row.group, row.name, row.a, row.b = string(f.Figure), "", widget.Whole(p.A.Errors), widget.Whole(p.B.Errors)
			if p.A.Errors == 0 && p.B.Errors > 0 {
				row.change = "▲ new"
			}
		case compare.Max:
			row.a, row.b = widget.Nanos(p.A.Max), widget.Nanos(p.B.Max)
		default:
			row.group, group = group, ""
			row.a, row.b = nsText(f.A), nsText(f.B)
			if f.A.Vague || f.B.Vague {
				row.change = ""
			}
		}
		out = append(out, row)
	}
	return out
}

// withError writes a rate with its standard error.
func withError(e compare.Estimate) string {
	if math.IsNaN(e.Value) {
		return unknown
	}
	by := e.StandardError()
	if math.IsInf(by, 0) || math.IsNaN(by) {
		return units.Number(e.Value)
	}
	return units.Number(e.Value) + " ± " + units.Number(by)
}

// nsText writes a response time, or a dash when too few calls are behind it.
func nsText(e compare.Estimate) string {
	if e.Vague || math.IsNaN(e.Value) {
		return unknown
	}
	return widget.Nanos(int64(e.Value))
}

// movement writes how a figure changed: ▲ 37.8 %.
func movement(a, b float64) string {
	switch {
	case math.IsNaN(a) || math.IsNaN(b):
		return ""
	case a == b:
		return "="
	case a == 0:
		return ""
	}
	sign, p := "▲", (b-a)/a*100
	if p < 0 {
		sign, p = "▼", -p
	}
	if p >= 1000 {
		return fmt.Sprintf("%s ×%.0f", sign, b/a)
	}
	return fmt.Sprintf("%s %.1f %%", sign, p)
}
