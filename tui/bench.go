package tui

import (
	"context"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// Bench is what the screens need from the rest of the program, each of it what it
// declares. Methods that take a context, read or write files are called from a
// tea.Cmd, on a goroutine of its own; the others are called from the event loop and
// return at once.
type Bench interface {
	pickerBench
	dashBench
	resultsBench
	screen.Archive
	// Logs returns the last hundred log lines, oldest first.
	Logs() []string
}

// pickerBench is what the picker needs.
type pickerBench interface {
	catalogue
	planner
	screen.Archive
}

// catalogue lists what there is to choose from.
type catalogue interface {
	// Profiles lists the profiles in the order to show them. One without Design is
	// not built yet and shown greyed.
	Profiles() []workload.Profile
	// Presets lists a profile's presets, the default first. It may read files.
	Presets(profile string) []screen.Preset
	// Stores lists the kinds of store.
	Stores() []screen.StoreInfo
	// Recent lists recent targets without passwords, newest first. It may read files.
	Recent() []string
}

// planner says what would come of a choice.
type planner interface {
	// Preview works out what a request would do. It touches nothing and is asked
	// for at every key press, from commands that may overlap: the newest counts. An
	// error says in a line of its own what is wrong with each value, beginning with
	// the value's name: "threads: …".
	Preview(screen.Request) (*screen.Preview, error)
	// Ping connects to a target, asks who it is and how far away, and disconnects.
	// Without a password it finds one where Start does. Errors hold no secrets.
	Ping(ctx context.Context, target, password string) (screen.Pong, error)
}

// dashBench is what the screens of a run under way need.
type dashBench interface {
	// Profiles lists the profiles.
	Profiles() []workload.Profile
	// Start connects and begins a run, which then sets up in the background. The
	// context cancels connecting only.
	Start(ctx context.Context, r screen.Request) (screen.Run, error)
	// SavePreset keeps values as a preset of the user and returns its path.
	SavePreset(profile, name string, values []workload.Value) (path string, err error)
}

// resultsBench is what the screen of a finished run needs.
type resultsBench interface {
	// Load reads one finished run by its id.
	Load(id string) (*rundir.Folder, error)
	// Formats lists the formats in which a run of the profile can be written.
	Formats(profile string) []rundir.Format
	// Export writes a finished run in the given formats and returns the paths of
	// what it wrote, with an error too. An empty dir is the run's own folder.
	Export(id string, formats []string, dir string) ([]string, error)
}
