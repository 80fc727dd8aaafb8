package results

import (
	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/report"
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
	for _, d := range run.Verdict.Told() {
		out = append(out, "")
		out = append(out, widget.Labelled(s, 14, string(d.Cause), widget.Unflagged(d.Text), s.Plain, w)...)
		for _, x := range d.Shows {
			dotted(14, x.Text, s.Muted)
		}
	}
	if asides := run.Asides(); len(asides) > 0 {
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
	if paragraphs := explain.Paragraphs(l.why); len(paragraphs) > 0 {
		out = append(out, "", s.Bold.On("Why"))
		for _, p := range paragraphs {
			out = append(out, widget.Wrap(p, w)...)
		}
		for _, noted := range explain.Noted(l.why) {
			dotted(0, noted, s.Plain)
		}
	}
	return out
}
