package rundir

import (
	"slices"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// Contacts is what the client of a store did so far, beside its calls.
type Contacts struct {
	// Connections is how many connections it has opened, Redirects how often a server sent a call to
	// another, which it followed.
	Connections, Redirects int64
}

// incident is what went wrong in one second, beside what the series has.
type incident struct {
	second int
	// failed are calls by class, retries is how many of those that count were tried again.
	failed  []measure.ErrorCount
	retries int64
	Contacts
}

// incidents are those of a run since its first fault, for the accounts of the faults.
type incidents struct {
	list   []incident
	broken bool     // there was a fault
	told   Contacts // what the client had done by the end of the last second
}

// second notes what went wrong in a second; now is what the client has done by now.
func (in *incidents) second(s *measure.Second, r *Run, now Contacts) {
	one := incident{second: s.T, failed: s.Failed, Contacts: Contacts{now.Connections - in.told.Connections, now.Redirects - in.told.Redirects}}
	in.told = now
	in.broken = in.broken || slices.ContainsFunc(r.Changes, func(c Change) bool {
		_, ok := workload.FaultSetting(c.Name)
		return ok
	})
	if !in.broken {
		return
	}
	for _, row := range s.Rows {
		if r.Counts(r.Operations[row.Op]) {
			one.retries += row.Retries
		}
	}
	if len(one.failed) > 0 || one.retries > 0 || one.Contacts != (Contacts{}) {
		in.list = append(in.list, one)
	}
}

// tell adds to the account of a fault what went wrong in its seconds, from one to the one after the
// last, and what the client did until all was as before. counts says which operations count, by
// track and name.
func tell(list []incident, f *Fault, from, to, until int, counts map[[2]string]bool) {
	for _, one := range list {
		if one.second < from || one.second >= max(to, until) {
			continue
		}
		if one.second < to {
			f.Retries += one.retries
			for _, e := range one.failed {
				if !counts[[2]string{e.Track, e.Op}] {
					continue
				}
				if f.Classes == nil {
					f.Classes = map[string]int64{}
				}
				f.Classes[e.Class] += e.Count
			}
		}
		f.Connections += one.Connections
		f.Redirects += one.Redirects
	}
}
