package tui

import (
	"slices"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/tui/widget"
)

// event is what happened last, in at most so many lines: a prompt, the store's
// silence, a message, the last change and its effect.
func (d *dashboard) event(e env, rows int) []string {
	s := e.styles
	said := func(k widget.Ink, text string) []string {
		var out []string
		for _, l := range widget.Wrap(text, e.w-2) {
			out = append(out, k.On(widget.Fit(" "+l, e.w)))
		}
		if len(out) > rows {
			return []string{k.On(widget.Fit(" "+text, e.w))}
		}
		return out
	}
	if d.prompt != nil {
		label := " " + d.prompt.label + ": "
		w := ansi.StringWidth(label)
		return []string{s.Accent.On(label) + d.prompt.field.View(s, e.w-w-1) + " "}
	}
	if text := d.watch.text(d.snap, (e.w-4)*rows); text != "" {
		if d.watch.gone {
			return said(s.Gone, "✗ "+text)
		}
		return said(s.OK, "✓ "+text)
	}
	if d.toast.text != "" {
		if d.toast.bad {
			return said(s.Bad, d.toast.text)
		}
		return said(s.Plain, d.toast.text)
	}
	if d.progress.Stage > Measuring && d.progress.Step != "" {
		return said(s.Plain, d.progress.Step)
	}
	if ef, ok := lastEffect(d.snap); ok {
		return d.lastChange(e, ef, rows)
	}
	if n := len(d.snap.Marks); n > 0 {
		m := d.snap.Marks[n-1]
		return []string{widget.Fit(" "+s.Muted.On(widget.Clock(m.At))+"  "+m.Note, e.w)}
	}
	return said(s.Muted, "Turn a knob while it runs: + adds a thread, ] doubles the payload, t opens all.")
}

// lastChange tells of the last change and its effect: beside each other, or below
// each other where there is no room.
func (d *dashboard) lastChange(e env, ef effect, rows int) []string {
	s := e.styles
	at, what, outcome := widget.Clock(ef.last), ef.what(d.plan), ef.outcome()
	between := "     "
	for _, narrower := range []string{"   ", "  "} {
		if ansi.StringWidth(at+what+between+outcome)+4 > e.w {
			between = narrower
		}
	}
	if rows > 1 && ansi.StringWidth(at+what+between+outcome)+4 > e.w {
		return []string{widget.Fit(" "+s.Muted.On(at)+"  "+s.Bold.On(what), e.w), widget.Fit(" "+widget.Fit("", ansi.StringWidth(at))+"  "+outcome, e.w)}
	}
	return []string{widget.Fit(" "+s.Muted.On(at)+"  "+s.Bold.On(what)+between+outcome, e.w)}
}

// bottomLine is the one line below the tuning layout: state, unless there is
// something to say.
func (d *dashboard) bottomLine(e env) string {
	if d.prompt != nil || d.watch.text(d.snap, e.w-4) != "" || d.toast.text != "" || d.progress.Stage > Measuring {
		return slices.Concat(d.event(e, 1), []string{widget.Fit("", e.w)})[0]
	}
	return widget.Fit(" "+d.state(e, e.w < 80), e.w)
}
