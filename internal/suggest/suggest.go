// Package suggest finds the nearest right name for a wrong one, so that every
// "unknown X" can say "did you mean Y".
package suggest

import (
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// Nearest returns the name closest to got, or "" when none is close enough to be
// what was meant. Letter case does not matter.
func Nearest(got string, names []string) string {
	sorted := slices.Sorted(slices.Values(names))
	best, score := "", 0.5
	for _, name := range sorted {
		if s := levenshtein.Match(strings.ToLower(got), strings.ToLower(name), nil); s > score {
			best, score = name, s
		}
	}
	return best
}

// Hint returns a sentence naming the nearest name, or listing all of them.
func Hint(got string, names []string) string {
	if n := Nearest(got, names); n != "" {
		return "did you mean " + n + "?"
	}
	return "one of: " + strings.Join(names, ", ")
}
