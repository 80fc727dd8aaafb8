package tui

import (
	"context"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/picker"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

func newTestEnv() screen.Env {
	return screen.Env{
		W: 120, H: 40, Styles: widget.NewStyles(widget.ThemeMono, true, colorprofile.TrueColor), Now: time.Date(2026, 5, 3, 11, 40, 0, 0, time.UTC),
		Connecting: func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) }, Starts: new(sync.WaitGroup),
	}
}

// partsOf returns a fake as the screens see it.
func partsOf(b *tuitest.Bench) Bench {
	return Bench{
		Picker:  picker.Bench{Catalogue: b, Memory: b, Planner: b, Pinger: b, Runs: b},
		Starter: b, Planner: b, Dashboard: dashboard.Bench{Past: b, Presets: b}, Results: b, Runs: b, Finished: b, Sweeper: b, Suites: b, Plans: b, Logs: b.Logs,
	}
}

// newTestApp returns an application that never asked a terminal anything.
func newTestApp(t testing.TB, b *tuitest.Bench, o Options) *testApp {
	t.Helper()
	a := NewApp(o, partsOf(b), func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) })
	a.env.Now, a.suspend = newTestEnv().Now, true
	a.tick = func(time.Duration, int) tea.Cmd { return nil }
	return &testApp{App: a}
}

// testApp is an application with what a terminal would see of its end.
type testApp struct {
	*App
	quit bool
}

// send feeds messages, strings being keys, to the application as the event loop
// would, with the commands that come of them. No frame comes by itself.
func send(t testing.TB, a *testApp, msgs ...any) {
	t.Helper()
	for _, m := range msgs {
		if s, ok := m.(string); ok {
			m = tuitest.KeyPress(s)
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
	return tuitest.Plain(t, a.View().Content, a.env.W, a.env.H)
}

func TestATerminalThatIsTooSmallSaysWhatIsNeeded(t *testing.T) {
	a := newTestApp(t, &tuitest.Bench{}, Options{})
	send(t, a, tea.WindowSizeMsg{Width: 52, Height: 14})
	assert.Contains(t, picture(t, a), "perfbench needs 60×16, this is 52×14")
	tuitest.Golden(t, picture(t, a))
	send(t, a, tea.WindowSizeMsg{Width: 30, Height: 6})
	assert.Contains(t, picture(t, a), "30×6", "nothing is cut")
}

// A terminal that is too small to draw a run says in words how it is.
func TestATerminalThatIsTooSmallSaysHowTheRunIs(t *testing.T) {
	run := tuitest.NewRun(1)
	a := dashAppOf(t, Options{}, run, 3*time.Second, 30, 6)
	got := picture(t, a)
	for _, want := range []string{"▶ running 00:03 / 01:00", "entries/s", "p99 ", "errors 0"} {
		assert.Contains(t, got, want)
	}
	assert.NotContains(t, got, "…", "nothing is cut")
	send(t, a, tea.WindowSizeMsg{Width: 40, Height: 9})
	tuitest.Golden(t, picture(t, a))
	send(t, a, tea.WindowSizeMsg{Width: 20, Height: 3}, "q")
	assert.Contains(t, picture(t, a), "Stop the run", "what is asked comes first")
	send(t, a, "esc", tea.WindowSizeMsg{Width: 20, Height: 3}, "space")
	pass(t, a, run, time.Second)
	assert.Contains(t, picture(t, a), "‖ paused")
}

// pickApp is the workbench at its picker, everything read.
func pickApp(t testing.TB, b *tuitest.Bench, o Options, w, h int) *testApp {
	t.Helper()
	o.RunParams = tuitest.RunParams()
	a := newTestApp(t, b, o)
	a.env.Now = tuitest.Day.Add(12 * time.Hour)
	send(t, a, tea.WindowSizeMsg{Width: w, Height: h})
	perform(t, a, a.stack.top().(screen.Starter).Start(a.env))
	return a
}

// appAt is the workbench taken to a destination.
func appAt(t testing.TB, b *tuitest.Bench, o Options, to screen.Destination, w, h int) *testApp {
	t.Helper()
	a := newTestApp(t, b, o)
	a.env.Now = tuitest.Day.Add(12 * time.Hour)
	send(t, a, tea.WindowSizeMsg{Width: w, Height: h}, screen.OpenMsg{To: to})
	return a
}

// resultsApp shows the newest run of the demo.
func resultsApp(t testing.TB, o Options, w, h int) (*testApp, *tuitest.Bench) {
	t.Helper()
	b := tuitest.NewDemo()
	return appAt(t, b, o, screen.Results{ID: b.Past[0].ID}, w, h), b
}

// compareApp compares two runs of the demo.
func compareApp(t testing.TB, o Options, w, h int) *testApp {
	t.Helper()
	b := tuitest.NewDemo()
	return appAt(t, b, o, screen.Compare{A: []string{b.Past[1].ID}, B: []string{b.Past[0].ID}}, w, h)
}

// One picture of each screen keeps its escape codes, in every theme.
func TestScreensInColour(t *testing.T) {
	for _, theme := range []string{widget.ThemeLight, widget.ThemeDark, widget.ThemeMono} {
		t.Run("picker "+theme, func(t *testing.T) {
			a := pickApp(t, tuitest.NewDemo(), Options{Theme: theme}, 80, 24)
			picture(t, a)
			tuitest.Golden(t, a.View().Content)
		})
		t.Run("results "+theme, func(t *testing.T) {
			a, _ := resultsApp(t, Options{Theme: theme}, 80, 24)
			picture(t, a)
			tuitest.Golden(t, a.View().Content)
		})
		t.Run("compare "+theme, func(t *testing.T) {
			a := compareApp(t, Options{Theme: theme}, 80, 24)
			picture(t, a)
			tuitest.Golden(t, a.View().Content)
		})
	}
}

// The form of a run that was picked on the page of a plan is in front, also where the plan was opened from
// the list of plans, and leads back to that page, as it was left.
func TestTheFormLeadsBackToThePlan(t *testing.T) {
	plan := screen.Suite{Path: "night.yaml", File: tuitest.NewSuite()}
	for name, o := range map[string]Options{"from the command line": {Suite: &plan}, "from the list": {}} {
		t.Run(name, func(t *testing.T) {
			b := tuitest.NewDemo()
			b.FoundPlans = []screen.PlanFile{{Path: plan.Path, File: plan.File}}
			a := newTestApp(t, b, o)
			send(t, a, tea.WindowSizeMsg{Width: 120, Height: 40})
			if o.Suite == nil {
				send(t, a, "P", "enter")
			}
			send(t, a, "down")
			page, below := a.stack.top(), len(a.stack)-1
			require.Contains(t, a.View().Content, "2 of 4")
			send(t, a, "enter")
			require.Len(t, a.stack, 1, "the form is at the bottom")
			assert.Contains(t, a.View().Content, "many threads of night.yaml")
			send(t, a, "esc")
			require.Same(t, page, a.stack.top())
			assert.Contains(t, a.View().Content, "2 of 4", "the run that was selected")
			send(t, a, "esc")
			assert.Len(t, a.stack, below, "the list, if the plan was opened from it")
		})
	}
}
