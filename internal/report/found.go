package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
)

// Found returns the documents on what the search of a run found: find.json, from which
// everything else is made, find.txt, find.html, and the curve of latency over load as
// find.svg.
func Found(r *find.Result) ([]rundir.File, error) {
	data, err := r.Encode()
	if err != nil {
		return nil, fmt.Errorf("write what the search found: %w", err)
	}
	p := foundPage(r)
	files := []rundir.File{{Name: find.File, Data: data}, {Name: "find.txt", Data: []byte(p.Text())}, {Name: "find.html", Data: []byte(p.HTML())}}
	if c := curve(r); !c.Empty() {
		files = append(files, rundir.File{Name: "find.svg", Data: c.File()})
	}
	return files, nil
}

// FoundText describes what a search found for a terminal: the answer, the curve, each level, and notes.
func FoundText(r *find.Result) string {
	answer, notes := FoundAnswer(r)
	var b strings.Builder
	write := func(sentences []string) {
		for _, s := range sentences {
			b.WriteString(s + "\n")
		}
	}
	write(answer)
	if len(r.Steps) > 0 {
		t := levels(r)
		if r.Recovery != nil {
			t = recoveries(r)
		}
		b.WriteString(loadText(doneOver(r)) + loadText(curve(r)) + "\n" + t.Text())
		if len(notes) > 0 {
			b.WriteString("\n")
		}
	}
	write(notes)
	return b.String()
}

func foundPage(r *find.Result) Page {
	answer, notes := FoundAnswer(r)
	p := Page{Title: "perfbench find: " + r.Over + " under " + strings.Join(r.Under, " and "), Lead: answer}
	s := Section{Heading: "Latency over load", Table: levels(r)}
	sought, _ := r.Sought()
	if c := doneOver(r); !c.Empty() {
		s.Charts = append(s.Charts, Graph{Chart: c, Over: true, Drawn: true})
	}
	if c := curve(r); !c.Empty() {
		s.Charts = append(s.Charts, Graph{Chart: c, Over: true, Drawn: true})
	}
	s.Text = []string{"The row of a level has one of its tries: of those that came out as the level did, the median one by " + sought + ". A level holds when its seconds leave no doubt; one in doubt was tried again."}
	p.Sections = append(p.Sections, s)
	if r.Recovery != nil {
		p.Sections = append([]Section{{Heading: "Recovery", Table: recoveries(r)}}, p.Sections...)
		p.Sections[1].Text = []string{"The calls after the overload."}
	}
	p.Add(Section{Heading: "Notes", Text: notes})
	if len(r.Steps) > len(r.Curve()) {
		all := Table{Left: 1, Columns: []string{"", "from", "to", r.Over}}
		if r.Over != find.OverThreads { // which are the level
			all.Columns = append(all.Columns, "threads")
		}
		all.Columns = append(all.Columns, r.Unit+"/s", "p50", "p99")
		for _, f := range r.Judged() {
			all.Columns = append(all.Columns, f.Name)
		}
		for _, s := range r.Steps {
			row := []string{r.Words(s), plot.Clock(s.FromS), plot.Clock(s.ToS), units.Number(s.Level)}
			if r.Over != find.OverThreads {
				row = append(row, fmt.Sprint(s.Threads))
			}
			row = append(row, units.Number(s.Done), Nanos(s.Response.P50), Nanos(s.Response.P99))
			for _, f := range r.Judged() {
				row = append(row, Nanos(f.Of(s)))
			}
			all.Add(row...)
		}
		p.Sections = append(p.Sections, Section{Heading: "Every try", Table: all})
	}
	return p
}

// FoundAnswer says in a few sentences what was found, and in notes what limits, what else is known, what
// would tell more, and how the search went. A reader wants the picture and the table between the two.
func FoundAnswer(r *find.Result) (answer, notes []string) {
	under := strings.Join(r.Under, " and ")
	what, many := soughtWords(r)
	answer = append(contradicted(r, many), endedEarly(r, what, many)...)
	answer = append(answer, found(r, under, what, many)...)
	answer = append(answer, restsOn(r, many)...)
	answer = append(answer, tooMuchFor(r, many)...)
	answer = append(answer, didMore(r, under, many)...)
	switch {
	case r.Limit.By == find.ByNone && r.Complete && r.Enough(): // a higher one is no use
	case r.Limit.By == find.ByNone && r.Complete:
		notes = append(notes, "Nothing limited it: even the highest level that was to be tried held. A higher --to looks further.")
	case r.Limit.Text == "":
	case r.Limit.By == find.ByPerfbench || r.Limit.By == find.ByNone: // the answer names it
		notes = append(notes, "What limits is "+r.Limit.Text+".")
	default:
		answer = append(answer, "What limits is "+r.Limit.Text+".")
	}
	answer = append(answer, withThreads(r, many)...)
	answer = append(answer, unlimited(r)...)
	if r.Over != "rate" && r.Done > 0 && !r.Enough() {
		text := fmt.Sprintf("That is %s %s/s", units.Number(r.Done), r.Unit)
		if r.Best == r.Found && lowest(r) < r.Found {
			text += ", and fewer threads did less"
		}
		answer = append(answer, text+".")
	}
	if d := r.Waited(r.Found); d > 0 {
		answer = append(answer, fmt.Sprintf("At %s users wait up to %s for their calls to begin, which no condition limits.", units.Number(r.Found)+many, units.Duration(d)))
	}
	if r.Limit.By == find.ByPerfbench {
		answer = append(answer, inStore(r, many)...)
		notes = append(notes, mostDone(r, many)...)
		text := "To measure the store, give perfbench a machine that is not busy otherwise"
		if next := r.Advised(); next != nil {
			text += ", or judge the time of calls in the store alone, under " + strings.Join(next.Under, " and ")
		}
		notes = append(notes, text+".")
	}
	if !r.Complete && r.Why != "" && r.Tried() && !open(r) {
		notes = append(notes, "The search did not finish, because "+r.Why+".")
	}
	if len(r.Steps) > 0 {
		notes = append(notes, tookText(r))
	}
	return answer, notes
}

// tookText says how long a search took, and with how many threads.
func tookText(r *find.Result) string {
	text := fmt.Sprintf("It took %s, in %s of %s", Length(math.Round(r.Seconds)), units.Plural(len(r.Steps), "try"), units.Plural(len(r.Newest()), "level"))
	if n := numbers(r.Steps); r.Over == find.OverRate && len(n) == 1 {
		text += ", with " + Several(n[0], "thread")
	}
	return text + "."
}

// soughtWords says what a search is for, a rate, and of what its levels are so many.
func soughtWords(r *find.Result) (what, many string) {
	if r.Over != "rate" {
		return "number of " + r.Over, " " + r.Over
	}
	return "rate", " " + r.Unit + "/s"
}

// found says which level holds, and from which on one is too much.
func found(r *find.Result, under, what, many string) (out []string) {
	switch {
	case r.Recovery != nil:
		out = append(out, recoveredLead(r, many)...)
	case !r.Tried():
		out = append(out, fmt.Sprintf("The search tried no %s to its end, because %s.", what, r.Why))
	case r.Found == 0 && r.Limit.By == find.ByPerfbench:
		out = append(out, fmt.Sprintf("What the store holds under %s is not known: %s was the limit %s.", under, r.Limit.Measured(), evenAt(r, many)))
	case r.Found == 0 && r.Limit.By == find.ByThreads:
		out = append(out, fmt.Sprintf("What the store holds under %s is not known: with %s, %s is already %s.", under, Several(ofTooMuch(r), "thread"), units.Number(r.TooMuch)+many, r.Beyond()))
	case r.Found == 0 && !r.Complete:
		out = append(out, fmt.Sprintf("No %s that was tried holds under %s: %s is already %s.", what, under, units.Number(r.TooMuch)+many, r.Beyond()))
	case r.Found == 0:
		out = append(out, fmt.Sprintf("No %s holds under %s: %s is already %s.", what, under, units.Number(r.TooMuch)+many, r.Beyond()))
	case r.Enough():
		out = append(out, doMost(r, under)...)
	case r.TooMuch == 0 && r.Over != "rate":
		out = append(out, fmt.Sprintf("Under %s %s hold, the highest %s that was tried.", under, units.Number(r.Found)+many, what))
	case r.TooMuch == 0:
		out = append(out, fmt.Sprintf("Under %s %s holds, the highest %s that was tried.", under, units.Number(r.Found)+many, what))
	case r.Limit.By == find.ByPerfbench:
		out = append(out, fmt.Sprintf("Perfbench on %s comes to %s under %s; %s. The store may do more.", here(r), units.Number(r.Found)+many, under, tooMuchHere(r)))
	case r.Limit.By == find.ByThreads:
		out = append(out, fmt.Sprintf("With %s the highest %s under %s is %s; %s is %s. The store may do more.", Several(ofTooMuch(r), "thread"), what, under, units.Number(r.Found)+many, units.Number(r.TooMuch), r.Beyond()))
	default:
		out = append(out, fmt.Sprintf("The highest %s under %s is %s; %s is %s.", what, under, units.Number(r.Found)+many, units.Number(r.TooMuch), r.Beyond()))
	}
	return out
}

// evenAt says where perfbench or the machine was the limit of a search in which nothing held.
func evenAt(r *find.Result, many string) string {
	if low := lowest(r); low < r.TooMuch {
		return fmt.Sprintf("at %s, and whether %s holds is in doubt", units.Number(r.TooMuch)+many, units.Number(low))
	}
	return fmt.Sprintf("even at %s, the lowest that was tried", units.Number(r.TooMuch)+many)
}

// here names the machine of a search, with what it lacked.
func here(r *find.Result) string {
	if r.Limit.Machine() == "" {
		return "this machine"
	}
	return r.Limit.Measured()
}

// contradicted is the headline of a search in which tries contradict each other: some of the answer's held and others did
// not, or a lower rate failed; none of any other.
func contradicted(r *find.Result, many string) []string {
	o := r.Outcome(r.Of(r.Found))
	if !restsOnRate(r, o) || o.Good == o.Tries && len(failedBelow(r)) == 0 {
		return nil
	}
	return []string{units.Number(r.Found) + many + ", doubtful: tries contradict each other."}
}

// restsOnRate reports whether a search found a rate, which came out like this.
func restsOnRate(r *find.Result, o find.Outcome) bool {
	return r.Found > 0 && r.Over == find.OverRate && r.Recovery == nil && o.Tries > 0
}

// failedBelow are the lower rates than the highest that held which failed in one of their tries, other than with fewer
// threads.
func failedBelow(r *find.Result) (failed []string) {
	for _, s := range r.Curve() {
		if s.Level < r.Found && slices.ContainsFunc(r.Of(s.Level).Steps, func(other find.Step) bool { return !other.Held && (!s.Held || other.Threads == s.Threads) }) {
			failed = append(failed, units.Number(s.Level))
		}
	}
	return failed
}

// restsOn says how surely the highest rate held: in how many tries and for how long, between which others, and whether
// lower ones failed; none where no rate held.
func restsOn(r *find.Result, many string) []string {
	o := r.Outcome(r.Of(r.Found))
	if !restsOnRate(r, o) {
		return nil
	}
	seconds := 0.0
	for _, s := range r.Of(r.Found).Steps {
		if s.Held && s.Threads == o.Shown.Threads {
			seconds += s.ToS - s.FromS
		}
	}
	tries := "one try"
	if o.Tries > 1 {
		tries = fmt.Sprintf("%d of %d tries", o.Good, o.Tries)
	}
	out := []string{fmt.Sprintf("%s held in %s, for %s%s.", units.Number(r.Found)+many, tries, Length(math.Round(seconds)), betweenWhich(r))}
	switch failed := failedBelow(r); len(failed) {
	case 0:
	case 1:
		out = append(out, "A lower rate failed at another time: "+failed[0]+".")
	default:
		out = append(out, "Lower rates failed at other times: "+strings.Join(failed, ", ")+".")
	}
	return out
}

// betweenWhich says how the next lower level than the highest that held came out, if it held as well, and the next higher
// one if it did not; empty without any.
func betweenWhich(r *find.Result) string {
	low, high := "", ""
	for _, s := range r.Curve() {
		_, held, doubtful := r.Told(s.Level)
		switch {
		case s.Level < r.Found && held:
			low = units.Number(s.Level) + " held, too"
		case s.Level <= r.Found || held || high != "":
		case doubtful:
			high = units.Number(s.Level) + " is in doubt"
		default:
			high = units.Number(s.Level) + " did not"
		}
	}
	switch {
	case low != "" && high != "":
		return "; " + low + ", and " + high
	case low+high != "":
		return "; " + low + high
	}
	return ""
}

// tooMuchFor says for what the lowest level that did not hold is too much: a condition, or the throughput; none if that
// is not known.
func tooMuchFor(r *find.Result, many string) []string {
	o := r.Outcome(r.Of(r.TooMuch))
	if r.TooMuch == 0 || r.Recovery != nil || o.Tries == 0 {
		return nil
	}
	full := ""
	switch {
	case r.Over != find.OverRate || o.Shown.Condition() == "":
	case o.Shown.Missed():
		full = ", which was done in full,"
	default:
		full = fmt.Sprintf(", of which %s were done,", units.Number(o.Shown.Done))
	}
	text := fmt.Sprintf("At %s%s %s", units.Number(r.TooMuch)+many, full, o.Shown.Because())
	switch {
	case o.Good > 0:
		text += fmt.Sprintf("; it held in %d of %d tries", o.Good, o.Tries)
	case o.Shown.Doubtful && o.Tries > 1:
		text += fmt.Sprintf("; it held in none of %d tries", o.Tries)
	}
	return []string{text + "."}
}

// unlimited says what was done without a rate before the first level, and why its times are not those of calls at a
// rate; none if it is not known.
func unlimited(r *find.Result) []string {
	u := r.Unlimited
	if u == nil {
		return nil
	}
	text := fmt.Sprintf("At its start, without a rate, the run did %s %s/s with %s", units.Number(u.Done), r.Unit, Several(u.Threads, "thread"))
	if u.Response.P99 > 0 {
		text += ", at a p99 of " + Nanos(u.Response.P99)
	}
	out := []string{text + "."}
	if u.Response.P99 > 0 && r.Found < u.Done {
		out = append(out, "Without a rate no call waits for a thread, as each thread makes its next call when the last has ended; at a rate that wait counts.")
	}
	return out
}

// withThreads says of a search that changed the number of threads with how many the answer holds and was bounded,
// and that more did not help.
func withThreads(r *find.Result, many string) (out []string) {
	if r.Over != find.OverRate || r.Recovery != nil || len(numbers(r.Steps)) < 2 {
		return nil
	}
	if r.Found > 0 {
		held := r.Outcome(r.Of(r.Found)).Shown.Threads
		text := fmt.Sprintf("%s held with %s", units.Number(r.Found)+many, Several(held, "thread"))
		switch tried := numbers(r.Of(r.TooMuch).Steps); {
		case len(tried) == 0:
		case !slices.Contains(tried, held):
			text += fmt.Sprintf(", and %s was not tried with as many, but with %s", units.Number(r.TooMuch), with(tried))
		case len(tried) == 1:
			text += fmt.Sprintf(", and %s was tried with as many", units.Number(r.TooMuch))
		default:
			text += fmt.Sprintf(", and %s was tried with %s", units.Number(r.TooMuch), with(tried))
		}
		out = append(out, text+".")
	}
	if a, b := r.InVain(); b != nil {
		return append(out, fmt.Sprintf("More threads did not help: %s failed %s and %s.", units.Number(b.Level)+many, withThose(r, *a, "thread"), withThose(r, *b, "")))
	}
	for _, s := range r.Curve() {
		rows := r.Rows(s.Level)
		if s.Level < r.TooMuch || len(rows) < 2 || slices.ContainsFunc(rows, func(row find.Row) bool { return row.Held }) {
			continue
		}
		slices.SortFunc(rows, func(a, b find.Row) int { return a.Threads - b.Threads })
		text, before := units.Number(s.Level)+many, ""
		for i, row := range rows {
			how, noun := " failed", ""
			if row.Doubtful {
				how = " was in doubt"
			}
			if i == 0 {
				noun = "thread"
			} else {
				text += ", and"
			}
			if how != before {
				text += how
			}
			text, before = text+" "+withThose(r, row.Step, noun), how
		}
		return append(out, text+".")
	}
	return out
}

// withThose names the threads of a try, with what was sought there, "with 8 threads (p99 35.6 ms)", or with why it failed
// if no condition did.
func withThose(r *find.Result, s find.Step, noun string) string {
	text := fmt.Sprintf("with %d", s.Threads)
	if noun != "" {
		text = "with " + Several(s.Threads, noun)
	}
	name, of := r.Sought()
	switch why, _, _ := strings.Cut(s.Why, ":"); {
	case s.Condition() == "" && why != "":
		text += " (" + why + ")"
	case of(s) > 0:
		text += fmt.Sprintf(" (%s %s)", name, Nanos(of(s)))
	}
	return text
}

// numbers returns the numbers of threads of tries, from the lowest up.
func numbers(tries []find.Step) (out []int) {
	for _, s := range tries {
		out = append(out, s.Threads)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// with names numbers of threads after the word with: "8 and with 32 threads".
func with(threads []int) string {
	last := len(threads) - 1
	text := ""
	for _, n := range threads[:last] {
		text += fmt.Sprintf("%d and with ", n)
	}
	return text + Several(threads[last], "thread")
}

// ofTooMuch is the largest number of threads with which the level was tried that is too much.
func ofTooMuch(r *find.Result) int {
	if tried := numbers(r.Of(r.TooMuch).Steps); len(tried) > 0 {
		return tried[len(tried)-1]
	}
	return r.Threads
}

// doMost says which number of threads does most under the conditions, and what more of them do.
func doMost(r *find.Result, under string) []string {
	done := func(v float64) string { return units.Number(v) + " " + r.Unit + "/s" }
	do, are := "do", "are enough: they do"
	if r.Best == 1 {
		do, are = "does", "is enough: it does"
	}
	threads := Several(int(r.Best), "thread")
	most := fmt.Sprintf("Under %s %s %s most: %s.", under, threads, do, done(r.BestDone))
	if slices.ContainsFunc(r.Curve(), func(s find.Step) bool { return r.Best < s.Level && s.Level <= r.Found && s.Done > r.BestDone }) {
		most = fmt.Sprintf("Under %s %s %s %s, and no higher number that holds does over 5 %% more.", under, threads, are, done(r.BestDone))
	}
	found := units.Number(r.Found)
	text := fmt.Sprintf("More threads only add waiting: %s, the highest number that was tried, hold as well, and do %s.", found, done(r.Done))
	if r.TooMuch > 0 {
		text = fmt.Sprintf("More threads only add waiting: up to %s hold as well (%s is %s), and %s do %s.", found, units.Number(r.TooMuch), r.Beyond(), found, done(r.Done))
	}
	return []string{most, text}
}

// lowest returns the lowest level that was tried; the one that is too much without steps.
func lowest(r *find.Result) float64 {
	out := r.TooMuch
	for _, s := range r.Steps {
		out = min(out, s.Level)
	}
	return out
}

// highest returns the highest level that was tried.
func highest(r *find.Result) (out float64) {
	for _, s := range r.Steps {
		out = max(out, s.Level)
	}
	return out
}

// mostDone says what was done at most where perfbench itself was the limit and nothing held.
func mostDone(r *find.Result, many string) []string {
	most := r.Most()
	if most == nil || r.Found > 0 {
		return nil
	}
	text := fmt.Sprintf("Most was done at %s: %s %s/s", units.Number(most.Level)+many, units.Number(most.Done), r.Unit)
	if whole, alone := most.Response.P99, most.Service.P99; whole > 0 && alone > 0 {
		text += fmt.Sprintf(", with a p99 of %s, and %s in the store alone", Nanos(whole), Nanos(alone))
	}
	return []string{text + "."}
}

// inStore says what holds by the time of calls in the store alone, where perfbench itself was the limit;
// none if that is not known.
func inStore(r *find.Result, many string) []string {
	alone := r.Alone()
	holds, tooMuch, doubt := r.InStore()
	if len(alone) == 0 || holds == nil || holds.Level <= r.Found {
		return nil
	}
	text := fmt.Sprintf("In the store alone, under %s, %s holds", strings.Join(alone, " and "), units.Number(holds.Level)+many)
	switch more := r.DidMore(holds); {
	case tooMuch != nil:
		text += "; " + units.Number(tooMuch.Level) + " is too much"
	case r.Over != find.OverRate || holds.Level >= highest(r):
		text += ", the highest that was tried"
	default:
		text += ", the highest rate that perfbench kept up with"
		if more != nil {
			text += fmt.Sprintf("; when %s were asked for, %s were done, still under %s", units.Number(more.Level), units.Number(more.Done), strings.Join(alone, " and "))
		}
	}
	if doubt != nil {
		text += "; this is doubtful, as " + units.Number(doubt.Level) + " did not hold"
	}
	return []string{text + "."}
}

// open reports whether a search did not finish, and other levels than those that were tried may hold.
func open(r *find.Result) bool {
	switch {
	case r.Complete || r.Why == "" || !r.Tried():
		return false
	case r.Found > 0:
		return true
	}
	return r.Limit.By != find.ByPerfbench && r.Why != find.HeldUp && r.Why != find.TooSlow
}

// endedEarly says that a search did not finish, and so what its answer is worth; none if it did.
func endedEarly(r *find.Result, what, many string) []string {
	if !open(r) {
		return nil
	}
	if r.Recovery != nil {
		what = "base load"
	}
	worth := fmt.Sprintf("the highest %s that holds is somewhere between %s and %s", what, units.Number(r.Found), units.Number(r.TooMuch)+many)
	switch {
	case r.Found == 0:
		worth = "less than " + units.Number(r.TooMuch) + many + " may hold"
	case r.TooMuch == 0:
		worth = "more than " + units.Number(r.Found) + many + " may hold, too"
	}
	return []string{"The search ended early, because " + r.Why + ": " + worth + "."}
}

// aboveAll returns the higher rate at which more was done than is too much, and which met the conditions; nil without
// one, and where a condition is on more than the time of calls in the store, which a backlog breaks.
func aboveAll(r *find.Result) *find.Step {
	limits := r.Limits()
	if r.Over != find.OverRate || r.Recovery != nil || r.Found == 0 || r.TooMuch == 0 || len(limits) == 0 {
		return nil
	}
	for _, e := range limits {
		if e.Time != "service" {
			return nil
		}
	}
	held := r.Outcome(r.Of(r.Found)).Shown
	if more := r.DidMore(&held); more != nil && more.Done > r.TooMuch {
		return more
	}
	return nil
}

// tooMuchHere says of the lowest level that did not hold how perfbench was not up to it.
func tooMuchHere(r *find.Result) string {
	if aboveAll(r) != nil {
		return "it did not keep up with " + units.Number(r.TooMuch)
	}
	if r.Unsure(r.TooMuch) {
		return units.Number(r.TooMuch) + " is in doubt"
	}
	return units.Number(r.TooMuch) + " is too much for it"
}

// didMore says that more was done at a higher rate than the lowest that did not hold, so that this one may hold at another
// time; none if that is not so.
func didMore(r *find.Result, under, many string) []string {
	more := aboveAll(r)
	if more == nil {
		return nil
	}
	return []string{fmt.Sprintf("Yet when %s were asked for, %s were done, still under %s: at another time %s may hold.",
		units.Number(more.Level)+many, units.Number(more.Done), under, units.Number(r.TooMuch))}
}

// levels is the table of all levels, each with the try that stands for it, and one for each other number of threads.
func levels(r *find.Result) Table {
	t := Table{Words: true, Columns: []string{r.Over, r.Unit + "/s", "p50", "p90", "p99", "p99.9", "max", "service p50"}}
	alone := len(r.Judged()) == 0 && slices.ContainsFunc(r.Steps, func(s find.Step) bool { return s.Service.P99 > 0 })
	if alone {
		t.Columns = append(t.Columns, "service p99")
	}
	for _, f := range r.Judged() {
		t.Columns = append(t.Columns, f.Name)
	}
	t.Columns = append(t.Columns, "errors")
	if r.Over != find.OverThreads { // which are the level
		t.Columns = append(t.Columns, "threads")
	}
	t.Columns = append(t.Columns, "came out")
	for _, at := range r.Curve() {
		for _, s := range r.Rows(at.Level) {
			row := []string{
				units.Number(s.Level), units.Number(s.Done),
				Nanos(s.Response.P50), Nanos(s.Response.P90), Nanos(s.Response.P99), Nanos(s.Response.P999), Nanos(s.Response.Max), Nanos(s.Service.P50),
			}
			if alone {
				row = append(row, Nanos(s.Service.P99))
			}
			for _, f := range r.Judged() {
				row = append(row, Nanos(f.Of(s.Step)))
			}
			row = append(row, Whole(s.Errors))
			if r.Over != find.OverThreads {
				row = append(row, fmt.Sprint(s.Threads))
			}
			t.Add(append(row, s.Words)...)
		}
	}
	return t
}

// curve returns the chart of latency over load.
func curve(r *find.Result) plot.Chart {
	c := curves([]string{""}, []*find.Result{r})
	var p999 []int64
	for _, tried := range r.Levels() { // the moments of all lines
		p999 = append(p999, r.Outcome(tried).Shown.Response.P999)
	}
	if values := shownTimes(p999); plot.Some(values) {
		c.Lines = append(c.Lines, plot.Line{Name: "p99.9", Values: values})
	}
	for _, e := range r.Limits() {
		c.Levels = append(c.Levels, plot.Level{Value: e.Limit, Name: e.Text})
	}
	return c
}

// curvesCaption says how to read the chart of latency over load.
func curvesCaption(r *find.Result) string {
	if r.Over == find.OverThreads {
		return "Percentiles of the try that stands for each level."
	}
	return "Percentiles of the try that stands for each level. The knee is the highest level that holds; the axis below has the levels in per cent of it."
}

// curves returns the chart of latency over load of searches, each with the name of its side.
func curves(sides []string, all []*find.Result) plot.Chart {
	c := overLoad("response time over "+all[0].Over, curvesCaption(all[0]),
		units.Number)
	c.Band = "from the lowest to the highest of the tries"
	for _, r := range all {
		for _, tried := range r.Levels() {
			c.At = append(c.At, tried.Level)
		}
	}
	slices.Sort(c.At)
	placed(&c, slices.Compact(c.At))
	for i, r := range all {
		var at []float64
		var p50, p99 sweep.Spread
		for _, tried := range r.Levels() {
			at = append(at, tried.Level)
			shown := r.Outcome(tried).Shown
			p50.Add(shown.Response.P50, triesOf(tried, func(t find.Step) int64 { return t.Response.P50 }))
			p99.Add(shown.Response.P99, triesOf(tried, func(t find.Step) int64 { return t.Response.P99 }))
		}
		pair(&c, sides[i], at, p50, p99, len(r.Steps) > len(at))
		if r.Enough() {
			c.Marks = append(c.Marks, doesMost(r, sides[i]))
		}
		note := strings.TrimSpace("the highest that holds: " + units.Number(r.Found) + " " + Plain(sides[i]))
		switch {
		case r.Over == find.OverRate:
			knee(&c, sides[i], r.Found, note)
		case r.Found > 0: // a share of a number of threads says nothing
			c.Marks = append(c.Marks, plot.Mark{At: r.Found, Name: "highest", Note: note})
		}
	}
	return c
}

// wideRange is how many times the lowest level the highest is from which on an axis is logarithmic, as
// levels that double would else be in a few columns.
const wideRange = 10

// placed puts levels, in order, on the axis of a chart.
func placed(c *plot.Chart, at []float64) {
	if c.At = at; len(at) == 0 {
		return
	}
	c.To = at[len(at)-1]
	if at[0] > 0 && c.To > wideRange*at[0] {
		c.From, c.LogAcross = at[0], true
	}
	c.Ticks = apart(at, c.LogAcross)
}

// doesMost marks the number of threads that does most.
func doesMost(r *find.Result, side string) plot.Mark {
	note := fmt.Sprintf("does most: %s, %s %s/s %s", units.Number(r.Best), units.Number(r.BestDone), r.Unit, Plain(side))
	return plot.Mark{At: r.Best, Name: "most", Note: strings.TrimSpace(note)}
}

// doneOver returns the chart of throughput over the number of threads; it is empty for any other search.
func doneOver(r *find.Result) plot.Chart {
	c := plot.Chart{Title: r.Unit + " per second over " + r.Over, Caption: "What was done at each number of threads.", Format: units.Number, Mean: true,
		Across: units.Number}
	if r.Over != find.OverThreads || r.Recovery != nil {
		return c
	}
	var at, done []float64
	for _, s := range r.Curve() {
		at, done = append(at, s.Level), append(done, s.Done)
	}
	placed(&c, at)
	c.Lines = []plot.Line{{Name: r.Unit + "/s", Values: done}}
	if r.Best > 0 {
		c.Marks = append(c.Marks, doesMost(r, ""))
	}
	return c
}

// triesOf returns a percentile of each try of a level.
func triesOf(tried find.Tries, of func(find.Step) int64) (all []int64) {
	for _, s := range tried.Steps {
		all = append(all, of(s))
	}
	return all
}

// interpolated returns the value at x between known points.
func interpolated(at, values []float64, x float64) float64 {
	last := -1
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if at[i] >= x {
			if last < 0 || at[i] == at[last] {
				return v
			}
			part := (x - at[last]) / (at[i] - at[last])
			return values[last] * math.Pow(v/values[last], part)
		}
		last = i
	}
	return values[max(last, 0)]
}
