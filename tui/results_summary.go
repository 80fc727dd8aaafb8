package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// summary is the first page: the figures, whether to trust them, what each
// operation came to, and where there is room the course of the run.
func (r *results) summary(e env, w, h int) []string {
	s, run := e.styles, &r.loaded.folder.Run
	out := append([]string{""}, bigLines(s, run, w)...)
	out = append(out, "")
	out = append(out, r.facts(s, run, w)...)
	out = append(out, "")
	out = append(out, operationsTable(s, run, w)...)
	if own := report.Own(run); own != "" {
		out = append(out, mutedLines(s, own, w)...)
	}
	if notices := run.Remarks(); len(notices) > 0 {
		out = append(out, "")
		for _, n := range notices {
			for i, l := range wrap(n, w-2) {
				lead := "  "
				if i == 0 {
					lead = "! "
				}
				out = append(out, s.warn.on(lead+l))
			}
		}
	}
	if room := h - len(out) - 1; room >= 8 && len(r.loaded.course.rates) > 1 {
		out = append(append(out, ""), r.charts(s, w, min(room, 22))...)
	}
	return out
}

// bigLines hold the figures to remember, on one line where it fits.
func bigLines(s *styles, run *rundir.Run, w int) []string {
	f := figuresOf(run)
	rate := units.Number(f.rate)
	if f.rate != f.rate {
		rate = "no throughput"
	} else {
		rate += " " + run.Unit + "/s"
	}
	errs := s.muted
	if f.errors > 0 {
		errs = s.bad
	}
	parts := []string{s.focusTitle.on(rate)}
	for _, p := range []struct {
		name string
		ns   int64
	}{{"p50", f.p50}, {"p99", f.p99}, {"p99.9", f.p999}, {"max", f.max}} {
		name := p.name
		if name == "p50" && f.timed > 1 {
			name = fmt.Sprintf("slowest of %d operations: %s", f.timed, name)
		}
		parts = append(parts, s.muted.on(name)+" "+s.bold.on(nanos(p.ns)))
	}
	parts = append(parts, errs.on(plural(f.errors, "error")))
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

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return whole(n) + " " + word + "s"
}

// labelled writes a label and, from column at on, a text that is wrapped beside it.
func labelled(s *styles, at int, label, text string, k ink, w int) []string {
	var out []string
	for i, l := range wrap(text, max(w-at, 10)) {
		lead := strings.Repeat(" ", at)
		if i == 0 {
			lead = s.muted.on(fit(label, at))
		}
		out = append(out, lead+k.on(l))
	}
	return out
}

// facts say whether the figures can be trusted, and what was measured where.
func (r *results) facts(s *styles, run *rundir.Run, w int) []string {
	word, k := trust(s, run)
	out := labelled(s, 14, "Verdict", word, k, w)
	for _, reason := range run.Verdict.Reasons {
		out = append(out, labelled(s, 14, "", "· "+reason, k, w)...)
	}
	for _, t := range run.Verdict.Missed() {
		out = append(out, labelled(s, 14, "Missed", t.Expr+": it was "+t.Got, s.bad, w)...)
	}
	v := run.Verification
	text := v.State
	if v.Summary != "" {
		text += " · " + v.Summary
	}
	vk := s.plain
	if v.State == "failed" {
		vk = s.bad
	}
	out = append(out, labelled(s, 14, "Verification", text, vk, w)...)
	length := "measured for " + secondsText(run.MeasuredS)
	if run.WarmupS > 0 {
		length += " after " + secondsText(run.WarmupS) + " of warm-up"
	}
	out = append(out, labelled(s, 14, "Ended by", run.EndedBy+" · "+length, s.plain, w)...)
	store := []string{run.Target}
	for _, more := range []string{strings.TrimSpace(run.Store.Product + " " + run.Store.Version), run.Store.Topology} {
		if more != "" {
			store = append(store, more)
		}
	}
	out = append(out, labelled(s, 14, "Target", strings.Join(store, " · "), s.plain, w)...)
	out = append(out, labelled(s, 14, "Settings", settingsInWords(run), s.plain, w)...)
	if r.outcome != nil && r.outcome.Err != nil && !told(run, r.outcome.Err) {
		out = append(out, labelled(s, 14, "Problem", r.outcome.Err.Error(), s.bad, w)...)
	}
	return out
}

// told says that the verdict, the thresholds or the line of the end tell of an error
// already.
func told(run *rundir.Run, err error) bool {
	switch fault.CodeOf(err) {
	case fault.CodeThreshold, fault.CodeVerification, fault.CodeInterrupted:
		return true
	}
	return strings.HasPrefix(run.EndedBy, "fault: ")
}

// settingsInWords lists the live settings at the start; those of single tracks
// only when the whole does not say it.
func settingsInWords(run *rundir.Run) string {
	var words []string
	four := []string{"threads", "rate", "payload", "batch"}
	for _, name := range four {
		if v, ok := run.Settings[name]; ok {
			words = append(words, name+" "+settingText(name, v))
		}
	}
	for name, v := range sortedSettings(run.Settings) {
		if base := name[strings.LastIndexByte(name, '.')+1:]; base == name && !slices.Contains(four, name) {
			words = append(words, name+" "+settingText(name, v))
		}
	}
	if n := len(run.Changes); n > 0 {
		words = append(words, plural(int64(n), "live change")+" later")
	}
	if run.Parameters["preset"] != "" {
		words = append(words, "preset "+run.Parameters["preset"])
	}
	return strings.Join(words, " · ")
}

// operationsTable shows each rate with the latency it was had at.
func operationsTable(s *styles, run *rundir.Run, w int) []string {
	g := grid{cols: []column{
		{head: "operation", most: max(w/3, 14)},
		{head: run.Unit, right: true, drop: 3},
		{head: "per second", right: true},
		{head: "p50", right: true, drop: 1, least: 7},
		{head: "p99", right: true, least: 7},
		{head: "p99.9", right: true, drop: 2, least: 7},
		{head: "max", right: true, drop: 4, least: 7},
		{head: "errors", right: true},
		{head: "unstarted", right: true, drop: 5},
	}}
	failed := make([]bool, 0, len(run.Operations))
	for _, o := range run.Operations {
		l := o.Response.Shown(o.Calls)
		g.add(partName(run, o), whole(o.Count), rateText(o.Throughput), nanos(l.P50), nanos(l.P99), nanos(l.P999), nanos(l.Max), whole(o.Errors), whole(o.Unstarted))
		failed = append(failed, o.Errors > 0)
	}
	g.ink = func(row, col int) ink {
		switch {
		case col == 7 && failed[row]:
			return s.bad
		case col == 2:
			return s.bold
		}
		return s.plain
	}
	head, rows := g.lines(s, w)
	return append([]string{head}, rows...)
}

// partName is the name of an operation, set in where its units do not count.
func partName(run *rundir.Run, o rundir.Operation) string {
	if !run.Counts(o) {
		return "  " + opName(run, o)
	}
	return opName(run, o)
}

// charts draws the course of the run in w cells and h lines: throughput above
// latency, on one time axis.
func (r *results) charts(s *styles, w, h int) []string {
	c := r.loaded.course
	each := (h - 3) / 2
	each -= 1 - each%2 // an odd height has a middle to label
	var out []string
	out = append(out, s.muted.on(spread("Throughput", legend(c), w)))
	out = append(out, plot{vals: c.rates, mean: true, ink: s.series[0], format: units.Number}.draw(s, c, w, each)...)
	out = append(out, s.muted.on(fit("Latency p99, of the slowest operation", w)))
	out = append(out, plot{vals: c.slowest, ink: s.series[1], format: durationLabel}.draw(s, c, w, each)...)
	return append(out, c.timeAxis(s, w))
}

// legend explains what is drawn beside the line, if it is.
func legend(c course) string {
	var words []string
	if c.first < 0 {
		words = append(words, fmt.Sprintf("%s of warm-up dimmed", units.Duration(time.Duration(-c.first)*time.Second)))
	}
	if len(c.changes) > 0 {
		words = append(words, "┊ a setting changed")
	}
	if len(c.phases) > 0 {
		words = append(words, "╎ a phase began")
	}
	return strings.Join(words, " · ")
}
