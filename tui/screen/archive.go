package screen

import (
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
)

// Archive keeps finished runs.
type Archive interface {
	Keeper
	// History lists finished runs, newest first.
	History() ([]rundir.Run, error)
	// Load reads one finished run by its id.
	Load(id string) (*rundir.Folder, error)
	// Sweeps lists the sweeps, newest first.
	Sweeps() []sweep.Kept
}

// Keeper changes what is kept.
type Keeper interface {
	// Remove deletes finished runs for good. The error names those that had to stay, and
	// why; the others are gone.
	Remove(ids []string) error
	// Pack puts runs into one file each, in the place of their folders. The error names
	// those of which this could not be done.
	Pack(ids []string) error
	// Annotate writes a note on a run, in the place of the one before; an empty one takes that
	// away. The error says why it cannot.
	Annotate(id, note string) error
}

// HistoryMsg brings the lists of runs and sweeps.
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

// RunsChangedMsg says that a run has been added to the results folder, and
// perhaps a preset and a target to those known.
type RunsChangedMsg struct{}
