package archive

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// The columns of the list. What a filter asks for comes after the settings of kept.Told.
const (
	leadColumn, whenColumn, nameColumn, storeColumn, toldColumn = 0, 1, 2, 3, 4

	askedColumn   = toldColumn + len(kept.Told)
	resultColumn  = askedColumn + 1
	p99Column     = askedColumn + 2
	lengthColumn  = askedColumn + 3
	errorsColumn  = askedColumn + 4
	signColumn    = askedColumn + 5 // of the verdict
	verdictColumn = askedColumn + 6
	notesColumn   = askedColumn + 7
	idColumn      = askedColumn + 8
	allColumns    = askedColumn + 9
)

// usualCells are how many cells columns take: of figures as many as they usually have, of texts as many as can be read.
var usualCells = [allColumns]int{
	leadColumn: 3, whenColumn: 5, nameColumn: 11, storeColumn: 5, toldColumn: 7, toldColumn + 1: 6, toldColumn + 2: 7, askedColumn: 7,
	resultColumn: 9, p99Column: 8, lengthColumn: 7, errorsColumn: 6, signColumn: 1, verdictColumn: 8, notesColumn: 10, idColumn: 1 << 10,
}

// between columns are so many cells.
const betweenColumns = 2

// mostTold is how many cells a setting takes at most; what needs more is in the preview and in results.
const mostTold = 16

// columns are those that there is room for in w cells: what makes runs differ first, then what can be told of them. What
// stands in the rows that are in view has no say, so that columns stay as those change: heads are of the settings in which
// any runs differ, told the cells that these take, and stores says that runs are of several. A setting for which there
// is no room gives way. Of Notes there is a sign at least.
func columns(heads []string, told []int, stores bool, w int) []int {
	cols := []int{leadColumn, whenColumn, nameColumn, resultColumn, p99Column, signColumn}
	used := -betweenColumns
	for _, c := range cols {
		used += usualCells[c] + betweenColumns
	}
	var more []int
	for _, c := range []int{askedColumn, toldColumn, storeColumn, toldColumn + 1, toldColumn + 2} {
		if c == storeColumn && stores || c != storeColumn && heads[c-toldColumn] != "" {
			more = append(more, c)
		}
	}
	more = append(more, verdictColumn)
	if !stores {
		more = append(more, storeColumn)
	}
	more = append(more, notesColumn, errorsColumn, lengthColumn)
	for _, c := range more {
		cells, setting := usualCells[c], toldColumn <= c && c <= askedColumn
		switch {
		case setting:
			cells = max(cells, told[c-toldColumn])
		case c == notesColumn:
			cells = 1
		}
		if used+cells+betweenColumns > w {
			if setting {
				continue
			}
			break
		}
		used += cells + betweenColumns
		cols = append(cols, c)
	}
	slices.Sort(cols)
	return cols
}

// wording is how a table says things: in which columns, with how many cells at most (0: any number), and in how many words.
type wording struct {
	cols []int
	most [allColumns]int
	// marked has a sign for Notes; whole has answers in full, brief the verdicts in a word or two, and cause their first cause
	// in it; short leaves out *today*, shorter the time of other days, too, and shortest the seconds.
	marked, whole, brief, cause, short, shorter, shortest bool
}

// wishes are what is said beyond the least where there is room for it, first that which is missed most.
var wishes = []func(*wording){
	func(m *wording) { clear(m.most[toldColumn:resultColumn]) },
	func(m *wording) { m.shortest = false },
	func(m *wording) { m.marked = false },
	func(m *wording) { m.shorter = false },
	func(m *wording) { m.most[resultColumn] = 0 },
	func(m *wording) { m.most[storeColumn] = 9 },
	func(m *wording) { m.most[nameColumn] = 16 },
	func(m *wording) { m.most[verdictColumn] = 23 },
	func(m *wording) { m.most[nameColumn] = 24 },
	func(m *wording) { m.most[notesColumn] = 24 },
	func(m *wording) { m.brief, m.most[verdictColumn] = false, 0 },
	func(m *wording) { m.cause = true },
	func(m *wording) { m.most[notesColumn] = 0 },
	func(m *wording) { m.most[storeColumn], m.most[nameColumn] = 0, 0 },
	func(m *wording) { // if nothing is cut
		m.short = false
		m.most[notesColumn], m.most[storeColumn], m.most[nameColumn] = 0, 0, 0
	},
	func(m *wording) { m.whole, m.most[resultColumn] = true, 36 },
	func(m *wording) { m.most[resultColumn] = 0 },
	func(m *wording) { m.cols = append(slices.Clone(m.cols), idColumn) },
}

// fitted is the table of the rows up to end in w cells, with as much of wishes as there is room for.
func (h *List) fitted(e screen.Env, end, w int) (*widget.Grid, wording) {
	all := make([]*kept.Item, len(h.rows))
	for i := range h.rows {
		all[i] = &h.rows[i]
	}
	settings := kept.SettingsOf(all, h.shelf.Sought())
	how := wording{marked: true, brief: true, short: true, shorter: true, shortest: true, most: usualCells}
	how.most[resultColumn] = 11
	told, stores := h.told(all, settings)
	for i, cells := range told {
		how.most[toldColumn+i] = max(how.most[toldColumn+i], cells)
	}
	how.cols = columns(settings.Heads(), told, stores, w)
	if NotesHead(h.rows) == "" {
		how.cols = slices.DeleteFunc(how.cols, func(c int) bool { return c == notesColumn })
	}
	if e.Styles.Spoken { // which leaves nothing out
		how = wording{whole: true, cause: true}
		for c := range allColumns {
			how.cols = append(how.cols, c)
		}
	}
	g := h.grid(e, settings, end, how)
	for _, wish := range wishes {
		more := how
		wish(&more)
		if told := h.grid(e, settings, end, more); told.Narrow() <= w {
			g, how = told, more
		}
	}
	return g, how
}

// told returns how many cells the settings of some items take, mostTold at most, and whether their stores differ.
func (h *List) told(items []*kept.Item, settings kept.Settings) (cells []int, stores bool) {
	cells, first := make([]int, len(settings.Heads())), ""
	for _, i := range items {
		for c, text := range settings.Of(i) {
			cells[c] = min(max(cells[c], ansi.StringWidth(text)), mostTold)
		}
		_, store := i.Target()
		if store != "" && first == "" {
			first = store
		}
		stores = stores || store != "" && store != first
	}
	return cells, stores
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
func (h *List) grid(e screen.Env, settings kept.Settings, end int, how wording) *widget.Grid {
	s, order, heads := e.Styles, h.shelf.Order(), settings.Heads()
	all := [allColumns]widget.Column{
		whenColumn:  {Head: "when"},
		nameColumn:  {Head: "profile", Least: 10},
		storeColumn: {Head: "store", Least: usualCells[storeColumn]},
		toldColumn:  {Head: heads[0], Right: true}, {Head: heads[1], Right: true}, {Head: heads[2], Right: true}, {Head: heads[3], Right: true},
		resultColumn:  {Head: headOf(order, kept.Throughput, "result"), Right: true},
		p99Column:     {Head: headOf(order, kept.P99, "p99"), Right: true},
		lengthColumn:  {Head: "length", Right: true},
		errorsColumn:  {Head: headOf(order, kept.Errors, "errors"), Right: true},
		verdictColumn: {Head: "verdict", Least: 7},
		notesColumn:   {Head: NotesHead(h.rows), Least: 4},
		idColumn:      {Head: "id"},
	}
	if how.marked {
		all[notesColumn] = widget.Column{}
	}
	g := &widget.Grid{}
	for _, c := range how.cols {
		col := all[c]
		if c == nameColumn || c == storeColumn || toldColumn <= c && c <= resultColumn || c == verdictColumn || c == notesColumn {
			col.Most = how.most[c]
		}
		g.Cols = append(g.Cols, col)
	}
	for i := h.top; i < end; i++ {
		row := h.cells(s, e, i, settings, how)
		var cells []string
		for _, c := range how.cols {
			cells = append(cells, row[c])
		}
		g.Add(cells...)
	}
	g.Ink = func(row, col int) widget.Ink {
		r, col := &h.rows[h.shown[h.top+row]], how.cols[col]
		switch {
		case col == signColumn || col == verdictColumn:
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

// headOf heads a column, which the list may be sorted by.
func headOf(order, by kept.Order, head string) string {
	if order != by {
		return head
	}
	return by.String() + " ▼"
}
