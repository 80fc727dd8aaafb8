package tui

import (
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/picker"
	"github.com/perfbench/perfbench/tui/results"
)

// Bench is the rest of the program, as the screens see it: each is given what it declares
// that it needs. Methods that take a context, read files or write files are called from a
// tea.Cmd, on its own goroutine; the others are called from the event loop and return at
// once.
type Bench struct {
	Picker    picker.Bench
	Starter   dashboard.Starter
	Planner   dashboard.Planner
	Dashboard dashboard.Bench
	Results   results.Bench
	Runs      archive.Runs
	Finished  archive.Finished
	Sweeper   archive.Sweeper
	Suites    archive.Suites
	Plans     archive.PlanFiles
	// Logs returns the last hundred log lines, oldest first.
	Logs func() []string
}
