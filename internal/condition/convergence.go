package condition

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
)

// Goal is how precisely a figure is to be known.
type Goal struct {
	// Text is the goal as it was written: "p99 ±2%".
	Text string
	// Figure is a percentile such as p99 or p95.5, or throughput.
	Figure string
	// Within is how far the ends of the 95 % interval may be from the figure, as a
	// fraction of it.
	Within float64
}

var goalGrammar = regexp.MustCompile(`^(\S+?)\s*(?:±|\+-|\+/-)\s*([0-9.]+)\s*%$`)

const goalExample = "write it like 'p99 ±2%' or 'throughput +-1%'"

// ParseGoal parses a goal such as "p99 ±2%"; +- may be typed for ±. Errors have the code of
// bad input.
func ParseGoal(text string) (Goal, error) {
	m := goalGrammar.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return Goal{}, fault.Input(fmt.Errorf("until: %q is not FIGURE ±PERCENT%%", text), goalExample)
	}
	if _, ok := measure.ParsePercentile(m[1]); !ok && m[1] != "throughput" {
		return Goal{}, fault.Input(fmt.Errorf("until: no confidence interval is known for %q", m[1]),
			fault.Suggest(m[1], []string{"throughput", "p50", "p90", "p95", "p99", "p99.9", "p99.99"}))
	}
	v, err := strconv.ParseFloat(m[2], 64)
	if err != nil || v <= 0 || v > 100 {
		return Goal{}, fault.Input(fmt.Errorf("until: ±%s%% is not in 0.01..100 %%", m[2]), goalExample)
	}
	return Goal{Text: strings.TrimSpace(text), Figure: m[1], Within: v / 100}, nil
}

// leastBatches is how many intervals must have been measured before their scatter means
// anything. twice is how often in a row the goal must be met, since chance gets a try
// each second.
const (
	leastBatches = 10
	twice        = 2
)

// Convergence watches a figure approach its goal, second by second. It is used by one
// goroutine.
type Convergence struct {
	goal    Goal
	values  []float64 // logarithms of the figure, one per interval
	open    *hdrhistogram.Histogram
	segment int
	seconds int // of the segment
	inARow  int
	by      float64
}

// NewConvergence returns a Convergence towards a goal.
func NewConvergence(g Goal) *Convergence {
	return &Convergence{goal: g, open: measure.NewHistogram(), by: math.NaN()}
}

// Add takes a whole second: its response times, its units per second, and the number of
// its segment; a new segment restarts the watch. It reports whether the goal has been
// reached.
func (w *Convergence) Add(times *hdrhistogram.Histogram, perSecond float64, segment int) bool {
	if segment != w.segment {
		*w = Convergence{goal: w.goal, open: measure.NewHistogram(), by: math.NaN(), segment: segment}
	}
	w.seconds++
	if p, ok := measure.ParsePercentile(w.goal.Figure); ok {
		w.open = measure.Merge(w.open, times)
		if !measure.Enough(p, w.open.TotalCount()) {
			return false
		}
		w.values = append(w.values, math.Log(math.Max(float64(measure.Percentile(w.open, p)), 1)))
		w.open.Reset()
	} else if perSecond > 0 {
		w.values = append(w.values, math.Log(perSecond))
	}
	if len(w.values) < leastBatches {
		return false
	}
	e := stat.Successive(w.values)
	w.by = math.Exp(e.SE*stat.T(0.95, e.DF)) - 1
	if w.by <= w.goal.Within {
		w.inARow++
	} else {
		w.inARow = 0
	}
	return w.inARow >= twice
}

// Missed says by how much the goal was missed; empty if it was reached.
func (w *Convergence) Missed(after time.Duration) string {
	switch {
	case w.inARow >= twice:
		return ""
	case math.IsNaN(w.by) && w.seconds < leastBatches:
		return fmt.Sprintf("until %s was not reached within %v: it takes %d whole seconds without a change of settings, and the last stretch had %d: make it longer",
			w.goal.Text, after, leastBatches, w.seconds)
	case math.IsNaN(w.by) || math.IsInf(w.by, 0):
		return fmt.Sprintf("until %s was not reached within %v: there were too few calls to tell", w.goal.Text, after)
	}
	return fmt.Sprintf("until %s was not reached within %v: at the end it was known to ±%s %%", w.goal.Text, after, percent(100*w.by))
}

// percent formats a percentage with two digits, or with all those before the point.
func percent(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}
