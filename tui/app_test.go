package tui

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

func newTestEnv() screen.Env {
	return screen.Env{
		W: 120, H: 40, Styles: widget.NewStyles(widget.ThemeMono, true), Now: time.Date(2026, 5, 3, 11, 40, 0, 0, time.UTC),
		Connecting: func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) }, Starts: new(sync.WaitGroup),
	}
}

// newTestApp returns an application that never asked a terminal anything.
func newTestApp(t testing.TB, b Bench, o Options) *testApp {
	t.Helper()
	a := NewApp(o, b, func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) })
	a.env.Now, a.suspend = newTestEnv().Now, true
	a.tick = func(time.Duration, int) tea.Cmd { return nil }
	return &testApp{App: a}
}

// testApp is an application with what a terminal would see of its end.
type testApp struct {
	*App
	quit bool
}

// keyPress makes the message of a key from its name: "a", "shift+left", "enter".
func keyPress(name string) tea.KeyPressMsg {
	k := tea.KeyPressMsg{}
	for {
		mod, rest, ok := strings.Cut(name, "+")
		if !ok || rest == "" {
			break
		}
		k.Mod |= map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "shift": tea.ModShift, "alt": tea.ModAlt}[mod]
		name = rest
	}
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"backspace": tea.KeyBackspace, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "delete": tea.KeyDelete,
	}
	switch c, ok := codes[name]; {
	case ok:
		k.Code = c
	case name == "space":
		k.Code, k.Text = tea.KeySpace, " "
	default:
		k.Code = []rune(name)[0]
		if k.Mod == 0 {
			k.Text = name
		}
	}
	return k
}

// send feeds messages, strings being keys, to the application as the event loop
// would, with the commands that come of them. No frame comes by itself.
func send(t testing.TB, a *testApp, msgs ...any) {
	t.Helper()
	for _, m := range msgs {
		if s, ok := m.(string); ok {
			m = keyPress(s)
		}
		_, cmd := a.Update(m)
		perform(t, a, cmd)
	}
}

func perform(t testing.TB, a *testApp, cmd tea.Cmd) {
	t.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			perform(t, a, c)
		}
	case tea.QuitMsg:
		a.quit = true
	default:
		send(t, a, msg)
	}
}

// frame is the next frame of an application.
func frame(a *testApp) screen.FrameMsg {
	return screen.FrameMsg{At: a.env.Now.Add(100 * time.Millisecond), Gen: a.gen}
}

// picture returns the screen as plain text and checks that it fits the terminal.
func picture(t testing.TB, a *testApp) string {
	t.Helper()
	got := a.View().Content
	lines := strings.Split(got, "\n")
	require.Len(t, lines, a.env.H)
	for i, l := range lines {
		require.Equal(t, a.env.W, lipgloss.Width(l), "line %d: %q", i, ansi.Strip(l))
	}
	return ansi.Strip(got)
}

func requireGolden(t *testing.T, text string) {
	t.Helper()
	golden.RequireEqual(t, []byte(text+"\n"))
}

func TestATerminalThatIsTooSmallSaysWhatIsNeeded(t *testing.T) {
	a := newTestApp(t, &fakeBench{}, Options{})
	send(t, a, tea.WindowSizeMsg{Width: 52, Height: 14})
	assert.Contains(t, picture(t, a), "perfbench needs 60×16, this is 52×14")
	requireGolden(t, picture(t, a))
}
