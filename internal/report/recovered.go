package report

import (
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/units"
)

// recoveredLead says in a few sentences from which base load a store comes back after an overload.
func recoveredLead(r *find.Result, many string) (out []string) {
	k := r.Recovery
	long := func(s float64) string { return units.Duration(time.Duration(s * float64(time.Second))) }
	after := fmt.Sprintf("after an overload of %s", long(k.PulseS))
	for _, s := range r.Steps {
		if s.Recovered != nil {
			after = fmt.Sprintf("after %s at %s", long(k.PulseS), units.Number(s.Recovered.Pulse)+many)
		}
	}
	switch {
	case !r.Tried():
		return []string{fmt.Sprintf("The search tried no rate to its end, because %s.", r.Why)}
	case r.Found == 0:
		out = append(out, fmt.Sprintf("From no base load that was tried does the store come back by itself %s: %s is already too much.", after, units.Number(r.TooMuch)+many))
	case r.TooMuch == 0:
		out = append(out, fmt.Sprintf("The store comes back by itself %s from %s, the highest base load that was tried.", after, units.Number(r.Found)+many))
	default:
		out = append(out, fmt.Sprintf("The store comes back by itself %s from a base load of up to %s; from %s it does not within %s.", after, units.Number(r.Found)+many, units.Number(r.TooMuch), long(k.WithinS)))
	}
	for _, s := range r.Steps {
		if s.Level == r.Found && s.Held && s.Recovered != nil && s.Recovered.Took != nil {
			out = append(out, fmt.Sprintf("There, answers were in time again (%s after they were due) after %s.", long(k.DeadlineS), long(*s.Recovered.Took)))
			break
		}
	}
	return out
}

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
		t.Add(r.Words(s), units.Number(s.Level), fmt.Sprintf("%.1f %%", 100*k.Before), fmt.Sprintf("%.1f %%", 100*k.After), units.Number(k.Good), took, fmt.Sprintf("%.3g", k.Attempts))
	}
	return t
}
