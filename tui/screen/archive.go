package screen

import (
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
)

// Archive holds finished runs.
type Archive interface {
	Keeper
	// History lists finished runs, newest first.
	History() ([]rundir.Run, error)
	// Load reads one finished run by its id.
	Load(id string) (*rundir.Folder, error)
	// Sweeps lists the sweeps, newest first.
	Sweeps() []sweep.Kept
}

// Keeper changes what the archive holds.
type Keeper interface {
	// Remove deletes finished runs permanently. The error names those that could not be
	// deleted, and why; the others are deleted.
	Remove(ids []string) error
	// Pack replaces the directory of each run by a single file. The error names the
	// runs for which this failed.
	Pack(ids []string) error
	// Annotate sets the note on a run, replacing the previous one; an empty note
	// removes it.
	Annotate(id, note string) error
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
