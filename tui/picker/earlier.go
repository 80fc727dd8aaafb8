package picker

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// earlier is the list of the last runs of the selected profile.
type earlier struct {
	list  *profiles
	all   []rundir.Run // of every profile
	kept  archive.Runs
	shelf archive.RunList
	// at is the selected one, top the first visible one.
	at, top int
	moments kept.Moments
	failed  *unstarted
}

// runs returns those of the selected profile, filtered and sorted.
func (x *earlier) runs() []*rundir.Run {
	var out []*rundir.Run
	for _, i := range x.items() {
		out = append(out, i.Run)
	}
	return out
}

// items returns them as they are listed.
func (x *earlier) items() []kept.Item {
	var all, out []kept.Item
	name := ""
	if pr := x.list.selected(); pr != nil {
		name = pr.Name
	}
	for i := range x.all {
		if x.all[i].Profile == name {
			all = append(all, kept.Item{Run: &x.all[i]})
		}
	}
	x.moments = kept.MomentsOf(all)
	for _, i := range x.shelf.Shown(all) {
		out = append(out, all[i])
	}
	return out
}

// pressShelf handles a key that filters, sorts, annotates or removes runs.
func (x *earlier) pressShelf(msg tea.KeyPressMsg) (cmd tea.Cmd, ours bool) {
	at := x.selected()
	var ids []string
	for _, r := range x.runs() {
		ids = append(ids, r.ID)
	}
	if cmd, ours = x.shelf.Press(msg, at, ids); !ours {
		return nil, false
	}
	x.stay(at)
	return cmd, true
}

// selected returns the selected run; nil if there is none.
func (x *earlier) selected() *rundir.Run {
	if runs := x.runs(); x.at < len(runs) {
		return runs[x.at]
	}
	return nil
}

// stay selects a run again, where it is listed now; the first one if it is not.
func (x *earlier) stay(at *rundir.Run) {
	x.at = 0
	for i, r := range x.runs() {
		if at != nil && r.ID == at.ID {
			x.at = i
		}
	}
}

// press handles a key that moves, or opens the selected run.
func (x *earlier) press(msg tea.KeyPressMsg, k widget.Bindings) tea.Cmd {
	if key.Matches(msg, k.Choose) {
		if at := x.selected(); at != nil {
			return archive.OpenRun(x.kept, at)
		}
	}
	x.move(steps(msg, k, 5))
	return nil
}

func (x *earlier) move(by int) { x.at = max(min(x.at+by, len(x.runs())-1), 0) }

// click selects the run in a line; the selected one is opened.
func (x *earlier) click(line int, had bool) tea.Cmd {
	line -= x.failed.height
	runs, i := x.runs(), x.top+line
	if line < 0 || i >= len(runs) {
		return nil
	}
	if had && i == x.at {
		return archive.OpenRun(x.kept, runs[i])
	}
	x.at = i
	return nil
}

// lines draw the list; focused means that the keys are its own.
func (x *earlier) lines(e screen.Env, w, h int, focused bool) []string {
	failed := x.failed.lines(e.Styles, w)
	return append(failed, x.listed(e, w, h-len(failed), focused)...)
}

// listed are the lines of the runs that are on the disk.
func (x *earlier) listed(e screen.Env, w, h int, focused bool) []string {
	s := e.Styles
	items := x.items()
	runs := make([]*rundir.Run, len(items))
	for i := range items {
		runs[i] = items[i].Run
	}
	foot := x.foot(s, runs, w, focused)
	switch {
	case len(runs) == 0 && x.shelf.Filter.Text() != "":
		lines := widget.MutedLines(s, "No run matches: "+archive.FilteredBy+".", w-2)
		return append(widget.Indent(lines), foot...)
	case len(runs) == 0:
		return append(widget.Indent(widget.Wrap(x.none(), w-2)), foot...)
	}
	h = max(h-len(foot), 1)
	x.at = min(x.at, len(runs)-1)
	x.top = max(min(x.top, x.at, len(runs)-h), x.at-h+1, 0)
	top := x.top
	end := min(top+h, len(runs))
	g := x.grid(e, items, top, end, focused, true)
	if g.Least() > w { // no room for words
		g = x.grid(e, items, top, end, focused, false)
	}
	_, lines := g.Lines(s, w)
	lines = widget.Indent(lines)
	for len(foot) > 0 && len(lines) < h {
		lines = append(lines, "")
	}
	return append(lines, foot...)
}

// grid is the table of some of the items; words says each verdict in a word, beside its sign.
func (x *earlier) grid(e screen.Env, items []kept.Item, top, end int, focused bool, words bool) *widget.Grid {
	s := e.Styles
	g := &widget.Grid{Cols: []widget.Column{{}, {Least: 5, Most: 10, Spare: 3}, {Right: true}, {Right: true, Spare: 4}, {}, {Spare: 5, Most: 40}}}
	for i := top; i < end; i++ {
		r := items[i].Run
		latency := "–"
		if _, p99, _ := items[i].Figures(); p99 > 0 { // a search has none of its own
			f := widget.FiguresOf(r)
			latency = f.P99Text()
		}
		verdict, _ := widget.Trust(s, r)
		verdict, _, _ = strings.Cut(verdict, " ")
		if words {
			verdict += " " + items[i].JudgedBriefly()
		}
		lead := "  "
		if i == x.at && focused {
			lead = "▸ "
		}
		g.Add(lead+x.moments.Of(&items[i], e.Now), r.Store.Name, items[i].Brief(), latency, verdict, archive.Notes(r))
	}
	g.Ink = func(row, col int) widget.Ink {
		switch {
		case col == 4:
			_, k := widget.Trust(s, items[top+row].Run)
			return k
		case top+row == x.at && focused:
			return s.Selected
		case col < 2:
			return s.Muted
		}
		return s.Plain
	}
	return g
}

// none says that the selected profile has no runs, and where those of others are.
func (x *earlier) none() string {
	if len(x.all) == 0 {
		return "No runs yet."
	}
	return "No runs of this profile yet. h lists all " + widget.Plural(int64(len(x.all)), "run") + "."
}

// foot returns the last line: the question or the text being typed, else the filter, else the verdict
// of the selected run and what is kept with it; none if there is nothing to show.
func (x *earlier) foot(s *widget.Styles, runs []*rundir.Run, w int, focused bool) []string {
	asked := x.shelf.Line(s, w)
	switch {
	case asked != "":
		return []string{asked}
	case x.shelf.Filter.Typing() || x.shelf.Filter.Text() != "":
		return []string{" " + x.shelf.Filter.View(s, "", w-2)}
	case focused && x.at < len(runs):
		word, ink := widget.Trust(s, runs[x.at])
		line := " " + ink.On(word)
		if kept := archive.Kept(s, runs[x.at]); kept != "" {
			line += s.Muted.On(" · ") + kept
		}
		return []string{widget.Fit(line, w)}
	}
	return nil
}
