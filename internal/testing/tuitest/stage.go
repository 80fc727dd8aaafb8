package tuitest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Stage shows one screen as the application does, without the application, and records
// what the screen asks of it.
type Stage struct {
	Env   screen.Env
	Top   screen.Screen
	ASCII bool
	// Asked are the destinations that the screen asked for, Ended the outcomes that it
	// reported, Backs how often it asked for the screen below.
	Asked []screen.Destination
	Ended []screen.Outcome
	Backs int
	// SetUp are the runs that it asked the picker to show.
	SetUp []screen.SetUpMsg
}

// NewStage starts a screen at noon of Day, without colour, in w×h cells.
func NewStage(t testing.TB, s screen.Screen, w, h int) *Stage {
	t.Helper()
	a := &Stage{Top: s, Env: screen.Env{
		W: w, H: h, Styles: widget.NewStyles(widget.ThemeMono, true, colorprofile.TrueColor), Now: Day.Add(12 * time.Hour), Starts: new(sync.WaitGroup), Writes: new(int),
		Connecting: func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) },
	}}
	if st, ok := s.(screen.Starter); ok {
		a.Perform(t, st.Start(a.Env))
	}
	return a
}

// Update passes one message to the screen.
func (a *Stage) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.Env.W, a.Env.H = msg.Width, msg.Height
	case screen.OpenMsg:
		a.Asked = append(a.Asked, msg.To)
	case screen.BackMsg:
		a.Backs++
	case screen.WrittenMsg:
		*a.Env.Writes--
		return a.Update(msg.Msg)
	case screen.EndedMsg:
		a.Ended = append(a.Ended, msg.Outcome)
	default:
		switch msg := msg.(type) {
		case screen.FrameMsg:
			a.Env.Now = msg.At
		case screen.SetUpMsg:
			a.SetUp = append(a.SetUp, msg)
		}
		var cmd tea.Cmd
		a.Top, cmd = a.Top.Update(msg, a.Env)
		return cmd
	}
	return nil
}

// Send passes messages, where strings are keys, and performs the resulting commands.
func (a *Stage) Send(t testing.TB, msgs ...any) {
	t.Helper()
	for _, m := range msgs {
		if s, ok := m.(string); ok {
			m = KeyPress(s)
		}
		a.Perform(t, a.Update(m))
	}
}

// Perform runs a command, and those that result from it.
func (a *Stage) Perform(t testing.TB, cmd tea.Cmd) {
	t.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			a.Perform(t, c)
		}
	default:
		a.Send(t, msg)
	}
}

// Type presses the letters of a text.
func (a *Stage) Type(t testing.TB, text string) {
	t.Helper()
	for _, r := range text {
		a.Send(t, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// Frame returns the next frame.
func (a *Stage) Frame() screen.FrameMsg {
	return screen.FrameMsg{At: a.Env.Now.Add(100 * time.Millisecond)}
}

// Picture returns the screen as plain text and checks that it fits the terminal.
func (a *Stage) Picture(t testing.TB) string {
	t.Helper()
	view := a.Top.View(a.Env)
	if a.ASCII {
		view = chart.ASCII(view)
	}
	return Plain(t, view, a.Env.W, a.Env.H)
}

// Started returns the requests that the screen asked to start.
func (a *Stage) Started() []request.Request {
	var out []request.Request
	for _, d := range a.Asked {
		if s, ok := d.(screen.Start); ok {
			out = append(out, s.Request)
		}
	}
	return out
}

// Plain returns a page as plain text and checks that it has exactly w×h cells.
func Plain(t testing.TB, page string, w, h int) string {
	t.Helper()
	lines := strings.Split(page, "\n")
	require.Len(t, lines, h)
	for i, l := range lines {
		if lipgloss.Width(l) != w {
			require.Equal(t, w, lipgloss.Width(l), "line %d: %q", i, ansi.Strip(l))
		}
	}
	return ansi.Strip(page)
}

// KeyPress returns the message of a key given its name: "a", "shift+left", "enter".
func KeyPress(name string) tea.KeyPressMsg { return widget.PressOf(name) }

// Golden compares a picture with the file of the test.
func Golden(t *testing.T, text string) {
	t.Helper()
	golden.RequireEqual(t, []byte(text+"\n"))
}

// Sprint formats a message whose type is unexported by a library.
func Sprint(m tea.Msg) string { return fmt.Sprint(m) }
