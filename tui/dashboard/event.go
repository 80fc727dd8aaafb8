package dashboard

import (
	"fmt"
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
	if d.prompt != nil {
		label := " " + d.prompt.label + ": "
		w := ansi.StringWidth(label)
		return []string{s.Accent.On(label) + d.prompt.field.View(s, e.W-w-1) + " "}
	}
	if text := d.watch.text(d.snap, (e.W-4)*rows); text != "" {
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
	if d.info.Watched && d.progress.Note != "" {
		return said(s.Warn, "! "+d.progress.Note)
	}
	if d.fig.stalls() && d.progress.Stage == screen.Measuring {
		which := "A call"
		if d.fig.inFlight > 1 {
			which = "The oldest of " + widget.Plural(int64(d.fig.inFlight), "call")
		}
		return said(s.Warn, "! "+which+" has been under way for "+age(d.fig.oldest))
	}
	if text := d.hopeless(); text != "" && d.progress.Stage == screen.Measuring {
		return said(s.Warn, "! "+text)
	}
	if d.progress.Stage > screen.Measuring && d.progress.Step != "" {
		return said(s.Plain, d.progress.Step)
	}
	ef, ok := lastEffect(d.snap)
	if causes, _ := Ours(d.verdict); len(causes) > 0 && (!ok || d.snap.At-ef.last > window*time.Second) {
		return said(s.Alarm, "perfbench is the bottleneck ("+strings.Join(causes, ", ")+"): tab shows what each side uses")
	}
	if ok {
		return d.lastChange(e, ef, rows)
	}
	if n := len(d.snap.Marks); n > 0 {
		m := d.snap.Marks[n-1]
		return []string{widget.Fit(" "+s.Muted.On(widget.Clock(m.At))+"  "+m.Note, e.W)}
	}
	if d.info.Watched {
		return said(s.Muted, "Watching: another perfbench drives this run, and no key here changes it.")
	}
	payload := ""
	if k, ok := d.plan.Knob("payload"); ok && d.turns(k) {
		payload = " ] doubles the payload,"
	}
	return said(s.Muted, "Turn a knob while it runs: + adds a thread,"+payload+" t opens all.")
}

// farBehind is how long a backlog must take to serve before it is reported.
const farBehind = time.Minute

// hopeless reports that the backlog will take long to serve, and how to get rid of it;
// empty if it will not.
func (d *Dashboard) hopeless() string {
	n, done := float64(d.fig.backlog), digest(d.snap, -1).rate
	if !(done > 0) || n < done*farBehind.Seconds() {
		return ""
	}
	how := "a lower rate drops it"
	if t := d.tuner.done; len(t) > 0 && t[len(t)-1].knob.Name == "rate" {
		how = "u undoes the rate and drops it"
	}
	return fmt.Sprintf("%s of work behind schedule: %s", widget.Clock(time.Duration(min(n/done, 1e9)*float64(time.Second))), how)
}

// lastChange shows the last change and its effect: side by side, or one below the other
// if there is no room.
func (d *Dashboard) lastChange(e screen.Env, ef effect, rows int) []string {
	s := e.Styles
	at, what, outcome := widget.Clock(ef.last), ef.what(d.plan), ef.outcome()
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
	if d.prompt != nil || d.watch.text(d.snap, e.W-4) != "" || d.toast.text != "" || d.progress.Stage > screen.Measuring {
		return slices.Concat(d.event(e, 1), []string{widget.Fit("", e.W)})[0]
	}
	return widget.Fit(" "+d.state(e, e.W < 80), e.W)
}
