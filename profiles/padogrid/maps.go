package padogrid

import (
	"runtime"

	"github.com/perfbench/perfbench/internal/values"
)

// Names of the maps. Summaries is of PadoGrid's Coherence flavour where files name it;
// elsewhere transactions alone write it.
const (
	Eligibility = "eligibility"
	Profiles    = "profile"
	Summaries   = "summary"
)

// Maps are the maps that a file may name, in both flavours; the last is of Coherence's.
var Maps = []string{Eligibility, Profiles, Summaries}

// Threads is how many threads PadoGrid takes where nobody says: one and a half a CPU.
func Threads() int { return max(runtime.NumCPU()*3/2, 1) }

// MapsOf lists the maps of a flavour.
func MapsOf(flavour string) []string {
	if flavour == values.FlavourCoherence {
		return Maps
	}
	return Maps[:2]
}
