// Package screen says what a screen of the workbench is: what it is told, what it may
// ask for, and what the run that it shows can be asked. Screens stand on it and on
// tui/widget; none knows another.
package screen

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/widget"
)

// Env is what the application tells its screens with every call.
type Env struct {
	W, H   int
	Styles *widget.Styles
	// Now is the time of the last frame: screens never ask the clock.
	Now time.Time
	// Connecting makes contexts for what may take long; Starts counts the starts of
	// runs under way. Both outlive the screen that uses them.
	Connecting func() (context.Context, context.CancelFunc)
	Starts     *sync.WaitGroup
}

// Screen is one full page. The application owns it: it has no goroutine, knows
// no other screen, and moves by returning commands made with Open, Replace and
// Back. Neither Update nor View touches disk or network.
type Screen interface {
	// Update takes one message and returns what the screen has become.
	Update(msg tea.Msg, e Env) (Screen, tea.Cmd)
	// View returns exactly e.W×e.H cells.
	View(e Env) string
	// Keys are those that work now.
	Keys() widget.KeyMap
}

// Starter is a screen with something to do once when it is opened.
type Starter interface{ Start(e Env) tea.Cmd }

// Typist is a screen that may be taking text: then it gets all keys but ctrl+c.
type Typist interface{ Typing() bool }

// Runner is a screen with a run, or with several; nil when none is under way.
type Runner interface{ Running() Ending }

// Rester is a screen that knows when it has nothing new to show until somebody does
// something: then it is given fewer frames.
type Rester interface{ Resting() bool }

// Titled is a screen that shows progress outside the terminal's page too.
type Titled interface {
	// Outside returns the window title, and the progress for tab or task bar; nil has
	// none.
	Outside(e Env) (title string, bar *tea.ProgressBar)
}
