package picker

import (
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// runLines lists the last runs of the profile.
func (p *Picker) runLines(e screen.Env, w, h int) []string {
	s := e.Styles
	runs := p.runsOf()
	foot := p.shelfLine(s, runs, w)
	switch {
	case len(runs) == 0 && p.shelf.Filter.Text() != "":
		return append([]string{" " + s.Muted.On("No run matches.")}, foot...)
	case len(runs) == 0:
		return append([]string{" " + s.Muted.On("No runs yet.")}, foot...)
	}
	h = max(h-len(foot), 1)
	p.runAt = min(p.runAt, len(runs)-1)
	top := max(p.runAt-h+1, 0)
	g := widget.Grid{Cols: []widget.Column{{}, {Most: 10, Spare: 1}, {Right: true}, {Right: true, Spare: 2}, {}}}
	for i := top; i < len(runs) && i < top+h; i++ {
		f := widget.FiguresOf(runs[i])
		word, _ := widget.Trust(s, runs[i])
		sign, _, _ := strings.Cut(word, " ")
		lead := "  "
		if i == p.runAt && p.pane == paneRuns {
			lead = "▸ "
		}
		g.Add(lead+widget.DayText(runs[i].Started, e.Now), runs[i].Store.Name, f.RateText(), f.P99Text(), sign)
	}
	g.Ink = func(row, col int) widget.Ink {
		switch {
		case col == 4:
			_, k := widget.Trust(s, runs[top+row])
			return k
		case top+row == p.runAt && p.pane == paneRuns:
			return s.Selected
		case col < 2:
			return s.Muted
		}
		return s.Plain
	}
	_, lines := g.Lines(s, w)
	lines = widget.Indent(lines)
	for len(foot) > 0 && len(lines) < h {
		lines = append(lines, "")
	}
	return append(lines, foot...)
}

// shelfLine returns the last line of the runs: the question or the text being typed,
// else the filter, else the note on the selected run; none if there is nothing to show.
func (p *Picker) shelfLine(s *widget.Styles, runs []*rundir.Run, w int) []string {
	asked := p.shelf.Line(s, w)
	switch {
	case asked != "":
		return []string{asked}
	case p.shelf.Filter.Typing() || p.shelf.Filter.Text() != "":
		return []string{" " + p.shelf.Filter.View(s, "", w-2)}
	case p.pane == paneRuns && p.runAt < len(runs) && runs[p.runAt].Note != "":
		return []string{widget.Fit(" "+s.Muted.On("note: ")+runs[p.runAt].Note, w)}
	}
	return nil
}
