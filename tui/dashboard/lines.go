package dashboard

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// lines are those around the panels: the status above, the latest event below, and what is
// said instead of both until the run measures.
type lines struct {
	now   *reading
	sel   *selection
	says  *messages
	knobs *knobs
}

// event returns the latest event in at most rows lines: a prompt, that the store is
// silent or answers again, a message, or the last change and its effect.
func (l *lines) event(e screen.Env, rows int) []string {
	s := e.Styles
	said := func(k widget.Ink, text string) []string { return said(e, k, text, rows) }
	if l.says.prompt != nil {
		if l.says.prompt.question != nil {
			return said(s.Accent, l.says.prompt.words())
		}
		label := " " + l.says.prompt.label + ": "
		w := ansi.StringWidth(label)
		return []string{s.Accent.On(label) + l.says.prompt.field.View(s, e.W-w-1) + " "}
	}
	toast := l.says.toast
	if toast.text != "" && toast.bad { // it answers a key
		return said(s.Bad, toast.text)
	}
	if alarm := l.alarm(e, rows); alarm != nil {
		return alarm
	}
	text := l.now.watch.text(l.now.snap, l.now.progress.Stage, (e.W-4)*rows)
	switch {
	case toast.text != "":
		return said(s.Plain, toast.text)
	case text != "" && l.now.watch.own(l.now.snap.At):
		return said(s.Warn, "! "+text)
	case text != "":
		return said(s.OK, "✓ "+text)
	}
	if l.now.watched && l.now.progress.Note != "" {
		return said(s.Warn, "! "+l.now.progress.Note)
	}
	if l.sel.fig.stalls() && l.now.progress.Stage == screen.Measuring {
		which := "A call"
		if l.sel.fig.inFlight > 1 {
			which = "The oldest of " + widget.Plural(int64(l.sel.fig.inFlight), "call")
		}
		return said(s.Warn, "! "+which+" has been under way for "+age(l.sel.fig.oldest))
	}
	ef, ok := l.now.lastEffect()
	if text, _ := l.knobs.hopeless(); text != "" && !ok && l.now.progress.Stage == screen.Measuring {
		return said(s.Warn, "! "+text)
	}
	if l.now.progress.Stage > screen.Measuring && l.now.progress.Step != "" {
		return said(s.Plain, l.now.progress.Step)
	}
	if causes, _ := widget.Ours(l.now.verdict); len(causes) > 0 && (!ok || l.now.snap.At-ef.Until > fresh) {
		return said(s.Alarm, "perfbench is the bottleneck ("+strings.Join(causes, ", ")+"): tab shows what each side uses")
	}
	if ok {
		return l.lastChange(e, ef, rows)
	}
	if l.now.progress.Notice != "" {
		return said(s.Warn, "! "+l.now.progress.Notice)
	}
	if n := len(l.now.snap.Marks); n > 0 {
		m := l.now.snap.Marks[n-1]
		return []string{widget.Fit(" "+s.Muted.On(widget.Clock(m.At))+"  "+m.Note, e.W)}
	}
	if l.now.watched && l.knobs.control != nil {
		return said(s.Muted, "Another perfbench drives this run: knobs turn here, too; leaving ends nothing.")
	}
	if l.now.of != "" {
		return said(s.Muted, "Watching: the "+l.now.of+" drives this run, and no key here changes it; esc goes back.")
	}
	if l.now.watched {
		return said(s.Muted, "Watching: another perfbench drives this run, and no key here changes it.")
	}
	payload := ""
	if k, ok := l.now.plan.Knob("payload"); ok && l.knobs.effective(k) {
		payload = " ] doubles the payload,"
	}
	first := " + adds a thread,"
	if k, ok := l.now.plan.Knob("threads"); ok && !l.knobs.effective(k) {
		first = ""
	}
	return said(s.Muted, "Turn a knob while it runs:"+first+payload+" t opens all.")
}

// said sets a text in at most rows lines, the last of which is cut.
func said(e screen.Env, k widget.Ink, text string, rows int) (out []string) {
	whole := widget.Wrap(text, e.W-2)
	if len(whole) > rows {
		whole = append(whole[:rows-1:rows-1], strings.Join(whole[rows-1:], " "))
	}
	for _, line := range whole {
		out = append(out, k.On(widget.Fit(" "+line, e.W)))
	}
	return out
}

// alarm says in at most rows lines that the store does not answer, or answers without its records; none if all is well.
// It stands whatever else is read.
func (l *lines) alarm(e screen.Env, rows int) []string {
	w, at := &l.now.watch, l.now.snap
	text := "✗ " + w.text(at, l.now.progress.Stage, (e.W-4)*rows)
	switch {
	case w.gone && !w.own(at.At):
		return said(e, e.Styles.Gone, text, rows)
	case w.emptied(at):
		return said(e, e.Styles.Bad, text, rows)
	}
	return nil
}

// whole returns a message in as many lines as it takes; none if there is no message.
func (l *lines) whole(e screen.Env) (out []string) {
	toast := l.says.toast
	if toast.text == "" || l.says.prompt != nil {
		return nil
	}
	k := e.Styles.Plain
	if toast.bad {
		k = e.Styles.Bad
	}
	for _, line := range widget.Wrap(toast.text, e.W-1) {
		out = append(out, k.On(widget.Fit(" "+line, e.W)))
	}
	return out[:min(len(out), max(e.H-2, 1))]
}

// lastChange shows the last change and its effect: side by side, or one below the other
// if there is no room.
func (l *lines) lastChange(e screen.Env, ef effect.Effect, rows int) []string {
	s := e.Styles
	at, what := ef.WhenAll(), ef.What()
	room := func() int { return e.W - ansi.StringWidth(at+what) - 6 }
	outcome := ef.Outcome(room())
	if rows > 1 && (outcome != ef.Outcome(math.MaxInt) || ansi.StringWidth(outcome) > room()) {
		return []string{widget.Fit(" "+s.Muted.On(at)+"  "+s.Bold.On(what), e.W), widget.Fit(" "+widget.Fit("", ansi.StringWidth(at))+"  "+ef.Brief(e.W-ansi.StringWidth(at)-3), e.W)}
	}
	if ansi.StringWidth(outcome) > room() { // figures are not cut: first words go
		what = ef.InFew()
		if outcome = ef.Outcome(room()); ansi.StringWidth(outcome) > room() {
			at, _, _ = strings.Cut(at, "–")
			outcome = ef.Brief(room())
		}
	}
	between := widget.Fit("", min(max(room()-ansi.StringWidth(outcome)+2, 2), 5))
	return []string{widget.Fit(" "+s.Muted.On(at)+"  "+s.Bold.On(what)+between+outcome, e.W)}
}

// bottom returns the single line below the tuning layout: the state, unless there
// is an event.
func (l *lines) bottom(e screen.Env) string {
	if l.says.prompt != nil || l.now.watch.text(l.now.snap, l.now.progress.Stage, e.W-4) != "" || l.says.toast.text != "" || l.now.progress.Stage > screen.Measuring {
		return slices.Concat(l.event(e, 1), []string{widget.Fit("", e.W)})[0]
	}
	return l.state(e)
}

// preparing draws what is shown until the first worker runs, all but the keys.
func (l *lines) preparing(e screen.Env) []string {
	s, pr := e.Styles, l.now.progress
	step := pr.Step
	if step == "" {
		step = "getting ready"
	}
	body := []string{"", "  " + s.Bold.On(step)}
	if pr.Total > 0 {
		part := min(float64(pr.Done)/float64(pr.Total), 1)
		body = append(body, "", "  "+widget.Bar(s, part, min(e.W-20, 60))+fmt.Sprintf(" %3.0f %%", part*100),
			"  "+s.Muted.On(widget.Whole(pr.Done)+" of "+widget.Whole(pr.Total)))
	} else if pr.Done > 0 {
		body = append(body, "", "  "+s.Muted.On(widget.Whole(pr.Done)))
	}
	if pr.Note != "" {
		body = append(body, "")
		for _, text := range widget.Wrap(pr.Note, e.W-8) {
			body = append(body, "  "+text)
		}
	}
	warnings := l.now.plan.Warnings
	if pr.Notice != "" {
		warnings = slices.Concat([]string{pr.Notice}, warnings)
	}
	for _, w := range warnings {
		for i, text := range widget.Wrap(widget.Unflagged(w), e.W-8) {
			if i == 0 {
				body = append(body, "", "  "+s.Warn.On("! "+text))
			} else {
				body = append(body, "    "+text)
			}
		}
	}
	return append([]string{l.status(e)}, widget.Panel{Title: "Preparing", Focused: true}.Draw(s, e.W, e.H-2, body)...)
}

// status draws the first line: what runs, where, and its progress.
func (l *lines) status(e screen.Env) string {
	left, right := l.ends(e)
	if next, above := l.next(e); above {
		left += l.inkOfNext(e).On(" · " + next)
	}
	return widget.Spread(left, right+" ", e.W)
}

// ends returns both ends of the status.
func (l *lines) ends(e screen.Env) (left, right string) {
	s := e.Styles
	what := []string{l.now.info.Title, l.now.info.Store}
	if len(l.now.snap.Phases) > 0 && l.now.progress.Stage == screen.Measuring && len(l.now.plan.Phases) > 1 {
		phase := strings.Join(l.now.snap.Phases, ", ")
		if over := l.now.over(); over != "" && e.W >= 80 {
			phase = over + " · " + phase
		}
		what = append(what, phase)
	}
	left = " " + s.Accent.On(l.sign()) + " " + s.Bold.On(strings.Join(what, " · "))
	stage := ""
	if w := l.stageWord(); w != "" {
		stage = " " + s.Warn.On("· "+w)
	}
	right = l.now.time()
	part, known := l.now.done()
	if known && (e.W >= 100 || e.W >= 80 && len(l.now.inForce()) == 0) { // what is broken has its place
		right += "  " + widget.Bar(s, part, min(24, e.W/5)) + s.Bold.On(fmt.Sprintf(" %3.0f %%", part*100))
	}
	for _, whose := range l.now.whose() {
		if ansi.StringWidth(left+stage+whose+right)+6 <= e.W {
			left += " " + s.Accent.On("· "+whose)
			break
		}
	}
	return left + stage, right
}

// inkOfNext is that of next: something is broken, or will just be changed.
func (l *lines) inkOfNext(e screen.Env) widget.Ink {
	if len(l.now.inForce()) > 0 {
		return e.Styles.Warn
	}
	return e.Styles.Muted
}

// next says what is broken and what the timetable changes next in as many words as there is room for in the status,
// above, or else in the line of the state.
func (l *lines) next(e screen.Env) (text string, above bool) {
	left, right := l.ends(e)
	_, relief := l.knobs.hopeless()
	state := l.sel.state(e, e.W < 80, relief)
	for _, text := range l.now.nexts() {
		switch n := ansi.StringWidth(text); {
		case ansi.StringWidth(left+right)+n+6 <= e.W:
			return text, true
		case ansi.StringWidth(state)+n+5 <= e.W:
			return text, false
		}
	}
	return "", false
}

// state describes the run at this moment, and what the timetable changes next if only this line has
// room for that.
func (l *lines) state(e screen.Env) string {
	_, relief := l.knobs.hopeless()
	text := l.sel.state(e, e.W < 80, relief)
	if next, above := l.next(e); next != "" && !above {
		text += l.inkOfNext(e).On(" · " + next)
	}
	return widget.Fit(" "+text, e.W)
}

func (l *lines) stageWord() string {
	switch {
	case l.now.progress.Stage != screen.Measuring:
		return l.now.progress.Stage.String()
	case l.now.searching():
		return "searching"
	case l.sel.fig.paused:
		return "paused"
	case l.now.snap.At < 0:
		return "warm-up"
	}
	return ""
}

// sign shows whether the run goes on.
func (l *lines) sign() string {
	if l.sel.fig.paused {
		return "‖"
	}
	return "▶"
}
