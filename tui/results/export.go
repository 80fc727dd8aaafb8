package results

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// exporter asks for the formats in which to write a run, and the directory. It is drawn
// above the results.
type exporter struct {
	bench    Bench
	id, home string
	formats  []rundir.Format
	on       []bool
	// at is the selected row: a format, or after the formats the directory.
	at, top int
	typing  bool
	dir     widget.Field
	before  widget.Field // the directory before it was edited
	// busy means that it is being written; files and err are the result. done means that all was
	// written, and that it is only shown where.
	busy  bool
	done  bool
	files []document
	err   error
	// Where the box and its rows were drawn, for the mouse.
	box  struct{ x, y, w, h int }
	rows []int // line within the box for each row, by row
}

// newExporter asks about a run and its directory. The formats stay in their order, whatever was chosen
// before: that is chosen again, with its directory, and the first of it is selected.
func newExporter(b Bench, id string, f *rundir.Folder) *exporter {
	formats, last := b.Formats(f), b.LastExported()
	x := &exporter{bench: b, id: id, home: f.Dir, formats: formats, on: make([]bool, len(formats)), dir: widget.NewField(cmp.Or(last.Dir, f.Dir))}
	for i, f := range formats {
		x.on[i] = slices.Contains(last.Formats, f.ID)
	}
	if at := slices.IndexFunc(formats, func(f rundir.Format) bool { return f.ID == usualFormat }); at >= 0 && !slices.Contains(x.on, true) {
		x.on[at] = true
	}
	x.at = max(slices.Index(x.on, true), 0)
	return x
}

// usualFormat is chosen where nothing was chosen before that this run has.
const usualFormat = "html"

func (x *exporter) chosen() []string {
	var out []string
	for i, f := range x.formats {
		if x.on[i] {
			out = append(out, f.ID)
		}
	}
	return out
}

// write writes the documents in the background.
func (x *exporter) write(e screen.Env) tea.Cmd {
	ids := x.chosen()
	x.files, x.err = nil, nil
	if len(ids) == 0 {
		x.err = errors.New("no format is chosen: space chooses one")
		return nil
	}
	dir := strings.TrimSpace(x.dir.Value())
	if dir == x.home {
		dir = ""
	}
	x.busy = true
	bench, id := x.bench, x.id
	return e.Write(func() tea.Msg {
		paths, err := bench.Export(id, ids, dir)
		return exportedMsg{id, documents(paths), err}
	})
}

// finished takes the result.
func (x *exporter) finished(m exportedMsg) {
	x.busy, x.done, x.files, x.err = false, m.err == nil, m.files, m.err
	if x.done {
		x.top = 0
	} else if x.at == len(x.formats) { // another folder is typed next
		x.typing = true
	}
}

func (x *exporter) bindings() widget.Bindings {
	k := widget.AllKeys
	k.Choose.SetHelp("enter", "write")
	k.Back.SetHelp("esc", "close")
	k.Toggle.SetEnabled(x.at < len(x.formats))
	k.Edit.SetHelp("tab", "folder")
	return k
}

func (x *exporter) keys() widget.KeyMap {
	if x.done {
		return doneKeys()
	}
	if x.busy {
		k := widget.AllKeys
		k.Back.SetHelp("esc", "close, and write on")
		k.Quit.SetHelp("q", "quit when it is written")
		list := []key.Binding{k.Back, k.Quit}
		return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
	}
	if x.typing {
		list := []key.Binding{widget.Bind("enter", "write", "enter"), widget.Bind("tab", "formats", "tab", "up"), widget.Bind("ctrl+u", "clear", "ctrl+u"), widget.Bind("esc", "cancel", "esc")}
		return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
	}
	k := x.bindings()
	folder := widget.Bind("tab", "folder", "tab")
	updown := widget.Bind("↑↓", "move", "up", "down")
	return widget.KeyMap{
		Short: []key.Binding{updown, k.Toggle, folder, k.Choose, k.Back, k.Help, k.Quit},
		Full:  [][]key.Binding{{k.Up, k.Down, k.First, k.Last, k.Toggle, folder, k.Choose, k.Back}},
	}
}

// press handles a key; closed means that the box is to be closed.
func (x *exporter) press(msg tea.KeyPressMsg, e screen.Env) (cmd tea.Cmd, closed bool) {
	if x.done {
		return nil, x.pressDone(msg, e)
	}
	if x.typing {
		switch msg.String() {
		case "enter":
			x.typing = false
			return x.write(e), false
		case "tab", "up":
			x.typing, x.at = false, len(x.formats)-1
		case "esc":
			x.typing, x.dir, x.at = false, x.before, len(x.formats)-1
		default:
			x.dir, _ = x.dir.Update(msg)
		}
		return nil, false
	}
	k := x.bindings()
	switch {
	case key.Matches(msg, k.Back), key.Matches(msg, k.Export):
		return nil, true
	case x.busy: // what is being written is settled
	case key.Matches(msg, k.First):
		x.move(-len(x.formats))
	case key.Matches(msg, k.Last):
		x.move(len(x.formats))
	case key.Matches(msg, k.Up):
		x.move(-1)
	case key.Matches(msg, k.Down):
		x.move(1)
	case key.Matches(msg, k.Toggle):
		x.on[x.at] = !x.on[x.at]
	case key.Matches(msg, k.Next):
		x.edit()
	case key.Matches(msg, k.Choose):
		return x.write(e), false
	}
	return nil, false
}

func (x *exporter) edit() {
	x.at = len(x.formats)
	x.typing, x.before = true, x.dir
}

func (x *exporter) move(by int) {
	if x.done {
		x.top += by
		return
	}
	if x.at = min(max(x.at+by, 0), len(x.formats)); x.at == len(x.formats) { // where letters are typed, as in other forms
		x.edit()
	}
}

// click chooses a format, edits the directory, or closes the box if outside of it.
func (x *exporter) click(m tea.Mouse, e screen.Env) (cmd tea.Cmd, closed bool) {
	b := x.box
	if m.X < b.x || m.X >= b.x+b.w || m.Y < b.y || m.Y >= b.y+b.h {
		return nil, true
	}
	if x.done {
		return nil, m.Y == b.y+b.h-1 // the border names the key that closes
	}
	if x.busy {
		return nil, false
	}
	if m.Y == b.y+b.h-1 { // the border names the key that writes
		return x.write(e), false
	}
	for row, y := range x.rows {
		if y == 0 || y != m.Y-b.y { // 0: not shown
			continue
		}
		x.at = row
		if row == len(x.formats) {
			x.edit()
		} else {
			x.typing = false
			x.on[row] = !x.on[row]
		}
	}
	return nil, false
}

// over draws the box above a page.
func (x *exporter) over(e screen.Env, below string) string {
	if x.done {
		return x.overDone(e, below)
	}
	s := e.Styles
	w := 58
	for _, f := range x.formats {
		w = max(w, ansi.StringWidth(f.Title)+formatAt+4)
	}
	w = min(w, e.W-2)
	inside := w - 4
	after := x.after(s, inside)
	list := min(len(x.formats), max(e.H-8-len(after), 3))
	x.top = min(max(x.top, x.at-list+1), max(len(x.formats)-list, 0))
	x.top = max(min(x.top, x.at), 0)
	lines := []string{""}
	x.rows = make([]int, len(x.formats)+1)
	for i, f := range x.formats {
		if i < x.top || i >= x.top+list {
			continue
		}
		x.rows[i] = len(lines) + 1
		lines = append(lines, " "+x.format(s, i, f, inside-formatAt))
	}
	x.rows[len(x.formats)] = len(lines) + 2
	more := ""
	if n := len(x.formats) - x.top - list; n > 0 {
		more = "   " + s.Muted.On(fmt.Sprintf("↓ %d more", n))
	}
	lines = append(lines, more, " "+x.folder(s, inside))
	lines = append(lines, after...)
	h := min(len(lines)+2, e.H-1)
	p := widget.Panel{Title: "Export", Focused: true, Foot: fmt.Sprintf("enter writes %s", units.Plural(len(x.chosen()), "format"))}
	if x.busy {
		p.Foot = "writing: " + whileWriting
	}
	if list < len(x.formats) {
		p.Note = fmt.Sprintf("%d–%d of %d", x.top+1, x.top+list, len(x.formats))
	}
	return x.laid(e, p, w, h, lines, below)
}

// whileWriting says which keys work while an export is written.
const whileWriting = "esc closes, q quits when it is written"

// format draws one of the list; w cells are for what it is.
func (x *exporter) format(s *widget.Styles, i int, f rundir.Format, w int) string {
	lead, name := "  ", s.Plain
	if i == x.at {
		lead, name = "▸ ", s.Selected
	}
	mark := "[ ] "
	if x.on[i] {
		mark = "[x] "
	}
	title := f.Title
	if !s.Spoken {
		title = widget.Brief(title, w)
	}
	return name.On(lead+mark+widget.Fit(f.ID, formatAt-7)) + s.Muted.On(title)
}

// formatAt is the column within the box in which what a format is begins.
const formatAt = 23

func (x *exporter) folder(s *widget.Styles, w int) string {
	lead, name := "  ", s.Muted
	if x.at == len(x.formats) {
		lead, name = "▸ ", s.Selected
	}
	label := name.On(lead + "to  ")
	if s.Spoken {
		label = name.On(lead + "folder: ")
		w = s.TextWidth(w)
	}
	if x.typing {
		return label + x.dir.View(s, w-7)
	}
	dir := strings.TrimSpace(x.dir.Value())
	if dir == "" {
		dir = x.home
	}
	return label + widget.PathIn(dir, w-7)
}

// after reports the result.
func (x *exporter) after(s *widget.Styles, w int) []string {
	switch {
	case x.busy:
		return []string{"", " " + s.Muted.On("Writing …")}
	case x.err != nil:
		out := []string{""}
		for _, l := range widget.Sentences(s, x.err, w) {
			out = append(out, " "+s.Bad.On(ansi.Strip(l)))
		}
		return append(out, written(s, x.files, w)...)
	}
	return nil
}
