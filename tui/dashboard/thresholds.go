package dashboard

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/widget"
)

// asked are the thresholds of the run as they were written.
func (r *reading) asked() []string {
	out := slices.Clone(r.info.Request.Thresholds)
	for _, t := range r.verdict.Thresholds { // of a run that is only watched, these alone are known
		if !slices.Contains(out, t.Expr) {
			out = append(out, t.Expr)
		}
	}
	return out
}

// limits are the conditions on the response times that a chart shows, of one operation or, below 0, of
// all: those of a search while it goes on, else those of the run.
func (r *reading) limits(op int) (out []condition.Threshold) {
	list := condition.Limits(r.asked())
	if r.searching() {
		list = r.found.Limits()
	}
	other := func(e condition.Threshold) bool {
		if op >= 0 && op < len(r.snap.Ops) {
			return !e.About(r.snap.Ops[op].Operation)
		}
		return slices.ContainsFunc(r.snap.Ops, func(o measure.Totals) bool { return !e.About(o.Operation) })
	}
	for _, e := range list {
		if e.Time == "response" && !other(e) {
			out = append(out, e)
		}
	}
	return out
}

// stand says in at most w cells which thresholds are missed so far, or else that they are met; "" if there is
// nothing to say or no room.
func (r *reading) stand(s *widget.Styles, w int) string {
	list, k := r.verdict.Missed(), s.Bad
	if len(list) == 0 {
		list, k = r.verdict.Thresholds, s.OK
	}
	if len(list) == 0 {
		return ""
	}
	var whole, brief []string
	for _, t := range list {
		whole, brief = append(whole, t.Sign()+" "+t.SoFar()), append(brief, t.Sign()+" "+t.Expr)
	}
	for _, text := range []string{strings.Join(whole, " · "), strings.Join(brief, " · "), list[0].Sign() + " " + units.Plural(len(list), "threshold")} {
		if ansi.StringWidth(text) <= w {
			return k.On(text)
		}
	}
	return ""
}

// thresholdRows tell how each threshold stands so far, in w cells.
func (r *reading) thresholdRows(s *widget.Styles, w int) (out []string) {
	judged := map[string]bool{}
	for _, t := range r.verdict.Thresholds {
		k := s.OK
		if judged[t.Expr] = true; !t.OK {
			k = s.Bad
		}
		out = append(out, k.On(widget.Fit("  "+t.Sign()+" "+t.SoFar(), w)))
	}
	for _, text := range r.asked() {
		if judged[text] {
			continue
		}
		why := "is judged once enough calls have ended"
		if e, err := condition.ParseThreshold(text); err == nil && e.AtEnd() {
			why = "is judged at the end"
		}
		out = append(out, s.Muted.On(widget.Fit("  · "+text+" "+why, w)))
	}
	return out
}

// thresholdsSaid says of all thresholds how they stand; "" if none is judged yet.
func (r *reading) thresholdsSaid() string {
	var parts []string
	for _, t := range r.verdict.Thresholds {
		part := t.Expr + " met"
		if !t.OK {
			part = t.Expr + " missed at " + t.Got
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return "thresholds so far: " + strings.Join(parts, ", ")
}
