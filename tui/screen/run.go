package screen

import (
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// Access is what a screen has of a run: what the run shows, and what can be done with it
// from here. Of a run that another process drives there is nothing but Run.
type Access struct {
	Run Run
	// Of is what the run is a part of and is watched from, "sweep" or "plan", which alone decides its
	// settings; empty: it stands alone.
	Of       string
	Control  Control
	Searches Searches
	Ending   Ending
}

// Run is a run in progress, whoever drives it. None of its methods block, and any
// goroutine may call them; that holds for Control, Searches and Ending, too.
type Run interface {
	Info() RunInfo
	Plan() *workload.Plan
	// Progress returns what the run is doing now.
	Progress() Progress
	// Snapshot returns the newest state; never nil, empty before the first worker
	// has started.
	Snapshot() *measure.Snapshot
	// Settings returns the requested settings, of one track or the totals of All.
	Settings(track int) workload.Settings
	// Samples returns those of the last second that was sampled, of perfbench, machine
	// and store; never modified once returned.
	Samples() []rundir.Sample
	// Verdict returns the verdict on the run so far.
	Verdict() rundir.Verdict
	// Done is closed when the run is over; only then is its Outcome known.
	Done() <-chan struct{}
	Outcome() Outcome
}

// Control turns the knobs of a run.
type Control interface {
	// Change changes the live settings of one track, or with All the totals; f is
	// called once, in the order of the calls.
	Change(by string, track int, f func(workload.Settings) workload.Settings)
	// Room returns an error if the memory of client or store is too small for these
	// settings of the tracks.
	Room(after []workload.Settings) error
	// Faults returns examples, as --at has them, of the faults that this run can have, and of those
	// that it could have with breakable connections. If there are neither, the error says why.
	Faults() (ready, breakable []string, err error)
	// CanBreak returns why a fault cannot happen now for that long: an input fault, which is
	// workload.ErrDirect if it takes breakable connections.
	CanBreak(text string, long time.Duration) error
	// Break has a fault happen for that long, as by.
	Break(by, text string, long time.Duration) error
	// Mark records a note with a moment of the run, the present one or one before.
	Mark(at time.Duration, note string)
}

// Searches are the searches on a run for the highest level that holds.
type Searches interface {
	// CanSearch returns why a search cannot be made on this run or another of its plan:
	// an input fault.
	CanSearch(find.Asked) error
	// Search begins a search, which ends the run when it has its result. An error
	// explains why it did not begin.
	Search(find.Asked) error
	// EndSearch aborts the search: the run continues with its knobs as they were
	// before.
	EndSearch()
	// Found returns the state of the last search; nil if there was none.
	Found() *Search
}

// Search is the state of a search: the steps that have ended and, once it is over, its
// result. It is never modified once made.
type Search struct {
	find.Result
	Going bool
	// Trying is the try in progress; nil if it is not known.
	Trying *find.Trying
}

// Ending is how a run is ended.
type Ending interface {
	// Stop ends the run gracefully, and the report is written. Kill ends it
	// immediately.
	Stop()
	Kill()
	// Done is closed when the report is written, or the run has failed.
	Done() <-chan struct{}
	// Outcome returns how it ended; call it after Done.
	Outcome() Outcome
}

// All applies a change to the totals of all tracks.
const All = workload.AllTracks

// RunInfo is what is known about a run from its start, and what is planned for it.
type RunInfo struct {
	Profile, Title, Mode string
	// Store is the product label, Target the URL without secrets.
	Store, Target string
	// Unit is what counts and throughput count.
	Unit string
	// Units has, by TRACK.OP, the units of operations that count something else.
	Units map[string]string
	// Shared means that calls may share connections.
	Shared bool
	// CPUs are the processors of the machine of perfbench, Cores those that it may use; 0 if that is not known.
	CPUs, Cores int
	// Duration ends the run that long after warm-up; 0 if its count does.
	Duration time.Duration
	// Settles means that the warm-up ends once the run has settled.
	Settles bool
	Started time.Time
	// Planned are the changes of the timetable, and the ends of faults that were begun by hand, in
	// order of time: what is set to, and of a ramp its first step and its last.
	Planned []measure.Change
	// Request would start the same run again; it holds no password.
	Request request.Request
}

// Stage is what a run is doing.
type Stage int

// Stages in the order a run passes through them.
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

// Progress is how far a stage has got.
type Progress struct {
	Stage Stage
	// Step describes what is being done; may be empty.
	Step string
	// Note is a sentence that requires action by somebody; may be empty.
	Note string
	// Notice says what became of what earlier runs had left in the store; may be empty.
	Notice string
	// Held is why nobody who watches turns the knobs now, which a search does; empty: they turn.
	Held string
	// Done and Total count what the step processes; a Total of 0 means unknown.
	Done, Total int64
}

// Outcome is how a run ended.
type Outcome struct {
	// ID names the run, Dir is its directory; both are empty if nothing was written.
	ID, Dir string
	// Summary is the text printed to the normal screen.
	Summary      string
	Verification workload.Verification
	Verdict      rundir.Verdict
	// Code is the exit code of the run.
	Code int
	// Err is why the run failed; its hint describes what to do.
	Err error
	// Watched means that the run belongs to another process, which has its report.
	Watched bool
	// Note is a sentence on its end: what is left of a run that failed, or what went wrong with one
	// that belongs to another process, which is no failure of this one.
	Note string
}

// Problem says what went wrong, in one line; empty: nothing.
func (o *Outcome) Problem() string {
	if o.Err == nil {
		return o.Note
	}
	text, _, _ := strings.Cut(o.Err.Error(), "\n")
	return text
}
