package find

import (
	"fmt"
	"slices"
	"strings"
)

// Told says how a level came out that was tried once or several times: in words, whether it held, and
// whether chance may have decided it. Of several tries it says how many held, and why one did not.
// A single condition is not named again: who reads it knows what was sought.
func (r *Result) Told(level float64) (words string, held, doubtful bool) {
	tries, good, why := 0, 0, ""
	var last Step
	for _, s := range r.Steps {
		if s.Level != level {
			continue
		}
		last = s
		if tries++; s.Held {
			good++
		} else {
			why = r.reason(s)
		}
	}
	switch {
	case tries == 1 && last.Held:
		return last.Words(), true, last.Doubtful
	case tries == 1:
		return why, false, last.Doubtful
	}
	held = 2*good > tries || good > 0 && level == r.Found
	words = fmt.Sprintf("held %d of %d", good, tries)
	if good == 0 {
		words = fmt.Sprintf("held none of %d", tries)
	}
	if why != "" {
		words += "; " + why
	}
	return words, held, good > 0 && good < tries
}

// InShort is what Told says in a word or two: whether the level held, or in how many of its tries.
func (r *Result) InShort(level float64) string {
	tries, good := r.Of(level).Steps, 0
	for _, s := range tries {
		if s.Held {
			good++
		}
	}
	switch {
	case len(tries) > 1:
		return fmt.Sprintf("%d of %d", good, len(tries))
	case len(tries) == 1 && tries[0].Doubtful:
		return "in doubt"
	case good == 1:
		return "yes"
	}
	return "no"
}

// Newest returns the levels that were tried, the one that was tried last first.
func (r *Result) Newest() (levels []float64) {
	for _, s := range slices.Backward(r.Steps) {
		if !slices.Contains(levels, s.Level) {
			levels = append(levels, s.Level)
		}
	}
	return levels
}

// Try returns the number of the last try of a level, counted from 1 over all levels; 0: there is none.
func (r *Result) Try(level float64) int {
	for i, s := range slices.Backward(r.Steps) {
		if s.Level == level {
			return i + 1
		}
	}
	return 0
}

// reason is why a step did not hold, without the condition if there is only one.
func (r *Result) reason(s Step) string {
	if len(r.Under) == 1 {
		return strings.TrimPrefix(s.Why, r.Under[0]+" ")
	}
	return s.Why
}
