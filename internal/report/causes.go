package report

import (
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
)

// Cause is one thing that stands behind the figures of a run: what casts doubt on them, or what held
// the run back.
type Cause struct {
	// Name is its keyword, "" of what is not known; Text says what it is.
	Name, Text string
	// Cure is what to do about it, with which Text then ends; may be empty.
	Cure string
	// Doubt means that it casts doubt on the figures.
	Doubt bool
}

// same lists the causes of doubt that say of a resource what the search for what held a run back says.
var same = map[string][]verdict.Cause{
	explain.Client:  {verdict.CPU, verdict.Ceiling, verdict.GC},
	explain.Machine: {verdict.Crowded, verdict.Stolen, verdict.Throttled},
	explain.Pool:    {verdict.Pool},
}

// limitedBy is the name of a cause that held the run back.
const limitedBy = "limited by"

// Causes lists what casts doubt on the figures of a run, then when nothing was done or throughput was not the
// usual one, then in one line what held it back. The page of the verdict has what shows it.
func Causes(f *rundir.Folder) []Cause {
	var out []Cause
	told := f.Run.Verdict.Told()
	for _, d := range told {
		out = append(out, Cause{d.Cause.Word(), sentence(d.Text), d.Cure, true})
	}
	why := Why(f)
	out = append(out, Outages(f, why)...)
	for _, text := range explain.Shifts(why, f.Run.Verdict) {
		out = append(out, Cause{Name: "throughput", Text: sentence(text)})
	}
	known := func(resource string) bool {
		return slices.ContainsFunc(same[resource], func(c verdict.Cause) bool {
			_, is := verdict.Of(told, c)
			return is
		})
	}
	if text := explain.Limited(why, known); text != "" {
		out = append(out, Cause{Name: limitedBy, Text: text})
	}
	return out
}

// Outages lists when nothing was done, or only without records, apart from what a reason for doubt begins with.
// When perfbench itself did not run is one of them, however often.
func Outages(f *rundir.Folder, why *rundir.Why) (out []Cause) {
	told := f.Run.Verdict.Told()
	list := slices.Clone(why.Coincidences)
	own := func(c rundir.Coincidence) bool { return c.Outage && c.Own }
	paused := slices.DeleteFunc(slices.Clone(f.Run.Outages), func(o verdict.Outage) bool { return f.Run.Silent(o) > 0 })
	if at := slices.IndexFunc(list, own); at >= 0 && len(paused) > 1 {
		list[at].Text = f.Run.Dead(paused...)
		list = slices.Concat(list[:at+1], slices.DeleteFunc(list[at+1:], own))
	}
	for _, c := range list {
		switch {
		case c.Outage && slices.ContainsFunc(told, func(d verdict.Doubt) bool {
			return strings.HasPrefix(d.Text, f.Run.Dead(verdict.Outage{From: c.At, To: c.Until}))
		}):
		case c.Own:
			out = append(out, Cause{Name: string(verdict.Pauses), Text: sentence(c.Text)})
		case c.Outage:
			out = append(out, Cause{Name: "outage", Text: sentence(c.Text)})
		case c.Lost:
			out = append(out, Cause{Name: "lost", Text: sentence(c.Text)})
		}
	}
	return out
}

// sentence gives a text a capital letter and a full stop.
func sentence(text string) string {
	if text = units.Capital(text); text != "" && !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// causes lists them, a line for each.
func causes(f *rundir.Folder) Section {
	t := Table{Left: 2, Columns: []string{"cause", "what it is, and what to do"}}
	for _, c := range Causes(f) {
		t.Add(c.Name, c.Text)
	}
	return Section{Heading: "Causes", Weight: Answer, Table: t}
}

// Met says what a threshold of a run asked for, whether it was met, and by which figure.
func Met(t rundir.Threshold) string {
	text := t.Expr + ": missed, it was " + t.Got
	if t.OK {
		text = t.Expr + ": met, it was " + t.Got
	}
	return text
}
