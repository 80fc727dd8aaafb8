package find

import (
	"fmt"
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

// reason is why a step did not hold, without the condition if there is only one.
func (r *Result) reason(s Step) string {
	if len(r.Under) == 1 {
		return strings.TrimPrefix(s.Why, r.Under[0]+" ")
	}
	return s.Why
}
