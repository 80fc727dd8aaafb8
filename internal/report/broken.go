package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Faults returns the accounts of a run's faults. For a run that did not work them out itself,
// because it was made by an older version or never came to its end, they are worked out now.
func Faults(f *rundir.Folder) []rundir.Fault {
	if f.Run.Faults != nil {
		return f.Run.Faults
	}
	return rundir.FaultsOf(f)
}

// FaultText says in a sentence what a fault cost the callers of a run.
func FaultText(a *rundir.Fault, r *rundir.Run) string {
	var parts []string
	if a.Due != nil {
		parts = append(parts, "about "+units.Number(*a.Due)+" "+r.Unit+" were due")
	}
	parts = append(parts, units.Whole(a.Done)+" done in its seconds", units.Many(a.Failed, "call")+" failed"+byClass(a))
	if a.FirstError != nil {
		parts = append(parts, "the first "+soon(*a.FirstError)+" it began")
	}
	if a.Retries > 0 {
		parts = append(parts, Whole(a.Retries)+" were tried again")
	}
	if a.Waiting > 0 {
		parts = append(parts, "up to "+Whole(a.Waiting)+" waited")
	}
	if a.Silent > 0 {
		parts = append(parts, "nothing was done for "+Length(a.Silent))
	}
	if a.FirstDone != nil && *a.FirstDone > 0 {
		parts = append(parts, "the first success came "+soon(*a.FirstDone)+" its end")
	} else if a.FirstDone == nil && a.Healed && a.Recovered == nil && a.To+1 < r.MeasuredS {
		parts = append(parts, "nothing succeeded after its end")
	}
	if a.Longest > 0 {
		parts = append(parts, "the longest response time was "+Nanos(int64(a.Longest*1e9+0.5)))
	}
	parts = append(parts, contacts(a)...)
	switch {
	case a.Recovered == nil:
		parts = append(parts, "when all was as before is not known: "+a.Why)
	case *a.Recovered < 1:
		parts = append(parts, "all was as before within a second of its end")
	default:
		parts = append(parts, "all was as before "+Length(math.Round(*a.Recovered))+" after its end")
	}
	return fmt.Sprintf("%s from %s: %s", a.Name(), plot.Between(a.From, a.To), strings.Join(parts, ", "))
}

// soon says how long after something it was: 0 is less than a tenth of a second, and whole seconds are
// how many at most.
func soon(s float64) string {
	switch {
	case s <= 0:
		return "within 100 ms after"
	case s == math.Trunc(s):
		return "within " + Length(s) + " after"
	}
	return Length(s) + " after"
}

// byClass is how many calls failed with an error of each class, in brackets, the most first.
func byClass(a *rundir.Fault) string {
	names := slices.SortedFunc(maps.Keys(a.Classes), func(x, y string) int {
		return cmp.Or(cmp.Compare(a.Classes[y], a.Classes[x]), cmp.Compare(x, y))
	})
	for i, name := range names {
		names[i] = units.Whole(a.Classes[name]) + " " + name
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// contacts is what the client did beside its calls, from a fault until all was as before.
func contacts(a *rundir.Fault) (out []string) {
	if a.Connections > 0 {
		out = append(out, "the client opened "+units.Plural(int(a.Connections), "connection"))
	}
	if a.Redirects > 0 {
		out = append(out, "it was sent to another server "+units.Plural(int(a.Redirects), "time"))
	}
	return out
}

// faultEvents are the faults as events, for the list and the charts.
func faultEvents(f *rundir.Folder) (out []event) {
	for _, a := range Faults(f) {
		what := "fault " + a.Name()
		if !a.Healed {
			what += ", to the end"
		}
		out = append(out, event{at: a.From, until: a.To, what: what, shade: plot.Fault})
	}
	return out
}

// isFault reports whether a change is the beginning or the end of a fault.
func isFault(name string) bool {
	_, ok := workload.FaultSetting(name)
	return ok
}

// lost tells what users lost by each fault of the plan.
func lost(f *rundir.Folder) Section {
	list := Faults(f)
	if len(list) == 0 {
		return Section{}
	}
	unit := f.Run.Unit
	t := Table{Left: 1, Columns: []string{"fault", "from", "to", "due", unit, "failed", "most waiting", "nothing done for", "longest response", "first error after", "first success after its end", "as before after its end"}}
	s := Section{Heading: "Faults", Weight: Answer, Text: []string{
		"Most waiting, nothing done for and longest response cover the time until all was as before: until throughput and p99 were, for three seconds in a row, within what they were before the fault, widened by their own range.",
	}}
	for _, a := range list {
		due := "–"
		if a.Due != nil {
			due = Whole(int64(*a.Due + 0.5))
		}
		longest := "–"
		if a.Longest > 0 {
			longest = Nanos(int64(a.Longest*1e9 + 0.5))
		}
		t.Add(a.Name(), plot.Clock(a.From), plot.Clock(a.To), due, Whole(a.Done), Whole(a.Failed), Whole(a.Waiting),
			Length(a.Silent), longest, since(a.FirstError), since(a.FirstDone), since(a.Recovered))
		if did := contacts(&a); len(a.Classes) > 0 || a.Retries > 0 || len(did) > 0 {
			s.Text = append(s.Text, fmt.Sprintf("During %s, %s.", a.Name(), strings.Join(append([]string{units.Many(a.Failed, "call") + " failed" + byClass(&a), units.Whole(a.Retries) + " were tried again"}, did...), ", ")))
		}
		if a.Why != "" {
			s.Text = append(s.Text, fmt.Sprintf("When all was as before the fault %s is not known: %s.", a.Name(), a.Why))
		}
	}
	s.Table = t
	return s
}

// since formats a time after something; a dash: never.
func since(v *float64) string {
	if v == nil {
		return "–"
	}
	return Length(*v)
}
