package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// RunPage lays out a run for people.
func RunPage(f *rundir.Folder) Page {
	r := &f.Run
	own := judgedRun(f)
	versus := comparedRun(f, own)
	c, m := rundir.Of(f), momentsOf(f)
	done := effect.Effects(effect.Of(f))
	events := eventsOf(f, c, done)
	axis := axisOf(f, c, events, done)
	p := frontPage(f, own, versus)
	p.Add(Section{Heading: "Course", Weight: Answer, Charts: graphs(f, c, m, axis)}, operations(r))
	p.Opening = len(p.Sections)
	p.Add(causes(f), lost(f), answers(AnswersOf(r)), beside(versus), why(f), again(r),
		effects(r, done), stretches(f, c, m, axis), resources(f, axis), happened(r, events),
		withCurve(allTimes(r), f), several(f), segments(r), failures(r), sessions(r), shares(r), workers(r), processes(r), noted(r),
		checks(r), environment(r), values(r))
	return p
}

// frontPage is what a report of a run begins with: its title, headline figures and what is to be known.
func frontPage(f *rundir.Folder, own *compare.Run, versus *compare.Comparison) Page {
	r := &f.Run
	p := Page{
		Title:   "perfbench " + r.Profile + mode(r) + " on " + StoreName(r.Store),
		Figures: answer(r, own, versus),
		Notices: r.Remarks(),
		Lead: []string{
			fmt.Sprintf("Run %s, started %s, %s%s after %s of warm-up, %s, seed %d.",
				r.ID, r.Started.Format("2006-01-02 15:04:05 MST"), r.MeasuredText(), inBrackets(r.PausedText()), Length(r.WarmupS), r.Ending("the user"), r.Seed),
			"Target " + r.Target + ". Verdict: " + r.Verdict.State + thresholds(r) + ". Verification " + r.Verification.State + Ends(r.Verification.Summary),
		},
	}
	if r.Name != "" {
		p.Lead = append(p.Lead, "In its plan it is called "+r.Name+".")
	}
	if len(r.Tags) > 0 {
		p.Lead = append(p.Lead, "Tags: "+strings.Join(r.TagWords(), ", ")+".")
	}
	if r.Note != "" {
		p.Lead = append(p.Lead, "Note: "+r.Note)
	}
	return p
}

// inBrackets appends a remark to a figure; "" for none.
func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// some returns the sections that are not empty.
func some(list ...Section) []Section {
	return slices.DeleteFunc(list, Section.Empty)
}

func mode(r *rundir.Run) string {
	if r.Mode == "" {
		return ""
	}
	return " (" + r.Mode + ")"
}

// StoreName names a store with its product, version and topology.
func StoreName(s rundir.Store) string {
	var more []string
	for _, w := range []string{strings.TrimSpace(s.Product + " " + s.Version), s.Topology} {
		if w != "" && w != s.Name {
			more = append(more, w)
		}
	}
	if len(more) == 0 {
		return s.Name
	}
	return s.Name + " (" + strings.Join(more, ", ") + ")"
}

// thresholds says how many were met, and what each figure was.
func thresholds(r *rundir.Run) string {
	all := r.Verdict.Thresholds
	if len(all) == 0 {
		return ""
	}
	text := fmt.Sprintf(". Thresholds: %d of %d met", len(all)-len(r.Verdict.Missed()), len(all))
	for _, t := range all {
		text += "; " + Met(t)
	}
	return text
}

// Ends returns the end of a sentence that may be followed by a summary: ": SUMMARY." or
// ".".
func Ends(summary string) string {
	summary = strings.TrimRight(summary, ".")
	if summary == "" {
		return "."
	}
	return ": " + summary + "."
}

// rate formats a rate per second. NaN is that of a run that failed its verification, a
// dash stands where nothing ran, or not for long enough.
func rate(r *rundir.Run, v *float64) string {
	switch {
	case v != nil:
		return units.Number(*v)
	case r.Failed():
		return "NaN"
	}
	return "–"
}

// operations shows each rate with the latency at which it was achieved.
func operations(r *rundir.Run) Section {
	t := Table{Left: 2, Columns: []string{"track", "operation", r.Unit, "per second", "at p50", "at p99", "max", "errors", "never sent"}}
	mixed := Mixed(r)
	if mixed {
		t.Left, t.Columns = 3, slices.Insert(t.Columns, 2, "counts")
		t.Columns[3] = "count"
	}
	for _, o := range r.Operations {
		row := append([]string{o.Track, o.Op, Whole(o.Count), rate(r, o.Throughput)}, tail(o)...)
		if mixed {
			row = slices.Insert(row, 2, r.UnitOf(o))
		}
		t.Add(row...)
	}
	s := Section{Heading: "Operations", Weight: Answer, Table: t}
	if mixed := r.MixedSegments(); mixed != "" {
		s.Text = append(s.Text, "These figures mix "+mixed+"; each has figures of its own further down.")
	}
	s.Text = append(s.Text, Beneath(r)...)
	return s
}

// Mixed reports whether any operations that were called count something other than the
// run's unit, so that each must say what it counts.
func Mixed(r *rundir.Run) bool {
	return slices.ContainsFunc(r.Operations, func(o rundir.Operation) bool {
		return r.UnitOf(o) != r.Unit && o.Calls+o.Errors+o.Unstarted > 0
	})
}

// Beneath is what stands below a table of operations: why it has no rates, and what of the times is
// perfbench's own.
func Beneath(r *rundir.Run) (out []string) {
	for _, text := range []string{Rateless(r), own(r), Batches(r)} {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// Rateless says why a table of operations has no rates; "" if it has.
func Rateless(r *rundir.Run) string {
	if r.Failed() {
		return "No rate per second is given: as the verification failed, what was acknowledged is no throughput."
	}
	return ""
}

// own says in one sentence how much of the response times of an open loop was
// perfbench's own fault; "" in a closed loop.
func own(r *rundir.Run) string {
	var parts []string
	for _, o := range r.Operations {
		if o.Late() {
			late, all := o.Lateness.Shown(o.Calls), o.Response.Shown(o.Calls)
			if all.P50 == measure.Hidden {
				continue
			}
			part := fmt.Sprintf("%s.%s p50 %s of %s", o.Track, o.Op, Nanos(late.P50), Nanos(all.P50))
			if all.P99 != measure.Hidden {
				part += fmt.Sprintf(", p99 %s of %s", Nanos(late.P99), Nanos(all.P99))
			}
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Lateness, perfbench's own part of the response time: " + strings.Join(parts, "; ") + "."
}

// tail returns what accompanies every rate: response times, and what went wrong.
func tail(o rundir.Operation) []string {
	l := o.Response.Shown(o.Calls)
	if o.Calls == 0 { // nothing was timed, which is not the same as 0 ns
		return []string{"–", "–", "–", Whole(o.Errors), Whole(o.Unstarted)}
	}
	return []string{Nanos(l.P50), Nanos(l.P99), Nanos(l.Max), Whole(o.Errors), Whole(o.Unstarted)}
}

// Sentences that explain the times, for every document and screen.
const (
	Times    = "Response time runs from when a call was due, service time from when it started; wait is the difference."
	Lateness = "Lateness is the part of the wait that is perfbench's own: a worker was free and woke late. The rest is backlog: all workers were busy."
)

func allTimes(r *rundir.Run) Section {
	t := Table{Left: 3, Columns: []string{"track", "operation", "time", "mean", "min", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max"}}
	var text []string
	var never []string
	late, hidden := false, false
	for _, o := range r.Operations {
		if o.Beyond > 0 {
			text = append(text, fmt.Sprintf("%d times of %s %s were over one hour and are counted as one hour.", o.Beyond, o.Track, o.Op))
		}
		rows := []struct {
			what string
			l    rundir.Latency
		}{{hlog.Response, o.Response}, {hlog.Service, o.Service}, {hlog.Wait, o.Wait}, {hlog.Lateness, o.Lateness}}
		if !o.Late() {
			rows = rows[:3]
		}
		late = late || o.Late()
		if o.Calls == 0 {
			never = append(never, o.Track+" "+o.Op)
			continue
		}
		for _, p := range rows {
			l := p.l.Shown(o.Calls)
			hidden = hidden || l.P9999 == measure.Hidden
			t.Add(o.Track, o.Op, p.what, Nanos(int64(l.Mean+0.5)), Nanos(l.Min), Nanos(l.P50), Nanos(l.P90), Nanos(l.P95), Nanos(l.P99), Nanos(l.P999), Nanos(l.P9999), Nanos(l.Max))
		}
	}
	if late {
		text = append([]string{Lateness}, text...)
	}
	if hidden {
		text = append(text, "A dash stands for a percentile with fewer than ten calls beyond it: p99 needs 1000 calls, p99.9 10000, p99.99 100000.")
	}
	if len(t.Rows) > 0 {
		text = append([]string{Times}, text...)
	}
	if len(never) > 0 {
		text = append(text, "No call was timed for: "+strings.Join(never, ", ")+".")
	}
	return Section{Heading: "Times", Text: text, Table: t}
}

// Joined is said where several segments are one row.
const Joined = "The segments that quick presses of a key, or the steps of a ramp, passed through are one row and count as one; together they have no percentiles."

// segments are shown if live changes made more than one, with the settings that differ
// between them.
func segments(r *rundir.Run) Section {
	if len(r.Segments) < 2 {
		return Section{}
	}
	t := Table{Left: 5, Columns: []string{"segment", "from", "settings", "track", "operation", r.Unit, "per second", "at p50", "at p99", "max", "errors", "never sent"}}
	mixed := Mixed(r)
	if mixed {
		t.Left, t.Columns = 6, slices.Insert(t.Columns, 5, "counts")
		t.Columns[6] = "count"
	}
	varying := rundir.Varied(r.Segments)
	text := []string{"A live change opens a segment; a call belongs to the one that it started in. Segments are counted from 0, as in series.csv and run.json."}
	for _, s := range r.Stretches() {
		var set []string
		number, long := strconv.Itoa(s.First), s.Last > s.First
		if long {
			number += "–" + strconv.Itoa(s.Last)
		}
		for _, name := range varying {
			set = append(set, name+"="+span(rundir.SettingText(name, s.Settings[name]), rundir.SettingText(name, s.End[name])))
		}
		for _, o := range s.Operations {
			figures := tail(o)
			if long {
				figures[2] = Nanos(o.Response.Max)
			}
			row := append([]string{number, plot.Clock(s.From), strings.Join(set, " "), o.Track, o.Op, Whole(o.Count), rate(r, o.Throughput)}, figures...)
			if mixed {
				row = slices.Insert(row, 5, r.UnitOf(o))
			}
			t.Add(row...)
		}
		if long && len(text) == 1 {
			text = append(text, Joined)
		}
	}
	return Section{Heading: "Segments", Text: text, Table: t}
}

// span says between which values a setting was moved.
func span(from, to string) string {
	if from == to {
		return from
	}
	return from + ".." + to
}

// Parts says which failed calls are counted with the operations that they are parts of; "" if there are none.
func Parts(r *rundir.Run) string {
	n := r.Within()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s of the run failed; besides, %s failed that are parts of operations, and are counted with these.", units.Many(r.Failures(), "call"), units.Whole(n))
}

func failures(r *rundir.Run) Section {
	t := Table{Left: 4, Columns: []string{"track", "operation", "error", "first messages", "count"}}
	for _, e := range r.Errors {
		t.Add(e.Track, e.Op, e.Class, strings.Join(e.Messages, "; "), Whole(e.Count))
	}
	s := Section{Heading: "Errors", Weight: Answer, Table: t}
	if text := Parts(r); text != "" {
		s.Text = append(s.Text, text)
	}
	for _, o := range r.Operations {
		if o.Retries > 0 {
			s.Text = append(s.Text, fmt.Sprintf("%s.%s was tried again %s, which are no errors: a call took %.3g attempts.", o.Track, o.Op, units.Plural(int(o.Retries), "time"), r.Attempts(&o)))
		}
	}
	return s
}

func checks(r *rundir.Run) Section {
	t := Table{Left: 6, Columns: []string{"check", "result", "looked at", "expected", "found", "examples"}}
	counted := slices.ContainsFunc(r.Verification.Checks, func(c workload.Check) bool { return c.Of > 0 })
	if !counted { // each mentions in what was expected how much it looked at
		t.Left, t.Columns = 5, slices.Delete(t.Columns, 2, 3)
	}
	for _, c := range r.Verification.Checks {
		cells := []string{c.Name, "passed"}
		if !c.OK {
			cells[1] = "FAILED"
		}
		switch {
		case counted && c.Of > 0:
			cells = append(cells, Whole(c.Of))
		case counted:
			cells = append(cells, "")
		}
		t.Add(append(cells, c.Want, c.Got, strings.Join(c.Examples, ", "))...)
	}
	return Section{Heading: "Verification", Table: t}
}

// values lists what a reader needs to repeat the run.
func values(r *rundir.Run) Section {
	t := Table{Left: 3, Columns: []string{"name", "value", "from"}}
	for _, k := range r.Given() {
		text := r.Parameters[k]
		if v, ok := r.Settings[k]; ok {
			text = Number(v)
		}
		t.Add(k, text, r.Origin(k))
	}
	return Section{Heading: "Settings and parameters", Weight: Detail, Table: t}
}

func environment(r *rundir.Run) Section {
	t := Table{Left: 2, Columns: []string{"name", "value"}}
	for _, k := range slices.Sorted(maps.Keys(r.Store.Details)) {
		t.Add("store "+k, r.Store.Details[k])
	}
	for _, k := range slices.Sorted(maps.Keys(r.Environment)) {
		t.Add(k, fmt.Sprint(r.Environment[k]))
	}
	return Section{Heading: "Environment", Weight: Detail, Table: t}
}
