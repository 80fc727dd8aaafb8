package screen

import (
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

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

// Preset names a set of values and says in one line what it is.
type Preset struct{ Name, Summary string }

// StoreInfo describes one kind of store.
type StoreInfo struct {
	// Driver is the id that bindings name, Title is for people, Example a target.
	Driver, Title, Example string
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
