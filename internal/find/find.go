// Package find looks for the highest rate, or number of threads, at which a run still
// meets conditions such as p99<10ms. It changes the knob of a live run as a person at
// the workbench would, judges each level by its seconds, and says what is the limit:
// the store or perfbench. What was found is find.json, which reports and screens read.
//
// Choice chooses which level to try next. A Seek tries levels on a Bench, which is a run or
// anything else that reports what each second was like. A Chain judges a rate by the backlog
// at the end of several stations.
package find

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// RoomThreads is how many threads a search for the rate may use if its user gave no
// number.
const RoomThreads = 64

// How much of a run's time is kept back: for the second of the first change and the last one that is
// reported; and in a search for recovery for the step in progress when its time is up, as nothing
// cuts that short.
const (
	spare           = 3 * time.Second
	spareOfRecovery = 15 * time.Second
)

// Budget returns how long the search of a run may take.
func (o *Options) Budget(duration time.Duration) time.Duration {
	kept := spare
	if o.Recovery != nil {
		kept = spareOfRecovery
	}
	return max(duration-kept, duration/2)
}

// Room returns how many threads a search may use before its plan is known, for sizing
// the connection pool.
func Room(a Asked) int {
	if a.Over != OverThreads {
		return RoomThreads
	}
	if n, err := units.ParseWhole(a.To); err == nil {
		return int(min(max(n, 1), workload.MaxThreads))
	}
	return MostThreads
}

// MostThreads is how many threads a search tries at most, unless it is given another
// number.
const MostThreads = 256

// Options say what to look for.
type Options struct {
	Under []condition.Threshold
	Over  workload.Knob
	// From is the first level to try; 0: to be determined. To is the highest; 0: no
	// limit.
	From, To float64
	// Time is how long the search may take.
	Time time.Duration
	// Duration is what its user gave the search or the run, of which Time is a part; 0: none was given.
	Duration time.Duration
	// Threads is how many threads a search for the rate may use if the existing ones
	// turn out to be too few; 0: their number is fixed.
	Threads int
	// Rough is as in Asked.
	Rough bool
	// Trying takes the try in progress, as it begins and after each of its seconds; may be nil.
	Trying func(Trying)
	// Recovery is what is sought instead of the highest load that meets conditions; nil: it is not.
	Recovery *Recovery
}

// TimeLimit returns how long a search may take. The error is one of bad input.
func (a Asked) TimeLimit() (time.Duration, error) {
	v := workload.Value{Name: "duration", Text: cmp.Or(strings.TrimSpace(a.Within), Within), Origin: workload.OriginFlag}
	d, err := v.Duration()
	if err == nil && d == 0 {
		err = fault.Field(v.Name, fault.Input(fmt.Errorf("%s: %q is no time for a search", v.Name, v.Text), "say how long it may take, such as "+Within))
	}
	return d, err
}

// Check returns what is wrong with a search request as far as no plan is needed to tell. Errors have the code of bad input.
func Check(a Asked) error {
	var problems workload.Problems
	for _, text := range a.Under {
		if _, is, err := readRecovery(text); is {
			problems.Add(fault.Field("under", err))
		} else {
			_, err := parseCondition(text)
			problems.Add(fault.Field("under", err))
		}
	}
	for _, level := range []struct{ name, text string }{{"from", a.From}, {"to", a.To}} {
		if strings.TrimSpace(level.text) == "" {
			continue
		}
		_, err := units.ParseRate(level.text)
		if a.Over == OverThreads {
			_, err = units.ParseWhole(level.text)
		}
		if err != nil {
			problems.Add(fault.Field(level.name, fault.Input(fmt.Errorf("%s: %q is not a number", level.name, level.text), units.LikeNumbers)))
		}
	}
	_, err := a.TimeLimit()
	problems.Add(err)
	return problems.Err()
}

// Read parses a search request, given the plan that is to run. Errors have the code of
// bad input, all of them joined; nothing is touched.
func Read(a Asked, plan *workload.Plan) (Options, error) {
	var problems workload.Problems
	o := Options{Rough: a.Rough}
	if a.Over == "" {
		a.Over = OverRate
	}
	var ok bool
	switch o.Over, ok = plan.Knob(a.Over); {
	case a.Over != OverRate && a.Over != OverThreads:
		problems.Add(fault.Field("over", fault.Input(fmt.Errorf("over: %q is not rate or threads", a.Over), fault.Suggest(a.Over, []string{OverRate, OverThreads}))))
	case !ok:
		problems.Add(fault.Field("over", fault.Input(fmt.Errorf("over: this plan has no live knob %s to raise", a.Over), "perfbench list knobs shows what a profile can turn")))
	}
	if problems.Err() != nil {
		return o, problems.Err()
	}
	if slices.ContainsFunc(plan.Phases, func(p workload.Phase) bool { return len(p.After) > 0 }) {
		problems.Add(fault.Input(errors.New("find: this plan runs its phases one after another, and a search needs a single load to raise"), "choose a preset or a mode with one phase"))
	}
	if o.Over.Name == OverThreads && plan.Tracks()[0].Start.Rate > 0 {
		problems.Add(fault.Input(errors.New("rate: in a search for threads, they go as fast as they can"), "leave --rate out"))
	}
	if len(a.Under) == 0 {
		problems.Add(fault.Field("under", fault.Input(errors.New("under: a search needs a condition"), "for example --under 'p99<10ms'")))
	}
	for _, text := range a.Under {
		if r, ok, err := readRecovery(text); ok {
			switch {
			case err == nil && len(a.Under) > 1:
				err = fault.Input(fmt.Errorf("under: %s is no condition beside others: it says itself which answers are good", Recovers), "leave the others out")
			case err == nil && o.Over.Name != OverRate:
				err = fault.Input(fmt.Errorf("over: what %s from is a rate", Recovers), "leave --over out")
			}
			problems.Add(fault.Field("under", err))
			o.Recovery = &r
			continue
		}
		e, err := readCondition(text, plan.Operations())
		problems.Add(fault.Field("under", err))
		o.Under = append(o.Under, e)
	}
	level := func(name, text string) float64 {
		if text == "" {
			return 0
		}
		v, err := o.Over.Parse(text)
		if err == nil && v <= 0 {
			err = fault.Input(fmt.Errorf("%q is not more than 0", text), "")
		}
		if err != nil {
			problems.Add(fault.Field(name, fmt.Errorf("%s: %w", name, err)))
		}
		return v
	}
	o.From, o.To = level("from", a.From), level("to", a.To)
	if o.To > 0 && o.From > o.To {
		problems.Add(fault.Field("from", fault.Input(fmt.Errorf("from: %s is more than %s, the highest to try", a.From, a.To), "raise --to")))
	}
	if o.Over.Name == OverThreads && o.To == 0 {
		o.To = MostThreads
	}
	return o, problems.Err()
}

// Conditions returns those of the thresholds of a run that a search can keep, in their order.
func Conditions(thresholds []string, plan *workload.Plan) []string {
	return slices.DeleteFunc(slices.Clone(thresholds), func(text string) bool {
		_, err := readCondition(text, plan.Operations())
		return err != nil
	})
}

// Example returns conditions on a run with these operations, for people; without any, only those on all.
func Example(ops []measure.Operation) string {
	one := ""
	if len(ops) > 0 {
		one = ", " + ops[0].Op + ".p99<5ms"
	}
	return "p99<10ms" + one + ", errors<1%"
}

// parseCondition parses one condition: the grammar is that of thresholds, only the flag has another name.
func parseCondition(text string) (condition.Threshold, error) {
	e, err := condition.ParseThreshold(text)
	if err != nil {
		err = fault.Input(errors.New(strings.Replace(err.Error(), "threshold", "under", 1)), "")
	}
	return e, err
}

// readCondition parses one condition on a run with these operations.
func readCondition(text string, ops []measure.Operation) (condition.Threshold, error) {
	e, err := parseCondition(text)
	if err != nil {
		return e, fault.Hint(err, "write it like "+Example(ops))
	}
	bad := func(why, hint string) (condition.Threshold, error) {
		return e, fault.Input(fmt.Errorf("under %q: %s", text, why), hint)
	}
	switch {
	case e.Abort:
		return bad("a search that misses goes on with another level, so it cannot abort", "leave abort out")
	case e.Recovery():
		return bad("a search has no faults from which to recover", "give a condition such as p99<10ms, or search with --recovers")
	case e.Verified():
		return bad(e.Stat+" is known once a run has ended, and a search judges levels before", "give a condition such as p99<10ms")
	case e.Stat == "max" || e.Stat == "min":
		return bad(e.Stat+" is that of a single call, which cannot judge a level", "use p99.9 or p99.99")
	case e.Stat == "throughput":
		return bad(e.Stat+" is what is sought", "give a condition that it must keep, such as p99<10ms")
	case e.Rel[0] != '<':
		return bad("a level is too high when a figure gets too high, so it takes < or <=", "turn it round")
	case e.Time != "" && e.Limit <= 0:
		return bad("every call takes some time", "give more, such as p99<10ms")
	case e.Stat == "errors" && !e.Percent:
		return bad("levels differ in length, so a number of errors cannot judge them", "give them in percent: errors<1%")
	}
	if err := e.Check(ops); err != nil {
		return bad(fmt.Sprintf("this run has no track or operation %q", e.Of), fault.HintOf(err))
	}
	return e, nil
}

// conditions returns the conditions in the form that package search needs.
func (o *Options) conditions() []Condition {
	var out []Condition
	for _, e := range o.Under {
		c := Condition{Text: e.Text}
		switch e.Stat {
		case "mean":
			c.Bound = e.Limit
		case "errors":
			c.Bound, c.Share, c.Violated = e.Limit/100, true, "failed"
		default:
			c.Bound, c.Share, c.Violated, c.Least = 1-e.Percentile()/100, true, "took longer", float64(measure.Needs(e.Percentile()))
		}
		out = append(out, c)
	}
	return out
}

// choice returns how levels are chosen.
func (o *Options) choice() Choice {
	c := Choice{Start: o.From, Raise: 2, Near: 1.03, Most: 100, High: o.To, Confirm: true}
	if o.Rough {
		c.Near, c.Confirm = 1.1, false
	}
	if o.Over.Name == OverThreads {
		c.Whole, c.Low, c.Start = true, 1, max(c.Start, 1)
	}
	return c
}
