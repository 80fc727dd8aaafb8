package results

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// page is the first page: the figures, whether to trust them, the results of each
// operation, and the charts of the run if there is room. The outcome, of a run of this
// session, may be nil.
func (l *loadedRun) page(s *widget.Styles, o *screen.Outcome, w, h int) []string {
	if wide(s, w, h) {
		return l.wall(s, o, w, h)
	}
	out := l.told(s, o, w)
	if room := h - len(out) - 1; len(l.course.rates) > 1 && (room >= 8 || len(l.course.outages)+len(l.course.faults) > 0) { // a failure keeps its timeline, below the fold if need be
		out = append(append(out, ""), l.charts(s, w, min(max(room, 13), 22))...)
	}
	return out
}

// told is what the first page says in words and tables.
func (l *loadedRun) told(s *widget.Styles, o *screen.Outcome, w int) []string {
	run := &l.folder.Run
	out := append([]string{""}, bigLines(s, run, w)...)
	out = append(out, "")
	out = append(out, l.facts(s, o, w)...)
	out = append(out, "")
	out = append(out, operationsTable(s, run, w)...)
	if own := report.Own(run); own != "" {
		out = append(out, widget.MutedLines(s, own, w)...)
	}
	if notices := run.Remarks(); len(notices) > 0 {
		out = append(out, "")
		for _, n := range notices {
			for i, l := range widget.Wrap(n, w-2) {
				lead := "  "
				if i == 0 {
					lead = "! "
				}
				out = append(out, s.Warn.On(lead+l))
			}
		}
	}
	return out
}

// bigLines hold the main figures, on one line if they fit.
func bigLines(s *widget.Styles, run *rundir.Run, w int) []string {
	f := widget.FiguresOf(run)
	rate := units.Number(f.Rate)
	if f.Rate != f.Rate {
		rate = "no throughput"
	} else {
		rate += " " + run.Unit + "/s"
	}
	errs := s.Muted
	if f.Errors > 0 {
		errs = s.Bad
	}
	parts := []string{s.FocusTitle.On(rate)}
	for _, p := range []struct {
		name string
		ns   int64
	}{{"p50", f.P50}, {"p99", f.P99}, {"p99.9", f.P999}, {"max", f.Max}} {
		name := p.name
		if name == "p50" && f.Of != "" {
			name = f.Of + ": " + name
		}
		parts = append(parts, s.Muted.On(name)+" "+s.Bold.On(widget.Nanos(p.ns)))
	}
	parts = append(parts, errs.On(widget.Plural(f.Errors, "error")))
	if f.Mixes > 0 {
		parts = append(parts, s.Muted.On(fmt.Sprintf("over %d segments", f.Mixes)))
	}
	out := []string{parts[0]}
	for _, p := range parts[1:] {
		last := &out[len(out)-1]
		if ansi.StringWidth(*last)+3+ansi.StringWidth(p) > w {
			out = append(out, p)
			continue
		}
		*last += "   " + p
	}
	return out
}

// facts shows whether the figures can be trusted, and what was measured where.
func (l *loadedRun) facts(s *widget.Styles, o *screen.Outcome, w int) []string {
	run := &l.folder.Run
	word, k := widget.Trust(s, run)
	out := widget.Labelled(s, 14, "Verdict", word, k, w)
	for _, d := range run.Verdict.Told() {
		out = append(out, widget.Labelled(s, 14, "", "· "+d.Text, k, w)...)
		for _, x := range d.Shows {
			out = append(out, widget.Labelled(s, 16, "", "· "+x.Text, s.Muted, w)...)
		}
	}
	if text := explain.Paragraph(l.why); text != "" {
		out = append(out, widget.Labelled(s, 14, "Why", text, s.Plain, w)...)
		for _, noted := range explain.Noted(l.why) {
			out = append(out, widget.Labelled(s, 14, "", "· "+noted, s.Plain, w)...)
		}
	}
	for _, a := range report.Faults(l.folder) {
		out = append(out, widget.Labelled(s, 14, "Fault", report.FaultText(&a, run), s.Plain, w)...)
	}
	for _, t := range run.Verdict.Missed() {
		out = append(out, widget.Labelled(s, 14, "Missed", t.Expr+": it was "+t.Got, s.Bad, w)...)
	}
	v := run.Verification
	text := v.State
	if v.Summary != "" {
		text += " · " + v.Summary
	}
	vk := s.Plain
	if v.State == "failed" {
		vk = s.Bad
	}
	out = append(out, widget.Labelled(s, 14, "Verification", text, vk, w)...)
	if run.Note != "" {
		out = append(out, widget.Labelled(s, 14, "Note", run.Note, s.Plain, w)...)
	}
	length := "measured for " + plot.Clock(run.MeasuredS)
	if run.WarmupS > 0 {
		length += " after " + plot.Clock(run.WarmupS) + " of warm-up"
	}
	out = append(out, widget.Labelled(s, 14, "Length", length+" · "+run.Ending("you"), s.Plain, w)...)
	store := []string{run.Target}
	for _, more := range []string{strings.TrimSpace(run.Store.Product + " " + run.Store.Version), run.Store.Topology} {
		if more != "" {
			store = append(store, more)
		}
	}
	out = append(out, widget.Labelled(s, 14, "Target", strings.Join(store, " · "), s.Plain, w)...)
	out = append(out, widget.Labelled(s, 14, "Settings", settingsInWords(run), s.Plain, w)...)
	if o != nil && o.Err != nil && !told(run, o.Err) {
		out = append(out, widget.Labelled(s, 14, "Problem", o.Err.Error(), s.Bad, w)...)
	}
	return out
}

// told reports whether the verdict, the thresholds or the reason for the end already
// mention an error.
func told(run *rundir.Run, err error) bool {
	switch fault.CodeOf(err) {
	case fault.CodeThreshold, fault.CodeVerification, fault.CodeInterrupted:
		return true
	}
	return strings.HasPrefix(run.EndedBy, "fault: ")
}

// settingsInWords lists the live settings at the start; those of single tracks only if
// the totals do not determine them.
func settingsInWords(run *rundir.Run) string {
	var words []string
	for _, k := range workload.Usual() {
		if v, ok := run.Settings[k.Name]; ok && (v != 0 || k.Name != "payload") { // 0: as the profile has it
			words = append(words, k.Name+" "+rundir.SettingText(k.Name, v))
		}
	}
	for name, v := range widget.SortedSettings(run.Settings) {
		if base := name[strings.LastIndexByte(name, '.')+1:]; base == name && !workload.IsUsual(name) {
			words = append(words, name+" "+rundir.SettingText(name, v))
		}
	}
	if n := run.Acts(); n > 0 {
		words = append(words, widget.Plural(int64(n), "live change")+" later")
	}
	if run.Parameters["preset"] != "" {
		words = append(words, "preset "+run.Parameters["preset"])
	}
	return strings.Join(words, " · ")
}

// operationsTable shows each rate with the latency at that rate.
func operationsTable(s *widget.Styles, run *rundir.Run, w int) []string {
	g := widget.Grid{Cols: []widget.Column{
		{Head: "operation", Most: max(w/3, 14)},
		{Head: run.Unit, Right: true, Spare: 3},
		{Head: "per second", Right: true},
		{Head: "p50", Right: true, Spare: 1, Least: 7},
		{Head: "p99", Right: true, Least: 7},
		{Head: "p99.9", Right: true, Spare: 2, Least: 7},
		{Head: "max", Right: true, Spare: 4, Least: 7},
		{Head: "errors", Right: true},
		{Head: "never sent", Right: true, Spare: 5},
	}}
	mixed := report.Mixed(run)
	if mixed {
		g.Cols[1].Head = "count"
	}
	failed := make([]bool, 0, len(run.Operations))
	for _, o := range run.Operations {
		l, count := o.Response.Shown(o.Calls), widget.Whole(o.Count)
		if mixed {
			count += " " + run.UnitOf(o)
		}
		g.Add(partName(run, o), count, widget.RateText(o.Throughput), widget.Nanos(l.P50), widget.Nanos(l.P99), widget.Nanos(l.P999), widget.Nanos(l.Max), widget.Whole(o.Errors), widget.Whole(o.Unstarted))
		failed = append(failed, o.Errors > 0)
	}
	g.Ink = func(row, col int) widget.Ink {
		switch {
		case col == 7 && failed[row]:
			return s.Bad
		case col == 2:
			return s.Bold
		}
		return s.Plain
	}
	head, rows := g.Lines(s, w)
	return append([]string{head}, rows...)
}

// partName returns the name of an operation, indented if its units do not count.
func partName(run *rundir.Run, o rundir.Operation) string {
	if !run.Counts(o) {
		return "  " + widget.OpName(run, o)
	}
	return widget.OpName(run, o)
}

// charts draws the charts of the run in w cells and h lines: throughput above latency,
// on one time axis.
func (l *loadedRun) charts(s *widget.Styles, w, h int) []string {
	c := l.course
	each := (h - 3) / 2
	each -= 1 - each%2 // an odd height has a middle row to label
	var out []string
	out = append(out, s.Muted.On(widget.Spread(c.what+reach(c.rates, units.Number, w/3), legend(c), w)))
	out = append(out, graph{vals: c.rates, mean: true, format: units.Number}.draw(s, c, w, each)...)
	out = append(out, s.Muted.On(widget.Fit("Latency p99, of the slowest operation"+reach(c.slowest, durationLabel, w-40), w)))
	out = append(out, graph{vals: c.slowest, series: 1, format: durationLabel}.draw(s, c, w, each)...)
	return append(out, c.timeAxis(s, w))
}

// reach says between what the values of the seconds lie, as far as it fits into w cells: whoever
// cannot see the line hears that.
func reach(values []float64, format func(float64) string, w int) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	text := fmt.Sprintf(", each second %s to %s", format(low), format(high))
	if high < low || ansi.StringWidth(text) > w {
		return ""
	}
	return text
}

// legend explains what is drawn beside the line, if there is anything.
func legend(c curves) string {
	var words []string
	if c.first < 0 {
		words = append(words, fmt.Sprintf("%s of warm-up dimmed", units.Duration(time.Duration(-c.first)*time.Second)))
	}
	if len(c.changes) > 0 {
		words = append(words, "┊ a setting changed")
	}
	if len(c.outages) > 0 {
		words = append(words, "░ nothing was done")
	}
	if len(c.faults) > 0 {
		words = append(words, "▒ a fault of the plan")
	}
	if len(c.phases) > 0 {
		words = append(words, "╎ a phase began")
	}
	return strings.Join(words, " · ")
}
