package results

import (
	"slices"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/widget"
)

// A curve below an answer has leastCurve lines, and on a high page two fifths of it; more before what is below it has its
// place on the page, up to fairCurve, and all that is left after that.
const leastCurve, fairCurve = 6, 12

// searched is the page with the result of a search: the answer and what limits, the curve, the levels, and the rest.
func searched(s *widget.Styles, r *find.Result, w, h int) []string {
	f := report.FoundAnswer(r)
	if wide(s, w, h) {
		lw := textWidth(w)
		text := paragraphs(answer(s, f, lw), chart.LevelTable(s, r, lw), more(s, f, lw))
		if page := foundBeside(s, text, lw, r, w, h); page != nil {
			return page
		}
	}
	lead, table, last := answer(s, f, w), chart.LevelTable(s, r, w), more(s, f, w)
	legend := chart.LatencyLegend(s, r, w)
	left := h - len(lead) - len(legend) - len(table) - 2
	least := max(leastCurve, h*2/5)
	curve := chart.Latency(s, r).Draw(s, w, max(left-len(last)-1, min(left, fairCurve), least))
	if curve == nil {
		legend = nil
	}
	return paragraphs(lead, slices.Concat(legend, curve), table, last)
}

// answer is what was found in lines of w cells, first the answer with its doubt, and then what limits.
func answer(s *widget.Styles, f report.FoundLines, w int) (out []string) {
	const gap = "   "
	for _, l := range widget.Wrap(widget.Unflagged(f.Lead), w) {
		out = append(out, s.Bold.On(l))
	}
	if doubt := "± " + f.Doubt; f.Doubt != "" {
		if last := &out[len(out)-1]; ansi.StringWidth(*last+gap+doubt) <= w {
			*last += gap + s.Warn.On(doubt)
		} else {
			for _, l := range widget.Wrap(doubt, w) {
				out = append(out, s.Warn.On(l))
			}
		}
	}
	for _, one := range f.Limits {
		out = append(out, widget.Wrap(widget.Unflagged(one), w)...)
	}
	return out
}

// more is what else is known of a search, in lines of w cells.
func more(s *widget.Styles, f report.FoundLines, w int) []string {
	out := []string{s.Muted.On("More")}
	for _, one := range f.More {
		out = append(out, widget.Wrap(widget.Unflagged(one), w)...)
	}
	return out
}

// paragraphs joins those that are not empty, with a line between them.
func paragraphs(all ...[]string) (out []string) {
	for _, one := range all {
		if len(one) > 0 && len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, one...)
	}
	return out
}
