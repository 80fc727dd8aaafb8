// Package session prepares and carries out one run. The headless command and the
// workbench both use it, so that a run is the same whoever asked for it: merging
// values, designing the plan, opening the store, writing the run directory,
// running, verifying, judging. It knows neither flags nor screens.
package session

import (
	"log/slog"

	"github.com/perfbench/perfbench/internal/job"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/telemetry"
	"github.com/perfbench/perfbench/internal/workload"
)

// DefaultTarget is where a run goes that names no target.
const DefaultTarget = "embedded:"

// DefaultOut is the folder that gets the run directories.
const DefaultOut = "results"

// Env is what a session takes from its surroundings. It is never written to.
type Env struct {
	Profiles []workload.Profile
	Formats  []rundir.Format
	// Drivers are those that a target may name.
	Drivers store.Drivers
	// Resolve turns a lab: target into the URL of the running server and returns
	// any other as it is.
	Resolve func(target string) (string, error)
	// Agent returns where the JVM of the server at a resolved target tells what it
	// measures, or ""; nil is nowhere.
	Agent func(target string) string
	// OutOfHeap returns what the log of the server at a resolved target says of its end,
	// when it ended for want of heap, or ""; nil is nowhere.
	OutOfHeap func(target string) string
	// Environ holds the environment as NAME=value.
	Environ []string
	// Version is recorded with the run.
	Version string
	// CacheDir is where the ceiling of the harness is kept, once it was measured; empty:
	// it is not measured.
	CacheDir string
	// Outlet is where figures leave while a run goes; nil: nowhere.
	Outlet *telemetry.Outlet
	// Log takes what may spoil a result; nil: it is told to nobody.
	Log *slog.Logger
}

// Request is what a user asked for.
type Request = job.Request
