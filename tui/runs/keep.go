package runs

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

// keptMsg says what became of runs that were to be deleted or archived.
type keptMsg struct {
	text string
	err  error
}

// ask asks whether the selected run is to go, or all that the filter lists.
func (h *List) ask(verb string, do func([]string) error) {
	r := h.run()
	if r == nil {
		return
	}
	q := &question{verb: verb, do: do, one: r.ID}
	if h.filter.Value() != "" {
		for _, i := range h.shown {
			if r := h.rows[i].run; r != nil {
				q.all = append(q.all, r.ID)
			}
		}
	}
	if len(q.all) < 2 {
		q.all = nil
	}
	h.asked = q
}

// answer takes a key while something is asked: anything but a yes is a no.
func (h *List) answer(msg tea.KeyPressMsg) tea.Cmd {
	q := h.asked
	h.asked = nil
	ids := q.all
	switch s := msg.String(); {
	case s == "y":
		ids = []string{q.one}
	case s != "a" || len(ids) == 0:
		return nil
	}
	h.chosen, h.sides = nil, [2][]string{} // what was chosen may be gone
	return func() tea.Msg {
		return keptMsg{widget.Plural(int64(len(ids)), "run") + " " + strings.TrimSuffix(q.verb, "e") + "ed", q.do(ids)}
	}
}

// kept tells what became of it, and reads the list again.
func (h *List) kept(msg keptMsg, e screen.Env) tea.Cmd {
	if msg.err != nil {
		text, _, _ := strings.Cut(msg.err.Error(), "\n")
		h.toast.Say(e.Now, text, true)
	} else {
		h.toast.Say(e.Now, msg.text, false)
	}
	return screen.ReadHistory(h.bench)
}

// line is the question, as it stands at the bottom.
func (q *question) line(s *widget.Styles, w int) string {
	text := " " + strings.ToUpper(q.verb[:1]) + q.verb[1:] + " " + q.one
	if q.verb == "delete" {
		text += " for good"
	}
	return widget.Fit(s.Warn.On(text+"?"), w)
}

// keys are the answers.
func (q *question) keys() []key.Binding {
	list := []key.Binding{widget.Bind("y", q.verb, "y")}
	if len(q.all) > 0 {
		list = append(list, widget.Bind("a", fmt.Sprintf("%s all %d that the filter lists", q.verb, len(q.all)), "a"))
	}
	return append(list, widget.Bind("esc", "leave it", "esc"))
}
