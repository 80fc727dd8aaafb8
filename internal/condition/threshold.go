// Package condition is what a run was asked to meet: thresholds such as "put.p99<5ms",
// "errors<1%" or "throughput>10000", which are evaluated for a measured run; a figure that
// is to be known precisely enough for the run to end; and a warm-up that ends itself.
package condition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
)

// stats are the words that may be used in an expression. Of the percentiles it has
// those in reports, but any other may be used as well.
var stats = []string{
	"p50", "p90", "p95", "p99", "p99.9", "p99.99", "max", "mean", "min", "errors", "throughput", recovery, lost, differ,
}

// recovery is the longest time that any fault of the timetable took until all was as before.
const recovery = "recovery"

// lost is how many of what was acknowledged the verification did not find as it was.
const lost = "lost"

// differ is how many answers of a replay are not those that were expected.
const differ = "differ"

// times are the times of an operation.
var times = []string{"response", "service", "wait", "lateness"}

var thresholdGrammar = regexp.MustCompile(
	`^(?:(.+)\.)?(p[0-9]+(?:\.[0-9]+)?|max|mean|min|errors|throughput|recovery|lost|differ)(?:\.(response|service|wait|lateness))?$`)

const thresholdExample = "write it like p99<5ms, profile.put.p99.9.service<=20ms, errors<1%, throughput>10000, lost=0 or 'errors<5% abort after 30s'"

// aborts matches the end of an expression that can end the run early.
var aborts = regexp.MustCompile(`^(.*?)\s+abort(?:\s+after\s+(\S+(?: \pL+)?))?$`)

// DefaultAfter is how long a run is measured before an expression that names no time
// may end it: a store that has just been started is slow for its first seconds.
const DefaultAfter = 5 * time.Second

// Threshold is one condition.
type Threshold struct {
	// Text is the expression as written, without spaces at its ends.
	Text string
	// Of is the track, the operation, or both with a dot in between; empty: the whole
	// run.
	Of string
	// Stat is what is compared: a percentile such as p99 or p95.5, max, mean, min,
	// errors, throughput, recovery, lost, differ.
	Stat string
	// Time is response, service, wait or lateness; for latencies only.
	Time string
	// Rel is <, <=, > or >=, or = for what is counted: errors, lost and differ.
	Rel string
	// Limit is in nanoseconds for latencies and recovery, otherwise a number, or a percentage of
	// calls if Percent is set.
	Limit   float64
	Percent bool
	// Abort means that the run ends once it has missed this threshold, but not before
	// After has been measured.
	Abort bool
	After time.Duration
}

// ParseThreshold parses an expression. Its errors have the code of bad input and carry a hint.
func ParseThreshold(text string) (Threshold, error) {
	e := Threshold{Text: strings.TrimSpace(text)}
	bad := func(why string) (Threshold, error) {
		return Threshold{}, fault.Input(fmt.Errorf("threshold %q: %s", text, why), thresholdExample)
	}
	condition := e.Text
	if m := aborts.FindStringSubmatch(e.Text); m != nil {
		condition, e.Abort, e.After = m[1], true, DefaultAfter
		if m[2] != "" {
			d, err := units.ParseDuration(m[2])
			if err != nil || d < 0 {
				return bad(fmt.Sprintf("abort after: %q is not a duration such as 30s", m[2]))
			}
			e.After = d
		}
	}
	at := strings.IndexAny(condition, "<>")
	if at < 0 {
		at = strings.LastIndexByte(condition, '=')
	}
	if at < 0 {
		return bad("has none of < <= > >= =")
	}
	left, right := strings.TrimSpace(condition[:at]), condition[at+1:]
	e.Rel = condition[at : at+1]
	if rest, ok := strings.CutPrefix(right, "="); ok && e.Rel != "=" {
		e.Rel, right = e.Rel+"=", rest
	}
	right = strings.TrimSpace(right)
	m := thresholdGrammar.FindStringSubmatch(left)
	if m == nil {
		word := left[strings.LastIndex(left, ".")+1:]
		if slices.Contains(times, word) {
			left = strings.TrimSuffix(left, "."+word)
			word = left[strings.LastIndex(left, ".")+1:]
		}
		return Threshold{}, fault.Input(fmt.Errorf("threshold %q: %q is not a figure that is measured", text, word), fault.Suggest(word, stats))
	}
	e.Of, e.Stat, e.Time = m[1], m[2], m[3]
	if _, ok := measure.ParsePercentile(e.Stat); !ok && e.Stat[0] == 'p' {
		return bad(fmt.Sprintf("%q is not a percentile between p0 and p100, with four decimals at most", e.Stat))
	}
	switch why := e.limit(right); {
	case why != "" && e.latency() && units.Lacking(right, "ms") != "":
		_, err := bad(why)
		return Threshold{}, fault.Hint(err, "did you mean "+units.Lacking(right, "ms")+"?")
	case why != "":
		return bad(why)
	case e.Rel == "=" && (e.Percent || e.Stat != "errors" && !e.Verified()):
		return bad("= is for what is counted, which are errors, lost and differ")
	case (e.Recovery() || e.Verified()) && e.Of != "":
		return bad(e.Stat + " is of the whole run, not of " + e.Of)
	case e.Verified() && e.Abort:
		return bad(e.Stat + " cannot end a run early: the verification at its end says it")
	case e.Recovery() && e.Abort:
		return bad("recovery cannot end a run early: whether all is as before is known at its end")
	}
	return e, nil
}

// limit parses the right-hand side and says what is wrong with it, or "".
func (e *Threshold) limit(s string) string {
	if e.Time != "" && !e.latency() {
		return e.Stat + " has no " + e.Time + " time"
	}
	if e.latency() || e.Recovery() {
		d, err := units.ParseDuration(s)
		if err != nil || d < 0 {
			return fmt.Sprintf("%q is not a duration such as 5ms", s)
		}
		e.Limit = float64(d)
		if e.latency() && e.Time == "" {
			e.Time = "response"
		}
		return ""
	}
	if rest, ok := strings.CutSuffix(s, "%"); ok {
		if e.Stat != "errors" {
			return "only errors can be given in %"
		}
		e.Percent, s = true, strings.TrimSpace(rest)
	}
	s = strings.TrimSuffix(strings.TrimSpace(s), "/s")
	v, err := units.ParseNumber(s)
	if err != nil || v < 0 {
		return fmt.Sprintf("%q is not a number", s)
	}
	e.Limit = v
	return ""
}

func (e Threshold) latency() bool {
	return e.Stat != "errors" && e.Stat != "throughput" && !e.Recovery() && !e.Verified()
}

// Recovery reports whether the expression is about what faults of the timetable left behind, for
// which Judge needs the series of the run.
func (e Threshold) Recovery() bool { return e.Stat == recovery }

// Verified reports whether the expression is about what the verification counts: what was
// acknowledged and is lost, or answers that differ.
func (e Threshold) Verified() bool { return e.Stat == lost || e.Stat == differ }

// AtEnd reports whether only the end of a run can tell whether it meets the expression.
func (e Threshold) AtEnd() bool { return e.Recovery() || e.Verified() }

// Limits returns those of these expressions that are on a time, such as p99<10ms.
func Limits(texts []string) (out []Threshold) {
	for _, text := range texts {
		if e, err := ParseThreshold(text); err == nil && e.Time != "" && e.Limit > 0 {
			out = append(out, e)
		}
	}
	return out
}

// Check returns an error of bad input, with the closest valid name, unless the
// expression refers to one of these operations or to their tracks.
func (e Threshold) Check(ops []measure.Operation) error {
	if e.Of == "" || slices.ContainsFunc(ops, e.About) {
		return nil
	}
	var names []string
	for _, o := range ops {
		for _, n := range []string{o.Track, o.Op, o.Track + "." + o.Op} {
			if n != "" && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return fault.Input(fmt.Errorf("threshold %q: this run has no track or operation %q", e.Text, e.Of), fault.Suggest(e.Of, names))
}

// About reports whether the expression refers to an operation.
func (e Threshold) About(o measure.Operation) bool {
	return e.Of == "" || e.Of == o.Track || e.Of == o.Op || e.Of == o.Track+"."+o.Op
}
