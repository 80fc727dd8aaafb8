package padogrid

import (
	"runtime"

	"github.com/perfbench/perfbench/internal/values"
)

// Names of the maps. In files, Summaries occurs only in PadoGrid's Coherence flavour;
// otherwise only transactions write it.
const (
	Eligibility = "eligibility"
	Profiles    = "profile"
	Summaries   = "summary"
)

// Maps are the maps that a file may name, in either flavour; only Coherence's has the
// last one.
var Maps = []string{Eligibility, Profiles, Summaries}

// Threads returns how many threads PadoGrid uses by default: one and a half per CPU.
func Threads() int { return max(runtime.NumCPU()*3/2, 1) }

// MapsOf returns the maps of a flavour.
func MapsOf(flavour string) []string {
	if flavour == values.FlavourCoherence {
		return Maps
	}
	return Maps[:2]
}
