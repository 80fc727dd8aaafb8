package results

import (
	"slices"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/widget"
)

// A curve below an answer has leastCurve lines; it has more before the notes have their place on the
// page, up to fairCurve, and all that is left after that.
const leastCurve, fairCurve = 6, 12

// searched is the page with the result of a search: the answer, the curve, the levels, and notes.
func searched(s *widget.Styles, r *find.Result, w, h int) []string {
	answer, notes := report.FoundAnswer(r)
	for _, sentences := range [][]string{answer, notes} {
		for i, text := range sentences {
			sentences[i] = widget.Unflagged(text)
		}
	}
	if wide(s, w, h) {
		lw := textWidth(w)
		text := paragraphs(inLines(s, answer, lw), chart.LevelTable(s, r, lw), wrappedAll(notes, lw))
		if page := foundBeside(s, text, lw, r, w, h); page != nil {
			return page
		}
	}
	lead, table, last := inLines(s, answer, w), chart.LevelTable(s, r, w), wrappedAll(notes, w)
	legend := chart.LatencyLegend(s, r, w)
	left := h - len(lead) - len(legend) - len(table) - 2
	curve := chart.Latency(s, r).Draw(s, w, max(left-len(last)-1, min(left, fairCurve), leastCurve))
	if curve == nil {
		legend = nil
	}
	return paragraphs(lead, slices.Concat(legend, curve), table, last)
}

// inLines is an answer in lines of w cells, its first sentence bold.
func inLines(s *widget.Styles, answer []string, w int) []string {
	out := wrappedAll(answer[:1], w)
	for i, l := range out {
		out[i] = s.Bold.On(l)
	}
	return append(out, wrappedAll(answer[1:], w)...)
}

// wrappedAll breaks sentences into lines of w cells.
func wrappedAll(sentences []string, w int) (out []string) {
	for _, one := range sentences {
		out = append(out, widget.Wrap(one, w)...)
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
