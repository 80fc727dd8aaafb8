package picker

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// earlier is the list of the last runs of the selected profile; a sweep, or runs that were repeated or
// compared, are a single row.
type earlier struct {
	list  *profiles
	all   []rundir.Run // of every profile
	rows  []kept.Item  // and what they belong to
	kept  archive.Runs
	shelf archive.RunList
	// at is the selected one, top the first visible one.
	at, top int
	moments kept.Moments
	failed  *unstarted
}

// items returns what is listed, filtered and sorted.
func (x *earlier) items() []kept.Item {
	var all, out []kept.Item
	name := ""
	if pr := x.list.selected(); pr != nil {
		name = pr.Name
	}
	for i := range x.rows {
		if of, _ := x.rows[i].Profile(); of == name {
			all = append(all, x.rows[i])
		}
	}
	x.moments = kept.MomentsOf(all)
	shown, _ := x.shelf.Folded(all, nil)
	for _, i := range shown {
		out = append(out, all[i])
	}
	return out
}

// pressShelf handles a key that filters, sorts, annotates or removes runs.
func (x *earlier) pressShelf(msg tea.KeyPressMsg) (cmd tea.Cmd, ours bool) {
	at := x.selected()
	var ids []string
	for _, i := range x.items() {
		if i.Run != nil {
			ids = append(ids, i.Run.ID)
		}
	}
	if cmd, ours = x.shelf.Press(msg, at, ids); !ours {
		return nil, false
	}
	x.stay(at)
	return cmd, true
}

// selected returns the selected row; nil if there is none.
func (x *earlier) selected() *kept.Item {
	if items := x.items(); x.at < len(items) {
		return &items[x.at]
	}
	return nil
}

// stay selects a row again, where it is listed now; the first one if it is not.
func (x *earlier) stay(at *kept.Item) {
	x.at = 0
	for i, r := range x.items() {
		if at != nil && r.ID() == at.ID() {
			x.at = i
		}
	}
}

// press handles a key that moves, or opens the selected run.
func (x *earlier) press(msg tea.KeyPressMsg, k widget.Bindings) tea.Cmd {
	if key.Matches(msg, k.Choose) {
		if at := x.selected(); at != nil {
			return archive.OpenItem(x.kept, at)
		}
	}
	x.move(steps(msg, k, 10))
	return nil
}

func (x *earlier) move(by int) { x.at = max(min(x.at+by, len(x.items())-1), 0) }

// click selects the run in a line; the selected one is opened.
func (x *earlier) click(line int, had bool) tea.Cmd {
	line -= x.failed.height
	items, i := x.items(), x.top+line
	if line < 0 || i >= len(items) {
		return nil
	}
	if had && i == x.at {
		return archive.OpenItem(x.kept, &items[i])
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
	foot := x.foot(e, items, w, focused)
	switch {
	case len(items) == 0 && x.shelf.Filter.Text() != "":
		return append(widget.Indent(x.shelf.NoMatch(s, x.rows, w-2)), foot...)
	case len(items) == 0:
		return append(widget.Indent(widget.Wrap(x.none(), w-2)), foot...)
	}
	h = max(h-len(foot), 1)
	x.at = min(x.at, len(items)-1)
	x.top = max(min(x.top, x.at, len(items)-h), x.at-h+1, 0)
	top := x.top
	end := min(top+h, len(items))
	var g *widget.Grid
	whole := func(room int, cause bool, wordings ...wording) bool { // with p99, and the store uncut
		return slices.ContainsFunc(wordings, func(words wording) bool {
			g = x.grid(e, items, top, end, focused, words, cause)
			g.Cols[storeAt].Least, g.Cols[storeAt].Spare, g.Cols[latencyAt].Spare = x.stores(items[top:end]), 2, 1
			return g.Shows(storeAt, room) && g.Shows(latencyAt, room)
		})
	}
	fits := func(room int) bool {
		for _, enough := range []func() bool{ // if possible with the store, which says whose the figures are
			func() bool { g.Cols[storeAt].Spare = 2; return g.Least() <= room },
			func() bool { g.Cols[storeAt].Spare = 2; return g.Shows(storeAt, room) },
			func() bool { return g.Least() <= room },
		} {
			for words := inFull; words < noWord; words++ {
				if g = x.grid(e, items, top, end, focused, words, false); enough() {
					return true
				}
			}
		}
		return false
	}
	switch off := w - 1; { // the border
	case whole(off, true, inFull, noToday, oneTime):
		w = off
	case whole(w, true, noToday, oneTime):
	case whole(off, false, inFull, oneTime) || fits(off):
		w = off
	case !fits(w):
		g = x.grid(e, items, top, end, focused, noWord, false)
	}
	_, lines := g.Lines(s, w)
	lines = widget.Indent(lines)
	for len(foot) > 0 && len(lines) < h {
		lines = append(lines, "")
	}
	return append(lines, foot...)
}

// wording is how much of the words of a row is said.
type wording int

const (
	inFull  wording = iota
	oneWord         // what is worst about a run, beside the sign of its verdict
	noToday         // that, and of a run of today only its time
	oneTime         // and the day of another
	noWord          // the sign alone, and day and time
)

// storeAt and latencyAt are which columns have the store and the p99.
const storeAt, latencyAt = 1, 3

// grid is the table of some of the items; cause gives verdicts in doubt their first one.
func (x *earlier) grid(e screen.Env, items []kept.Item, top, end int, focused bool, words wording, cause bool) *widget.Grid {
	s := e.Styles
	g := &widget.Grid{Cols: []widget.Column{{}, {Least: 5, Most: longestStore, Spare: 3}, {Right: true, Most: 12}, {Right: true, Spare: 4}, {}, {Spare: 5, Most: 40}}}
	for i := top; i < end; i++ {
		r := &items[i]
		latency, notes := "–", ""
		if _, p99, _ := r.Figures(); p99 > 0 {
			latency = widget.Nanos(p99)
			if r.Run != nil && r.Run.Sought == nil {
				f := widget.FiguresOf(r.Run)
				latency = f.P99Text()
			}
		}
		if r.Run != nil {
			notes = archive.Notes(r.Run)
		}
		_, store := r.Target()
		verdict, _ := widget.TrustOf(s, r)
		verdict, _, _ = strings.Cut(verdict, " ")
		brief, when := r.JudgedBriefly(), x.moments.Of(r, e.Now)
		if words >= oneWord {
			if _, worst, ok := strings.Cut(brief, " · "); ok {
				brief = worst
			}
		}
		if cause {
			brief = r.Because(brief)
		}
		if words < noWord {
			verdict += " " + brief
		}
		switch words {
		case noToday:
			when = strings.TrimPrefix(when, "today ")
		case oneTime:
			when = archive.ClockOrDay(when)
		}
		lead := "  "
		switch {
		case i == x.at && focused:
			lead = "▸ "
		case len(r.Of) > 0: // its runs are not listed
			lead = "+ "
		}
		g.Add(lead+when, store, r.Brief(), latency, verdict, notes)
	}
	g.Ink = func(row, col int) widget.Ink {
		switch {
		case col == 4:
			_, k := widget.TrustOf(s, &items[top+row])
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

// longestStore is how many cells the name of a store has at most.
const longestStore = 10

// stores is how many cells the stores of some items take.
func (x *earlier) stores(items []kept.Item) (w int) {
	for i := range items {
		_, store := items[i].Target()
		w = max(w, ansi.StringWidth(store))
	}
	return min(w, longestStore)
}

// none says that the selected profile has no runs, and where those of others are.
func (x *earlier) none() string {
	if len(x.all) == 0 {
		return "No runs yet."
	}
	return "No runs of this profile yet. h lists " + units.Choose(len(x.all), "one of another", fmt.Sprintf("all %d runs", len(x.all))) + "."
}

// foot returns the last line: the question or the text being typed, else the filter, else when the
// selected run was, its verdict and what is kept with it, or of how many runs the row is; none if there is nothing
// to show.
func (x *earlier) foot(e screen.Env, items []kept.Item, w int, focused bool) []string {
	s := e.Styles
	asked := x.shelf.Line(s, w)
	switch {
	case asked != "":
		return []string{asked}
	case x.shelf.Filter.Typing() || x.shelf.Filter.Text() != "":
		return []string{" " + x.shelf.Filter.View(s, "", w-2)}
	case focused && x.at < len(items):
		at := &items[x.at]
		word, ink := widget.TrustOf(s, at)
		line := " " + ink.On(word)
		if when := x.moments.Of(at, e.Now) + " · "; ansi.StringWidth(when+word) < w {
			line = " " + s.Muted.On(when) + ink.On(word)
		}
		if at.Run == nil {
			line = " " + s.Muted.On(at.Kind()+", "+widget.Plural(int64(len(at.Runs())), "run")+" · ") + ink.On(word)
		} else if kept := archive.Kept(s, at.Run); kept != "" {
			line += s.Muted.On(" · ") + kept
		}
		return []string{widget.Fit(line, w)}
	}
	return nil
}
