package dashboard

import (
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// event returns the latest event in at most rows lines: a prompt, that the store is
// silent, a message, or the last change and its effect.
func (d *Dashboard) event(e screen.Env, rows int) []string {
	s := e.Styles
	said := func(k widget.Ink, text string) []string {
		var out []string
		for _, l := range widget.Wrap(text, e.W-2) {
			out = append(out, k.On(widget.Fit(" "+l, e.W)))
		}
		if len(out) > rows {
			return []string{k.On(widget.Fit(" "+text, e.W))}
		}
		return out
	}
	if d.says.prompt != nil {
		label := " " + d.says.prompt.label + ": "
		w := ansi.StringWidth(label)
		return []string{s.Accent.On(label) + d.says.prompt.field.View(s, e.W-w-1) + " "}
	}
	if text := d.now.watch.text(d.now.snap, (e.W-4)*rows); text != "" {
		if d.now.watch.gone {
			return said(s.Gone, "✗ "+text)
		}
		return said(s.OK, "✓ "+text)
	}
	if d.says.toast.text != "" {
		if d.says.toast.bad {
			return said(s.Bad, d.says.toast.text)
		}
		return said(s.Plain, d.says.toast.text)
	}
	if d.now.info.Watched && d.now.progress.Note != "" {
		return said(s.Warn, "! "+d.now.progress.Note)
	}
	if d.sel.fig.stalls() && d.now.progress.Stage == screen.Measuring {
		which := "A call"
		if d.sel.fig.inFlight > 1 {
			which = "The oldest of " + widget.Plural(int64(d.sel.fig.inFlight), "call")
		}
		return said(s.Warn, "! "+which+" has been under way for "+age(d.sel.fig.oldest))
	}
	if text := d.knobs.hopeless(); text != "" && d.now.progress.Stage == screen.Measuring {
		return said(s.Warn, "! "+text)
	}
	if d.now.progress.Stage > screen.Measuring && d.now.progress.Step != "" {
		return said(s.Plain, d.now.progress.Step)
	}
	ef, ok := lastEffect(d.now.snap)
	if causes, _ := Ours(d.now.verdict); len(causes) > 0 && (!ok || d.now.snap.At-ef.last > window*time.Second) {
		return said(s.Alarm, "perfbench is the bottleneck ("+strings.Join(causes, ", ")+"): tab shows what each side uses")
	}
	if ok {
		return d.lastChange(e, ef, rows)
	}
	if n := len(d.now.snap.Marks); n > 0 {
		m := d.now.snap.Marks[n-1]
		return []string{widget.Fit(" "+s.Muted.On(widget.Clock(m.At))+"  "+m.Note, e.W)}
	}
	if d.now.info.Watched {
		return said(s.Muted, "Watching: another perfbench drives this run, and no key here changes it.")
	}
	payload := ""
	if k, ok := d.now.plan.Knob("payload"); ok && d.knobs.effective(k) {
		payload = " ] doubles the payload,"
	}
	return said(s.Muted, "Turn a knob while it runs: + adds a thread,"+payload+" t opens all.")
}

// lastChange shows the last change and its effect: side by side, or one below the other
// if there is no room.
func (d *Dashboard) lastChange(e screen.Env, ef effect, rows int) []string {
	s := e.Styles
	at, what, outcome := widget.Clock(ef.last), ef.what(d.now.plan), ef.outcome()
	if ef.by == "undo" {
		what = "undo: " + what
	}
	between := "     "
	for _, narrower := range []string{"   ", "  "} {
		if ansi.StringWidth(at+what+between+outcome)+4 > e.W {
			between = narrower
		}
	}
	if rows > 1 && ansi.StringWidth(at+what+between+outcome)+4 > e.W {
		return []string{widget.Fit(" "+s.Muted.On(at)+"  "+s.Bold.On(what), e.W), widget.Fit(" "+widget.Fit("", ansi.StringWidth(at))+"  "+outcome, e.W)}
	}
	return []string{widget.Fit(" "+s.Muted.On(at)+"  "+s.Bold.On(what)+between+outcome, e.W)}
}

// bottomLine returns the single line below the tuning layout: the state, unless there
// is an event.
func (d *Dashboard) bottomLine(e screen.Env) string {
	if d.says.prompt != nil || d.now.watch.text(d.now.snap, e.W-4) != "" || d.says.toast.text != "" || d.now.progress.Stage > screen.Measuring {
		return slices.Concat(d.event(e, 1), []string{widget.Fit("", e.W)})[0]
	}
	return widget.Fit(" "+d.sel.state(e, e.W < 80), e.W)
}

// aside reports whether there is a panel beside the charts: tuning or a search.
func (d *Dashboard) aside() bool { return d.tuner.open || d.search.panel.Open }

// sidePanel draws the panel beside the charts.
func (d *Dashboard) sidePanel(e screen.Env, r image.Rectangle) []string {
	if d.search.panel.Open {
		return d.search.draw(e, r)
	}
	return d.tuner.draw(e, r)
}

func (d *Dashboard) selection() look {
	return look{tuning: d.aside(), lower: d.lower.folded || d.against.chooser.Open, rows: max(len(d.now.snap.Ops), 2), tall: d.lower.tab.tall() || d.against.chooser.Open}
}

// View draws the page.
func (d *Dashboard) View(e screen.Env) string {
	d.narrow, d.small = e.W < 80, widget.SizeOf(e.W, e.H) == widget.Small
	if d.now.progress.Stage == screen.Preparing {
		return d.preparing(e)
	}
	p := layout(e.W, e.H, d.selection())
	lines := []string{d.status(e)}
	switch {
	case d.aside() && p.size == widget.Small:
		lines = append(lines, d.charts.throughput(e, p)...)
		lines = append(lines, d.sidePanel(e, p.tune)...)
		lines = append(lines, d.bottomLine(e))
	case d.aside():
		left := append([]string{}, d.charts.throughput(e, p)...)
		if !p.latency.Empty() {
			left = append(left, d.charts.latency(e, p)...)
		}
		left = append(left, d.bottomPanel(e, p)...)
		lines = append(lines, widget.Beside(left, d.sidePanel(e, p.tune))...)
		lines = append(lines, d.bottomLine(e))
	default:
		left := append([]string{}, d.charts.throughput(e, p)...)
		if !p.latency.Empty() {
			left = append(left, d.charts.latency(e, p)...)
		}
		if !p.ops.Empty() {
			left = append(left, d.bottomPanel(e, p)...)
		}
		if !p.wall.Empty() {
			left = widget.Beside(left, d.lower.wall(e, p))
		}
		lines = append(lines, left...)
		knobs, _ := d.knobs.line(e)
		lines = append(lines, widget.Fit(knobs, e.W), widget.Fit(" "+d.sel.state(e, e.W < 80), e.W))
		lines = append(lines, d.event(e, max(e.H-1-len(lines), 1))...)
	}
	for len(lines) < e.H-1 {
		lines = append(lines, strings.Repeat(" ", e.W))
	}
	return widget.Page(e.W, e.H, append(lines, widget.Footer(e.Styles, e.W, d.Keys().Short)))
}

// preparing draws what is shown until the first worker runs.
func (d *Dashboard) preparing(e screen.Env) string {
	s, pr := e.Styles, d.now.progress
	step := pr.Step
	if step == "" {
		step = "getting ready"
	}
	lines := []string{"", "  " + s.Bold.On(step)}
	if pr.Total > 0 {
		part := min(float64(pr.Done)/float64(pr.Total), 1)
		lines = append(lines, "", "  "+widget.Bar(s, part, min(e.W-20, 60))+fmt.Sprintf(" %3.0f %%", part*100),
			"  "+s.Muted.On(widget.Whole(pr.Done)+" of "+widget.Whole(pr.Total)))
	} else if pr.Done > 0 {
		lines = append(lines, "", "  "+s.Muted.On(widget.Whole(pr.Done)))
	}
	if pr.Note != "" {
		lines = append(lines, "")
		for _, l := range widget.Wrap(pr.Note, e.W-8) {
			lines = append(lines, "  "+l)
		}
	}
	for _, w := range d.now.plan.Warnings {
		for i, l := range widget.Wrap(w, e.W-8) {
			if i == 0 {
				lines = append(lines, "", "  "+s.Warn.On("! "+l))
			} else {
				lines = append(lines, "    "+l)
			}
		}
	}
	out := append([]string{d.status(e)}, widget.Panel{Title: "Preparing", Focused: true}.Draw(s, e.W, e.H-2, lines)...)
	return widget.Page(e.W, e.H, append(out, widget.Footer(e.Styles, e.W, d.Keys().Short)))
}

// status draws the first line: what runs, where, and its progress.
func (d *Dashboard) status(e screen.Env) string {
	s := e.Styles
	sign := "▶"
	if d.sel.fig.paused {
		sign = "‖"
	}
	what := []string{d.now.info.Title, d.now.info.Store}
	if len(d.now.snap.Phases) > 0 && d.now.progress.Stage == screen.Measuring && len(d.now.plan.Phases) > 1 {
		what = append(what, strings.Join(d.now.snap.Phases, ", "))
	}
	left := " " + s.Accent.On(sign) + " " + s.Bold.On(strings.Join(what, " · "))
	if w := d.stageWord(); w != "" {
		left += " " + s.Warn.On("· "+w)
	}
	right := d.now.time()
	part, known := d.now.done()
	if known && e.W >= 80 {
		right += "  " + widget.Bar(s, part, min(24, e.W/5)) + s.Bold.On(fmt.Sprintf(" %3.0f %%", part*100))
	}
	return widget.Spread(left, right+" ", e.W)
}

// bottomPanel draws the list of earlier runs while that is open, else the lower panel.
func (d *Dashboard) bottomPanel(e screen.Env, p panes) []string {
	if d.against.chooser.Open {
		return d.against.chooser.Draw(e.Styles, p.ops.Dx(), p.ops.Dy(), e.Now)
	}
	return d.lower.draw(e, p)
}

func (d *Dashboard) stageWord() string {
	switch {
	case d.now.progress.Stage != screen.Measuring:
		return d.now.progress.Stage.String()
	case d.now.searching():
		return "searching"
	case d.sel.fig.paused:
		return "paused"
	case d.now.snap.At < 0:
		return "warm-up"
	}
	return ""
}

// rects returns the current panes, for hit tests.
func (d *Dashboard) rects(e screen.Env) panes { return layout(e.W, e.H, d.selection()) }
