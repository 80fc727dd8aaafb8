// Package profiles lists every profile of this version. It is a list and nothing
// else: what a profile does is in its own folder.
package profiles

import (
	"cmp"
	"slices"
	"sync"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz"
	"github.com/perfbench/perfbench/profiles/eventstore"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/group"
	"github.com/perfbench/perfbench/profiles/ingestion"
	"github.com/perfbench/perfbench/profiles/mix"
	"github.com/perfbench/perfbench/profiles/padogrid"
	"github.com/perfbench/perfbench/profiles/tx"
)

// All returns every profile that can be run, in the order to show them.
func All() []workload.Profile {
	return []workload.Profile{
		ingestion.Profile(),
		group.Profile(),
		tx.Profile(),
		authz.Profile(),
		eventstore.Profile(),
		mix.Profile(),
	}
}

// titles are what people call the profiles, by their names.
var titles = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, p := range All() {
		out[p.Name] = p.Title
	}
	return out
})

// TitleOf returns what people call a profile; its name if nobody knows it.
func TitleOf(name string) string { return cmp.Or(titles()[name], name) }

// Formats returns the documents of all profiles. Those in the manner of PadoGrid
// have a table of the texts and their older layout each.
func Formats() []rundir.Format {
	all := slices.Concat([]rundir.Format{ingestion.Format(), group.Format()}, tx.Formats(), authz.Formats(), report.Formats())
	for _, f := range slices.Clone(all) {
		if f.ID == group.FormatID {
			all = append(all, padogrid.CSVFormat(f.Profile, f), padogrid.OlderFormat(f.Profile, f))
		}
	}
	return all
}
