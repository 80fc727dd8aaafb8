package padogrid

import (
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// Span returns when the work on a map or in a group began and ended, in the zone of the
// run: from its facts or, if they lack it, from the run itself, which has no zone.
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

// Speed returns how many per second n in ms milliseconds are, and how many milliseconds
// each took, as the originals calculate it. If verification failed, both are NaN.
func Speed(r *rundir.Run, n float64, ms int64) (perSecond, latency float64) {
	if r.Verification.State == workload.Failed {
		return math.NaN(), math.NaN()
	}
	return PerSecond(n, ms), float64(ms) / n
}
