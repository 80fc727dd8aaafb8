package cli

import (
	"fmt"
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
)

// FigureHeads are the heads of the columns of Figures.
func FigureHeads() []string { return []string{"THROUGHPUT", "P99", "ERRORS", "VERDICT"} }

// Figures is what a run of a plan came to that has a report, in a line of several: throughput, p99,
// errors and verdict, which says of a run that a person ended that it did. Of a search that is what it
// found; nil without one.
func Figures(r *rundir.Run, found *find.Result) []string {
	rate, p99 := "–", "–"
	if found != nil {
		rate, p99 = Found(found)
	} else {
		h := r.Headline()
		if !math.IsNaN(h.Rate) {
			rate = r.RateSign() + units.Number(h.Rate) + " " + r.Unit + "/s"
		}
		if len(h.Timed) > 0 {
			if p99 = Latency(h.Response.P99); h.Response.P99 != measure.Hidden {
				p99 = r.Sign() + p99
			}
		}
	}
	state := r.Verdict.State
	if cut := r.Cut(); cut != "" {
		state += ", " + cut
	}
	return []string{rate, p99, fmt.Sprint(r.Failures()), state}
}

// Found says in a few words up to which throughput the store holds, and with which p99; over threads
// those of the number that does most.
func Found(r *find.Result) (done, p99 string) {
	if r.Found == 0 {
		if !r.Tried() {
			return "none tried", "–"
		}
		return "none holds", "–"
	}
	level, most := r.Found, r.Done
	if r.Enough() {
		level, most = r.Best, r.BestDone
	}
	for _, step := range r.Curve() {
		if step.Level == level {
			p99 = P99(step)
		}
	}
	return "up to " + units.Number(most) + " " + r.Unit + "/s", p99
}

// P99 returns that of the response time of a step of a search as text.
func P99(s find.Step) string {
	if s.Response.P99 == measure.Hidden {
		return "–"
	}
	return units.Duration(time.Duration(s.Response.P99))
}

// Most says in a few words up to which throughput the runs of a sweep got; "" where none did.
func Most(r *sweep.Result) string {
	best := r.Best()
	if best < 0 {
		return ""
	}
	return "up to " + units.Number(*r.Points[best].Done) + " " + r.Unit + "/s"
}
