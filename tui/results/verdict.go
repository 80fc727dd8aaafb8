package results

import (
	"slices"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/widget"
)

// judged is the page of the verdict: what casts doubt on the figures and what shows it, whether what was
// asked for was met, and what held the run back.
func (l *loadedRun) judged(s *widget.Styles, w int) []string {
	run := &l.folder.Run
	word, k := widget.Trust(s, run)
	if use := run.Verdict.Use(); use != "" {
		word += ": " + use
	}
	out := on(k, widget.Wrap(word, w))
	dotted := func(at int, text string, k widget.Ink) {
		for i, line := range widget.Wrap(text, max(w-at-2, 10)) {
			lead := "  "
			if i == 0 {
				lead = "· "
			}
			out = append(out, widget.Fit("", at)+k.On(lead+line))
		}
	}
	valid := run.Verdict.Valid()
	if valid {
		out = append(out, l.checked(s, w)...)
	}
	for _, d := range run.Verdict.Told() {
		out = append(out, "")
		out = append(out, widget.Labelled(s, 14, d.Cause.Word(), widget.Unflagged(d.Text), s.Plain, w)...)
		for _, x := range d.Shows {
			dotted(14, x.Text, s.Muted)
		}
	}
	checks := l.checks(s, w)
	asides := run.Asides()
	if slices.Contains(run.Notices, rundir.ThroughProxy) {
		asides = append(asides, rundir.ThroughProxy)
	}
	if len(checks) > 0 { // they begin with it
		asides = slices.DeleteFunc(asides, func(text string) bool { return text == run.Restarted() })
	}
	if len(asides) > 0 {
		out = append(out, "")
		for _, text := range asides {
			out = append(out, remark(s, text, w)...)
		}
	}
	if len(run.Verdict.Thresholds) > 0 {
		out = append(out, "", s.Bold.On("What was asked for"))
	}
	for _, t := range run.Verdict.Thresholds {
		sign, k := "✓ ", s.OK
		if !t.OK {
			sign, k = "✗ ", s.Bad
		}
		out = append(out, on(k, widget.Wrap(sign+report.Met(t), w))...)
	}
	out = append(out, l.limits(s, w)...)
	noted := explain.Noted(l.why, run.Verdict)
	for _, c := range report.Outages(l.folder, l.why) {
		noted = append(noted, c.Text)
	}
	if len(noted) > 0 {
		out = append(out, "")
	}
	for _, text := range noted {
		dotted(0, text, s.Plain)
	}
	if !valid {
		out = append(out, l.checked(s, w)...)
	}
	return append(out, checks...)
}

// checked lists what the verdict looked at and found right, with what it found there, in as many columns as
// have room. What casts doubt is told in full.
func (l *loadedRun) checked(s *widget.Styles, w int) []string {
	list := l.folder.Run.Checked()
	head := "Checked"
	right := slices.DeleteFunc(slices.Clone(list), func(c verdict.Checked) bool { return !c.OK })
	if len(right) < len(list) {
		head = "Checked, and right"
	}
	if len(right) == 0 {
		return nil
	}
	out := []string{"", s.Bold.On(head)}
	if s.Spoken {
		for _, c := range right {
			out = append(out, "✓ "+c.Name+": "+c.Figure)
		}
		return out
	}
	for n := mostChecked; ; n-- {
		if lines := inColumns(s, right, n); n == 1 || ansi.StringWidth(lines[0]) <= w {
			for _, line := range lines {
				out = append(out, ansi.Truncate(line, w, "…"))
			}
			return out
		}
	}
}

// mostChecked is how many columns a list of what was checked has at most.
const mostChecked = 4

// inColumns lists what was checked in n columns, each as wide as it needs; the first line is as wide as any.
func inColumns(s *widget.Styles, list []verdict.Checked, n int) []string {
	each := (len(list) + n - 1) / n
	lines := make([]string, each)
	for from := 0; from < len(list); from += each {
		column := list[from:min(from+each, len(list))]
		names, figures := 0, 0
		for _, c := range column {
			names, figures = max(names, ansi.StringWidth(c.Name)), max(figures, ansi.StringWidth(c.Figure))
		}
		gap := ""
		if from > 0 {
			gap = "   "
		}
		for i, c := range column {
			lines[i] += gap + s.OK.On("✓ ") + widget.Fit(c.Name, names) + "  " + s.Muted.On(widget.Fit(c.Figure, figures))
		}
	}
	return lines
}

// limits is what held the run back: a headline, the periods of a run that had several, bars of what was used,
// and what else is known.
func (l *loadedRun) limits(s *widget.Styles, w int) []string {
	if l.why == nil || len(l.why.Parts) == 0 {
		return nil
	}
	list := explain.Limits(l.why)
	main := explain.Main(list)
	text := explain.Limit(&main.WhyPart)
	if len(list) > 1 {
		text = explain.Limited(l.why, nil)
	}
	out := append([]string{""}, widget.Labelled(s, 14, "Limited by", text, s.Bold, w)...)
	periods, others := explain.Periods(l.why)
	if len(periods) > 1 {
		when := func(p explain.Period) string { return plot.Clock(p.From) + " to " + plot.Clock(p.To) }
		wide := 16
		for _, p := range periods {
			wide = max(wide, len(when(p))+2)
		}
		for _, p := range periods {
			out = append(out, widget.Labelled(s, wide, when(p), p.Text, s.Plain, w)...)
		}
	}
	if others > 0 {
		out = append(out, s.Muted.On(widget.Fit("and "+widget.Plural(int64(others), "shorter part"), w)))
	}
	used := chart.Uses(s, main.Uses, w)
	if len(list) > 1 && len(used) > 0 {
		out = append(out, widget.MutedLines(s, main.Meanwhile(), w)...)
	}
	out = append(out, used...)
	for _, text := range explain.Besides(&main.WhyPart) {
		out = append(out, widget.MutedLines(s, text, w)...)
	}
	return out
}
