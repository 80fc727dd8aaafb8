package request

import (
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

// Faults are what is wrong with the runs of a plan file, each with the names of its runs. The zero
// value is ready for use.
type Faults struct{ list []faultOf }

type faultOf struct {
	err  error
	runs []string
}

// Add adds what is wrong with a run, of that name; nil: nothing.
func (f *Faults) Add(run string, err error) {
parts:
	for _, e := range fault.Parts(err) {
		for i := range f.list {
			old := &f.list[i]
			if old.err.Error() != e.Error() {
				continue
			}
			if !slices.Contains(old.runs, run) {
				old.runs = append(old.runs, run)
			}
			continue parts
		}
		f.list = append(f.list, faultOf{e, []string{run}})
	}
}

// Err joins them; runs is how many there are. What is wrong with some of them only says with which.
func (f *Faults) Err(runs int) error {
	var problems workload.Problems
	for _, w := range f.list {
		if len(w.runs) < runs {
			w.err = Named(strings.Join(w.runs, ", "), w.err)
		}
		problems.Add(w.err)
	}
	return problems.Err()
}
