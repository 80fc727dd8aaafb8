package archive

import (
	"cmp"
	"strings"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/widget"
)

// Foreseen describes what a run will do, in w cells: what matters most first, where, for how long, with what load, what
// is deleted and with which data, then each of the rest.
func Foreseen(s *widget.Styles, v *request.Preview, thresholds []string, w int) [][]string {
	var main []string
	labelled := func(label string, k widget.Ink, texts ...string) (out []string) {
		for _, t := range texts {
			out = append(out, widget.Labelled(s, 12, label, t, k, w)...)
			label = ""
		}
		return out
	}
	add := func(label string, k widget.Ink, texts ...string) {
		main = append(main, labelled(label, k, texts...)...)
	}
	for _, t := range v.Warnings {
		add("!", s.Warn, widget.Unflagged(t))
	}
	if target, ok := LineOf(v.Run, "target"); ok {
		add("On", s.Plain, cmp.Or(widget.MaskTyped(widget.HideSecrets(target.Text)), widget.DefaultTarget))
	}
	add("Length", s.Plain, v.Length)
	if with := starts(v.Plan, v.Settings); len(with) > 0 {
		add("With", s.Plain, strings.Join(with, " · "))
	}
	switch {
	case len(v.Deletes) > 0:
		add("Deletes", s.Warn, v.Deletes...)
	case v.Fresh:
		add("Deletes", s.Muted, "nothing: the store ends with the run")
	default:
		add("Deletes", s.Muted, "nothing: the data stays")
	}
	if v.Bytes > 0 {
		add("Data size", s.Plain, units.Size(v.Bytes)+" of values")
	}
	reports := strings.Join(v.Documents, ", ")
	if out, ok := LineOf(v.Run, "out"); ok {
		reports += " in " + strings.TrimSuffix(out.Text, "/") + "/"
	}
	return [][]string{
		main, labelled("Changes", s.Plain, v.Timetable...), labelled("Thresholds", s.Plain, thresholds...), labelled("Writes", s.Plain, v.Writes...),
		labelled("Runs", s.Plain, v.Tracks...), labelled("Over", s.Plain, v.Over()), labelled("Reports", s.Plain, reports),
	}
}

// ahead returns what a run would do; nil if it cannot start, which says why when it is started.
func ahead(foresee func(request.Request) (*request.Preview, error), r request.Request) *request.Preview {
	v, err := foresee(r)
	if err != nil {
		return nil
	}
	return v
}

// LineOf returns the line of a name; false if there is none.
func LineOf(list []request.Line, name string) (request.Line, bool) {
	for _, s := range list {
		if s.Name == name {
			return s, true
		}
	}
	return request.Line{}, false
}

// starts says with how many threads, at which rate and with which payload a run begins, as far as it
// has these; where tracks differ, that of each.
func starts(plan *workload.Plan, settings []request.Line) (out []string) {
	for _, name := range []string{"threads", "rate", "payload"} {
		words := func(l request.Line) string {
			if k, ok := plan.Knob(name); ok {
				if n, err := k.Parse(l.Text); err == nil {
					return widget.KnobText(k, n)
				}
			}
			return l.Text
		}
		if all, ok := LineOf(settings, name); ok && all.Text != "" && all.Text != "–" {
			if text := words(all); text != workload.AsPlanned {
				out = append(out, name+" "+text)
			}
			continue
		}
		var each []string
		for _, l := range settings {
			if track, is := strings.CutSuffix(l.Name, "."+name); is {
				each = append(each, words(l)+" ("+track+")")
			}
		}
		if len(each) > 0 {
			out = append(out, name+" "+strings.Join(each, ", "))
		}
	}
	return out
}
