package find

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/units"
)

// Told says how a level came out that was tried once or several times: in words, whether it held, and
// whether chance may have decided it. Why a level did not hold is that of the try that stands for it. Of several
// tries with as many threads it says how many held, and what came of other numbers of threads last. A single
// condition is not named again: who reads it knows what was sought.
func (r *Result) Told(level float64) (words string, held, doubtful bool) {
	return r.told(r.Outcome(r.Of(level)))
}

// Beyond says what the lowest level that did not hold is: too much, or in doubt where chance may have decided that.
func (r *Result) Beyond() string {
	if r.Unsure(r.TooMuch) {
		return "in doubt"
	}
	return "too much"
}

// Unsure reports whether chance may have decided how a level came out.
func (r *Result) Unsure(level float64) bool { return r.Outcome(r.Of(level)).Doubtful }

func (r *Result) told(o Outcome) (words string, held, doubtful bool) {
	switch {
	case o.Tries == 1 && o.Held:
		words = r.Words(o.Shown)
	case o.Tries == 1:
		words = r.reason(o.Shown)
	case o.Held:
		words = fmt.Sprintf("held %d of %d", o.Good, o.Tries) + waits(r.waited(o.Shown))
		for _, s := range slices.Backward(r.Of(o.Shown.Level).Steps) {
			if why, doubt := r.evidence(s); !s.Held && s.Threads == o.Shown.Threads && why+doubt != "" {
				words += "; once " + strings.TrimPrefix(why+doubt, ", ")
				break
			}
		}
	default:
		why, doubt := r.evidence(o.Shown)
		words = fmt.Sprintf("held %d of %d", o.Good, o.Tries) + doubt
		if why != "" {
			words += ": " + why
		}
	}
	return words + o.elsewhere(), o.Held, o.Doubtful
}

// elsewhere says what came of a level with other numbers of threads, if it was tried with others.
func (o Outcome) elsewhere() string {
	var yes, no, unsure []int
	for _, s := range o.Others {
		switch {
		case s.Held:
			yes = append(yes, s.Threads)
		case !s.Doubtful:
			no = append(no, s.Threads)
		default:
			unsure = append(unsure, s.Threads)
		}
	}
	no = slices.DeleteFunc(no, func(n int) bool { return slices.Contains(yes, n) })
	unsure = slices.DeleteFunc(unsure, func(n int) bool { return slices.Contains(yes, n) || slices.Contains(no, n) })
	not := "nor"
	if o.Held {
		not = "not"
	}
	return with("held", yes) + with(not, no) + with("in doubt", unsure)
}

// Row is how a level came out with one number of threads.
type Row struct {
	// Step is the try that stands for it.
	Step
	// Words are those of Told and Short those of InShort; Held and Doubtful are as there.
	Words, Short   string
	Held, Doubtful bool
}

// Rows returns the rows that a table has on a level: that of the try that stands for it, and one for each other number
// of threads with which it was tried, from the lowest up.
func (r *Result) Rows(level float64) []Row {
	o := r.Outcome(r.Of(level))
	rows := []Row{r.row(o)}
	_, of := r.Sought()
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
		one.Shown = median(slices.DeleteFunc(same, func(s Step) bool { return s.Held != one.Held }), of)
		rows = append(rows, r.row(one))
	}
	return rows
}

func (r *Result) row(o Outcome) Row {
	row := Row{Step: o.Shown, Short: r.inShort(o)}
	row.Words, row.Held, row.Doubtful = r.told(o)
	return row
}

// with says how tries with numbers of threads came out: "; nor with 32 or 64 threads"; "" without any.
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
	return "; " + how + " with " + text
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
func (r *Result) Waited(level float64) time.Duration {
	if o := r.Outcome(r.Of(level)); o.Held {
		return r.waited(o.Shown)
	}
	return 0
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

// InShort is what Told says in a few words: whether the level held, or in how many of its tries, and that it did
// so only in the store where users waited.
func (r *Result) InShort(level float64) string { return r.inShort(r.Outcome(r.Of(level))) }

func (r *Result) inShort(o Outcome) string {
	text := o.inShort()
	if !o.Held || r.waited(o.Shown) == 0 || text == "in doubt" {
		return text
	}
	return strings.TrimPrefix(text+" store only", "yes ")
}

func (o Outcome) inShort() string {
	switch {
	case o.Doubtful && (o.Tries == 1 || o.Good == 0):
		return "in doubt"
	case o.Tries > 1:
		return fmt.Sprintf("%d of %d", o.Good, o.Tries)
	case o.Held:
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

// Try returns the number of a try, counted from 1 over all levels; 0: it is none of the result.
func (r *Result) Try(of Step) int {
	return 1 + slices.IndexFunc(r.Steps, func(s Step) bool { return s.Level == of.Level && s.FromS == of.FromS })
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

// Because says in a clause why a step did not hold.
func (s Step) Because() string { return strings.Replace(s.Why, didNot+": ", didNot+", as ", 1) }

// reason is why a step did not hold, without the condition if there is only one.
func (r *Result) reason(s Step) string {
	if len(r.Under) == 1 {
		return strings.TrimPrefix(s.Why, r.Under[0]+" ")
	}
	return s.Why
}

// evidence is reason for a step that is known not to have held, and apart from it whether that is in doubt.
func (r *Result) evidence(s Step) (why, doubt string) {
	why = strings.Replace(s.Why, inDoubt, didNot, 1)
	if why != s.Why {
		doubt = ", in doubt"
	}
	if len(r.Under) == 1 {
		why = strings.TrimLeft(strings.TrimPrefix(why, r.Under[0]+didNot), ":, ")
	}
	return why, doubt
}
