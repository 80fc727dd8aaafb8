package tui

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/fault"
)

// guard is the application as Bubble Tea sees it. It turns a panic in a screen or in a
// command into an orderly exit with a one-sentence message; the library on its own
// would print a stack trace over the user's terminal. It belongs to the event loop.
type guard struct {
	app *App
	// broken is the error made from a panic; nil if there was none.
	broken error
}

// brokenMsg reports that a command has panicked.
type brokenMsg struct{ err error }

// Init starts the application.
func (g *guard) Init() (cmd tea.Cmd) {
	defer g.rescue(&cmd)
	return g.guarded(g.app.Init())
}

// Update passes a message on, unless the screens have panicked: then the program ends.
func (g *guard) Update(msg tea.Msg) (self tea.Model, cmd tea.Cmd) {
	self = g // also after a panic, since the library draws what it is given
	defer g.rescue(&cmd)
	if b, ok := msg.(brokenMsg); ok {
		g.broken = b.err
	}
	if g.broken != nil {
		return g, tea.Quit
	}
	_, cmd = g.app.Update(msg)
	return g, g.guarded(cmd)
}

// View draws the screens; if that panics, the next message ends the program.
func (g *guard) View() (v tea.View) {
	defer func() {
		if r := recover(); r != nil {
			g.broken = g.bug(r)
			v = tea.NewView("")
			v.AltScreen = true
		}
	}()
	return g.app.View()
}

// rescue ends the program if the caller panics.
func (g *guard) rescue(cmd *tea.Cmd) {
	if r := recover(); r != nil {
		g.broken = g.bug(r)
		*cmd = tea.Quit
	}
}

// guarded wraps cmd, and every command of a batch, so that a panic becomes a message.
func (g *guard) guarded(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = brokenMsg{g.bug(r)}
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			safe := make(tea.BatchMsg, len(batch))
			for i, c := range batch {
				safe[i] = g.guarded(c)
			}
			return safe
		}
		return msg
	}
}

// bug describes a panic and its location in one sentence, and keeps its stack; call it while
// recovering, on any goroutine.
func (g *guard) bug(r any) error {
	err := fmt.Errorf("this is a bug in perfbench: the screen crashed at %s: %v", origin(), r)
	hint := "the terminal is restored and the run was ended and reported; please tell us the command line and the keys that you pressed"
	if g.app.opts.Crashed != nil {
		if path := g.app.opts.Crashed(r, debug.Stack()); path != "" {
			hint += ", and send the end of " + path + ", which has the stack"
		}
	}
	return fault.Hint(err, hint)
}

// origin returns the file and line of the last panic.
func origin() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	panicked := false
	for {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		if panicked && !inRuntime {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		panicked = panicked || strings.HasPrefix(f.Function, "runtime.gopanic")
		if !more {
			return "an unknown place"
		}
	}
}
