package tui

import (
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/picker"
	"github.com/perfbench/perfbench/tui/results"
	"github.com/perfbench/perfbench/tui/screen"
)

// Bench is what the screens need from the rest of the program, composed of what each of
// them declares. Methods that take a context, read files or write files are called from
// a tea.Cmd, on its own goroutine; the others are called from the event loop and return
// at once.
type Bench interface {
	picker.Bench
	dashboard.Bench
	results.Bench
	archive.Bench
	screen.Archive
	// Logs returns the last hundred log lines, oldest first.
	Logs() []string
}
