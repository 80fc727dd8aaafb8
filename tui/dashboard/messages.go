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

// prompt asks for a line of text or, if it has a question, whether to do something.
type prompt struct {
	label string
	field widget.Field
	// turn returns the text of the choice that is by further on; nil: there are no choices.
	turn func(by int) widget.Field
	done func(e screen.Env, text string) tea.Cmd
	// question is nil if a text is asked for; answered is called with its answer.
	question *widget.Question
	answered func(e screen.Env, yes bool)
}

// words are what is asked.
func (p *prompt) words() string {
	if p.question != nil {
		return p.question.String()
	}
	return p.label
}

// keys returns those that work while something is asked.
func (p *prompt) keys() widget.KeyMap {
	list := []key.Binding{widget.Bind("enter", "keep", "enter"), widget.Bind("esc", "cancel", "esc")}
	switch {
	case p.question != nil:
		list = p.question.Keys()
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
	m.toast = toast{text, bad || m.toast.bad, e.Now.Add(widget.Said)}
}

// tell answers the key that comes next, in the place of what was said before.
func (m *messages) tell(e screen.Env, text string) {
	m.toast = toast{text, false, e.Now.Add(widget.Answered)}
	m.told, m.weak = true, false
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
	if p.question != nil {
		if yes, given := p.question.Answer(msg); given {
			m.prompt = nil
			p.answered(e, yes)
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
