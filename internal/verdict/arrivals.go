package verdict

import (
	"fmt"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/units"
)

// arrivals judges whether calls were sent as they were asked for: evenly, independently or in
// bursts, at each worker and in sum. Some moments more or less do not matter, nor does what busy threads made wait.
func arrivals(r *Record) finding {
	late := func(c *Came) float64 { return c.Late }
	var uneven []string
	for _, w := range r.Workers {
		if worst := farthest(w.Came, late); worst != nil {
			uneven = append(uneven, fmt.Sprintf("worker %d (%s) %s", w.Number, w.Host, worst.elsewhere()))
		}
	}
	if len(uneven) > 0 {
		return finding{Degraded, strings.Join(uneven, "; "), "; leave its machine to perfbench, or lower the rate"}
	}
	worst := farthest(r.Came, late)
	if worst == nil {
		return finding{}
	}
	return finding{Degraded, "perfbench " + worst.elsewhere(), "; leave the machine to perfbench, or lower the rate"}
}

// elsewhere says how many calls perfbench itself has moved.
func (c *Came) elsewhere() string {
	return fmt.Sprintf("sent %s of the calls of %s%s too late, not in the %s in which they were due", percent(c.Late), c.Track, c.Segment, c.span())
}

// evened returns a sentence for a run in which many calls did not go out in time because all
// threads were busy, and "" for any other: how long half of them waited at least or, where fewer than half
// did, the share that is known to have.
func evened(r *Record) string {
	worst := farthest(r.Came, func(c *Came) float64 { return c.Moved - c.Late })
	if worst == nil {
		return ""
	}
	cure := "more threads send them on time"
	if worst.Limit != "" {
		cure = "more threads would not help, as " + worst.Limit + " held the run back"
	}
	if worst.Waited > worst.Span {
		return fmt.Sprintf("Half of the calls of %s%s waited %s or longer for a free thread: %s.", worst.Track, worst.Segment, units.Duration(time.Duration(worst.Waited*float64(time.Second))), cure)
	}
	return fmt.Sprintf("%s or more of the calls of %s%s waited for a free thread: %s.", percent(worst.Moved-worst.Late), worst.Track, worst.Segment, cure)
}

// farthest returns where the largest share of calls was moved, if it is too large.
func farthest(came []Came, share func(*Came) float64) *Came {
	var worst *Came
	for i := range came {
		if c := &came[i]; share(c) >= movedShare && (worst == nil || share(c) > share(worst)) {
			worst = c
		}
	}
	return worst
}

func (c *Came) span() string { return units.Duration(time.Duration(c.Span * float64(time.Second))) }
