package request

import (
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/workload"
)

// FindFormats returns the formats with these ids, without repetition; profile, unless
// empty, is the run's profile. Errors have the code of bad input, all of them joined.
func FindFormats(all []rundir.Format, ids []string, profile string) ([]rundir.Format, error) {
	var known []string
	for _, f := range all {
		if !slices.Contains(known, f.ID) {
			known = append(known, f.ID)
		}
	}
	var problems workload.Problems
	var out []rundir.Format
	for i, id := range ids {
		at := slices.IndexFunc(all, func(f rundir.Format) bool { return f.ID == id })
		// Documents of different profiles may have the same id.
		if own := slices.IndexFunc(all, func(f rundir.Format) bool { return f.ID == id && f.Profile == profile }); own >= 0 {
			at = own
		}
		switch {
		case slices.Contains(ids[:i], id):
		case at < 0:
			problems.Add(fault.Input(fmt.Errorf("unknown format %q", id), suggest.Hint(id, known, suggest.Formats)))
		case profile != "" && all[at].Profile != "" && all[at].Profile != profile:
			problems.Add(fault.Input(fmt.Errorf("format %s is of profile %s, and this run is of %s", id, all[at].Profile, profile), "perfbench list formats"))
		default:
			out = append(out, all[at])
		}
	}
	return out, problems.Err()
}
