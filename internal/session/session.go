// Package session prepares and carries out one run: merging values, designing the plan,
// opening the store, writing the run directory, running, verifying, judging, and changing
// live knobs at the times of a timetable. Both the
// headless command and the workbench use it, so that a run is the same whoever asked
// for it. It knows neither flags nor screens.
package session

import (
	"log/slog"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/telemetry"
	"github.com/perfbench/perfbench/internal/workload"
)

// DefaultTarget is the target of a run that names none.
const DefaultTarget = "embedded:"

// DefaultOut is the folder in which run directories are created.
const DefaultOut = "results"

// Env is what a session takes from its surroundings. It is never modified.
type Env struct {
	Profiles []workload.Profile
	Formats  []rundir.Format
	// Drivers are those that a target may name.
	Drivers store.Drivers
	// Resolve turns a lab: target into the URL of the running server and returns
	// any other as it is.
	Resolve func(target string) (string, error)
	// Agent returns the URL of the metrics agent in the JVM of the server at a resolved
	// target, or ""; may be nil.
	Agent func(target string) string
	// OutOfHeap returns what the log of the server at a resolved target says of its
	// end, if it ran out of heap, or ""; may be nil.
	OutOfHeap func(target string) string
	// Servers returns the servers at a resolved target, if the lab of this machine has started
	// them, or nil; may be nil.
	Servers func(target string) Servers
	// AllowExec lets faults of a timetable run commands on this machine.
	AllowExec bool
	// Owe notes, before a command of a fault is run, by which other what it breaks is put right, for
	// the case that this process is killed. settled takes the note away. nil: nobody notes it.
	Owe func(broke, heal []string) (settled func(), err error)
	// Environ holds the environment as NAME=value.
	Environ []string
	// Version is recorded with the run.
	Version string
	// CacheDir is where the measured ceiling of the harness is kept; empty: it is not
	// measured.
	CacheDir string
	// Outlet is where figures are exported while a run goes on; nil: nowhere.
	Outlet *telemetry.Outlet
	// Beside lets the user watch and change a run from other processes, through a socket in
	// its folder.
	Beside bool
	// Log takes warnings about what may spoil a result; may be nil.
	Log *slog.Logger
}

// Request is what a user asked for.
type Request = request.Request
