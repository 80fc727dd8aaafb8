package dashboard

import (
	"context"
	"errors"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Screen connects to the store; it is then replaced by the dashboard.
type Screen struct {
	from   Starter
	bench  Bench
	title  string // of the profile
	req    request.Request
	to     screen.Start
	since  time.Time
	cancel context.CancelFunc
	// leaving means that the user has cancelled and the connection attempt has not
	// returned yet.
	leaving bool
	err     error
}

// DoneMsg delivers the run, or why there is none.
type DoneMsg struct {
	req *request.Request
	run screen.Access
	err error
}

// Starter begins runs.
type Starter interface {
	// Start connects and begins a run, which then sets up in the background. The
	// context cancels connecting only. Call it from a tea.Cmd.
	Start(ctx context.Context, r request.Request) (screen.Access, error)
}

// NewStarting connects with a request; it is then replaced by the dashboard of its run,
// with a search if one is requested. title is that of the profile.
func NewStarting(s Starter, b Bench, title string, to screen.Start) *Screen {
	return &Screen{from: s, bench: b, title: title, req: to.Request, to: to}
}

// Start connects in the background. A run that arrives too late, because the user has
// gone back, is ended at once.
func (s *Screen) Start(e screen.Env) tea.Cmd {
	ctx, cancel := e.Connecting()
	s.cancel = cancel
	req, from := s.req, s.from
	e.Starts.Add(1)
	return func() tea.Msg {
		defer e.Starts.Done()
		run, err := from.Start(ctx, req)
		if err == nil && ctx.Err() != nil {
			run.Ending.Kill()
			<-run.Ending.Done()
			err = ctx.Err()
		}
		return DoneMsg{&s.req, run, err}
	}
}

// Update handles one message.
func (s *Screen) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case screen.FrameMsg:
		if s.since.IsZero() {
			s.since = msg.At
		}
	case DoneMsg:
		if msg.req != &s.req {
			return s, nil
		}
		switch {
		case msg.err == nil && s.leaving:
			return s, tea.Batch(endRun(msg.run.Ending), screen.Back)
		case msg.err == nil:
			d := New(s.bench, msg.run)
			d.search.once = s.to.Search
			return d, func() tea.Msg { return screen.StartedMsg{Request: s.req} }
		case s.leaving:
			return s, screen.Back
		}
		s.err = msg.err
		if errors.Is(msg.err, context.Canceled) {
			return s, screen.Back
		}
		told := screen.NotStartedMsg{To: s.to, At: e.Now, Err: msg.err}
		return s, func() tea.Msg { return told }
	case tea.KeyPressMsg:
		if key.Matches(msg, widget.AllKeys.Back) {
			s.cancel()
			if s.err != nil || s.leaving {
				return s, screen.Back
			}
			s.leaving = true
		}
		if s.err != nil && key.Matches(msg, widget.AllKeys.Choose) {
			s.err = nil
			return s, s.Start(e)
		}
	}
	return s, nil
}

// endRun ends a run that nobody will see, in the background.
func endRun(r screen.Ending) tea.Cmd {
	return func() tea.Msg {
		r.Kill()
		<-r.Done()
		return nil
	}
}

// Orphaned ends a run that arrives after its starting screen has been left; nil while
// that screen is waiting for it.
func (m DoneMsg) Orphaned(stack []screen.Screen) tea.Cmd {
	if m.run.Ending == nil {
		return nil
	}
	for _, s := range stack {
		if st, ok := s.(*Screen); ok && &st.req == m.req {
			return nil
		}
	}
	return endRun(m.run.Ending)
}

// View draws the page.
func (s *Screen) View(e screen.Env) string {
	var lines []string
	st := e.Styles
	target := widget.HideSecrets(s.req.Target)
	if target == "" {
		target = widget.DefaultTarget
	}
	if s.err == nil {
		wait := ""
		if d := e.Now.Sub(s.since); !s.since.IsZero() && d >= time.Second {
			wait = " · " + whole(d)
		}
		what := "Connecting to " + target
		if s.leaving {
			what, wait = "Cancelling", " · esc again leaves at once"
		}
		lines = []string{"", "  " + st.Bold.On(what) + st.Muted.On(wait)}
	} else {
		lines = append([]string{"", "  " + st.Bad.On("The run has not started")}, "")
		for _, l := range widget.Wrap(widget.Unflagged(s.err.Error()), e.W-6) {
			lines = append(lines, "  "+l)
		}
		if h := fault.HintOf(s.err); h != "" {
			lines = append(lines, "")
			for _, l := range widget.Wrap(widget.Unflagged(h), e.W-6) {
				lines = append(lines, "  "+st.Muted.On(l))
			}
		}
		lines = append(lines, "", "  "+st.Bold.On("enter")+" tries again, "+st.Bold.On("esc")+" goes back, settings kept.")
	}
	out := []string{widget.Fit(st.Bold.On(" perfbench"), e.W)}
	out = append(out, widget.Panel{Title: s.title, Focused: true}.Draw(st, e.W, min(len(lines)+3, e.H-2), lines)...)
	out = append(out, widget.BlankLines(e.W, e.H-1-len(out))...)
	return widget.Page(e.W, e.H, append(out, widget.Footer(e.Styles, e.W, s.Keys().Short)))
}

// Connecting reports whether the run is still about to start.
func (s *Screen) Connecting() bool { return s.err == nil }

// Keys returns the keys that work now.
func (s *Screen) Keys() widget.KeyMap {
	k := widget.AllKeys
	k.Choose.SetHelp("enter", "try again")
	k.Choose.SetEnabled(s.err != nil)
	k.Back.SetHelp("esc", "cancel")
	if s.err != nil {
		k.Back.SetHelp("esc", "back")
	}
	short := []key.Binding{k.Back, k.Help, k.Quit}
	if s.err != nil {
		short = append([]key.Binding{k.Choose}, short...)
	}
	return widget.KeyMap{
		Short: short,
		Full:  [][]key.Binding{{k.Choose, k.Back}},
	}
}
