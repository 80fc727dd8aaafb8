package fault

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

const (
	// atMost is how many names are suggested; few is how many are simply listed.
	atMost, few = 3, 12
	// alike is how similar a name must be to be a likely typo.
	alike = 0.5
	// longest is the length of the longest name, in bytes, that somebody may have
	// mistyped: comparing takes time in proportion to it.
	longest = 200
)

// The commands that show all names of a kind, for Suggest.
const (
	SeeProfiles = "perfbench list profiles shows all"
	SeePresets  = "perfbench list presets shows all"
	SeeKnobs    = "perfbench list knobs shows all"
	SeeFormats  = "perfbench list formats shows all"
	SeeStores   = "perfbench list stores shows all"
	SeePlanKeys = "perfbench list plan-schema shows all"
)

// Nearest returns the name closest to got, or "" if none is similar enough to be what
// was meant. Case is ignored.
func Nearest(got string, names []string) string {
	if near := nearest(got, names, alike); len(near) > 0 {
		return near[0]
	}
	return ""
}

// Misspelt returns the one of the names that got is with a letter or two wrong, or "" if it may be meant
// for something else. Case is ignored.
func Misspelt(got string, names []string) string {
	if near := nearest(got, names, nearlySame); len(near) > 0 {
		return near[0]
	}
	return ""
}

// nearlySame is how similar a name is to one with a letter or two wrong.
const nearlySame = 0.8

// Suggest returns a sentence with the closest names, at most three, the closest first, or
// with all names if none is close and there are few. see is the command that shows all
// of them, if any.
func Suggest(got string, names []string, see ...string) string {
	near := meant(got, names)
	all := slices.Compact(slices.Clone(names))
	switch {
	case len(near) > 0:
		return strings.Join(append([]string{Meant(got, names)}, see...), " ")
	case len(all) <= few || len(see) == 0:
		return "one of: " + strings.Join(all, ", ")
	}
	return strings.Join(see, " ")
}

// Meant is Suggest for an error that has all names: the closest alone, or "" if none is close.
func Meant(got string, names []string) string {
	if near := meant(got, names); len(near) > 0 {
		return "did you mean " + or(near) + "?"
	}
	return ""
}

// meant returns the names, at most three, that got may be a typo of or short for.
func meant(got string, names []string) []string {
	if near := nearest(got, names, alike); len(near) > 0 {
		return near
	}
	return short(got, names)
}

// short returns the names, at most three, that got may be short for: they begin with its first letter,
// and have all of its letters in that order, as markdown has those of md.
func short(got string, names []string) (out []string) {
	got = strings.ToLower(got)
	if len(got) < 2 || len(got) > longest {
		return nil
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		rest, ok := strings.ToLower(name), strings.HasPrefix(strings.ToLower(name), got[:1])
		for i := 0; ok && i < len(got); i++ {
			_, rest, ok = strings.Cut(rest, got[i:i+1])
		}
		if ok && len(out) < atMost {
			out = append(out, name)
		}
	}
	return out
}

// nearest returns the names more similar than than, at most three, the closest first.
func nearest(got string, names []string, than float64) []string {
	type scored struct {
		name  string
		score float64
	}
	if len(got) > longest {
		return nil
	}
	var near []scored
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		a, b := strings.ToLower(got), strings.ToLower(name)
		s := levenshtein.Match(a, b, nil)
		if swapped(a, b) { // which is one mistake, not two wrong letters
			s = max(s, 1-1/float64(len(a)))
		}
		if s > than {
			near = append(near, scored{name, s})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var out []string
	for _, n := range near[:min(len(near), atMost)] {
		out = append(out, n.name)
	}
	return out
}

// swapped reports whether a and b differ in two neighbouring letters that have changed places.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// or lists alternatives: "a", "a or b", "a, b or c".
func or(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
