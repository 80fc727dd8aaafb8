package screen

import "github.com/perfbench/perfbench/internal/workload"

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
