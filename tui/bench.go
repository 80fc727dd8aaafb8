package tui

import (
	"context"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// Bench is what the screens need from the rest of the program, each of it what it
// declares. Methods that take a context, read or write files are called from a
// tea.Cmd, on a goroutine of its own; the others are called from the event loop and
// return at once.
type Bench interface {
	pickerBench
	dashBench
	resultsBench
	archive
	// Logs returns the last hundred log lines, oldest first.
	Logs() []string
}

// pickerBench is what the picker needs.
type pickerBench interface {
	catalogue
	planner
	archive
}

// catalogue lists what there is to choose from.
type catalogue interface {
	// Profiles lists the profiles in the order to show them. One without Design is
	// not built yet and shown greyed.
	Profiles() []workload.Profile
	// Presets lists a profile's presets, the default first. It may read files.
	Presets(profile string) []Preset
	// Stores lists the kinds of store.
	Stores() []StoreInfo
	// Recent lists recent targets without passwords, newest first. It may read files.
	Recent() []string
}

// planner says what would come of a choice.
type planner interface {
	// Preview works out what a request would do. It touches nothing and is asked
	// for at every key press, from commands that may overlap: the newest counts. An
	// error says in a line of its own what is wrong with each value, beginning with
	// the value's name: "threads: …".
	Preview(Request) (*Preview, error)
	// Ping connects to a target, asks who it is and how far away, and disconnects.
	// Without a password it finds one where Start does. Errors hold no secrets.
	Ping(ctx context.Context, target, password string) (Pong, error)
}

// dashBench is what the screens of a run under way need.
type dashBench interface {
	// Profiles lists the profiles.
	Profiles() []workload.Profile
	// Start connects and begins a run, which then sets up in the background. The
	// context cancels connecting only.
	Start(ctx context.Context, r Request) (Run, error)
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

// Preset names a set of values and says in one line what it is.
type Preset struct{ Name, Summary string }

// StoreInfo describes one kind of store.
type StoreInfo struct {
	// Driver is the id that bindings name, Title is for people, Example a target.
	Driver, Title, Example string
}

// Request says what to run, as the flags of the command do.
type Request struct {
	Profile, Preset string
	Files           []string
	Target          string
	// Password is never shown, kept or logged.
	Password string
	// Values are what the user set, by name, of origin OriginFlag or lower.
	// What every run has (duration, count, warmup, seed, namespace, allow-existing,
	// cleanup) is among them.
	Values []workload.Value
	// Timetable and Thresholds are as in --at and --threshold.
	Timetable, Thresholds []string
	Out                   string
	Formats               []string
	// Facts is the path of the file of --facts.
	Facts string
}

// Setting is one value of a preview: its name, its text, and where it came from
// ("preset small", "flag").
type Setting struct{ Name, Text, From string }

// Preview is what a request would do.
type Preview struct {
	// Plan has the knobs, phases and tracks. It is not bound to a store.
	Plan *workload.Plan
	// Settings are the live knobs at the start, Parameters what is fixed, Run what
	// every run has: duration, count, warm-up, seed …
	Settings, Parameters, Run []Setting
	// Tracks describes phases and tracks in words.
	Tracks []string
	// Writes and Deletes say what happens to the store, Documents to the disk.
	Writes, Deletes, Documents []string
	// Bytes is the volume of values to be stored, 0: unknown. Connections is how
	// many may be open at once.
	Bytes       int64
	Connections int
	Warnings    []string
}

// Pong is a store's answer to a ping.
type Pong struct {
	Info      store.Info
	RoundTrip time.Duration
}

// Run is a benchmark under way. None of its methods block, and any goroutine may
// call them.
type Run interface {
	Watched
	Controlled
	Ending
}

// Watched is what a run tells of itself.
type Watched interface {
	Info() RunInfo
	Plan() *workload.Plan
	// Progress says what the run is doing now.
	Progress() Progress
	// Snapshot returns the newest state; never nil, empty before the first worker
	// has started.
	Snapshot() *measure.Snapshot
	// Verdict is what the run is worth so far.
	Verdict() rundir.Verdict
}

// Controlled is a run whose knobs can be turned.
type Controlled interface {
	// Settings returns the settings asked for, of one track or the totals of All.
	Settings(track int) workload.Settings
	// Change changes the live settings of one track, or with All of the totals; f is
	// called once, in the order of the calls.
	Change(by string, track int, f func(workload.Settings) workload.Settings)
	// Mark keeps a note with the present moment in the run's record.
	Mark(note string)
}

// Ending is how a run comes to its end.
type Ending interface {
	// Stop ends the run in order; the report is written. Kill ends it at once.
	Stop()
	Kill()
	// Done is closed when the report is written, or the run has failed.
	Done() <-chan struct{}
	// Outcome says how it ended; call it after Done.
	Outcome() Outcome
}

// All aims a change at the totals of all tracks.
const All = -1

// RunInfo is what is known of a run from its start on.
type RunInfo struct {
	Profile, Title, Mode string
	// Store is the product label, Target the URL without secrets.
	Store, Target string
	// Unit is what counts and throughput count.
	Unit string
	// Duration ends the run that long after warm-up; 0: its count does.
	Duration, Warmup time.Duration
	Started          time.Time
}

// Stage is what a run is doing.
type Stage int

// Stages in the order a run passes them.
const (
	Preparing Stage = iota + 1
	Measuring
	Finishing
	Verifying
	Reporting
	Ended
)

// String returns the word shown to users.
func (s Stage) String() string {
	return [...]string{"", "preparing", "running", "finishing", "verifying", "writing the report", "ended"}[s]
}

// Progress says how far a stage has come.
type Progress struct {
	Stage Stage
	// Step says in words what is being done; may be empty.
	Step string
	// Done and Total count what the step handles; Total 0: unknown.
	Done, Total int64
}

// Outcome says how a run ended.
type Outcome struct {
	// ID names the run, Dir is its folder; both are empty when nothing was written.
	ID, Dir string
	// Summary is the text printed to the normal screen.
	Summary      string
	Verification workload.Verification
	Verdict      rundir.Verdict
	// Code is the exit code of the run.
	Code int
	// Err is why the run failed; its hint says what to do.
	Err error
}
