package padogrid

import (
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
)

// Span returns when the work on a map or in a group began and ended, in the zone of
// the run: as its facts say, or else as the run does, which has no zone.
func Span(r *rundir.Run, zone string, started, stopped *time.Time) (start, stop time.Time) {
	start, stop = r.Measured, r.Ended
	if start.IsZero() {
		start = r.Started
	}
	if started != nil {
		start = *started
	}
	if stopped != nil {
		stop = *stopped
	}
	if stop.Before(start) {
		stop = start
	}
	if zone == "" || started == nil {
		return start, stop
	}
	_, offset := start.Zone()
	at := time.FixedZone(zone, offset)
	return start.In(at), stop.In(at)
}
