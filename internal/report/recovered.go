package report

import (
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/units"
)

// recoveredLead says from which base load a store comes back after an overload.
func recoveredLead(r *find.Result, many string) string {
	k := r.Recovery
	after := "after an overload of " + seconds(k.PulseS)
	for _, s := range r.Steps {
		if s.Recovered != nil {
			after = fmt.Sprintf("after %s at %s", seconds(k.PulseS), units.Number(s.Recovered.Pulse)+many)
		}
	}
	switch {
	case !r.Tried():
		return "No rate was tried to its end: " + r.Why
	case r.Found == 0:
		return fmt.Sprintf("The store comes back by itself from no base load that was tried, %s: %s is already too much", after, units.Number(r.TooMuch)+many)
	case r.TooMuch == 0:
		return fmt.Sprintf("The store comes back by itself from %s, the highest base load tried, %s", units.Number(r.Found)+many, after)
	}
	return fmt.Sprintf("The store comes back by itself from up to %s, %s; from %s it does not within %s", units.Number(r.Found)+many, after, units.Number(r.TooMuch), seconds(k.WithinS))
}

// recoveredIn says how soon answers were in time again at the highest base load; empty if that is not known.
func recoveredIn(r *find.Result) string {
	if s := r.Outcome(r.Of(r.Found)).Shown; s.Held && s.Recovered != nil && s.Recovered.Took != nil {
		return fmt.Sprintf("%s: answers in time again after %s · in time: %s after they were due", units.Number(r.Found), seconds(*s.Recovered.Took), seconds(r.Recovery.DeadlineS))
	}
	return ""
}

func seconds(s float64) string { return units.Duration(time.Duration(s * float64(time.Second))) }

// recoveries is how the store did at each base load.
func recoveries(r *find.Result) Table {
	t := Table{Left: 1, Columns: []string{"", "base load", "in time before", "in time after", "in time/s", "recovered in", "attempts"}}
	for _, s := range r.Curve() {
		k := s.Recovered
		if k == nil {
			continue
		}
		took := "–"
		if k.Took != nil {
			took = units.Duration(time.Duration(*k.Took * float64(time.Second)))
		}
		t.Add(r.Rows(s.Level)[0].Words, units.Number(s.Level), fmt.Sprintf("%.1f %%", 100*k.Before), fmt.Sprintf("%.1f %%", 100*k.After), units.Number(k.Good), took, fmt.Sprintf("%.3g", k.Attempts))
	}
	return t
}
