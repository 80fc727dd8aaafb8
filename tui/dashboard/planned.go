package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Planner knows, before a run starts, whether a search on it is possible.
type Planner interface {
	// CanFind returns why the search cannot be made on a run with the request: an input
	// fault. It touches no store. Call it from a tea.Cmd.
	CanFind(ctx context.Context, r request.Request, a find.Asked) error
}

// PlannedSearch asks for a search in a run of its own, and says what will happen. Nothing
// has started before enter.
type PlannedSearch struct {
	from  Planner
	title string // of the profile
	req   request.Request
	panel Panel
	// busy means that the search is being checked.
	busy bool
}

// checkedMsg says why a search cannot be made; nil if it can.
type checkedMsg struct {
	of    *PlannedSearch
	asked find.Asked
	err   error
}

// NewPlannedSearch asks for a search in a run with a request. title is that of the profile, kept what
// was typed before, to which it adds. The form begins with what is advised, else with that, else with the
// thresholds of the request.
func NewPlannedSearch(p Planner, title string, to screen.AskSearch, kept Sought) *PlannedSearch {
	s := &PlannedSearch{from: p, title: title, req: to.Request}
	from := beginningOf(kept, to.Request)
	from.advised = to.Advised
	s.panel.Ask(from, nil, to.Operations)
	return s
}

// Typing reports whether text is being typed, which it always is.
func (s *PlannedSearch) Typing() bool { return true }

// Untouched reports whether nothing has been typed into the row.
func (s *PlannedSearch) Untouched() bool { return s.panel.form.Untouched() }

// Idle reports that nothing changes by itself.
func (s *PlannedSearch) Idle() bool { return !s.busy }

// Update handles one message.
func (s *PlannedSearch) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case checkedMsg:
		if msg.of != s {
			return s, nil
		}
		if s.busy = false; msg.err != nil {
			s.panel.Blame(msg.err)
			return s, nil
		}
		return s, screen.Replace(screen.Start{Request: screen.Searching(s.req, msg.asked), Search: &msg.asked})
	case tea.PasteMsg:
		s.panel.Paste(msg)
	case tea.KeyPressMsg:
		if s.busy && msg.String() != "esc" {
			return s, nil // it takes a moment
		}
		asked, enter := s.panel.Press(msg)
		switch {
		case !s.panel.Asking:
			return s, screen.Back
		case enter:
			s.panel.from.keep(asked)
			return s, s.check(e, asked)
		}
	}
	return s, nil
}

func (s *PlannedSearch) check(e screen.Env, asked find.Asked) tea.Cmd {
	s.busy = true
	s.panel.Blame(nil)
	ctx, cancel := e.Connecting()
	from, req := s.from, screen.Searching(s.req, asked)
	return func() tea.Msg {
		defer cancel()
		return checkedMsg{s, asked, from.CanFind(ctx, req, asked)}
	}
}

// will describes, in sentences, which run the search starts.
func (s *PlannedSearch) will() []string {
	target := widget.HideSecrets(cmp.Or(s.req.Target, widget.DefaultTarget))
	out := []string{"Enter starts a run against " + target + " for up to " + cmp.Or(s.panel.asked().Within, find.Within) + "; until then there is none."}
	if v, ok := s.req.Values["duration"]; ok && v.Text != workload.Forever && v.Text != s.panel.asked().Within {
		out = append(out, "The time limit replaces the duration of "+v.Text+".")
	}
	if v, ok := s.req.Values["warmup"]; ok && v.Text != "0" && v.Text != "0s" {
		out = append(out, "A warm-up of "+v.Text+" comes first.")
	}
	if len(s.req.Timetable) > 0 {
		out = append(out, "The timetable is left out: a search turns the knobs itself.")
	}
	if text := s.threads(); text != "" {
		out = append(out, text)
	}
	return out
}

// threads says how many threads a search for the rate has: as many as were set, or more than the
// form shows if these are too few.
func (s *PlannedSearch) threads() string {
	v, set := s.req.Values[find.OverThreads]
	switch {
	case s.panel.asked().Over == find.OverThreads:
		return ""
	case set:
		return "Threads: " + v.Text + ", as was set."
	}
	return fmt.Sprintf("Threads: up to %d, where those of the form are too few; set their number to keep to it.", find.RoomThreads)
}

// goes describes, in sentences, how a search goes on.
func goes(a find.Asked) (out []string) {
	what := "the rate"
	switch {
	case a.Over == find.OverThreads:
		what = "the number of threads"
	case strings.TrimSpace(a.From) == "":
		out = append(out, "About three seconds without a rate show where to begin.")
	}
	return append(out, "Then "+what+" doubles until it is too much; then the gap is halved, and the answer tried again.")
}

// tell has the form say what will happen.
func (s *PlannedSearch) tell() {
	if s.panel.note = s.will(); s.busy {
		s.panel.note = []string{"Getting ready …"}
	}
}

// Box draws the form alone.
func (s *PlannedSearch) Box(e screen.Env) []string {
	s.tell()
	w := screen.BoxWidth(e.W)
	lines := append([]string{""}, s.panel.asks(e.Styles, w)...)
	return asking.Draw(e.Styles, w, len(lines)+2, lines)
}

// View draws the page.
func (s *PlannedSearch) View(e screen.Env) string {
	s.tell()
	out := append([]string{widget.Fit(e.Styles.Bold.On(" perfbench")+e.Styles.Muted.On("  "+s.title), e.W)}, s.panel.Draw(e.Styles, e.W, e.H-2, nil, 0, 0, 0)...)
	return widget.Page(e.W, e.H, append(out, widget.Footer(e.Styles, e.W, s.Keys().Short)))
}

// Keys returns the keys that work now.
func (s *PlannedSearch) Keys() widget.KeyMap { return s.panel.Keys() }
