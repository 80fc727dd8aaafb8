package archive

import (
	"fmt"
	"math"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// covered names what the p99 of the listed runs is of, whatever of them is filtered.
func (h *List) covered() string {
	for _, i := range h.rows {
		if r := i.Run; r != nil && r.Covered() != measure.AllCalls {
			return measure.CallsOf(0, 1)
		}
	}
	return measure.AllCalls
}

// Heights of the list and of the preview below it, with their frames; the list has no preview where there
// is no room for both.
const leastListed, leastPreviewed = 12, 16

// previewed is how high the preview is: what the list leaves.
func (h *List) previewed(e screen.Env) int {
	room := e.H - 3
	if h.preview == nil || e.Styles.Spoken || len(h.rows) == 0 || room < leastListed+leastPreviewed {
		return 0
	}
	return room - min(max(len(h.rows)+6, leastListed), room-leastPreviewed)
}

// before draws the preview of the selected row.
func (h *List) before(e screen.Env, height int) []string {
	i := h.current()
	if i == nil {
		return widget.Panel{}.Draw(e.Styles, e.W, height, nil)
	}
	title := named(i) + " · " + h.moments.Of(i, e.Now)
	switch {
	case i.Sweep != nil:
		return previewOf(e, i.Sweep.Result, title, height)
	case i.Group != nil:
		lines := []string{e.Styles.Bold.On(i.Answer("")), e.Styles.Muted.On(widget.Plural(int64(len(i.Of)), "run") + ", which → lists")}
		return widget.Panel{Title: title, Foot: "enter opens it"}.Draw(e.Styles, e.W, height, widget.Indent(lines))
	case i.Run.EndedBy == rundir.StillRunning:
		return widget.Panel{Title: title}.Draw(e.Styles, e.W, height, widget.Indent([]string{e.Styles.Muted.On("It goes on: enter watches it.")}))
	}
	return h.preview.Draw(e, i.Run.ID, title, height)
}

// previewOf draws the preview of a sweep: its answer, and below that its picture, if it has one.
func previewOf(e screen.Env, r *sweep.Result, title string, height int) []string {
	panel := widget.Panel{Title: title, Foot: "enter opens it"}
	lines := widget.Indent(swept(e.Styles, r, e.W-4, 3))
	answer := len(lines) + 2
	drawn := picture(e, r, height-answer)
	if drawn == nil {
		return panel.Draw(e.Styles, e.W, height, lines)
	}
	drawn = append(panel.Draw(e.Styles, e.W, answer, lines), drawn...)
	return append(drawn, widget.BlankLines(e.W, height-len(drawn))...)
}

// View draws the page.
func (h *List) View(e screen.Env) string {
	s := e.Styles
	beneath := h.previewed(e)
	body := h.body(e, e.W-4, e.H-5-beneath)
	right := h.markedAs(e)
	if right == "" && slices.ContainsFunc(h.rows, func(i kept.Item) bool { return i.Run != nil && i.Run.EndedBy == rundir.StillRunning }) {
		right = s.Accent.On("▶ ") + s.Muted.On("goes on: enter watches it ")
		if e.W >= 100 {
			right = s.Accent.On("▶ ") + s.Muted.On("goes on: enter watches it, as  perfbench tui --watch RUN  does ")
		}
	}
	lines := []string{widget.Spread(" "+s.Bold.On("Earlier runs"), right, e.W)}
	p := widget.Panel{Title: "Runs  p99 of " + h.covered(), Focused: true}
	var runs []*rundir.Run
	for _, i := range h.shown {
		if r := h.rows[i].Run; r != nil && r.Sought == nil {
			runs = append(runs, r)
		}
	}
	if p.Foot = rundir.SignNote(runs...); p.Foot == "" && h.marked {
		p.Foot = "# has tags or a note"
	}
	if len(h.shown) > 0 {
		p.Note = fmt.Sprintf("%d of %d", h.at+1, len(h.shown))
		if len(h.shown) < len(h.rows) {
			p.Note += fmt.Sprintf(" (%d in all)", len(h.rows))
		}
	}
	lines = append(lines, p.Draw(s, e.W, e.H-3-beneath, widget.Indent(body))...)
	if beneath > 0 {
		lines = append(lines, h.before(e, beneath)...)
	}
	note := h.toast.Line(s, e.W)
	if asked := h.shelf.Line(s, e.W); asked != "" {
		note = asked
	} else if r := h.run(); h.toast.Text == "" && r != nil && Kept(s, r)+h.changed[r.ID] != "" {
		note = widget.Fit(" "+Kept(s, r), e.W)
		if what := h.changed[r.ID]; what != "" {
			note = widget.Fit(" "+s.Warn.On(what), e.W)
		}
	}
	return widget.Page(e.W, e.H, append(lines, note, widget.Footer(e.Styles, e.W, h.Keys().Short)))
}

// markedAs says what is marked for a comparison, which marks are not in view, and what c does; empty: nothing is
// marked.
func (h *List) markedAs(e screen.Env) string {
	s, said, does := e.Styles, "", "c compares them"
	switch a, b := len(h.sides[0]), len(h.sides[1]); {
	case a+b > 0:
		said = fmt.Sprintf("A %d · B %d", a, b)
	case len(h.chosen) > 0:
		said = fmt.Sprintf("%d chosen", len(h.chosen))
		if len(h.chosen) == 1 {
			does = "c compares it with the selected one"
		}
	default:
		return ""
	}
	if _, _, two := h.pair(); !two {
		does = ""
	}
	away := h.unseen()
	var names []string
	for _, i := range away {
		profile, _ := i.Profile()
		names = append(names, h.moments.Of(i, e.Now)+" "+profile)
	}
	ways := [][]string{{does}, {}}
	if n := len(away); n > 0 {
		named, counted := "not in view: "+strings.Join(names, ", "), fmt.Sprintf("%d not in view", n)
		ways = [][]string{{named, does}, {named}, {counted}}
	}
	room := e.W - len(" Earlier runs") - 3
	for i, way := range ways {
		rest := ""
		for _, part := range way {
			if part != "" {
				rest += " · " + part
			}
		}
		if i == len(ways)-1 || ansi.StringWidth(said+rest) <= room {
			return s.Accent.On(said) + s.Muted.On(rest+" ")
		}
	}
	return ""
}

// body draws filter, head and rows in w cells and h lines.
func (h *List) body(e screen.Env, w, room int) []string {
	s := e.Styles
	h.drawn = widget.Rows{}
	out := []string{h.shelf.Filter.View(s, "/ "+FilteredBy+" …", w), ""}
	switch {
	case h.err != nil:
		return append(out, widget.Sentences(s, h.err, w)...)
	case !h.loaded:
		return append(out, s.Muted.On("Reading the results folder …"))
	case len(h.rows) == 0:
		return append(out, "No runs yet. "+s.Muted.On("Press esc, then enter to start one."))
	case len(h.shown) == 0:
		return append(out, h.shelf.NoMatch(s, h.rows, w)...)
	}
	rows := max(room-len(out)-1, 1)
	h.top = max(min(h.top, h.at, len(h.shown)-rows), h.at-rows+1, 0)
	end := min(h.top+rows, len(h.shown))
	g, how := h.fitted(e, end, w)
	h.marked = how.marked
	head, lines := g.Lines(s, w)
	h.drawn = widget.Rows{Line: 2 + len(out) + 1, Top: h.top, N: end - h.top}
	return append(append(out, head), lines...)
}

// Kept is Notes with words for each part, to be read alone.
func Kept(s *widget.Styles, r *rundir.Run) string {
	var parts []string
	if r.Archived {
		parts = append(parts, s.Muted.On("archived, u takes it out"))
	}
	if r.Name != "" {
		parts = append(parts, s.Muted.On("in a plan: ")+r.Name)
	}
	if len(r.Tags) > 0 {
		parts = append(parts, s.Muted.On("tags: ")+strings.Join(r.TagWords(), between))
	}
	if r.Note != "" {
		parts = append(parts, s.Muted.On("note: ")+r.Note)
	}
	return strings.Join(parts, s.Muted.On(" · "))
}

// Notes returns what is kept with a run: that it is archived, its name in a plan, its tags and its note;
// empty: nothing is.
func Notes(r *rundir.Run) string {
	var parts []string
	if r.Archived {
		parts = append(parts, "archived")
	}
	if r.Name != "" {
		parts = append(parts, r.Name)
	}
	if len(r.Tags) > 0 {
		parts = append(parts, strings.Join(r.TagWords(), " "))
	}
	if r.Note != "" {
		parts = append(parts, r.Note)
	}
	return strings.Join(parts, " · ")
}

// NotesHead heads the column of Notes, which is shown if any run has some.
func NotesHead(rows []kept.Item) string {
	if slices.ContainsFunc(rows, func(r kept.Item) bool { return r.Run != nil && r.Run.Name != "" }) {
		return "name, tags, note"
	}
	if slices.ContainsFunc(rows, func(r kept.Item) bool { return r.Run != nil && Notes(r.Run) != "" }) {
		return "tags, note"
	}
	return ""
}

// lead is what precedes a row: that it is selected, and that it is chosen, or whether its runs are folded, or that it is one of
// those.
func (h *List) lead(i int, r *kept.Item) string {
	lead, id, runs := "  ", r.ID(), runsOf(r)
	if i == h.at {
		lead = "▸ "
	}
	switch {
	case within(runs, h.allChosen()):
		return lead + "●"
	case within(runs, h.sides[0]):
		return lead + "A"
	case within(runs, h.sides[1]):
		return lead + "B"
	case h.nested && len(r.Of) > 0 && h.opened[id]:
		return lead + "−"
	case h.nested && len(r.Of) > 0:
		return lead + "+"
	case h.nested && h.of[id] != "":
		return lead + "·"
	}
	return lead + " "
}

// named says what an item is: "find ingestion rate", "tx pbm".
func named(i *kept.Item) string {
	what, mode := i.Profile()
	if mode != "" {
		what += " " + mode
	}
	switch {
	case i.Sweep != nil:
		var names []string
		for _, a := range i.Sweep.Axes {
			names = append(names, a.Name)
		}
		what += " " + strings.Join(names, ",")
	case i.Run != nil && i.Run.Sought != nil:
		what += " " + i.Run.Sought.Over
	}
	switch k := i.Kind(); {
	case k != kept.OneRun:
		what = k + " " + what
	case i.Run.Archived:
		what = "archived " + what
	}
	return what
}

// name says what the item in a row is, and of which part it is a run: the values of a sweep, or a side of a comparison.
// Below its sweep a run has these alone.
func (h *List) name(i *kept.Item) string {
	part := h.parts[i.ID()]
	switch {
	case part == "":
		return named(i)
	case h.nested:
		return part
	}
	return named(i) + " " + part
}

// cells returns the cells of a row, for each column.
func (h *List) cells(s *widget.Styles, e screen.Env, n int, settings kept.Settings, how wording) []string {
	i := &h.rows[h.shown[n]]
	when := h.moments.Of(i, e.Now)
	if how.short {
		when = strings.TrimPrefix(when, "today ")
	}
	if how.shorter {
		when = ClockOrDay(when)
	}
	if clock := strings.Split(when, ":"); how.shortest && len(clock) == 3 {
		when = clock[0] + ":" + clock[1]
	}
	_, store := i.Target()
	_, p99, errors := i.Figures()
	answer := i.Brief()
	if how.whole {
		answer = i.Answer("")
	}
	latency, length, notes := widget.Nanos(p99), "", ""
	if i.Run != nil {
		length, notes = report.Length(math.Round(i.Run.MeasuredS)), Notes(i.Run)
		if p99 > 0 && i.Run.Sought == nil {
			f := widget.FiguresOf(i.Run)
			latency = f.P99Text()
		}
	} else {
		length = widget.Plural(int64(len(i.Runs())), "run")
	}
	if how.marked && notes != "" {
		notes = "#"
	}
	word, _ := widget.TrustOf(s, i)
	sign, word, _ := strings.Cut(word, " ")
	if how.brief {
		word = i.JudgedBriefly()
		if most := how.most[verdictColumn]; most > 0 && ansi.StringWidth(word) > most {
			word, _, _ = strings.Cut(word, " · ")
		}
	}
	if how.cause {
		word = i.Because(word)
	}
	out := append([]string{h.lead(n, i), when, h.name(i), store}, settings.Of(i)...)
	return append(out, answer, latency, length, widget.Whole(errors), sign, word, notes, i.ID())
}

// click selects a run, and opens the selected one; on the filter it starts typing.
func (h *List) click(m tea.Mouse, e screen.Env) tea.Cmd {
	h.shelf.Forget()
	if m.Y == 2 {
		h.shelf.Filter.Begin()
		return nil
	}
	i, is := h.drawn.Under(m.Y)
	if !is {
		return nil
	}
	if i == h.at && m.X < 8 {
		h.toggle()
		return nil
	}
	if i == h.at {
		return h.open(e)
	}
	h.at = i
	return nil
}
