package dashboard

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// messages are what the dashboard says to the user for a while, and what it asks.
type messages struct {
	toast  toast
	prompt *prompt
	// told means that the toast answers the key that comes next, unless that has an answer of its own.
	told, weak bool
}

// toast is a short message that disappears by itself.
type toast struct {
	text  string
	bad   bool
	until time.Time
}

// prompt asks for a line of text, or, if it has a yes, whether to do something.
type prompt struct {
	label string
	field widget.Field
	// turn returns the text of the choice that is by further on; nil: there are no choices.
	turn func(by int) widget.Field
	done func(e screen.Env, text string) tea.Cmd
	// yes says in the hints what the key y does, and label names it; done is called with yes, or else with "".
	yes string
}

// keys returns those that work while something is asked.
func (p *prompt) keys() widget.KeyMap {
	list := []key.Binding{widget.Bind("enter", "keep", "enter"), widget.Bind("esc", "cancel", "esc")}
	switch {
	case p.yes != "":
		list = []key.Binding{widget.Bind("y", p.yes, "y", "Y"), widget.Bind("esc", "leave it", "esc", "n", "N")}
	case p.turn != nil:
		list = append(list, widget.Bind("↑↓", "choose", "up", "down"))
	}
	return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
}

// fade drops a message whose time is over.
func (m *messages) fade(e screen.Env) {
	if !m.toast.until.IsZero() && !e.Now.Before(m.toast.until) {
		m.toast = toast{}
	}
}

// say shows a short message for a few seconds, after the one that is shown already: none hides
// another.
func (m *messages) say(e screen.Env, text string, bad bool) {
	m.fade(e)
	if before := m.toast.text; before != "" && !m.weak && !strings.HasSuffix(before, text) {
		text = before + " · " + text
	}
	m.weak = false
	m.toast = toast{text, bad || m.toast.bad, e.Now.Add(5 * time.Second)}
}

// hush drops what was said before something else was done.
func (m *messages) hush() { m.toast = toast{} }

// next drops what was said before a key, which has an answer of its own.
func (m *messages) next() {
	if !m.told {
		m.hush()
	}
	m.told, m.weak = false, m.told
}

func (m *messages) press(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	p := m.prompt
	if p.yes != "" {
		switch msg.String() {
		case "y", "Y":
			m.prompt = nil
			return p.done(e, p.yes)
		case "esc", "n", "N":
			m.prompt = nil
			return p.done(e, "")
		}
		return nil
	}
	switch msg.String() {
	case "enter":
		m.prompt = nil
		return p.done(e, p.field.Value())
	case "esc":
		m.prompt = nil
	case "up", "down":
		if p.turn != nil {
			p.field = p.turn(map[string]int{"up": -1, "down": 1}[msg.String()])
		}
	default:
		p.field, _ = p.field.Update(msg)
	}
	return nil
}
