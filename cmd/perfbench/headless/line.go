package headless

import (
	"cmp"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/units"
)

// lastRow is the last second of which a track has a row; -1 where it has none.
func lastRow(snap *measure.Snapshot, track int) int {
	last := -1
	for op, rows := range snap.Recent {
		if n := len(rows); n > 0 && snap.Ops[op].Track == snap.Tracks[track] {
			last = max(last, rows[n-1].T)
		}
	}
	return last
}

// threads are those of the tracks that run, or when none does of those that ran last.
func threads(snap *measure.Snapshot) int {
	running, ran, last := 0, 0, -1
	for i, g := range snap.Gauges {
		if g.Running {
			running += g.Threads
		}
		switch t := lastRow(snap, i); {
		case t > last:
			last, ran = t, g.Threads
		case t == last:
			ran += g.Threads
		}
	}
	return cmp.Or(running, ran)
}

// State tells of threads, backlog and pause.
func State(snap *measure.Snapshot) []string {
	backlog, open, paused := int64(0), false, false
	for _, g := range snap.Gauges {
		backlog += g.Backlog
		open = open || g.Rate > 0
		paused = paused || g.Paused
	}
	var parts []string
	if open || backlog > 0 {
		parts = append(parts, "backlog "+units.Number(float64(backlog)))
	}
	parts = append(parts, units.Plural(threads(snap), "thread"))
	if paused {
		parts = append(parts, "paused")
	}
	return parts
}

// Share is how much of a run of this length is done, by time or by work, whichever is
// further; false: that is not known. A length of 0 is none.
func Share(at, length time.Duration, snap *measure.Snapshot) (float64, bool) {
	share, known := 0.0, false
	if length > 0 {
		share, known = at.Seconds()/length.Seconds(), true
	}
	if snap.Total > 0 {
		share, known = max(share, float64(snap.Done)/float64(snap.Total)), true
	}
	return min(share, 1), known
}

// Beyond says that the time given is up by more than a line and the run goes on,
// with work that no time was set for: what share of it is done is not known.
func Beyond(at, length time.Duration) bool { return length > 0 && at >= length+time.Second }

// Clock writes a time of a run.
func Clock(d time.Duration) string { return plot.Clock(d.Seconds()) }
