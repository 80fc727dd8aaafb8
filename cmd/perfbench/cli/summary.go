package cli

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/chart"
)

// DrawCourse draws the course of a run where a person looks. What cannot be drawn is
// left out: the run's folder tells why.
func DrawCourse(a *Call, dir string, plain bool) {
	f, err := rundir.Load(dir)
	if err != nil {
		a.Log.Debug("The course of the run is not drawn", "error", err)
		return
	}
	DrawCharts(a, f, plain)
}

// DrawCharts draws the course of a run, in ASCII where plain or the terminal wants it.
func DrawCharts(a *Call, f *rundir.Folder, plain bool) {
	width := a.StdoutWidth
	if width <= 0 {
		width = 80
	}
	charts := report.Charts(f, width)
	if plain || a.PoorLetters() {
		charts = chart.ASCII(charts)
	}
	fmt.Fprint(a.Stdout, charts)
}

// measured says how long the measured part was.
func measured(r *rundir.Run) string {
	if r.MeasuredS <= 0 {
		return "nothing"
	}
	return units.Length(time.Duration(r.MeasuredS * float64(time.Second)))
}

// Summary says in a screenful what a run came to, and where its folder is if there
// is one.
func Summary(r *rundir.Run, dir string) string {
	var b strings.Builder
	what := r.Profile
	if r.Mode != "" {
		what += " " + r.Mode
	}
	fmt.Fprintf(&b, "\n%s on %s (%s, %s)\n", what, r.Target, Product(r.Store.Product, r.Store.Version), r.Store.Topology)
	length := measured(r) + " measured"
	for _, text := range []string{r.PausedText(), r.SuspendedText()} {
		if text != "" {
			length += ", " + text
		}
	}
	fmt.Fprintf(&b, "%s, %s\n\n", length, r.Ending("you"))
	operationTable(&b, r)
	for _, text := range report.Beneath(r) {
		fmt.Fprintln(&b, text)
	}
	if mixed := r.MixedSegments(); mixed != "" {
		fmt.Fprintf(&b, "\nthese figures mix %s (%s); the report has each\n", mixed, r.Changed("mid-run"))
	}
	for _, a := range r.Faults {
		fmt.Fprintf(&b, "fault %s\n", report.FaultText(&a, r))
	}
	for _, e := range r.Errors {
		fmt.Fprintf(&b, "errors: %s.%s %s × %s%s\n", e.Track, e.Op, e.Class, units.Whole(e.Count), messages(e))
	}
	if text := report.Parts(r); text != "" {
		fmt.Fprintf(&b, "errors: %s\n", text)
	}
	fmt.Fprintf(&b, "\nverification %s: %s\n", r.Verification.State, r.Verification.Brief())
	for _, n := range r.Notices {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	for _, text := range r.Asides() {
		fmt.Fprintf(&b, "note: %s\n", text)
	}
	for _, t := range r.Verdict.Missed() {
		fmt.Fprintf(&b, "threshold %s missed: it was %s\n", t.Expr, t.Got)
	}
	if len(r.Tags) > 0 {
		fmt.Fprintf(&b, "tags %s\n", strings.Join(r.TagWords(), ", "))
	}
	fmt.Fprintf(&b, "verdict %s\n", r.Verdict.State)
	if use := r.Verdict.Use(); use != "" {
		fmt.Fprintf(&b, "  %s:\n", use)
	}
	for _, d := range r.Verdict.Told() {
		fmt.Fprintf(&b, "  %s\n", d.Text)
		for _, s := range d.Shows {
			fmt.Fprintf(&b, "    · %s\n", s.Text)
		}
	}
	for _, text := range append([]string{explain.Paragraph(r.Why)}, explain.Noted(r.Why, r.Verdict)...) {
		if text != "" {
			fmt.Fprintf(&b, "why: %s\n", text)
		}
	}
	if dir != "" {
		fmt.Fprintf(&b, "report in %s\n", dir)
	}
	return b.String()
}

// Product is a store's name with its version, if it has one.
func Product(name, version string) string { return strings.TrimSpace(name + " " + version) }

// messages tells which errors of a kind there were, one after a colon, several in lines of their own.
func messages(e rundir.Error) string {
	lead := ": "
	if len(e.Messages) > 1 {
		lead = "\n  "
	}
	var b strings.Builder
	for _, m := range e.Messages {
		b.WriteString(lead + strings.ReplaceAll(m, "\n", " "))
	}
	return b.String()
}

// operationTable writes one row for each operation that ran, and names the others.
func operationTable(w io.Writer, r *rundir.Run) {
	var idle []string
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	unstarted := false
	for _, o := range r.Operations {
		unstarted = unstarted || o.Unstarted > 0
	}
	unit, mixed := r.Unit, report.Mixed(r)
	if mixed {
		unit = "count\t"
	}
	last := ""
	if unstarted {
		last = "never sent\t"
	}
	fmt.Fprintf(t, "operation\t%s\tper s\tp50\tp90\tp99\tp99.9\tmax\terrors\t%s\n", unit, last)
	few := false
	for _, o := range r.Operations {
		if o.Calls == 0 && o.Errors == 0 && o.Unstarted == 0 {
			idle = append(idle, o.Track+"."+o.Op)
			continue
		}
		rate := "–"
		if o.Throughput != nil {
			rate = units.Number(*o.Throughput)
		}
		l := o.Response.Shown(o.Calls)
		if o.Calls == 0 {
			l.Max = measure.Hidden
		}
		few = few || o.Calls > 0 && l.P999 == measure.Hidden
		count := strconv.FormatInt(o.Count, 10)
		if mixed {
			count += "\t" + r.UnitOf(o)
		}
		fmt.Fprintf(t, "%s.%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t", o.Track, o.Op, count, rate,
			Latency(l.P50), Latency(l.P90), Latency(l.P99), Latency(l.P999), Latency(l.Max), o.Errors)
		if unstarted {
			fmt.Fprint(t, strconv.FormatInt(o.Unstarted, 10)+"\t")
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // into memory
	if few {
		fmt.Fprintln(w, "a percentile with fewer than ten calls beyond it is not shown: p99 needs 1000 calls, p99.9 10000")
	}
	if len(idle) > 0 {
		fmt.Fprintln(w, "never called: "+strings.Join(idle, ", "))
	}
}

// Latency writes a response time of a report, "–" for one that is not shown.
func Latency(ns int64) string {
	if ns == measure.Hidden {
		return "–"
	}
	return units.Duration(time.Duration(ns))
}

// SummaryLine says in a line what a run came to.
func SummaryLine(r *rundir.Run) string {
	h := r.Headline()
	p99, of := "–", h.Of(r)
	if len(h.Timed) > 0 {
		p99 = Latency(h.Response.P99)
	}
	if of != "" {
		of = " (" + of + ")"
	}
	if mixed := r.MixedSegments(); mixed != "" {
		of += " over " + mixed
	}
	rate := units.Number(h.Rate) + " " + r.Unit + "/s"
	if text := r.PausedText(); text != "" {
		rate += " (" + text + ")"
	}
	return fmt.Sprintf("%s, p99 %s%s, %s", rate, p99, of, r.Verdict.State)
}

// colours are those of the lines that say whether a run is good, on a terminal.
var colours = []struct {
	line  *regexp.Regexp
	shade string
}{
	{regexp.MustCompile(`(?m)^verdict VALID$`), "32"},
	{regexp.MustCompile(`(?m)^verdict DEGRADED$`), "33"},
	{regexp.MustCompile(`(?m)^verdict INVALID$`), "31"},
	{regexp.MustCompile(`(?m)^threshold .* missed: .*$`), "31"},
}

// Colour puts colour into the text of a run for a theme: dark, or light, where yellow on
// white cannot be read and is bold.
func Colour(text, theme string) string {
	for _, c := range colours {
		shade := c.shade
		if shade == "33" && theme == "light" {
			shade = "1"
		}
		text = c.line.ReplaceAllString(text, "\x1b["+shade+"m$0\x1b[0m")
	}
	return text
}
