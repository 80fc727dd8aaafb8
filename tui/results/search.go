package results

import (
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/widget"
)

// searched is the page with the result of a search: the answer, the curve, every step.
func searched(s *widget.Styles, r *find.Result, w, h int) []string {
	var out []string
	all := w
	if wide(s, w, h) {
		w = textWidth(w)
	}
	for i, sentence := range report.FoundLead(r) {
		ink := s.Plain
		if i == 0 {
			ink = s.Bold
		}
		for _, l := range widget.Wrap(sentence, w) {
			out = append(out, ink.On(l))
		}
	}
	if w < all {
		if page := foundBeside(s, out, chart.LevelTable(s, r, w), w, chart.LatencyLegend(s, r), chart.Latency(s, r), all, h); page != nil {
			return page
		}
		w = all
	}
	if curve := chart.Latency(s, r).Draw(s, w, max(h-len(out)-len(r.Steps)-4, 8)); curve != nil {
		out = append(out, "", chart.LatencyLegend(s, r))
		out = append(out, curve...)
	}
	out = append(out, "")
	return append(out, chart.LevelTable(s, r, w)...)
}
