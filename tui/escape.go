package tui

import (
	"fmt"
	"slices"
	"unicode"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

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

// answer passes a key to the screen on top, and says so where it has none of that name, or one that does nothing now. That
// nothing moves is seen.
func (a *App) answer(msg tea.KeyPressMsg) tea.Cmd {
	does, when, keys := nameOf(msg), "here", a.top().Keys()
	b, dimmed := keys.Of(msg)
	if dimmed {
		does, when = "", "now"
		if msg.Text != "" || key.Matches(msg, widget.AllKeys.Choose) {
			does = b.Help().Desc
		}
	}
	if top, ok := a.top().(screen.Listener); ok && (does != "" || msg.Text != "") && !keys.Takes(msg) {
		name := msg.String()
		if does != "" {
			name += " (" + does + ")"
		}
		top.Tell(name+" does nothing "+when+"; ? lists the keys", a.env) // the screen may know more
	}
	return a.forward(msg)
}

// stopsNext is what the key that stops is answered with when it is pressed once.
const stopsNext = "press x again to stop"

// stops reports whether a key would stop a run, a sweep or a plan, whichever screen shows it.
func (a *App) stops(msg tea.KeyPressMsg) bool {
	return key.Matches(msg, widget.AllKeys.Stop) && slices.ContainsFunc(a.top().Keys().FullHelp(), func(g []key.Binding) bool {
		return slices.ContainsFunc(g, func(b key.Binding) bool { return key.Matches(msg, b) })
	})
}

// loses is what a key that quits is answered with when it is pressed once, where runs were deleted that can still be
// brought back; empty: there are none.
func (a *App) loses(msg tea.KeyPressMsg) string {
	switch n := a.bench.Runs.Removed(); n {
	case 0:
		return ""
	case 1:
		return msg.String() + " again quits, and the deleted run is gone for good"
	default:
		return fmt.Sprintf("%s again quits, and %d deleted runs are gone for good", msg, n)
	}
}

// ask says that the key must be pressed once more; it reports whether that is seen.
func (a *App) ask(text string) bool {
	a.asks, a.asked = text, a.env.Now
	top, ok := a.top().(screen.Listener)
	if ok {
		top.Tell(text, a.env)
	}
	return ok
}

// asking returns what is asked and still shown; empty: nothing.
func (a *App) asking() string {
	if a.env.Now.Sub(a.asked) >= widget.Answered {
		return ""
	}
	return a.asks
}

// unsay ends what was said before a key, a click or a paste.
func (a *App) unsay() {
	if top, ok := a.top().(screen.Listener); ok {
		top.Tell("", a.env)
	}
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
