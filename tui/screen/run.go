package screen

import (
	"time"

	"github.com/perfbench/perfbench/internal/job"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/search/found"
	"github.com/perfbench/perfbench/internal/workload"
)

// Run is a benchmark under way. None of its methods block, and any goroutine may
// call them.
type Run interface {
	Watched
	Sampled
	Controlled
	Searched
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

// Sampled is what is told of a run beside its operations.
type Sampled interface {
	// Samples are those of the last second that was sampled, of perfbench, machine and
	// store; never written to once returned.
	Samples() []rundir.Sample
}

// Controlled is a run whose knobs can be turned.
type Controlled interface {
	// Settings returns the settings asked for, of one track or the totals of All.
	Settings(track int) workload.Settings
	// Change changes the live settings of one track, or with All of the totals; f is
	// called once, in the order of the calls.
	Change(by string, track int, f func(workload.Settings) workload.Settings)
	// Room says why there is no room for these settings of the tracks in the memory of client
	// or store; nil: there is.
	Room(after []workload.Settings) error
	// Mark keeps a note with the present moment in the run's record.
	Mark(note string)
}

// Searched is a run on which the highest level that holds can be searched for.
type Searched interface {
	// CanSearch says why a search cannot be made on this run or another of its plan: a fault
	// of input.
	CanSearch(found.Asked) error
	// Search begins one; it ends the run when it knows. An error says why it did not begin.
	Search(found.Asked) error
	// EndSearch ends it before: the run goes on with its knobs as they were.
	EndSearch()
	// Found is how far the last search is; nil when there was none.
	Found() *Search
}

// Search is a search as of a moment: the steps that have ended and, once it is over, what
// it found. It is never written to once made.
type Search struct {
	found.Result
	Going bool
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
	// Units names, by TRACK.OP, what operations count that count something else.
	Units map[string]string
	// Duration ends the run that long after warm-up; 0: its count does.
	Duration time.Duration
	// Settles says that the warm-up ends once the run has settled.
	Settles bool
	Started time.Time
	// Request leads to the same run again; it holds no password.
	Request job.Request
	// Watched says that another process drives the run, and nothing here changes it.
	Watched bool
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
	// Note is a sentence that somebody has to act on; may be empty.
	Note string
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
	// Watched says that the run was another process's, which has its report.
	Watched bool
}
