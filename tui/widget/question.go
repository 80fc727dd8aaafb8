package widget

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Question asks whether to do something. All questions of the workbench are answered by the same
// keys: y is a yes, as is the key that asked it, pressed again; n, esc and enter are a no, so that enter never does what was hardly
// meant.
type Question struct {
	// Text is the question; Yes and No say what comes of the answers.
	Text, Yes, No string
	// Key is the key that asked it, which is a yes when it is pressed again; empty: none.
	Key string
	// AtOnce says what ctrl+c does, in the place of an answer; empty: it does nothing of its own.
	AtOnce string
}

// Line draws the question and its keys in w cells.
func (q Question) Line(s *Styles, w int) string {
	text := " " + ansi.Truncate(q.String(), max(w-2, 1), "…") + " "
	return s.Warn.On(text) + Footer(s, w-ansi.StringWidth(text), q.Keys())
}

// KeyAt returns the key of the answer at a column of the line that Line draws.
func (q Question) KeyAt(x, w int) (tea.KeyPressMsg, bool) {
	text := ansi.StringWidth(q.String()) + 2
	return FooterKey(q.Keys(), x-text, w-text)
}

// InWords is the question with what each key does.
func (q Question) InWords() string {
	text := q.String()
	for _, k := range q.Keys() {
		text += ", " + k.Help().Key + " " + k.Help().Desc
	}
	return text
}

// String returns the question with its answers, that of enter in capitals.
func (q Question) String() string { return q.Text + " [y/N]" }

// Answer returns the answer that a key is; given is false if it is none.
func (q Question) Answer(msg tea.KeyPressMsg) (yes, given bool) {
	switch msg.String() {
	case "y", "Y", q.Key:
		return true, true
	case "n", "N", "esc", "enter":
		return false, true
	}
	return false, false
}

// Keys returns the hints of the answers.
func (q Question) Keys() []key.Binding {
	out := []key.Binding{Bind("y", q.Yes, "y", "Y"), Bind("enter", q.No, "enter", "n", "N", "esc")}
	if q.AtOnce != "" {
		out = append(out, Bind("ctrl+c", q.AtOnce, "ctrl+c"))
	}
	return out
}
