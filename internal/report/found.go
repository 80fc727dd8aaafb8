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

// FoundText describes what a search found for a terminal: the answer, what limits, the
// curve and each level.
func FoundText(r *find.Result) string {
	var b strings.Builder
	for _, s := range FoundLead(r) {
		b.WriteString(s + "\n")
	}
	b.WriteString(loadText(curve(r)))
	t := levels(r)
	if r.Recovery != nil {
		t = recoveries(r)
	}
	if len(r.Steps) == 0 {
		return b.String()
	}
	return b.String() + "\n" + t.Text()
}

func foundPage(r *find.Result) Page {
	p := Page{Title: "perfbench find: " + r.Over + " under " + strings.Join(r.Under, " and "), Lead: FoundLead(r)}
	s := Section{Heading: "Latency over load", Table: levels(r)}
	if c := curve(r); !c.Empty() {
		s.Charts = []Graph{{Chart: c, Over: true, Drawn: true}}
	}
	s.Text = []string{"Times are the medians of the tries of each level. A level holds when its seconds leave no doubt; one in doubt was tried again."}
	p.Sections = append(p.Sections, s)
	if r.Recovery != nil {
		p.Sections = append([]Section{{Heading: "Recovery", Table: recoveries(r)}}, p.Sections...)
		p.Sections[1].Text = []string{"The calls after the overload, of the last try of each base load."}
	}
	if len(r.Steps) > len(r.Curve()) {
		all := Table{Left: 1, Columns: []string{"", "from", "to", r.Over, r.Unit + "/s", "p99"}}
		for _, f := range r.Judged() {
			all.Columns = append(all.Columns, f.Name)
		}
		for _, s := range r.Steps {
			row := []string{s.Words(), plot.Clock(s.FromS), plot.Clock(s.ToS), levelText(r, s.Level), units.Number(s.Done), Nanos(s.Response.P99)}
			for _, f := range r.Judged() {
				row = append(row, Nanos(f.Of(s)))
			}
			all.Add(row...)
		}
		p.Sections = append(p.Sections, Section{Heading: "Every step", Table: all})
	}
	return p
}

// FoundLead says in a few sentences what was found: the answer, what limits, and how
// the search went.
func FoundLead(r *find.Result) []string {
	under := strings.Join(r.Under, " and ")
	what, many := "rate", " "+r.Unit+"/s"
	if r.Over != "rate" {
		what, many = "number of "+r.Over, " "+r.Over
	}
	var out []string
	switch {
	case r.Recovery != nil:
		out = append(out, recoveredLead(r, many)...)
	case !r.Tried():
		out = append(out, fmt.Sprintf("The search tried no %s to its end, because %s.", what, r.Why))
	case r.Found == 0 && r.Limit.By == find.ByPerfbench:
		out = append(out, fmt.Sprintf("What the store holds under %s is not known: perfbench itself was the limit at every level, down to %s.", under, levelText(r, lowest(r))+many))
	case r.Found == 0 && r.Limit.By == find.ByThreads:
		out = append(out, fmt.Sprintf("What the store holds under %s is not known: with %s, %s is already too much.", under, Several(r.Threads, "thread"), levelText(r, r.TooMuch)+many))
	case r.Found == 0 && !r.Complete:
		out = append(out, fmt.Sprintf("No %s that was tried holds under %s: %s is already too much.", what, under, levelText(r, r.TooMuch)+many))
	case r.Found == 0:
		out = append(out, fmt.Sprintf("No %s holds under %s: %s is already too much.", what, under, levelText(r, r.TooMuch)+many))
	case r.TooMuch == 0:
		out = append(out, fmt.Sprintf("Under %s %s holds, the highest %s that was tried.", under, levelText(r, r.Found)+many, what))
	case r.Limit.By == find.ByPerfbench:
		out = append(out, fmt.Sprintf("Perfbench on this machine comes to %s under %s; %s is too much for it. The store may do more.", levelText(r, r.Found)+many, under, levelText(r, r.TooMuch)))
	case r.Limit.By == find.ByThreads:
		out = append(out, fmt.Sprintf("With %s the highest %s under %s is %s; %s is too much. The store may do more.", Several(r.Threads, "thread"), what, under, levelText(r, r.Found)+many, levelText(r, r.TooMuch)))
	default:
		out = append(out, fmt.Sprintf("The highest %s under %s is %s; %s is too much.", what, under, levelText(r, r.Found)+many, levelText(r, r.TooMuch)))
	}
	if r.Over != "rate" && r.Done > 0 {
		text := fmt.Sprintf("That is %s %s/s.", units.Number(r.Done), r.Unit)
		if most := r.Most(); most != nil && most.Level < r.Found && most.Done > alikeDone*r.Done {
			text += fmt.Sprintf(" Fewer did more: %s did %s %s/s.", Several(int(most.Level), "thread"), units.Number(most.Done), r.Unit)
		}
		out = append(out, text)
	}
	if r.Limit.Text != "" {
		out = append(out, "What limits is "+r.Limit.Text+".")
	}
	if r.Limit.By == find.ByPerfbench {
		out = append(out, inStore(r, many)...)
		text := "To measure the store, give perfbench a machine that is not busy otherwise"
		if alone := r.Alone(); len(alone) > 0 {
			text += ", or judge the time of calls in the store alone, under " + strings.Join(alone, " and ")
		}
		out = append(out, text+".")
	}
	if !r.Complete && r.Why != "" && r.Tried() {
		text := "The search did not finish, because " + r.Why
		if r.Found > 0 || r.Limit.By != find.ByPerfbench && r.Why != find.HeldUp {
			text += ": " + open(r)
		}
		out = append(out, text+".")
	}
	if len(r.Steps) == 0 {
		return out
	}
	return append(out, fmt.Sprintf("It took %s, in %s, with %s at the end.", Length(math.Round(r.Seconds)), Several(len(r.Steps), "step"), Several(r.Threads, "thread")))
}

// alikeDone is up to which factor two throughputs are told as one.
const alikeDone = 1.05

// lowest returns the lowest level that was tried; the one that is too much without steps.
func lowest(r *find.Result) float64 {
	out := r.TooMuch
	for _, s := range r.Steps {
		out = min(out, s.Level)
	}
	return out
}

// inStore says what is known of a store although perfbench itself was the limit: what was done at
// most, and what holds by the time of calls in the store alone.
func inStore(r *find.Result, many string) (out []string) {
	if most := r.Most(); most != nil && r.Found == 0 {
		text := fmt.Sprintf("The most that was done at a level that was tried is %s %s/s, at %s", units.Number(most.Done), r.Unit, levelText(r, most.Level)+many)
		if most.Response.P99 > 0 && most.Service.P99 > 0 {
			text += fmt.Sprintf(", with a p99 of %s, and %s in the store alone", Nanos(most.Response.P99), Nanos(most.Service.P99))
		}
		out = append(out, text+".")
	}
	alone := r.Alone()
	holds, tooMuch, doubt := r.InStore()
	if len(alone) == 0 || holds == nil || holds.Level <= r.Found {
		return out
	}
	text := fmt.Sprintf("In the store alone, under %s, %s holds", strings.Join(alone, " and "), levelText(r, holds.Level)+many)
	if tooMuch == nil {
		text += ", the highest that was done"
	} else {
		text += "; " + levelText(r, tooMuch.Level) + " is too much"
	}
	if doubt != nil {
		text += "; this is doubtful, as " + levelText(r, doubt.Level) + " did not hold"
	}
	return append(out, text+".")
}

// open says what a search that did not finish leaves open.
func open(r *find.Result) string {
	switch {
	case r.Found == 0:
		return "a lower one may hold"
	case r.TooMuch == 0:
		return "a higher one may hold, too"
	}
	return "the two may be further apart than usual"
}

// levelText formats a level with three or more digits.
func levelText(r *find.Result, v float64) string {
	if r.Over != "rate" || v >= 1e4 {
		return units.Number(v)
	}
	return fmt.Sprintf("%.4g", v)
}

// levels is the table of all levels, each with the medians of its tries.
func levels(r *find.Result) Table {
	t := Table{Words: true, Columns: []string{r.Over, r.Unit + "/s", "p50", "p90", "p99", "p99.9", "max", "service p50"}}
	alone := len(r.Judged()) == 0 && slices.ContainsFunc(r.Steps, func(s find.Step) bool { return s.Service.P99 > 0 })
	if alone {
		t.Columns = append(t.Columns, "service p99")
	}
	for _, f := range r.Judged() {
		t.Columns = append(t.Columns, f.Name)
	}
	t.Columns = append(t.Columns, "errors", "threads", "came out")
	for _, s := range r.Curve() {
		tries := r.Of(s.Level)
		median := func(of func(find.Step) int64) string { return Nanos(tries.Median(of)) }
		row := []string{
			levelText(r, s.Level), units.Number(s.Done),
			median(func(s find.Step) int64 { return s.Response.P50 }), median(func(s find.Step) int64 { return s.Response.P90 }),
			median(func(s find.Step) int64 { return s.Response.P99 }), median(func(s find.Step) int64 { return s.Response.P999 }),
			median(func(s find.Step) int64 { return s.Response.Max }), median(func(s find.Step) int64 { return s.Service.P50 }),
		}
		if alone {
			row = append(row, median(func(s find.Step) int64 { return s.Service.P99 }))
		}
		for _, f := range r.Judged() {
			row = append(row, median(f.Of))
		}
		words, _, _ := r.Told(s.Level)
		t.Add(append(row, Whole(s.Errors), fmt.Sprint(s.Threads), words)...)
	}
	return t
}

// curve returns the chart of latency over load.
func curve(r *find.Result) plot.Chart {
	c := curves([]string{""}, []*find.Result{r})
	var p999 []int64
	for _, tried := range r.Levels() { // the moments of all lines
		p999 = append(p999, tried.Median(func(s find.Step) int64 { return s.Response.P999 }))
	}
	if values := shownTimes(p999); plot.Some(values) {
		c.Lines = append(c.Lines, plot.Line{Name: "p99.9", Values: values})
	}
	for _, e := range r.Limits() {
		c.Levels = append(c.Levels, plot.Level{Value: e.Limit, Name: e.Text})
	}
	return c
}

// curves returns the chart of latency over load of searches, each with the name of its side.
func curves(sides []string, all []*find.Result) plot.Chart {
	c := overLoad("response time over "+all[0].Over, "Percentiles of the median try of each level. The knee is the highest level that holds; the axis below has the levels in per cent of it.",
		func(v float64) string { return levelText(all[0], v) })
	c.Band = "from the lowest to the highest of the tries"
	for _, r := range all {
		for _, tried := range r.Levels() {
			c.At = append(c.At, tried.Level)
		}
	}
	slices.Sort(c.At)
	if c.At = slices.Compact(c.At); len(c.At) > 0 {
		c.To, c.Ticks = c.At[len(c.At)-1], apart(c.At)
	}
	for i, r := range all {
		var at []float64
		var p50, p99 sweep.Spread
		for _, tried := range r.Levels() {
			at = append(at, tried.Level)
			p50.Add(triesOf(tried, func(t find.Step) int64 { return t.Response.P50 }))
			p99.Add(triesOf(tried, func(t find.Step) int64 { return t.Response.P99 }))
		}
		pair(&c, sides[i], at, p50, p99, len(r.Steps) > len(at))
		knee(&c, sides[i], r.Found, strings.TrimSpace("the highest that holds: "+levelText(r, r.Found)+" "+Plain(sides[i])))
	}
	return c
}

// triesOf returns the median of a percentile over the tries of a level, and that of each.
func triesOf(tried find.Tries, of func(find.Step) int64) (median int64, all []int64) {
	for _, s := range tried.Steps {
		all = append(all, of(s))
	}
	return tried.Median(of), all
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
