package shelf

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// question is what is asked before runs are deleted or archived.
type question struct {
	verb string // "delete", "archive"
	do   func([]string) error
	// one is the selected run; all are those that the filter lists, none without one.
	one string
	all []string
}

// note is one that is being written on a run.
type note struct {
	id    string
	field widget.Field
}

// DoneMsg says what became of runs that were to be deleted, archived or annotated.
type DoneMsg struct {
	Text string
	Err  error
}

// ask asks whether the selected run is to go, or all that the filter lists.
func (s *Shelf) ask(verb string, do func([]string) error, id string, listed []string) {
	q := &question{verb: verb, do: do, one: id}
	if s.Filter.Text() != "" && len(listed) > 1 {
		q.all = listed
	}
	s.asked = q
}

// answer takes a key while something is asked: anything but a yes is a no.
func (s *Shelf) answer(msg tea.KeyPressMsg) tea.Cmd {
	q := s.asked
	s.asked = nil
	ids := q.all
	switch k := msg.String(); {
	case k == "y":
		ids = []string{q.one}
	case k != "a" || len(ids) == 0:
		return nil
	}
	return func() tea.Msg {
		return DoneMsg{widget.Plural(int64(len(ids)), "run") + " " + strings.TrimSuffix(q.verb, "e") + "ed", q.do(ids)}
	}
}

// write takes a key while a note is written.
func (s *Shelf) write(msg tea.KeyPressMsg) tea.Cmd {
	n, keeper := s.noting, s.keeper
	switch msg.String() {
	case "esc":
		s.noting = nil
	case "enter":
		s.noting = nil
		id, text := n.id, strings.TrimSpace(n.field.Value())
		said := "note written"
		if text == "" {
			said = "note removed"
		}
		return func() tea.Msg { return DoneMsg{said, keeper.Annotate(id, text)} }
	default:
		n.field, _ = n.field.Update(msg)
	}
	return nil
}

// Settle tells what became of it, and has the list read again.
func Settle(b screen.Archive, msg DoneMsg, toast *widget.Note, e screen.Env) tea.Cmd {
	if msg.Err != nil {
		text, _, _ := strings.Cut(msg.Err.Error(), "\n")
		toast.Say(e.Now, text, true)
	} else {
		toast.Say(e.Now, msg.Text, false)
	}
	return screen.ReadHistory(b)
}

// Line is what is asked or written in w cells; "" when nothing is.
func (s *Shelf) Line(st *widget.Styles, w int) string {
	switch {
	case s.noting != nil:
		const lead = " Note: "
		return widget.Fit(st.Accent.On(lead)+s.noting.field.View(st, w-len(lead)), w)
	case s.asked == nil:
		return ""
	}
	q := s.asked
	text := " " + strings.ToUpper(q.verb[:1]) + q.verb[1:] + " " + q.one
	if q.verb == "delete" {
		text += " for good"
	}
	return widget.Fit(st.Warn.On(text+"?"), w)
}

// Keys are those that answer, while a text is typed or a question asked.
func (s *Shelf) Keys() widget.KeyMap {
	list := []key.Binding{widget.Bind("enter", "keep", "enter"), widget.Bind("esc", "clear", "esc")}
	switch q := s.asked; {
	case s.noting != nil:
		list[1] = widget.Bind("esc", "cancel", "esc")
	case q != nil:
		list = []key.Binding{widget.Bind("y", q.verb, "y")}
		if len(q.all) > 0 {
			list = append(list, widget.Bind("a", fmt.Sprintf("%s all %d that the filter lists", q.verb, len(q.all)), "a"))
		}
		list = append(list, widget.Bind("esc", "leave it", "esc"))
	}
	return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
}
