package screen

import (
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/rundir"
)

// Archive keeps finished runs.
type Archive interface {
	// History lists finished runs, newest first.
	History() ([]rundir.Run, error)
	// Load reads one finished run by its id.
	Load(id string) (*rundir.Folder, error)
}

// HistoryMsg brings the list of runs.
type HistoryMsg struct {
	Runs []rundir.Run
	Err  error
}

// ReadHistory reads the list of runs in the background.
func ReadHistory(b Archive) tea.Cmd {
	return func() tea.Msg {
		runs, err := b.History()
		return HistoryMsg{runs, err}
	}
}

// RunsChangedMsg says that a run has been added to the results folder, and
// perhaps a preset and a target to those known.
type RunsChangedMsg struct{}
