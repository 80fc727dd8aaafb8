package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// page is a report for people before it is text, Markdown or HTML.
type page struct {
	title    string
	lead     []string
	notices  []string
	sections []section
}

// Headings of the sections that a summary keeps.
const (
	headOperations = "Operations"
	headErrors     = "Errors"
)

// section is a heading with sentences, charts and a table below it, each optional.
type section struct {
	heading string
	text    []string
	charts  []graph
	table   table
}

// table has its columns' names and rows; the first left columns are words, the
// others numbers.
type table struct {
	left    int
	columns []string
	rows    [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// build lays out a run for people.
func build(f *rundir.Folder) page {
	r := &f.Run
	p := page{
		title:   "perfbench " + r.Profile + mode(r) + " on " + storeName(r.Store),
		notices: append(r.Misgivings(), r.Remarks()...),
		lead: []string{
			fmt.Sprintf("Run %s, started %s, measured for %s after %s of warm-up, ended by %s, seed %d.",
				r.ID, r.Started.Format("2006-01-02 15:04:05 MST"), length(r.MeasuredS), length(r.WarmupS), r.EndedBy, r.Seed),
			"Target " + r.Target + ". Verdict: " + r.Verdict.State + thresholds(r.Verdict) + ". Verification " + r.Verification.State + ends(r.Verification.Summary),
		},
	}
	for _, s := range []section{
		operations(r), times(r),
		{heading: "Course", charts: graphs(f)},
		segments(r), changes(r), processes(r),
		failures(r), checks(r), values(r), environment(r),
	} {
		if len(s.text) > 0 || len(s.charts) > 0 || len(s.table.rows) > 0 {
			p.sections = append(p.sections, s)
		}
	}
	return p
}

func mode(r *rundir.Run) string {
	if r.Mode == "" {
		return ""
	}
	return " (" + r.Mode + ")"
}

func storeName(s rundir.Store) string {
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

// thresholds says how many were met, and which were not.
func thresholds(v rundir.Verdict) string {
	if len(v.Thresholds) == 0 {
		return ""
	}
	missed := v.Missed()
	text := fmt.Sprintf(". Thresholds: %d of %d met", len(v.Thresholds)-len(missed), len(v.Thresholds))
	for _, t := range missed {
		text += "; missed " + t.Expr + ", it was " + t.Got
	}
	return text
}

func ends(summary string) string {
	summary = strings.TrimRight(summary, ".")
	if summary == "" {
		return "."
	}
	return ": " + summary + "."
}

func length(s float64) string {
	if s == 0 {
		return "0 s"
	}
	return units.Duration(time.Duration(s * float64(time.Second)))
}

// ns writes a time; one that is not shown is a dash.
func ns(v int64) string {
	if v == measure.Hidden {
		return "–"
	}
	return units.Duration(time.Duration(v))
}

func whole(v int64) string { return strconv.FormatInt(v, 10) }

func rate(v *float64) string {
	if v == nil {
		return "NaN"
	}
	return units.Number(*v)
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// operations shows each rate with the latency it was had at.
func operations(r *rundir.Run) section {
	t := table{left: 2, columns: []string{"track", "operation", r.Unit, "per second", "at p50", "at p99", "max", "errors", "unstarted"}}
	mixed := Mixed(r)
	if mixed {
		t.left, t.columns = 3, slices.Insert(t.columns, 2, "counts")
		t.columns[3] = "count"
	}
	for _, o := range r.Operations {
		row := append([]string{o.Track, o.Op, whole(o.Count), rate(o.Throughput)}, tail(o)...)
		if mixed {
			row = slices.Insert(row, 2, r.UnitOf(o))
		}
		t.add(row...)
	}
	s := section{heading: headOperations, table: t}
	if own := Own(r); own != "" {
		s.text = []string{own}
	}
	return s
}

// Mixed says whether operations that were called count other things than the run's
// unit, so that each is to say what it counts.
func Mixed(r *rundir.Run) bool {
	return slices.ContainsFunc(r.Operations, func(o rundir.Operation) bool {
		return r.UnitOf(o) != r.Unit && o.Calls+o.Errors+o.Unstarted > 0
	})
}

// Own says in one sentence how much of the response times of an open loop was
// perfbench's own doing; "" in closed loop.
func Own(r *rundir.Run) string {
	var parts []string
	for _, o := range r.Operations {
		if o.Late() {
			late, all := o.Lateness.Shown(o.Calls), o.Response.Shown(o.Calls)
			if all.P50 == measure.Hidden {
				continue
			}
			part := fmt.Sprintf("%s.%s p50 %s of %s", o.Track, o.Op, ns(late.P50), ns(all.P50))
			if all.P99 != measure.Hidden {
				part += fmt.Sprintf(", p99 %s of %s", ns(late.P99), ns(all.P99))
			}
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Lateness, perfbench's own part of the response time: " + strings.Join(parts, "; ") + "."
}

// tail is what goes with every rate: response time, and what went wrong.
func tail(o rundir.Operation) []string {
	l := o.Response.Shown(o.Calls)
	if o.Calls == 0 { // nothing was timed, which is no 0 ns
		return []string{"–", "–", "–", whole(o.Errors), whole(o.Unstarted)}
	}
	return []string{ns(l.P50), ns(l.P99), ns(l.Max), whole(o.Errors), whole(o.Unstarted)}
}

// Sentences that say which time is which, for every document and screen.
const (
	Times    = "Response time runs from when a call was due, service time from when it started; wait is the difference."
	Lateness = "Lateness is the part of the wait that is perfbench's own: a worker was free and woke late. The rest is backlog: all workers were busy."
)

func times(r *rundir.Run) section {
	t := table{left: 3, columns: []string{"track", "operation", "time", "mean", "min", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max"}}
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
			t.add(o.Track, o.Op, p.what, ns(int64(l.Mean+0.5)), ns(l.Min), ns(l.P50), ns(l.P90), ns(l.P95), ns(l.P99), ns(l.P999), ns(l.P9999), ns(l.Max))
		}
	}
	if late {
		text = append([]string{Lateness}, text...)
	}
	if hidden {
		text = append(text, "A dash stands for a percentile with fewer than ten calls beyond it: p99 takes 1000 calls, p99.9 10000, p99.99 100000.")
	}
	if len(t.rows) > 0 {
		text = append([]string{Times}, text...)
	}
	if len(never) > 0 {
		text = append(text, "No call was timed of: "+strings.Join(never, ", ")+".")
	}
	return section{heading: "Times", text: text, table: t}
}

// segments are shown when a live change made more than one, with the settings that
// differ between them.
func segments(r *rundir.Run) section {
	if len(r.Segments) < 2 {
		return section{}
	}
	t := table{left: 5, columns: []string{"segment", "from", "settings", "track", "operation", r.Unit, "per second", "at p50", "at p99", "max", "errors", "unstarted"}}
	mixed := Mixed(r)
	if mixed {
		t.left, t.columns = 6, slices.Insert(t.columns, 5, "counts")
		t.columns[6] = "count"
	}
	varying := varied(r.Segments)
	text := []string{"A live change opens a segment; a call belongs to the one that it started in."}
	for _, s := range r.Stretches() {
		var set []string
		number, long := strconv.Itoa(s.First), s.Last > s.First
		if long {
			number += "–" + strconv.Itoa(s.Last)
		}
		for _, name := range varying {
			set = append(set, name+"="+span(s.Settings[name], s.End[name]))
		}
		for _, o := range s.Operations {
			figures := tail(o)
			if long {
				figures[2] = ns(o.Response.Max)
			}
			row := append([]string{number, length(s.From), strings.Join(set, " "), o.Track, o.Op, whole(o.Count), rate(o.Throughput)}, figures...)
			if mixed {
				row = slices.Insert(row, 5, r.UnitOf(o))
			}
			t.add(row...)
		}
		if long && len(text) == 1 {
			text = append(text, "The steps of a ramp are shown as one, which has no percentiles; run.json has each.")
		}
	}
	return section{heading: "Segments", text: text, table: t}
}

// span writes the values between which a setting was moved.
func span(from, to float64) string {
	if from == to {
		return number(from)
	}
	return number(from) + ".." + number(to)
}

func varied(list []rundir.Segment) []string {
	first := list[0].Settings
	names := map[string]bool{}
	for _, s := range list {
		for k, v := range s.Settings {
			if w, ok := first[k]; !ok || w != v {
				names[k] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func changes(r *rundir.Run) section {
	t := table{left: 3, columns: []string{"setting", "by", "at", "from", "to", "segment"}}
	for _, m := range r.Moves() {
		at, segment := length(m.At), strconv.Itoa(m.Segment)
		if m.Last > m.Segment {
			at, segment = at+".."+length(m.Until), segment+"–"+strconv.Itoa(m.Last)
		}
		t.add(m.Name, m.By, at, number(m.From), number(m.To), segment)
	}
	return section{heading: "Changes", table: t}
}

func failures(r *rundir.Run) section {
	t := table{left: 4, columns: []string{"track", "operation", "error", "first messages", "count"}}
	for _, e := range r.Errors {
		t.add(e.Track, e.Op, e.Class, strings.Join(e.Messages, "; "), whole(e.Count))
	}
	return section{heading: headErrors, table: t}
}

func checks(r *rundir.Run) section {
	t := table{left: 6, columns: []string{"check", "result", "looked at", "expected", "found", "examples"}}
	counted := slices.ContainsFunc(r.Verification.Checks, func(c workload.Check) bool { return c.Of > 0 })
	if !counted { // each says in what it expected how much it looked at
		t.left, t.columns = 5, slices.Delete(t.columns, 2, 3)
	}
	for _, c := range r.Verification.Checks {
		cells := []string{c.Name, "passed"}
		if !c.OK {
			cells[1] = "FAILED"
		}
		switch {
		case counted && c.Of > 0:
			cells = append(cells, whole(c.Of))
		case counted:
			cells = append(cells, "")
		}
		t.add(append(cells, c.Want, c.Got, strings.Join(c.Examples, ", "))...)
	}
	return section{heading: "Verification", table: t}
}

// values are what a reader needs to repeat the run.
func values(r *rundir.Run) section {
	t := table{left: 3, columns: []string{"name", "value", "from"}}
	for _, k := range slices.Sorted(maps.Keys(r.Settings)) {
		t.add(k, number(r.Settings[k]), r.Origins[k])
	}
	for _, k := range slices.Sorted(maps.Keys(r.Parameters)) {
		if _, ok := r.Settings[k]; !ok {
			t.add(k, r.Parameters[k], r.Origins[k])
		}
	}
	return section{heading: "Settings and parameters", table: t}
}

func environment(r *rundir.Run) section {
	t := table{left: 2, columns: []string{"name", "value"}}
	for _, k := range slices.Sorted(maps.Keys(r.Store.Details)) {
		t.add("store "+k, r.Store.Details[k])
	}
	for _, k := range slices.Sorted(maps.Keys(r.Environment)) {
		t.add(k, fmt.Sprint(r.Environment[k]))
	}
	return section{heading: "Environment", table: t}
}
