// Package screen defines what a screen of the workbench is: what it is given, what it
// may ask for, and the interface of the run that it shows. Screens depend on it and on
// tui/widget; none knows another.
package screen

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/widget"
)

// Env is what the application passes to its screens with every call.
type Env struct {
	W, H   int
	Styles *widget.Styles
	// Now is the time of the last frame: screens never read the clock.
	Now time.Time
	// Title returns what people call a profile.
	Title func(profile string) string
	// Covered says, with a frame, that another screen lies above this one.
	Covered bool
	// Connecting creates contexts for operations that may take long; Starts counts the
	// starts of runs in progress. Both outlive the screen that uses them.
	Connecting func() (context.Context, context.CancelFunc)
	Starts     *sync.WaitGroup
	// Writes is how many files are being written, or sets of them, which quitting waits for. It
	// belongs to the event loop.
	Writes *int
}

// WrittenMsg reports that what Write began has been written; Msg is what it came to.
type WrittenMsg struct{ Msg tea.Msg }

// Write has do write files in the background, for which quitting waits, whatever screen is shown by then.
func (e Env) Write(do func() tea.Msg) tea.Cmd {
	*e.Writes++
	return func() tea.Msg { return WrittenMsg{do()} }
}

// Screen is one full page. The application owns it: it has no goroutine, knows no other
// screen, and navigates by returning commands made with Open, Replace and Back. Neither
// Update nor View accesses disk or network.
type Screen interface {
	// Update handles one message and returns the resulting screen.
	Update(msg tea.Msg, e Env) (Screen, tea.Cmd)
	// View returns exactly e.W×e.H cells.
	View(e Env) string
	// Keys returns the keys that work now.
	Keys() widget.KeyMap
}

// Starter is a screen with something to do once when it is opened.
type Starter interface{ Start(e Env) tea.Cmd }

// Typist is a screen that may be accepting text: then it gets all keys except ctrl+c.
type Typist interface{ Typing() bool }

// Writer is a screen on which a key may begin to type a value: it is no command then.
type Writer interface {
	Writes(msg tea.KeyPressMsg) bool
}

// Former is a typist that may be asking for values in a form. No value begins with a question
// mark, so that one is help while the value under the cursor is untouched, and a letter of it after that.
type Former interface {
	// Untouched reports whether a form is open and nothing has been typed into its row.
	Untouched() bool
}

// Boxed is a screen that may be no more than a form, which is drawn as a box over the screen from which it was opened.
type Boxed interface {
	// Box returns the framed form, as wide as it says best and as high as it needs; nil if the screen is more than that.
	Box(e Env) []string
}

// BoxWidth is how wide a form is in a box on a screen of w cells.
func BoxWidth(w int) int { return min(w-4, 88) }

// Listener is a screen that shows for a while that a key does nothing there; no sentence ends what is shown.
type Listener interface{ Tell(sentence string, e Env) }

// Runner is a screen with a run, or with several; nil if none is in progress.
type Runner interface{ Running() Ending }

// Idler is a screen that knows when it will have nothing new to show until somebody
// does something; then it gets fewer frames.
type Idler interface{ Idle() bool }

// Titled is a screen that shows progress outside the terminal's page too.
type Titled interface {
	// Outside returns the window title, and the progress for the tab or task bar, which
	// may be nil.
	Outside(e Env) (title string, bar *tea.ProgressBar)
}

// Terse is a screen that can say in words what matters most on it, for a terminal that is too
// small to draw it.
type Terse interface {
	// InWords returns lines of plain words, the most important ones first.
	InWords(e Env) []string
}
