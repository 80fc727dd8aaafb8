package rundir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

// Pick returns the formats with the given ids, without repetition, in the order given.
// An id that is unknown, or that belongs to another profile than the run's, is bad
// input; an empty profile accepts any. All errors are joined.
func Pick(formats []Format, ids []string, profile string) ([]Format, error) {
	var names []string
	for _, f := range formats {
		if (f.Profile == "" || profile == "" || f.Profile == profile) && !slices.Contains(names, f.ID) {
			names = append(names, f.ID)
		}
	}
	var problems workload.Problems
	var out []Format
	for _, id := range ids {
		id = strings.TrimSpace(id)
		i := slices.IndexFunc(formats, func(f Format) bool { return f.ID == id })
		// Documents of different profiles may have the same id.
		if own := slices.IndexFunc(formats, func(f Format) bool { return f.ID == id && f.Profile == profile }); own >= 0 {
			i = own
		}
		switch {
		case i < 0:
			problems.Add(fault.Input(fmt.Errorf("unknown format %q", id), offered(id, names)))
		case formats[i].Profile != "" && profile != "" && formats[i].Profile != profile:
			problems.Add(fault.Input(fmt.Errorf("format %s is a document of profile %s, and the run is of %s", id, formats[i].Profile, profile),
				"ask for text, markdown, html, json, csv, store, hlog, hgrm, junit, baseline, plan, ycsb or memtier, which every run has"))
		case !slices.ContainsFunc(out, func(g Format) bool { return g.ID == id }):
			out = append(out, formats[i])
		}
	}
	return out, problems.Err()
}

// offered names the formats that may be meant by an id: those that are like it, or all.
func offered(id string, names []string) string {
	text := fault.Suggest(id, names, fault.SeeFormats)
	switch {
	case strings.EqualFold(id, "pdf"):
		return "ask for html, which a browser prints as a PDF; " + fault.SeeFormats
	case text == fault.SeeFormats && len(names) > 0:
		return fault.Suggest(id, names) + "; " + fault.SeeFormats
	}
	return text
}
