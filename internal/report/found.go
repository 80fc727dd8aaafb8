package report

import (
	"cmp"
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

// FoundText describes what a search found for a terminal: the answer, the curve, each level, and what else is known.
func FoundText(r *find.Result) string {
	a := FoundAnswer(r)
	var b strings.Builder
	for _, line := range a.Lines() {
		b.WriteString(line + "\n")
	}
	if len(r.Steps) > 0 {
		t := levels(r)
		if r.Recovery != nil {
			t = recoveries(r)
		}
		b.WriteString(loadText(doneOver(r)) + loadText(curve(r)) + "\n" + t.Text() + "\n")
	}
	for _, line := range a.More {
		b.WriteString(line + "\n")
	}
	return b.String()
}

func foundPage(r *find.Result) Page {
	a := FoundAnswer(r)
	p := Page{Title: "perfbench find: " + r.Over + " under " + strings.Join(r.Under, " and "), Lead: a.Lines()}
	s := Section{Heading: "Latency over load", Table: levels(r)}
	sought, _ := r.Sought()
	if c := doneOver(r); !c.Empty() {
		s.Charts = append(s.Charts, Graph{Chart: c, Over: true, Drawn: true})
	}
	if c := curve(r); !c.Empty() {
		s.Charts = append(s.Charts, Graph{Chart: c, Over: true, Drawn: true})
	}
	s.Text = []string{"The row of a level has one of its tries: of those that came out as the level did, the median one by " + sought + "; where the level is not unclear, no unclear try. A level holds when its seconds leave no doubt; an unclear one was tried again."}
	p.Sections = append(p.Sections, s)
	if r.Recovery != nil {
		p.Sections = append([]Section{{Heading: "Recovery", Table: recoveries(r)}}, p.Sections...)
		p.Sections[1].Text = []string{"The calls after the overload."}
	}
	p.Add(Section{Heading: "More", Text: a.More})
	if len(r.Steps) > len(r.Curve()) {
		all := Table{Left: 1, Columns: []string{"", "from", "to", r.Over}}
		if r.Over != find.OverThreads { // which are the level
			all.Columns = append(all.Columns, "threads")
		}
		all.Columns = append(all.Columns, r.Unit+"/s", "p50", "p99")
		for _, f := range r.Judged() {
			all.Columns = append(all.Columns, f.Name)
		}
		all.Columns = append(all.Columns, "stands for its level")
		for _, s := range r.Steps {
			row := []string{r.Words(s), plot.Clock(s.FromS), plot.Clock(s.ToS), units.Number(s.Level)}
			if r.Over != find.OverThreads {
				row = append(row, fmt.Sprint(s.Threads))
			}
			row = append(row, units.Number(s.Done), Nanos(s.Response.P50), Nanos(s.Response.P99))
			for _, f := range r.Judged() {
				row = append(row, Nanos(f.Of(s)))
			}
			stands := ""
			if r.Stands(s) {
				stands = "yes"
			}
			all.Add(append(row, stands)...)
		}
		p.Sections = append(p.Sections, Section{Heading: "Every try", Table: all})
	}
	return p
}

// FoundLines are what a search found, in lines of one fact each. What the table of levels has of a level is in none of them.
type FoundLines struct {
	// Lead is the answer, and Doubt why it is worth less than it looks; empty if it is not.
	Lead, Doubt string
	// Limits say what the answer is about, what limits, what the store alone holds, and what to do next, in three lines at most.
	Limits []string
	// More is what else is known, and how the search went.
	More []string
}

// mostLimits is how many lines FoundLines.Limits has at most.
const mostLimits = 3

// Lines are the answer and what limits, in the order in which they are read.
func (a FoundLines) Lines() []string {
	lead := a.Lead
	if a.Doubt != "" {
		lead += separator + a.Doubt
	}
	return append([]string{lead}, a.Limits...)
}

// FoundAnswer says what was found. A reader wants the picture and the table between the limits and the rest.
func FoundAnswer(r *find.Result) FoundLines {
	under := "under " + strings.Join(r.Under, " and ")
	what, many := soughtWords(r)
	a := FoundLines{Lead: lead(r, under, what, many), Doubt: onALine(endedEarly(r, many), contradicted(r))}
	add := func(to *[]string, facts ...string) {
		*to = append(*to, slices.DeleteFunc(facts, func(f string) bool { return f == "" })...)
	}
	add(&a.Limits, anotherMix(r))
	if d := r.Waited(r.Found); d > 0 {
		add(&a.Limits, fmt.Sprintf("users wait up to %s for their calls to begin: no condition limits that", units.Duration(d)))
	}
	add(&a.Limits, limit(r))
	if r.Limit.By == find.ByPerfbench {
		add(&a.Limits, StoreAlone(r))
	}
	_, hint, _ := strings.Cut(r.Why, " (") // how it could have gone on
	add(&a.Limits, strings.TrimSuffix(hint, ")"), next(r))
	if n := len(a.Limits); n > mostLimits { // what to do next is the last one
		add(&a.More, a.Limits[mostLimits-1:n-1]...)
		a.Limits = append(a.Limits[:mostLimits-1:mostLimits-1], a.Limits[n-1])
	}
	if r.Recovery != nil {
		add(&a.More, recoveredIn(r))
	}
	if r.Enough() {
		add(&a.More, moreWait(r)...)
	}
	if level, tries, held, seconds := restsOn(r); tries > 1 { // one is in the lead
		add(&a.More, fmt.Sprintf("%s: held %d of %s · %s", units.Number(level), held, units.Plural(tries, "try"), seconds))
	}
	add(&a.More, didMore(r, under))
	add(&a.More, withThreads(r, many)...)
	add(&a.More, unlimited(r), mixes(r))
	if r.Limit.By == find.ByPerfbench {
		add(&a.More, doneInStore(r), mostDone(r, many))
		if _, why, ok := strings.Cut(r.Limit.Text, ": "); ok {
			add(&a.More, "why: "+why)
		}
	}
	if why, _, _ := strings.Cut(r.Why, " ("); !r.Complete && why != "" && r.Tried() && !open(r) {
		add(&a.More, "not finished: "+why)
	}
	if len(r.Steps) > 0 {
		add(&a.More, tookText(r))
	}
	return a
}

// next says how to measure the store where that was not done; empty where it was.
func next(r *find.Result) string {
	if r.Limit.By != find.ByPerfbench {
		return ""
	}
	text := "to measure the store: give perfbench a machine that is not busy otherwise"
	if next := r.Advised(); next != nil {
		text += ", or search under " + strings.Join(next.Under, " and ")
	}
	return text
}

// onALine puts facts on a line, without those that are empty.
func onALine(facts ...string) string {
	return strings.Join(slices.DeleteFunc(facts, func(f string) bool { return f == "" }), separator)
}

// separator stands between the facts on a line.
const separator = " · "

// tookText says how long a search took, and with how many threads.
func tookText(r *find.Result) string {
	text := fmt.Sprintf("took %s · %s of %s", Length(math.Round(r.Seconds)), units.Plural(len(r.Steps), "try"), units.Plural(len(r.Newest()), "level"))
	if n := numbers(r.Steps); r.Over == find.OverRate && len(n) == 1 {
		text += " · " + Several(n[0], "thread")
	}
	return text
}

// soughtWords says what a search is for, a rate, and of what its levels are so many.
func soughtWords(r *find.Result) (what, many string) {
	if r.Over != "rate" {
		return "number of " + r.Over, " " + r.Over
	}
	return "rate", " " + r.Unit + "/s"
}

// lead says which level holds; where less was done than was asked for, how much was.
func lead(r *find.Result, under, what, many string) string {
	tooMuch := units.Number(r.TooMuch) + many + " is already " + r.Beyond()
	switch {
	case r.Recovery != nil:
		return recoveredLead(r, many)
	case !r.Tried():
		return fmt.Sprintf("No %s was tried to its end: %s", what, r.Why)
	case r.Found == 0 && r.Limit.By == find.ByPerfbench:
		return fmt.Sprintf("Unknown %s: %s was the limit %s", under, r.Limit.Measured(), evenAt(r, many))
	case r.Found == 0 && r.Limit.By == find.ByThreads:
		return fmt.Sprintf("Unknown %s: with %s, %s", under, Several(ofTooMuch(r), "thread"), tooMuch)
	case r.Found == 0 && !r.Complete:
		return fmt.Sprintf("No %s that was tried holds %s: %s", what, under, tooMuch)
	case r.Found == 0:
		return fmt.Sprintf("No %s holds %s: %s", what, under, tooMuch)
	case r.Enough():
		return fmt.Sprintf("%s %s: they do most, %s %s/s", Several(int(r.Best), "thread"), under, units.Number(r.BestDone), r.Unit) + inOneTry(r)
	}
	text := units.Number(r.Found) + many + " " + under
	if r.Behind > 0 {
		text = fmt.Sprintf("%s%s done at a rate of %s %s", units.Number(r.Done), many, units.Number(r.Found), under)
	}
	if r.TooMuch == 0 {
		text = "At least " + text
	}
	if r.Over != find.OverRate && r.Done > 0 {
		text += fmt.Sprintf(": %s %s/s", units.Number(r.Done), r.Unit)
	}
	return onALine(text+inOneTry(r), tooMuchAt(r))
}

// tooMuchAt says what is known of the lowest level that did not hold, and which ones below what is too much are unclear;
// empty without one.
func tooMuchAt(r *find.Result) string {
	switch {
	case r.Found > 0 && r.TooMuch == 0 && r.Narrow() != nil:
		s := r.Narrow()
		return fmt.Sprintf("%s is %s with %s, not tried with %d", units.Number(s.Level), r.Outcome(r.Of(s.Level)).State(), Several(s.Threads, "thread"), r.Outcome(r.Of(r.Found)).Shown.Threads)
	case r.Found == 0 || r.TooMuch == 0 || r.Recovery != nil:
		return ""
	case aboveAll(r) != nil:
		return units.Number(r.TooMuch) + " was not kept up with"
	}
	switch holds, from, to, tooMuch := r.Known(); {
	case holds != r.Found || from == 0:
	case tooMuch > 0:
		return unclear(from, to) + ", " + units.Number(tooMuch) + " too much"
	default:
		return unclear(from, to)
	}
	return units.Number(r.TooMuch) + " is " + r.Beyond()
}

// unclear says between which levels it is unclear whether they hold.
func unclear(from, to float64) string {
	if from < to {
		return units.Number(from) + " to " + units.Number(to) + " are unclear"
	}
	return units.Number(from) + " is unclear"
}

// limit says what limits; empty if that is not known, or the lead says it.
func limit(r *find.Result) string {
	switch by := r.Limit.By; {
	case by == find.ByNone && r.Complete && r.Enough(): // a higher one is no use
		return ""
	case by == find.ByNone && r.Complete && r.TooMuch == 0:
		return "no limit found: the highest level to try holds; a higher --to looks further"
	case r.Limit.Text == "" || by == find.ByPerfbench && r.Found == 0:
		return ""
	case by == find.ByPerfbench && r.Limit.Machine() != "":
		return "limit: " + r.Limit.Measured() + "; the store may do more"
	case by == find.ByPerfbench:
		return "limit: perfbench on this machine; the store may do more"
	}
	return "limit: " + strings.Replace(r.Limit.Text, ": ", separator, 1)
}

// evenAt says where perfbench or the machine was the limit of a search in which nothing held.
func evenAt(r *find.Result, many string) string {
	if low := lowest(r); low < r.TooMuch {
		return fmt.Sprintf("at %s, and %s is unclear", units.Number(r.TooMuch)+many, units.Number(low))
	}
	return fmt.Sprintf("even at %s, the lowest that was tried", units.Number(r.TooMuch)+many)
}

// contradicted is why an answer is doubtful: some of its tries held and others did not, because of the store or because it
// was not measured, or a lower rate failed; empty for any other.
func contradicted(r *find.Result) string {
	o := r.Outcome(r.Of(r.Found))
	below := failedBelow(r)
	if !restsOnRate(r, o) || (o.Good == o.Tries || !o.Doubtful) && !below {
		return ""
	}
	ours := 0
	for _, s := range r.Of(r.Found).Steps {
		if !s.Held && len(s.Ours) > 0 && s.Threads == o.Shown.Threads {
			ours++
		}
	}
	if !below && o.Good+ours == o.Tries {
		return fmt.Sprintf("doubtful: %d of %s did not measure the store", ours, units.Plural(o.Tries, "try"))
	}
	return "doubtful: tries contradict each other"
}

// restsOnRate reports whether a search found a rate, which came out like this.
func restsOnRate(r *find.Result, o find.Outcome) bool {
	return r.Found > 0 && r.Over == find.OverRate && r.Recovery == nil && o.Tries > 0
}

// failedBelow reports whether a lower rate than the highest that held failed in one of its tries, other than with fewer
// threads or where the store was not measured.
func failedBelow(r *find.Result) bool {
	return slices.ContainsFunc(r.Curve(), func(s find.Step) bool {
		return s.Level < r.Found && slices.ContainsFunc(r.Of(s.Level).Steps, func(other find.Step) bool {
			return !other.Held && len(other.Ours) == 0 && (!s.Held || other.Threads == s.Threads)
		})
	})
}

// restsOn returns how surely the answer holds, the highest rate or the number of threads that does most: in how many tries
// and for how long; no tries where none holds.
func restsOn(r *find.Result) (level float64, tries, held int, seconds string) {
	if level = r.Found; r.Enough() {
		level = r.Best
	}
	o := r.Outcome(r.Of(level))
	if level == 0 || r.Recovery != nil {
		return 0, 0, 0, ""
	}
	sum := 0.0
	for _, s := range r.Of(level).Steps {
		if s.Held && s.Threads == o.Shown.Threads {
			sum += s.ToS - s.FromS
		}
	}
	return level, o.Tries, o.Good, Length(math.Round(sum))
}

// inOneTry says that the answer stands on a single try; empty if it does not.
func inOneTry(r *find.Result) string {
	if _, tries, _, seconds := restsOn(r); tries == 1 {
		return ", held in one try of " + seconds
	}
	return ""
}

// unlimited says what was done without a rate before the first level, and why its times are not those of calls at a
// rate; empty if it is not known.
func unlimited(r *find.Result) string {
	u := r.Unlimited
	if u == nil {
		return ""
	}
	text := fmt.Sprintf("without a rate: %s %s/s", units.Number(u.Done), r.Unit)
	if u.Response.P99 > 0 {
		text += ", p99 " + Nanos(u.Response.P99)
	}
	text += " · " + Several(u.Threads, "thread")
	if u.Response.P99 > 0 && r.Found < u.Done {
		text += " · no call waits for a thread then"
	}
	return text
}

// anotherMix says that the answer is for another mix than a run without a rate has, by the track whose share differs most;
// empty where it is the same.
func anotherMix(r *find.Result) string {
	if r.Unlimited == nil || len(r.Unlimited.Parts) == 0 {
		return ""
	}
	most := slices.MaxFunc(r.Unlimited.Parts, func(a, b find.Part) int {
		return cmp.Compare(math.Abs(a.Share-a.AtRate), math.Abs(b.Share-b.AtRate))
	})
	return fmt.Sprintf("at a rate the mix is %.0f %% %s, without one %.0f %%: %s/s of the two do not compare", 100*most.AtRate, most.Track, 100*most.Share, r.Unit)
}

// mixes has the shares of all tracks where anotherMix does not tell them; empty where it does.
func mixes(r *find.Result) string {
	if r.Unlimited == nil || len(r.Unlimited.Parts) < 3 {
		return ""
	}
	var parts []string
	for _, p := range r.Unlimited.Parts {
		parts = append(parts, fmt.Sprintf("%s %.0f %% (%.0f %% at a rate)", p.Track, 100*p.Share, 100*p.AtRate))
	}
	return "the mix without a rate: " + strings.Join(parts, ", ")
}

// withThreads says of a search that changed the number of threads with how many the answer holds, and what others did.
func withThreads(r *find.Result, many string) (out []string) {
	if r.Over != find.OverRate || r.Recovery != nil || len(numbers(r.Steps)) < 2 {
		return nil
	}
	if r.Found > 0 {
		held := r.Outcome(r.Of(r.Found)).Shown.Threads
		text := fmt.Sprintf("threads: %s holds with %d", units.Number(r.Found), held)
		if tried := numbers(r.Of(r.TooMuch).Steps); len(tried) > 0 && !slices.Contains(tried, held) {
			text += fmt.Sprintf(" · %s was tried with %s only", units.Number(r.TooMuch), with(tried))
		}
		if s := r.Narrow(); s != nil && r.TooMuch > 0 {
			text += fmt.Sprintf(" · %s is %s with %d, not tried with %d", units.Number(s.Level), r.Outcome(r.Of(s.Level)).State(), s.Threads, held)
		}
		out = append(out, text)
	}
	a, b := r.InVain()
	if b == nil {
		return out
	}
	name, of := r.Sought()
	var these []string // as the table has them
	for _, row := range r.Rows(b.Level) {
		if row.Held || row.Threads != a.Threads && row.Threads != b.Threads {
			continue
		}
		text := fmt.Sprint(row.Threads)
		if of(row.Step) > 0 {
			text += fmt.Sprintf(" (%s %s)", name, Nanos(of(row.Step)))
		}
		these = append(these, text)
	}
	if len(these) == 2 {
		out = append(out, fmt.Sprintf("threads: neither %s nor %s held %s", these[0], these[1], units.Number(b.Level)+many))
	}
	return out
}

// numbers returns the numbers of threads of tries, from the lowest up.
func numbers(tries []find.Step) (out []int) {
	for _, s := range tries {
		out = append(out, s.Threads)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// with names numbers of threads: "8 and 32".
func with(threads []int) string {
	var out []string
	for _, n := range threads {
		out = append(out, fmt.Sprint(n))
	}
	return strings.Join(out, " and ")
}

// ofTooMuch is the largest number of threads with which the level was tried that is too much.
func ofTooMuch(r *find.Result) int {
	if tried := numbers(r.Of(r.TooMuch).Steps); len(tried) > 0 {
		return tried[len(tried)-1]
	}
	return r.Threads
}

// moreWait says what more threads do than the number that does most.
func moreWait(r *find.Result) (out []string) {
	if slices.ContainsFunc(r.Curve(), func(s find.Step) bool { return r.Best < s.Level && s.Level <= r.Found && s.Done > r.BestDone }) {
		out = append(out, "no higher number that holds does over 5 % more")
	}
	found := units.Number(r.Found)
	text := fmt.Sprintf("more threads only add waiting: %s hold as well, and do %s %s/s", found, units.Number(r.Done), r.Unit)
	if r.TooMuch == 0 {
		text = fmt.Sprintf("more threads only add waiting: %s, the highest number tried, hold as well, and do %s %s/s", found, units.Number(r.Done), r.Unit)
	}
	return append(out, text)
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
func mostDone(r *find.Result, many string) string {
	most := r.Most()
	if most == nil || r.Found > 0 {
		return ""
	}
	text := fmt.Sprintf("most done: %s %s/s with %s", units.Number(most.Done), r.Unit, units.Number(most.Level)+many)
	if r.Over == find.OverRate {
		text = fmt.Sprintf("most done at a rate: %s %s/s, asked for %s", units.Number(most.Done), r.Unit, units.Number(most.Level))
	}
	if whole, alone := most.Response.P99, most.Service.P99; whole > 0 && alone > 0 {
		text += fmt.Sprintf(" · p99 %s, %s in the store alone", Nanos(whole), Nanos(alone))
	}
	return text
}

// StoreAlone says what holds by the time of calls in the store alone, where perfbench itself was the limit;
// empty if that is not known.
func StoreAlone(r *find.Result) string {
	alone := r.Alone()
	_, many := soughtWords(r)
	holds, failed := r.InStore()
	if len(alone) == 0 || holds == nil || holds.Level <= r.Found {
		return ""
	}
	level, under := units.Number(holds.Level)+many, strings.Join(alone, " and ")
	if len(numbers(r.Of(holds.Level).Steps)) > 1 && r.Over == find.OverRate {
		level += " with " + Several(holds.Threads, "thread")
	}
	text := fmt.Sprintf("in the store alone, %s met %s", level, under)
	switch {
	case len(failed) > 0 && failed[0].Level < holds.Level:
		return text + ", but " + theseLevels(failed) + " did not: doubtful"
	case len(failed) > 0:
		return text + "; " + units.Number(failed[0].Level) + " is too much"
	case r.Over != find.OverRate || holds.Level >= highest(r):
		return text + ", the highest tried"
	}
	return text + ", the highest that perfbench kept up with"
}

// doneInStore says what was done at a higher rate than the highest that perfbench kept up with, where the store alone met
// the conditions there, too; empty if it did not.
func doneInStore(r *find.Result) string {
	holds, failed := r.InStore()
	if StoreAlone(r) == "" || len(failed) > 0 || r.Over != find.OverRate {
		return ""
	}
	more := r.DidMore(holds)
	if more == nil {
		return ""
	}
	return fmt.Sprintf("asked for %s, %s were done under %s", units.Number(more.Level), units.Number(more.Done), strings.Join(r.Alone(), " and "))
}

// mostNamed is how many levels are named one by one.
const mostNamed = 4

// theseLevels names levels from the lowest up.
func theseLevels(steps []find.Step) string {
	var out []string
	for _, s := range steps {
		out = append(out, units.Number(s.Level))
	}
	if n := len(out); n > mostNamed {
		out = append(out[:mostNamed-1:mostNamed-1], fmt.Sprintf("%d others", n-mostNamed+1))
	}
	if n := len(out); n > 1 {
		return strings.Join(out[:n-1], ", ") + " and " + out[n-1]
	}
	return out[0]
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

// endedEarly says that a search did not finish, and what that leaves open; empty if it did.
func endedEarly(r *find.Result, many string) string {
	if !open(r) {
		return ""
	}
	why, _, _ := strings.Cut(r.Why, " (")
	text := "ended early: " + why
	switch {
	case r.Found == 0:
		text += "; less than " + units.Number(r.TooMuch) + many + " may hold"
	case r.TooMuch == 0:
		text += "; more may hold"
	}
	return text
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

// didMore says that more was done at a higher rate than the lowest that did not hold, so that this one may hold at another
// time; empty if that is not so.
func didMore(r *find.Result, under string) string {
	more := aboveAll(r)
	if more == nil {
		return ""
	}
	return fmt.Sprintf("asked for %s, %s were done %s: at another time %s may hold", units.Number(more.Level), units.Number(more.Done), under, units.Number(r.TooMuch))
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
