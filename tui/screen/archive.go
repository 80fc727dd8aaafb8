package screen

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
)

// Archive lists what is kept of earlier work. It reads files.
type Archive interface {
	// History lists finished runs, newest first.
	History() ([]rundir.Run, error)
	// Sweeps lists the sweeps, newest first.
	Sweeps() []sweep.Kept
	// Groups lists what runs came to that were repeated or compared, in no order.
	Groups() []kept.Group
}

// StartedMsg tells that a run of a request has started.
type StartedMsg struct{ Request request.Request }

// NotStartedMsg tells that a run could not start: nothing of it is on the disk, so whoever lists runs
// says it for as long as the workbench is open.
type NotStartedMsg struct {
	To  Start
	At  time.Time
	Err error
}

// HistoryMsg delivers the lists of runs, sweeps and groups.
type HistoryMsg struct {
	Runs   []rundir.Run
	Sweeps []sweep.Kept
	Groups []kept.Group
	Err    error
}

// ReadHistory reads the lists of runs, sweeps and groups in the background.
func ReadHistory(b Archive) tea.Cmd {
	return func() tea.Msg {
		runs, err := b.History()
		return HistoryMsg{runs, b.Sweeps(), b.Groups(), err}
	}
}

// Reread says when lists of runs are to be read again, since other terminals have runs, too:
// every second while one of the runs is going, and every five otherwise. The zero value is
// ready for use.
type Reread struct{ at time.Time }

// Due reports at a frame whether that is now.
func (r *Reread) Due(now time.Time, runs []rundir.Run) bool {
	every := 5 * time.Second
	if slices.ContainsFunc(runs, func(r rundir.Run) bool { return r.EndedBy == rundir.StillRunning }) {
		every = time.Second
	}
	if r.at.IsZero() {
		r.at = now
	}
	if now.Sub(r.at) < every {
		return false
	}
	r.at = now
	return true
}

// RunsChangedMsg reports that a run has been added to the results directory, and
// possibly a preset and a target to those known.
type RunsChangedMsg struct{}
