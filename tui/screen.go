package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/widget"
)

// env is what the application tells its screens with every call.
type env struct {
	w, h   int
	styles *widget.Styles
	// now is the time of the last frame: screens never ask the clock.
	now time.Time
	// connecting makes contexts for what may take long; starts counts the starts of
	// runs under way. Both outlive the screen that uses them.
	connecting func() (context.Context, context.CancelFunc)
	starts     *sync.WaitGroup
	// suspend says that a shell can bring us back after ctrl+z.
	suspend bool
}

// screen is one full page. The application owns it: it has no goroutine, knows
// no other screen, and moves by returning commands made with open, replace and
// back. Neither update nor view touches disk or network.
type screen interface {
	update(msg tea.Msg, e env) (screen, tea.Cmd)
	// view returns exactly e.w×e.h cells.
	view(e env) string
	keys() widget.KeyMap
}

// starter is a screen with something to do once when it is opened.
type starter interface{ start(e env) tea.Cmd }

// typist is a screen that may be taking text: then it gets all keys but ctrl+c.
type typist interface{ typing() bool }

// runner is a screen with a run; nil when none is under way.
type runner interface{ running() Run }

// titled is a screen that shows progress outside the terminal's page too.
type titled interface {
	outside(e env) (title string, bar *tea.ProgressBar)
}

// destination is where a screen asks to be taken. Which screen shows it only the
// application knows.
type destination interface{ destination() }

type (
	// toStart connects with a request and shows its run.
	toStart struct{ request Request }
	// toResults shows a finished run, by its id.
	toResults struct{ id string }
	// toRuns lists the earlier runs; the one chosen, if any, is to be compared.
	toRuns struct{ chosen string }
	// toCompare shows two runs beside each other.
	toCompare struct{ a, b string }
)

func (toStart) destination()   {}
func (toResults) destination() {}
func (toRuns) destination()    {}
func (toCompare) destination() {}

// archive keeps finished runs.
type archive interface {
	// History lists finished runs, newest first.
	History() ([]rundir.Run, error)
	// Load reads one finished run by its id.
	Load(id string) (*rundir.Folder, error)
}

// historyMsg brings the list of runs.
type historyMsg struct {
	runs []rundir.Run
	err  error
}

// readHistory reads the list of runs in the background.
func readHistory(b archive) tea.Cmd {
	return func() tea.Msg {
		runs, err := b.History()
		return historyMsg{runs, err}
	}
}

// runsChangedMsg says that a run has been added to the results folder, and
// perhaps a preset and a target to those known.
type runsChangedMsg struct{}

// Messages between screens and application.
type (
	openMsg struct {
		to      destination
		replace bool
	}
	backMsg  struct{}
	frameMsg struct {
		at  time.Time
		gen int
	}
	// endedMsg says that a run has ended and been reported.
	endedMsg struct{ outcome Outcome }
	// stopMsg asks from outside to end in order, killMsg at once.
	stopMsg struct{}
	killMsg struct{}
)

// open shows a screen above the present one.
func open(to destination) tea.Cmd { return func() tea.Msg { return openMsg{to: to} } }

// replace shows a screen instead of the present one.
func replace(to destination) tea.Cmd { return func() tea.Msg { return openMsg{to: to, replace: true} } }

// back returns to the screen below.
func back() tea.Msg { return backMsg{} }
