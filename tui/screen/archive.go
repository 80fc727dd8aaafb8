package screen

import (
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
)

// Archive lists what is kept of earlier work. It reads files.
type Archive interface {
	// History lists finished runs, newest first.
	History() ([]rundir.Run, error)
	// Sweeps lists the sweeps, newest first.
	Sweeps() []sweep.Kept
}

// HistoryMsg delivers the lists of runs and sweeps.
type HistoryMsg struct {
	Runs   []rundir.Run
	Sweeps []sweep.Kept
	Err    error
}

// ReadHistory reads the lists of runs and sweeps in the background.
func ReadHistory(b Archive) tea.Cmd {
	return func() tea.Msg {
		runs, err := b.History()
		return HistoryMsg{runs, b.Sweeps(), err}
	}
}

// RunsChangedMsg reports that a run has been added to the results directory, and
// possibly a preset and a target to those known.
type RunsChangedMsg struct{}
