package find

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
)

// How a level came out: the one word that every screen and report has for it.
const (
	stateHolds   = "holds"
	stateTooMuch = "too much"
	stateUnclear = "unclear"
)

// State says in a word how a level came out: that it holds, that it is too much, or that this is unclear.
func (o Outcome) State() string { return state(o.Held, o.Doubtful) }

func state(held, doubtful bool) string {
	switch {
	case doubtful:
		return stateUnclear
	case held:
		return stateHolds
	}
	return stateTooMuch
}

// Told says how a level came out that was tried once or several times: in words, whether it held, and
// whether chance may have decided it. Why a level did not hold is that of the try that stands for it. Of several
// tries with as many threads it says how many held, and what came of other numbers of threads last. A single
// condition is not named again: who reads it knows what was sought.
func (r *Result) Told(level float64) (words string, held, doubtful bool) {
	o := r.Outcome(r.Of(level))
	return wording{r}.told(o) + wording{r}.elsewhere(o), o.Held, o.Doubtful
}

// Beyond says what the lowest level that did not hold is: too much, or unclear where chance may have decided that.
func (r *Result) Beyond() string { return state(false, r.Unsure(r.TooMuch)) }

// wording says in words what a search has found.
type wording struct{ *Result }

func (w wording) told(o Outcome) string {
	words := o.State()
	if o.Tries > 1 {
		words += fmt.Sprintf(" · held %d of %d tries", o.Good, o.Tries)
	}
	return words + apart(w.why(o))
}

// why is what brought a level down, in one of its tries if it held; and that users waited where it held. It is empty if
// there is nothing to say.
func (w wording) why(o Outcome) string {
	switch {
	case o.Void:
		return w.evidence(o.Shown) + apart("does not count, since "+units.Number(w.proven())+" held")
	case !o.Held:
		return w.evidence(o.Shown)
	}
	waits := waits(w.waited(o.Shown))
	for _, s := range slices.Backward(w.Of(o.Shown.Level).Steps) {
		if why := w.evidence(s); !s.Held && s.Threads == o.Shown.Threads && why != "" {
			return strings.TrimPrefix(apart(waits)+apart("once "+why), separator)
		}
	}
	return waits
}

// separator stands between the facts on a line.
const separator = " · "

// apart is a fact after others on its line; nothing without one.
func apart(fact string) string {
	if fact == "" {
		return ""
	}
	return separator + fact
}

// elsewhere says what came of a level with other numbers of threads, if it was tried with others.
func (w wording) elsewhere(o Outcome) string {
	var yes, no, unsure []int
	for _, s := range o.Others {
		switch {
		case s.Held:
			yes = append(yes, s.Threads)
		case !s.Doubtful && w.Counts(s):
			no = append(no, s.Threads)
		default:
			unsure = append(unsure, s.Threads)
		}
	}
	no = slices.DeleteFunc(no, func(n int) bool { return slices.Contains(yes, n) })
	unsure = slices.DeleteFunc(unsure, func(n int) bool { return slices.Contains(yes, n) || slices.Contains(no, n) })
	return with(stateHolds, yes) + with(stateTooMuch, no) + with(stateUnclear, unsure)
}

// Row is how a level came out with one number of threads.
type Row struct {
	// Step is the try that stands for it.
	Step
	// Words are those of Told without other numbers of threads, and Short are a few; Held and Doubtful are as there.
	Words, Short string
	// Why is the part of Words that Short has not: what brought the level down.
	Why            string
	Held, Doubtful bool
}

// State is that of the level with this number of threads.
func (w Row) State() string { return state(w.Held, w.Doubtful) }

// Rows returns the rows that a table has on a level: that of the try that stands for it, and one for each other number
// of threads with which it was tried, from the lowest up.
func (r *Result) Rows(level float64) []Row {
	o := r.Outcome(r.Of(level))
	rows := []Row{wording{r}.row(o)}
	others := slices.Clone(o.Others)
	slices.SortStableFunc(others, func(a, b Step) int { return a.Threads - b.Threads })
	for i := 0; i < len(others); {
		one := Outcome{}
		var same []Step
		for threads := others[i].Threads; i < len(others) && others[i].Threads == threads; i++ {
			same = append(same, others[i])
		}
		one.count(same)
		one.Held = 2*one.Good > one.Tries
		if !slices.ContainsFunc(same, r.Counts) {
			one.Void, one.Doubtful = true, true
		}
		one.Shown = r.stands(one, same)
		rows = append(rows, wording{r}.row(one))
	}
	return rows
}

func (w wording) row(o Outcome) Row {
	return Row{Step: o.Shown, Words: w.told(o), Short: w.inShort(o), Why: w.why(o), Held: o.Held, Doubtful: o.Doubtful}
}

// Stands reports whether a try stands for its level, or for one number of threads there, in tables and charts.
func (r *Result) Stands(s Step) bool {
	return slices.ContainsFunc(r.Rows(s.Level), func(row Row) bool { return r.Try(row.Step) == r.Try(s) })
}

// with says how tries with numbers of threads came out: " · too much with 32 or 64 threads"; "" without any.
func with(how string, threads []int) string {
	slices.Sort(threads)
	threads = slices.Compact(threads)
	text := ""
	for i, n := range threads {
		switch i {
		case len(threads) - 1:
			text += units.Plural(n, "thread")
		case len(threads) - 2:
			text += strconv.Itoa(n) + " or "
		default:
			text += strconv.Itoa(n) + ", "
		}
	}
	if text == "" {
		return ""
	}
	return apart(how + " with " + text)
}

// Words says in a few words how a step came out.
func (r *Result) Words(s Step) string {
	words := state(s.Held, s.Doubtful || !r.Counts(s))
	if s.Held {
		return words + apart(waits(wording{r}.waited(s)))
	}
	return words + apart(wording{r}.evidence(s))
}

// Waited is how long users waited for calls to begin, in all but one of a hundred, at a level that held only
// because no condition looks at that: each is on the time of calls in the store alone, and they waited longer
// than a call may take there. It is 0 at any other level. What perfbench itself was late is none of it.
func (r *Result) Waited(level float64) time.Duration {
	if o := r.Outcome(r.Of(level)); o.Held {
		return wording{r}.waited(o.Shown)
	}
	return 0
}

func (w wording) waited(s Step) time.Duration {
	limit := 0.0
	for _, e := range w.Limits() {
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

// waits says of what held that users waited; "" if they did not.
func waits(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return "users wait " + units.Duration(d)
}

// inShort is what Told says in a few words: how the level came out, in how many of its tries it held where they differ,
// and that it did so only in the store where users waited.
func (w wording) inShort(o Outcome) string {
	text := o.State()
	if text == stateHolds && w.waited(o.Shown) > 0 {
		text += " in store only"
	}
	if 0 < o.Good && o.Good < o.Tries {
		text += fmt.Sprintf(": %d of %d held", o.Good, o.Tries)
	}
	return text
}

// Condition returns the condition that did not hold in a step; "" if it held, or for another reason did not.
func (s Step) Condition() string {
	for _, how := range judgements {
		if condition, _, ok := strings.Cut(s.Why, how); ok {
			return condition
		}
	}
	return ""
}

// Backlogged reports whether a step did not hold because its backlog grew, and not by a condition.
func (s Step) Backlogged() bool { return !s.Held && strings.HasPrefix(s.Why, backlogGrew) }

// Measured says why the store was not measured in a step that did not hold: "perfbench was late", or "the machine was
// crowded"; "" if the store was.
func (s Step) Measured() string {
	if len(s.Ours) == 0 {
		return ""
	}
	switch c := (Limit{By: ByPerfbench, Causes: s.Ours}).Machine(); c {
	case "":
	case verdict.Stolen:
		return "the hypervisor took processors"
	default:
		return "the machine was " + c.Word()
	}
	late := []verdict.Cause{verdict.Lateness, verdict.Pauses, verdict.Scheduler}
	if slices.ContainsFunc(late, func(c verdict.Cause) bool { return slices.Contains(s.Ours, string(c)) }) {
		return "perfbench was late"
	}
	return "perfbench was the limit (" + verdict.Cause(s.Ours[0]).Word() + ")"
}

// evidence is why a step did not hold: the condition, unless there is only one, and the figure that broke it; and what
// was measured rather than the store.
func (w wording) evidence(s Step) string {
	why := s.Why
	for _, how := range judgements {
		why = strings.Replace(why, how, "", 1)
	}
	if len(w.Under) == 1 {
		why = strings.TrimLeft(strings.TrimPrefix(why, w.Under[0]), ": ")
	}
	if instead := s.Measured(); instead != "" {
		why = strings.TrimPrefix(why+", as "+instead, ", as ")
	}
	return why
}

// notTheRate says that the store was slower in a step than in one at a higher level, and with how many threads where the
// search had changed their number.
func (w wording) notTheRate(slow, quick *Step) string {
	with, as := "", ""
	if w.Over == OverRate && slow.Threads != quick.Threads {
		with, as = " with "+units.Plural(slow.Threads, "thread"), fmt.Sprintf(" with %d", quick.Threads)
	}
	at := func(s *Step, with string) string {
		return fmt.Sprintf("%s at %s%s", units.Duration(time.Duration(s.Service.P50)), units.Number(s.Level), with)
	}
	return "unknown: service p50 was " + at(slow, with) + ", but " + at(quick, as) + ", so the rate did not slow the store"
}
