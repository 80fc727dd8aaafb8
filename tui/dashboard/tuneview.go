package dashboard

import (
	"fmt"
	"image"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// tuneLine is a line of the tuning panel and what a click on it does.
type tuneLine struct {
	text string
	row  int // the row that it belongs to; -1 for none
	// slider is the column where its slider starts, wide its width; 0 without a slider.
	slider, wide int
}

// tunePanel draws the tuning panel.
func (d *Dashboard) tunePanel(e screen.Env, r image.Rectangle) []string {
	lines := d.tuneLines(e, r.Dx()-2, r.Dy()-2)
	text := make([]string, len(lines))
	for i, l := range lines {
		text[i] = l.text
	}
	return widget.Panel{Title: "Tune", Foot: "esc closes", Focused: true}.Draw(e.Styles, r.Dx(), r.Dy(), text)
}

// tuneLines lays out the panel in w×h cells: three lines per knob if there is room,
// else two, else one; below them the effect of the last change.
func (d *Dashboard) tuneLines(e screen.Env, w, h int) []tuneLine {
	n := len(d.plan.Knobs)
	effect := d.effectLines(e, w)
	per := 1
	switch {
	case 2+3*n+len(effect) <= h:
		per = 3
	case 1+2*n+len(effect) <= h:
		per = 2
	}
	lines := []tuneLine{{text: d.trackLine(e, w), row: 0}}
	if per == 3 {
		lines = append(lines, tuneLine{row: -1})
	}
	for i := range d.plan.Knobs {
		lines = append(lines, d.knobLines(e, i+1, w, per)...)
	}
	if room := h - len(lines); room < len(effect) && room > 0 {
		effect = d.briefEffect(e, room)
	}
	// Scroll so that the selected row is visible.
	if over := len(lines) - h; over > 0 {
		from := 0
		for from < over && lines[from].row < d.tuner.row-1 {
			from++
		}
		return lines[from : from+h]
	}
	for _, l := range effect {
		lines = append(lines, tuneLine{text: l, row: -1})
	}
	if about := d.aboutKnob(e, w); len(lines)+1+len(about) <= h {
		for len(lines) < h-len(about) {
			lines = append(lines, tuneLine{row: -1})
		}
		for _, l := range about {
			lines = append(lines, tuneLine{text: l, row: -1})
		}
	}
	return lines
}

// aboutKnob explains the selected knob.
func (d *Dashboard) aboutKnob(e screen.Env, w int) []string {
	k, ok := d.selected()
	if !ok {
		return nil
	}
	bare := workload.Knob{Unit: k.Unit}
	var out []string
	for _, l := range widget.Wrap(k.Name+": "+k.Help+"; "+widget.KnobText(bare, k.Min)+" to "+widget.KnobText(bare, k.Max), w-4) {
		out = append(out, "  "+e.Styles.Muted.On(l))
	}
	return out
}

func (d *Dashboard) trackLine(e screen.Env, w int) string {
	s := e.Styles
	name, of := "all tracks, totals", fmt.Sprintf("%d tracks", len(d.tracks))
	if t := d.tuner.track; t != screen.All {
		name, of = d.tracks[t].Name, fmt.Sprintf("%d of %d", t+1, len(d.tracks))
	} else if len(d.tracks) == 1 {
		return widget.Spread(" "+s.Muted.On("  Track  ")+d.tracks[0].Name, s.Muted.On("the only one  "), w)
	}
	if ansi.StringWidth(name+of)+16 > w {
		name, _, _ = strings.Cut(name, ",")
	}
	return widget.Spread(" "+d.label(e, 0, "Track")+"  "+s.Accent.On("◂")+" "+s.Bold.On(name)+" "+s.Accent.On("▸"), s.Muted.On(of+"  "), w)
}

// label returns the name of a row, marked if it is the selected one.
func (d *Dashboard) label(e screen.Env, row int, name string) string {
	if row == d.tuner.row {
		return e.Styles.Selected.On("▸ " + name)
	}
	return "  " + name
}

func (d *Dashboard) knobLines(e screen.Env, row, w, per int) []tuneLine {
	k := d.plan.Knobs[row-1]
	name := strings.ToUpper(k.Name[:1]) + k.Name[1:]
	value := e.Styles.Bold.On(d.unitText(k))
	if d.tuner.typing && d.tuner.row == row {
		value = d.tuner.text.View(e.Styles, 12)
	}
	v := k.Get(d.run.Settings(d.tuner.track))
	if per == 1 {
		at, wide := 27, w-29
		left := " " + widget.Fit(d.label(e, row, name), 11) + widget.FitRight(value, 13)
		return []tuneLine{{text: widget.Fit(left, at) + widget.Slider(e.Styles, k, v, wide, row == d.tuner.row), row: row, slider: at, wide: wide}}
	}
	wide := w - 5
	out := []tuneLine{
		{text: widget.Spread(" "+d.label(e, row, name), value+"  ", w), row: row},
		{text: "   " + widget.Slider(e.Styles, k, v, wide, row == d.tuner.row), row: row, slider: 3, wide: wide},
	}
	if per == 3 {
		out = append(out, tuneLine{row: -1})
	}
	return out
}

// unitText returns a knob's value with its unit, if the unit adds information.
func (d *Dashboard) unitText(k workload.Knob) string {
	text := d.knobValue(k)
	if k.Unit != "" && k.Unit != "bytes" && k.Unit != k.Name && text != units.Unlimited {
		text += " " + k.Unit
	}
	if d.tuner.track == screen.All {
		text = each(d.plan, k, text)
	}
	return text
}

// each adds to the text of threads or a rate that the value applies to each track, if
// it is not a total.
func each(p *workload.Plan, k workload.Knob, text string) string {
	turned := 0
	for _, t := range p.Tracks() {
		if t.Turns(k) && !t.Apart {
			turned++
		}
	}
	if k.Sum || turned < 2 || k.Name != "threads" && k.Name != "rate" || strings.HasSuffix(text, units.Unlimited) {
		return text
	}
	return text + " each"
}

// effectLines describe the effect of the last change: before, after, difference.
func (d *Dashboard) effectLines(e screen.Env, w int) []string {
	s := e.Styles
	ef, ok := lastEffect(d.snap)
	if !ok {
		out := []string{""}
		for _, l := range widget.Wrap("No change yet. Its effect will be shown here.", w-2) {
			out = append(out, " "+s.Muted.On(l))
		}
		return out
	}
	out := []string{"", widget.Spread(" "+s.Muted.On("Last change, at "+widget.Clock(ef.last)), s.Muted.On(ef.by)+" ", w), "   " + s.Bold.On(ef.what(d.plan))}
	if ef.pause() || ef.past || ef.unsure() != "" || ef.after.seconds < fewest {
		for _, l := range widget.Wrap(ef.outcome(), w-4) {
			out = append(out, "   "+s.Muted.On(l))
		}
		return append(out, make([]string, max(5-len(out), 0))...)
	}
	rate := compare(s, w-22, units.Number(ef.before.rate)+" → "+units.Number(ef.after.rate), ef.before.rate, ef.after.rate, true)
	if text := ef.throughput(); text == unsure || text == same {
		rate = s.Muted.On(text)
	}
	lat := "–"
	switch text := ef.tail(); text {
	case "":
	case unsure, same:
		lat = s.Muted.On(text)
	default:
		lat = compare(s, w-22, arrow(ef.before.p99, ef.after.p99), ef.before.p99, ef.after.p99, false)
	}
	return append(out, "   "+s.Muted.On(widget.Fit(ansi.Truncate(d.info.Unit+"/s", 9, "…"), 10))+rate, "   "+s.Muted.On(widget.Fit("p99", 10))+lat)
}

// briefEffect is effectLines for one line, or three.
func (d *Dashboard) briefEffect(e screen.Env, room int) []string {
	ef, ok := lastEffect(d.snap)
	if !ok {
		return nil
	}
	line := "   " + e.Styles.Bold.On(ef.what(d.plan)) + "  " + ef.outcome()
	if room < 2 {
		return []string{line}
	}
	return []string{"", line}
}

// compare formats a change in w cells and a few more, with its direction as an arrow
// and a percentage.
func compare(s *widget.Styles, w int, text string, before, after float64, moreIsBetter bool) string {
	p := strings.TrimLeft(widget.Percent(before, after), "+−±")
	if p == "" {
		return text
	}
	sign, colour := "=", s.Muted
	switch diff := (after - before) / before; {
	case diff > 0.005:
		sign, colour = "▲", s.Bad
		if moreIsBetter {
			colour = s.OK
		}
	case diff < -0.005:
		sign, colour = "▼", s.OK
		if moreIsBetter {
			colour = s.Bad
		}
	}
	return widget.Fit(text, max(w, 13)) + " " + colour.On(sign+" "+p)
}
