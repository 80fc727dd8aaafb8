package session

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/measure"
)

// convergence finds out when a run knows what it was to find out (--until). While the run
// goes on, only the sink uses it.
type convergence struct {
	goal  *condition.Goal // nil: there is none
	watch *condition.Convergence
}

// add adds a second, with its response times and its sums, and reports whether the goal
// has been reached.
func (c *convergence) add(s *measure.Second, times *hdrhistogram.Histogram, sum Second) bool {
	if c.goal == nil || s.Warmup || s.Length < 1 || len(s.Rows) == 0 || s.Result == nil {
		return false
	}
	if c.watch == nil {
		c.watch = condition.NewConvergence(*c.goal)
	}
	return c.watch.Add(times, measure.Rate(sum.Count, sum.Active), len(s.Result.Changes))
}

// missed returns a notice of a goal that was not reached in the run's duration, or "".
func (c *convergence) missed(duration time.Duration) string {
	if c.watch == nil {
		return ""
	}
	return c.watch.Missed(duration)
}
