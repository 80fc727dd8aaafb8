package dashboard

import (
	"fmt"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Spoken says what the run does now, and what is to be said once it is new: in which state
// the run is, its settings, what happened last, and the row that keys act on.
func (d *Dashboard) Spoken(e screen.Env) (now string, events []string) {
	f := d.sel.fig
	stage := d.lines.stageWord()
	if stage == "" {
		stage = d.now.progress.Stage.String()
	}
	what := d.now.info.Title + " on " + d.now.info.Store
	if whose := d.now.whose(); len(whose) > 0 {
		what += ", " + whose[0]
	}
	if step := d.now.progress.Step; step != stage {
		stage += " " + step
	}
	events = append(events, what+": "+stage)
	if d.now.snap == nil || d.now.progress.Stage == screen.Preparing {
		return "", events
	}
	var knobs []string
	for _, k := range d.now.plan.Knobs {
		if d.knobs.effective(k) {
			knobs = append(knobs, k.Name+" "+d.knobs.value(k))
		}
	}
	events = append(events, "settings: "+strings.Join(knobs, ", "))
	for _, f := range d.now.inForce() {
		events = append(events, "fault "+f.Name+" is in force")
	}
	if what, at := d.now.after(); len(what) > 0 {
		events = append(events, "next: "+strings.Join(what, ", ")+" at "+widget.At(at))
	}
	if v := d.now.verdict; v.State != "" && d.now.snap.At > 0 {
		events = append(events, "verdict "+v.State+" "+strings.Join(d.sel.causes(), ", "))
	}
	if said := d.now.thresholdsSaid(); said != "" {
		events = append(events, said)
	}
	if d.lower.turned {
		events = append(events, d.lower.said(e, d.page.folds(e)))
	}
	if d.charts.cross.On {
		events = append(events, "at "+strings.TrimSpace(ansi.Strip(strings.Join(d.charts.read(e.Styles, d.page.panes(e), math.MaxInt16, 1), " "))))
	}
	events = append(events, sentence(d.lines.event(e, 3)))
	if d.breaks.open {
		events = append(events, "break something: fault "+d.breaks.fault.Value()+", for "+d.breaks.long.Value()+": "+sentence(d.breaks.below(e.Styles, math.MaxInt16)))
	}
	if d.coming.open {
		events = append(events, "arrivals of the calls: "+d.coming.said())
	}
	if p := d.page.panes(e); d.page.aside() {
		for _, line := range d.page.side(e, p.tune) {
			if text := strings.Trim(ansi.Strip(line), "│ "); strings.HasPrefix(text, "▸") {
				events = append(events, text+" ")
			}
		}
	}
	if math.IsNaN(f.rate) {
		return "", events
	}
	l := f.latency
	return fmt.Sprintf("%s, %s, p50 %s, p99 %s, max %s, %s", widget.Clock(d.now.snap.At), d.sel.rateText(f.rate), widget.Nanos(l.P50), widget.Nanos(l.P99), widget.Nanos(l.Max), d.sel.state(e, true, "")), events
}

// mostSaid is how many rows of a panel are said.
const mostSaid = 12

// said says which panel is selected, and which operation in it, and after a colon what it has; folds as next has it.
func (low *lower) said(e screen.Env, folds bool) string {
	text := "panel " + strings.ToLower(low.tab.String())
	if folds && !low.folded {
		return "panel latency: its figures are said every few seconds"
	}
	if op := low.sel.op; low.tab == tabOps && op >= 0 && op < len(low.now.snap.Ops) {
		text += " of " + low.now.opName(low.now.snap.Ops[op].Operation)
	}
	if low.tab.drawn() {
		return text + ": a picture without words"
	}
	head, body := low.table(e, low.tab, e.W-4)
	rows := []string{strings.TrimSpace(ansi.Strip(head))}
	for _, l := range body[:min(len(body), mostSaid)] {
		rows = append(rows, strings.Trim(ansi.Strip(l), " ▸"))
	}
	if n := len(body) - mostSaid; n > 0 {
		rows = append(rows, widget.Plural(int64(n), "more row"))
	}
	return text + ": " + strings.Join(rows, "; ")
}

// sentence joins lines: those of one text, and those that are set apart by their indent.
func sentence(lines []string) (out string) {
	for i, l := range lines {
		l = ansi.Strip(l)
		if indented := strings.HasPrefix(l, "   "); i > 0 && indented {
			out += "  "
		} else if i > 0 {
			out += " "
		}
		out += strings.TrimSpace(l)
	}
	return out
}

// InWords says how the run is where there is no room to draw it: its state, rate and p99 first.
func (d *Dashboard) InWords(e screen.Env) []string {
	state := d.lines.stageWord()
	if state == "" {
		state = d.now.progress.Stage.String()
	}
	out := []string{strings.TrimSpace(d.lines.sign() + " " + state + " " + d.now.time())}
	if d.now.progress.Stage == screen.Preparing {
		return append(out, d.now.progress.Step)
	}
	if d.says.prompt != nil {
		out = append(out, d.says.prompt.words())
	}
	if d.breaks.open {
		out = append(out, "Break something: "+d.breaks.fault.Value()+", for "+d.breaks.long.Value())
	}
	if d.coming.open {
		out = append(out, "Arrivals: "+d.coming.at.String())
	}
	if d.now.watch.gone && !d.now.watch.own(d.now.snap.At) {
		out = append(out, "no answer since "+widget.At(d.now.watch.since))
	}
	if l := d.sel.fig.latency; d.now.watch.gone {
		out = append(out, d.sel.rateText(d.sel.fig.rate))
	} else {
		out = append(out, d.sel.rateText(d.sel.fig.rate), "p99 "+widget.Nanos(l.P99)+" · p50 "+widget.Nanos(l.P50))
	}
	words := []string{}
	if d.sel.fig.backlog > 0 {
		words = append(words, units.Number(float64(d.sel.fig.backlog))+" behind schedule")
	}
	out = append(out, strings.Join(append(words, "errors "+widget.Whole(d.sel.fig.errors)), " · "))
	if v := d.now.verdict; v.State != "" && d.now.snap.At > 0 {
		out = append(out, v.State+" "+strings.Join(d.sel.causes(), ", "))
	}
	if stand := ansi.Strip(d.now.stand(e.Styles, math.MaxInt16)); stand != "" {
		out = append(out, stand)
	}
	return out
}
