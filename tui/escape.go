package tui

import (
	"fmt"
	"slices"
	"unicode"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// afterMsg delivers what escape led to, and the key that was pressed after it.
type afterMsg struct {
	first tea.Msg
	key   tea.KeyPressMsg
}

// unmerged returns the key of which a terminal says that alt was held. No key of ours has alt: escape and
// the key were pressed in turn, so close that a terminal, such as tmux, took them for one; false if
// they were not.
func unmerged(msg tea.KeyPressMsg) (tea.KeyPressMsg, bool) {
	if !msg.Mod.Contains(tea.ModAlt) || msg.Mod.Contains(tea.ModCtrl) {
		return msg, false
	}
	msg.Mod &^= tea.ModAlt
	r := msg.Code
	if msg.Mod.Contains(tea.ModShift) {
		if r = unicode.ToUpper(r); msg.ShiftedCode != 0 {
			r = msg.ShiftedCode
		}
	}
	if unicode.IsPrint(r) {
		msg.Text = string(r)
	}
	return msg, true
}

// escapeThen handles escape and then a key, which is for the screen that escape leads to.
func (a *App) escapeThen(k tea.KeyPressMsg) tea.Cmd {
	cmd := a.press(tea.KeyPressMsg{Code: tea.KeyEscape})
	if cmd == nil {
		return a.press(k)
	}
	return func() tea.Msg { return afterMsg{cmd(), k} }
}

// after handles both.
func (a *App) after(msg afterMsg) tea.Cmd {
	var cmds []tea.Cmd
	if all, ok := msg.first.(tea.BatchMsg); ok {
		cmds = all
	} else if msg.first != nil {
		_, cmd := a.Update(msg.first)
		cmds = []tea.Cmd{cmd}
	}
	return tea.Batch(append(cmds, a.press(msg.key))...)
}

// answer passes a key to the screen on top, and says so where it has none of that name, or one that does nothing now. Of an
// arrow that nothing moves is seen.
func (a *App) answer(msg tea.KeyPressMsg) tea.Cmd {
	does, when, keys := nameOf(msg), "here", a.stack.top().Keys()
	b, dimmed := keys.Of(msg)
	if dimmed {
		does, when = "", "now"
		if msg.Text != "" || key.Matches(msg, widget.AllKeys.Choose) {
			does = b.Help().Desc
		}
	}
	top, ok := a.stack.top().(screen.Listener)
	arrow := key.Matches(msg, widget.AllKeys.Up, widget.AllKeys.Down, widget.AllKeys.Left, widget.AllKeys.Right)
	if !ok || keys.Takes(msg) || arrow && dimmed && msg.Text == "" {
		return a.stack.forward(msg, a.env)
	}
	name := msg.String()
	switch {
	case does != "":
		name += " (" + does + ")"
	case msg.Code == tea.KeyPgDown:
		name = widget.AllKeys.PageDown.Help().Key
	}
	if only := worksOnly(msg); only != "" && !dimmed {
		when += ", only " + only
	}
	said := name + " does nothing " + when + "; ? lists the keys"
	k := widget.AllKeys
	if moves := key.Matches(msg, k.PageUp, k.PageDown, k.Up, k.Down, k.Left, k.Right, k.LeftTen, k.RightTen); does != "" || !moves {
		top.Tell(said, a.env) // the screen may know more
		return a.stack.forward(msg, a.env)
	}
	before := a.screen() // one that no screen lists may still move something
	cmd := a.stack.forward(msg, a.env)
	if cmd == nil && a.screen() == before {
		top.Tell(said, a.env)
	}
	return cmd
}

// question is asked about a key: on is the screen that it is for, and yes what it does. holds reports whether there is still
// something to ask.
type question struct {
	widget.Question
	on    screen.Screen
	yes   func() tea.Cmd
	holds func() bool
}

// stops reports whether a key would stop a run, a sweep or a plan, whichever screen shows it.
func (a *App) stops(msg tea.KeyPressMsg) bool {
	return key.Matches(msg, widget.AllKeys.Stop) && slices.ContainsFunc(a.stack.top().Keys().FullHelp(), func(g []key.Binding) bool {
		return slices.ContainsFunc(g, func(b key.Binding) bool { return key.Matches(msg, b) })
	})
}

// stop asks whether to stop what the screen shows.
func (a *App) stop(msg tea.KeyPressMsg) *question {
	what := "run"
	switch a.stack.top().(type) {
	case *archive.Screen:
		what = "sweep"
	case *archive.Suite:
		what = "plan"
	}
	return &question{
		Question: widget.Question{Text: "Stop the " + what + "?", Yes: "stop", No: "go on", Key: msg.String()},
		yes:      func() tea.Cmd { return a.answer(msg) },
		holds:    func() bool { return a.stops(msg) },
	}
}

// stopsAndQuits asks whether to quit while a run is going; nil: there is none.
func (a *App) stopsAndQuits(msg tea.KeyPressMsg) *question {
	if a.stack.run() == nil {
		return nil
	}
	return &question{
		Question: widget.Question{Text: "Stop the run, report it and quit?", Yes: "quit", No: "stay", Key: msg.String(), AtOnce: "at once"},
		yes:      a.leave,
		holds:    func() bool { return a.stack.run() != nil },
	}
}

// loses asks whether to quit where runs were deleted that can still be brought back; nil: there are none.
func (a *App) loses(msg tea.KeyPressMsg) *question {
	n := a.bench.Runs.Removed() - a.bench.Runs.Left()
	if n == 0 {
		return nil
	}
	text := "Quit? The deleted run is gone for good then."
	if n > 1 {
		text = fmt.Sprintf("Quit? %d deleted runs are gone for good then.", n)
	}
	return &question{
		Question: widget.Question{Text: text, Yes: "quit", No: "stay", Key: msg.String()},
		yes:      a.quit,
		holds:    func() bool { return true },
	}
}

// ask asks something about the screen on top.
func (a *App) ask(q *question) {
	q.on = a.stack.top()
	a.asks = q
}

// asking returns what is asked; nil: nothing, or no longer.
func (a *App) asking() *question {
	if q := a.asks; q != nil && q.on == a.stack.top() && q.holds() {
		return q
	}
	return nil
}

// reply handles a key while something is asked.
func (a *App) reply(msg tea.KeyPressMsg) tea.Cmd {
	q := a.asks
	yes, given := q.Answer(msg)
	if given {
		a.asks = nil
	}
	if !yes {
		return nil
	}
	return q.yes()
}

// unsay ends what was said before a key, a click or a paste.
func (a *App) unsay() {
	if top, ok := a.stack.top().(screen.Listener); ok {
		top.Tell("", a.env)
	}
}

// worksOnly says where a key works that many screens do not have; empty: it is on none, or on most.
func worksOnly(msg tea.KeyPressMsg) string {
	k := widget.AllKeys
	for only, keys := range map[string][]key.Binding{
		"in the list of runs":       {k.Remove, k.Pack, k.Order, k.SideA},
		"in results":                {k.Export, k.CopySummary, k.Again},
		"on a run that has ended":   {k.Annotate, k.Retag},
		"while a run goes on":       {k.Stop, k.Tune, k.Mark, k.Fault, k.Arrivals, k.More, k.Less, k.PayloadUp, k.PayloadDown, k.RateUp, k.RateDown},
		"while a search goes on":    {k.EndSearch},
		"where no run is live":      {k.History},
		"where a run can be set up": {k.Launch, k.Ping, k.Details},
	} {
		if slices.ContainsFunc(keys, func(b key.Binding) bool { return widget.Presses(msg, b) }) {
			return only
		}
	}
	return ""
}

// nameOf says what a key does on other screens; empty: it is on none.
func nameOf(msg tea.KeyPressMsg) string {
	for _, b := range widget.AllKeys.All() {
		if widget.Presses(msg, b) {
			return b.Help().Desc
		}
	}
	return ""
}
