package verdict

import (
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/units"
)

// arrivals judges whether calls were sent as they were asked for: evenly, independently or in
// bursts. Some moments more or less do not matter, nor does what busy threads made wait.
func arrivals(r *Record) (string, string) {
	worst := r.came(func(c *Came) float64 { return c.Late })
	if worst == nil {
		return "", ""
	}
	return Degraded, fmt.Sprintf("perfbench did not send the calls as they were to come: %s of those of %s%s went out in other spans of %s than they were due in; "+
		"leave the machine to perfbench, or lower the rate", percent(worst.Late), worst.Track, worst.Segment, worst.span())
}

// evened returns a sentence for a run of which the store did not see calls come as asked
// because all threads were busy, and "" for any other.
func evened(r *Record) string {
	worst := r.came(func(c *Came) float64 { return c.Moved - c.Late })
	if worst == nil {
		return ""
	}
	return fmt.Sprintf("The store did not see calls come as they were due: all threads were busy when %s of those of %s%s fell due, in spans of %s "+
		"(the number of calls in one has a variance of %s times its mean, and %s was asked for). Response times count their waits; with more threads, the store would get more calls at once.",
		percent(worst.Moved-worst.Late), worst.Track, worst.Segment, worst.span(), units.Number(worst.Begun), units.Number(worst.Asked))
}

// came returns where the largest share of calls was moved, if it is too large.
func (r *Record) came(share func(*Came) float64) *Came {
	var worst *Came
	for i := range r.Came {
		if c := &r.Came[i]; share(c) >= movedShare && (worst == nil || share(c) > share(worst)) {
			worst = c
		}
	}
	return worst
}

func (c *Came) span() string { return units.Duration(time.Duration(c.Span * float64(time.Second))) }
