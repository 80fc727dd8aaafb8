package report

import (
	"strings"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
)

// Summary is the part of the text report that a run prints at its end: what ran, the
// each rate with its latency, the notices, a line for each cause, what faults cost, and the errors.
func Summary(f *rundir.Folder) string {
	own := judgedRun(f)
	p := frontPage(f, own, comparedRun(f, own))
	p.Add(operations(&f.Run))
	p.Opening = len(p.Sections)
	p.Add(causes(f), lost(f), failures(&f.Run))
	return p.Text()
}

// Charts draws throughput and p99 of a finished run in a few lines of text, at most
// width columns wide, for the end of a summary on a terminal. It returns "" if there is
// nothing to draw.
func Charts(f *rundir.Folder, width int) string {
	const height, labels = 4, 13
	var b strings.Builder
	c := rundir.Of(f)
	for _, g := range graphs(f, c, moments{}, axisOf(f, c, nil, nil)) {
		if len(g.Lines) == 0 || g.Apart || g.Low {
			continue
		}
		if values := g.Measured(g.Lines[g.Main]); len(plot.Thin(values, 2, g.Mean)) < 2 || !plot.Some(values) {
			continue
		}
		b.WriteString("\n" + g.Text(min(max(width-labels, 20), ChartWidth), height))
	}
	return b.String()
}

// Against describes as text how a run compares with the earlier one that it is shown
// beside; "" if there is none.
func Against(f *rundir.Folder) string {
	s := beside(comparedRun(f, judgedRun(f)))
	if s.Empty() {
		return ""
	}
	return s.Paragraph()
}
