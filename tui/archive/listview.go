package archive

import (
	"cmp"
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
	listed := make([]*kept.Item, len(h.shown))
	for i, n := range h.shown {
		listed[i] = &h.rows[n]
	}
	end := min(h.top+rows, len(h.shown))
	g, how := h.fitted(e, listed, end, w)
	h.marked = how.mark
	head, lines := g.Lines(s, w)
	h.drawn = widget.Rows{Line: 2 + len(out) + 1, Top: h.top, N: end - h.top}
	return append(append(out, head), lines...)
}

// storeColumn, errorsColumn, verdictColumn and notesColumn are which columns of the list have the store, the number
// of errors, the word of the verdict and what is kept with runs.
const storeColumn, errorsColumn, verdictColumn, notesColumn = 3, 11, 13, 14

// noting is how much is said: whole answers, Notes in words, cut or only marked by a sign, verdicts in full or
// brief, and with a cause. short leaves out *today*, and shorter the time of other days, too. profile is how wide
// the column of profiles may be; 0: as wide as usual.
type noting struct {
	whole, cut, mark, brief, cause, short, shorter bool
	profile                                        int
}

// profiles are how wide the column of profiles may be: it is cut where there is no room for store, verdict and
// notes otherwise.
var profiles = []int{24, 16, 12}

// fitted is the table of the rows up to end for w cells. Verdicts have their causes where there is room for these
// beside all that is said without them, for which moments may be short.
func (h *List) fitted(e screen.Env, listed []*kept.Item, end, w int) (*widget.Grid, noting) {
	g, how := h.roomy(e, listed, end, w)
	if w < usual {
		return g, how
	}
	for _, short := range []bool{false, true} {
		cause := how
		cause.cause, cause.short = true, short
		if told := h.grid(e, listed, end, cause); told.Shows(verdictColumn, w) && told.Columns(len(told.Cols), w) >= g.Columns(len(g.Cols), w) {
			return told, cause
		}
	}
	return g, how
}

// roomy is the table of the rows up to end for w cells, without causes: that which says most and has a place for Notes, if any
// has. One that is wider than usual has no fewer columns than one of usual cells.
func (h *List) roomy(e screen.Env, listed []*kept.Item, end, w int) (*widget.Grid, noting) {
	ways := []noting{{}, {brief: true}, {mark: true}, {mark: true, brief: true}}
	if w < usual {
		if g, how := h.narrow(e, listed, end, w, ways); g != nil {
			return g, how
		}
	}
	pick := func(ways []noting, w, least int) (*widget.Grid, noting) {
		for _, how := range ways {
			if g := h.grid(e, listed, end, how); g.Shows(notesColumn, w) && g.Columns(notesColumn, w) >= least {
				return g, how
			}
		}
		return nil, noting{}
	}
	g, how := pick(ways, min(w, usual), 0)
	if g == nil { // there is nothing to note, or no room
		g = h.grid(e, listed, end, how)
	}
	if w <= usual {
		return g, how
	}
	least := g.Columns(notesColumn, usual)
	if wide, how := pick([]noting{{whole: true}, {}, {brief: true}, {whole: true, cut: true}, {cut: true}, {brief: true, cut: true}, {mark: true}}, w, least); wide != nil {
		return wide, how
	}
	if wide := h.grid(e, listed, end, noting{whole: true}); how == (noting{}) && wide.Columns(notesColumn, w) >= least {
		return wide, noting{whole: true}
	}
	return g, how
}

// narrow is the table with store, errors, the word of the verdict and notes, for which moments are short and the
// column of profiles is cut if need be; else that without errors, without notes, or with the word alone; nil: there
// is no room for that either.
func (h *List) narrow(e screen.Env, listed []*kept.Item, end, w int, ways []noting) (*widget.Grid, noting) {
	needs := [][]int{{storeColumn, errorsColumn, verdictColumn}, {storeColumn, verdictColumn}, {verdictColumn}}
	if slices.ContainsFunc(listed[h.top:end], func(i *kept.Item) bool { return i.Run != nil && Notes(i.Run) != "" }) {
		needs = append([][]int{{storeColumn, errorsColumn, notesColumn, verdictColumn}, {storeColumn, notesColumn, verdictColumn}}, needs...)
	}
	for _, need := range needs {
		for _, most := range profiles {
			for _, when := range []noting{{}, {short: true}, {short: true, shorter: true}} {
				for _, how := range ways {
					how.profile, how.brief, how.short, how.shorter = most, how.brief || most < profiles[0], when.short, when.shorter
					if how.shorter && len(need) > 1 {
						continue
					}
					g := h.grid(e, listed, end, how)
					g.Cols[errorsColumn].Spare = 3
					for _, other := range []int{storeColumn, errorsColumn} {
						if !slices.Contains(need, other) { // it makes room for what is
							g.Cols[other].Spare = 8
						}
					}
					if !slices.ContainsFunc(need, func(col int) bool { return !g.Shows(col, w) }) {
						return g, how
					}
				}
			}
		}
	}
	return nil, noting{}
}

// ClockOrDay returns the time of a moment of today, or the day of another.
func ClockOrDay(when string) string {
	if clock, today := strings.CutPrefix(when, "today "); today {
		return clock
	}
	if day := strings.LastIndexByte(when, ' '); day > 0 && strings.Contains(when[day:], ":") {
		return when[:day]
	}
	return when
}

// grid is the table of the rows up to end.
func (h *List) grid(e screen.Env, listed []*kept.Item, end int, how noting) *widget.Grid {
	s, order := e.Styles, h.shelf.Order()
	settings := kept.SettingsOf(listed, h.shelf.Sought())
	heads := settings.Heads()
	spare := func(n int) int {
		if heads[n] == h.shelf.Sought().Asked() {
			return 1 // as what is asked for and has no column else
		}
		return 7
	}
	notes := widget.Column{Head: NotesHead(h.rows), Spare: 5, Most: 60}
	if how.cut {
		notes.Most = leastNotes
	}
	if how.mark {
		notes = widget.Column{Spare: 5}
	}
	g := &widget.Grid{Cols: []widget.Column{
		{Head: ""},
		{Head: "when"},
		{Head: "profile", Most: cmp.Or(how.profile, profiles[0])},
		{Head: "store", Most: 14, Spare: 2},
		{Head: heads[0], Right: true, Spare: spare(0)},
		{Head: heads[1], Right: true, Spare: spare(1)},
		{Head: heads[2], Right: true, Spare: spare(2)},
		{Head: heads[3], Right: true, Spare: 1},
		{Head: cmp.Or(headOf(order, kept.Throughput), "result"), Right: true},
		{Head: cmp.Or(headOf(order, kept.P99), "p99"), Right: true},
		{Head: "length", Right: true, Spare: 6},
		{Head: cmp.Or(headOf(order, kept.Errors), "errors"), Right: true, Spare: 4},
		{Head: ""},
		{Head: "verdict", Spare: 3, Most: 36},
		notes,
		{Head: "id", Spare: 8},
	}}
	for i := h.top; i < end; i++ {
		r := &h.rows[h.shown[i]]
		when := h.moments.Of(r, e.Now)
		if how.short {
			when = strings.TrimPrefix(when, "today ")
		}
		if how.shorter {
			when = ClockOrDay(when)
		}
		if h.nested && h.of[r.ID()] != "" {
			when = "  " + when
		}
		row := append([]string{h.lead(i, r)}, cells(s, r, when, settings, how.whole)...)
		if how.brief {
			row[verdictColumn] = r.JudgedBriefly()
		}
		if how.cause {
			row[verdictColumn] = r.Because(row[verdictColumn])
		}
		if how.mark && row[notesColumn] != "" {
			row[notesColumn] = "#"
		}
		g.Add(row...)
	}
	g.Ink = func(row, col int) widget.Ink {
		r := &h.rows[h.shown[h.top+row]]
		switch {
		case col == verdictColumn-1 || col == verdictColumn:
			_, k := widget.TrustOf(s, r)
			return k
		case h.top+row == h.at:
			return s.Selected
		case col >= notesColumn || r.Run != nil && r.Run.Archived:
			return s.Muted
		}
		return s.Plain
	}
	return g
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

// lead is what precedes a row: that it is selected, and that it is chosen, or whether its runs are folded.
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
	}
	return lead + " "
}

// leastNotes is how wide Notes are that are cut, where other columns need the rest.
const leastNotes = 16

// headOf marks the head of the column that a list is sorted by; "" if that is not by.
func headOf(order, by kept.Order) string {
	if order != by {
		return ""
	}
	return by.String() + " ▼"
}

// usual is how many cells a list has on a terminal of 120.
const usual = 116

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

// cells returns the cells of an item in a list: when it began, what it is, store, settings, what
// came out, p99, length, errors, a sign and a word for its verdict, tags and note, id.
func cells(s *widget.Styles, i *kept.Item, when string, settings kept.Settings, whole bool) []string {
	_, store := i.Target()
	_, p99, errors := i.Figures()
	answer := i.Brief()
	if whole {
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
	word, _ := widget.TrustOf(s, i)
	sign, word, _ := strings.Cut(word, " ")
	out := append([]string{when, named(i), store}, settings.Of(i)...)
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
