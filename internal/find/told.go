package find

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/units"
)

// Told says how a level came out that was tried once or several times: in words, whether it held, and
// whether chance may have decided it. Of several tries it says how many held, and why one did not: the last,
// if none held. A single condition is not named again: who reads it knows what was sought.
func (r *Result) Told(level float64) (words string, held, doubtful bool) {
	tries, good := 0, 0
	var last, bad Step
	for _, s := range r.Steps {
		if s.Level != level {
			continue
		}
		last = s
		if tries++; s.Held {
			good++
		} else {
			bad = s
		}
	}
	switch {
	case tries == 1 && last.Held:
		return r.Words(last), true, last.Doubtful
	case tries == 1:
		return r.reason(last), false, last.Doubtful
	}
	held = 2*good > tries || good > 0 && level == r.Found
	words, which := fmt.Sprintf("held %d of %d", good, tries), "once "
	if good == 0 {
		words, which = fmt.Sprintf("held none of %d", tries), "the last: "
	}
	words += waits(r.Waited(level))
	if why := r.evidence(bad); why != "" {
		words += "; " + which + why
	}
	return words, held, good > 0 && good < tries
}

// Words says in a few words how a step came out.
func (r *Result) Words(s Step) string {
	switch {
	case s.Held && s.Doubtful:
		return "held, in doubt" + waits(r.waited(s))
	case s.Held:
		return "held" + waits(r.waited(s))
	}
	return s.Why
}

// Waited is how long users waited for calls to begin, in all but one of a hundred, at a level that held only
// because no condition looks at that: each is on the time of calls in the store alone, and they waited longer
// than a call may take there. It is 0 at any other level. What perfbench itself was late is none of it.
func (r *Result) Waited(level float64) (most time.Duration) {
	for _, s := range r.Steps {
		if s.Level == level && s.Held {
			most = max(most, r.waited(s))
		}
	}
	return most
}

func (r *Result) waited(s Step) time.Duration {
	limit := 0.0
	for _, e := range r.Limits() {
		if e.Time != "service" {
			return 0
		}
		limit = max(limit, e.Limit)
	}
	waited := s.Response.P99 - s.Service.P99 - s.LateP99
	if s.Response.P99 <= 0 || s.Service.P99 <= 0 { // too few calls support it
		waited = s.Response.P50 - s.Service.P50
	}
	if limit == 0 || float64(waited) <= limit {
		return 0
	}
	return time.Duration(waited)
}

// waits says after what held that users waited; "" if they did not.
func waits(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return ", with users waiting " + units.Duration(d)
}

// InShort is what Told says in a word or two: whether the level held, or in how many of its tries. That users
// waited although it did is no word of it, as that often is so at all levels.
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

// Condition returns the condition that did not hold in a step; "" if it held, or for another reason did not.
func (s Step) Condition() string {
	for _, how := range []string{didNot, inDoubt} {
		if condition, _, ok := strings.Cut(s.Why, how); ok {
			return condition
		}
	}
	return ""
}

// reason is why a step did not hold, without the condition if there is only one.
func (r *Result) reason(s Step) string {
	if len(r.Under) == 1 {
		return strings.TrimPrefix(s.Why, r.Under[0]+" ")
	}
	return s.Why
}

// evidence is reason for a step that is known not to have held; whether that is in doubt comes last.
func (r *Result) evidence(s Step) string {
	why := strings.Replace(s.Why, inDoubt, didNot, 1)
	if why != s.Why {
		why += ", in doubt"
	}
	if len(r.Under) == 1 {
		why = strings.TrimLeft(strings.TrimPrefix(why, r.Under[0]+didNot), ":, ")
	}
	return why
}
