package tui

import (
	"fmt"
	"image"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// overlay is what is drawn above the screen.
type overlay int

const (
	none overlay = iota
	help
	logs
	command
	finishing // what is being written, and then the program quits
	dialog    // of a screen itself, while it is spoken
)

// overlayKey handles a key while an overlay is open.
func (a *App) overlayKey(msg tea.KeyPressMsg) tea.Cmd {
	if a.overlay == finishing {
		if key.Matches(msg, widget.AllKeys.Back) {
			a.overlay, a.leaving = none, false
		}
		return nil
	}
	switch {
	case key.Matches(msg, widget.AllKeys.Down):
		a.scroll++
	case key.Matches(msg, widget.AllKeys.Up):
		a.scroll = max(a.scroll-1, 0)
	case key.Matches(msg, widget.AllKeys.PageDown):
		a.scroll += a.env.H / 2
	case key.Matches(msg, widget.AllKeys.PageUp):
		a.scroll = max(a.scroll-a.env.H/2, 0)
	default: // rather than taking keys without a word
		a.overlay = none
	}
	return nil
}

// overlayKeys returns the keys that work while an overlay is open; long means that it has
// more lines than fit.
func (a *App) overlayKeys(long bool) []key.Binding {
	if a.overlay == finishing {
		return []key.Binding{widget.Bind("esc", "stay", "esc"), widget.Bind("ctrl+c", "quit at once", "ctrl+c")}
	}
	out := []key.Binding{widget.Bind("esc", "close", "esc")}
	if long {
		out = append(out, widget.Bind("↑↓", "scroll", "up", "down"))
	}
	return out
}

// float draws the overlay above a page.
func (a *App) float(page string) string {
	p, lines, r := a.box()
	h := r.Dy()
	a.scroll = min(a.scroll, max(len(lines)-(h-2), 0))
	if len(lines) > h-2 {
		p.Note = fmt.Sprintf("%d–%d of %d", a.scroll+1, a.scroll+h-2, len(lines))
		lines = lines[a.scroll:]
	}
	page = footed(page, a.env, a.overlayKeys(len(lines) > h-2))
	if a.overlay == command {
		return widget.Laid(page, a.ruled(p, lines[:min(len(lines), h-2)]), 0, r.Min.Y)
	}
	return over(page, p.Draw(a.env.Styles, r.Dx(), h, lines), r.Min.X, r.Min.Y, a.env.W)
}

// footed is a page with other keys in its last line.
func footed(page string, e screen.Env, keys []key.Binding) string {
	return page[:strings.LastIndexByte(page, '\n')+1] + widget.Footer(e.Styles, e.W, keys)
}

// over draws a box at a place of a page of w cells.
func over(page string, box []string, x, y, w int) string {
	out := lipgloss.NewCompositor(
		lipgloss.NewLayer(page),
		lipgloss.NewLayer(strings.Join(box, "\n")).ID("overlay").X(x).Y(y).Z(1),
	).Render()
	lines := strings.Split(out, "\n") // without trailing spaces
	for i := range lines {
		lines[i] = widget.Fit(lines[i], w)
	}
	return strings.Join(lines, "\n")
}

// ruled draws lines over the whole width between two rules: nothing stands beside what is to be marked.
func (a *App) ruled(p widget.Panel, lines []string) []string {
	s, w := a.env.Styles, a.env.W
	rule := func(left, right string) string {
		return s.Accent.On("── ") + s.Bold.On(left) + s.Accent.On(" "+strings.Repeat("─", max(w-ansi.StringWidth(left+right)-6, 0))+" ") + s.Muted.On(right) + " "
	}
	out := []string{widget.Fit(rule(p.Title, p.Note), w)}
	for _, l := range lines {
		out = append(out, widget.Fit(l, w))
	}
	return append(out, s.Accent.On(strings.Repeat("─", w)))
}

// box returns the overlay: its frame, all its lines, and its position.
func (a *App) box() (widget.Panel, []string, image.Rectangle) {
	var p widget.Panel
	var lines []string
	switch a.overlay {
	case help:
		p, lines = widget.Panel{Title: "Keys", Foot: "the mouse works, too · esc closes"}, helpLines(a.env, a.helpGroups())
	case logs:
		p, lines = widget.Panel{Title: "Log", Foot: "esc closes"}, logLines(a.env, a.logs)
	case command:
		p, lines = widget.Panel{Title: "This command " + a.command.Does, Foot: "esc closes"}, commandLines(a.env, a.command.Text)
	default:
		p, lines = widget.Panel{Title: writingThenQuits}, finishLines(a.env)
	}
	p.Focused = true
	wide := 0
	for _, l := range lines {
		wide = max(wide, ansi.StringWidth(l))
	}
	w, h := min(max(wide+4, ansi.StringWidth(p.Title)+8), a.env.W-2), min(len(lines)+2, a.env.H-2)
	x, y := (a.env.W-w)/2, (a.env.H-h)/2
	return p, lines, image.Rect(x, y, x+w, y+h)
}

// helpCol is the least width of a column of the help, helpKey where the text of a key begins in it.
const helpCol, helpKey = 36, 12

// helpLine is a line of the help: a key with the first line of what it does, or a further line of
// that; the zero value is an empty line.
type helpLine struct {
	b     key.Binding
	text  string
	first bool
}

// helpGroups are all keys of the screen, then the global ones, and then its signs.
func (a *App) helpGroups() [][]key.Binding {
	keys := a.stack.top().Keys()
	out := append(slices.Clip(keys.FullHelp()), a.global())
	if len(keys.Signs) > 0 {
		out = append(out, keys.Signs)
	}
	return out
}

// helpColumns lists keys, group by group, in two columns if they fit, and how wide each is.
func helpColumns(e screen.Env, groups [][]key.Binding) (columns [][]helpLine, wide int) {
	n, keys := 1, 0
	for _, g := range groups {
		keys += len(g) + 1
	}
	if e.W >= 80 && keys > 12 {
		n = 2
	}
	wide = helpCol
	for _, g := range groups {
		for _, b := range g {
			wide = max(wide, helpKey+ansi.StringWidth(b.Help().Desc)+1)
		}
	}
	wide = min(wide, (e.W-6)/n)
	var col []helpLine
	var ends []int // of groups
	for i, g := range groups {
		if i > 0 {
			ends, col = append(ends, len(col)), append(col, helpLine{})
		}
		for _, b := range g {
			for i, l := range widget.Wrap(b.Help().Desc, wide-helpKey-1) {
				col = append(col, helpLine{b, l, i == 0})
			}
		}
	}
	if n == 1 {
		return [][]helpLine{col}, wide
	}
	cut := len(col)
	for _, end := range ends { // so that the longer one is as short as it can be
		if max(end, len(col)-end-1) < max(cut, len(col)-cut-1) {
			cut = end
		}
	}
	columns = [][]helpLine{col[:cut]}
	if cut < len(col) {
		columns = append(columns, col[cut+1:])
	}
	return columns, wide
}

func helpLines(e screen.Env, groups [][]key.Binding) []string {
	columns, wide := helpColumns(e, groups)
	rows := 0
	for _, c := range columns {
		rows = max(rows, len(c))
	}
	out := make([]string, rows)
	for i := range out {
		for _, c := range columns {
			text := ""
			if i < len(c) && c[i].text != "" {
				name, does := strings.Repeat(" ", helpKey), c[i].text
				if c[i].first {
					name = " " + widget.FitRight(c[i].b.Help().Key, helpKey-3) + "  "
				}
				text = e.Styles.KeyOff.On(name + does)
				if c[i].b.Enabled() || len(c[i].b.Keys()) == 0 { // a sign
					text = e.Styles.Key.On(name) + does
				}
			}
			out[i] += widget.Fit(text, wide)
		}
	}
	return out
}

// commandLines are a command in full, over several lines that a shell takes for one, and where else it
// is.
func commandLines(e screen.Env, text string) []string {
	w := e.W - 3
	out, line := []string{""}, ""
	for _, word := range words(text) {
		switch {
		case line == "":
			line = word
		case ansi.StringWidth(line+" "+word) > w && !e.Styles.Spoken:
			out, line = append(out, line+" \\"), "  "+word
		default:
			line += " " + word
		}
	}
	out = append(out, strings.Split(ansi.Hardwrap(line, max(e.W, 1), true), "\n")...)
	out = append(out, "")
	for _, l := range widget.Wrap("It was "+screen.SentToClipboard+", which not every terminal takes; where yours does not, mark it here with the mouse.", w) {
		out = append(out, " "+e.Styles.Muted.On(l))
	}
	return append(out, "")
}

// words parts a command where no quotes hold it together.
func words(text string) []string {
	var out []string
	begin, quote := 0, rune(0)
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ':
			if i > begin {
				out = append(out, text[begin:i])
			}
			begin = i + 1
		}
	}
	return append(out, text[begin:])
}

// emptyLog says where failed calls are, which nobody has to look for in vain.
const emptyLog = "Nothing has been logged: perfbench has nothing to say of itself, its files or its connections. " +
	"Calls that fail are not logged one by one. A run counts them in its last line, tab there goes to Errors with the " +
	"first messages of each kind, and its results have a page Errors."

func logLines(e screen.Env, log []string) []string {
	if len(log) == 0 {
		var out []string
		for _, l := range widget.Wrap(emptyLog, max(min(e.W-6, 72), 1)) {
			out = append(out, " "+l)
		}
		return out
	}
	out := make([]string, len(log))
	for i, l := range log {
		out[i] = " " + ansi.Truncate(ansi.Strip(l), e.W-6, "…")
	}
	return out
}

// writingThenQuits is the title of what is said while files are being written that were asked for.
const writingThenQuits = "Writing …, then quitting"

func finishLines(e screen.Env) []string {
	s := e.Styles
	return []string{
		"",
		"  The export under way is finished first.",
		"",
		"  " + s.Key.On("esc") + " stay   " + s.Key.On("ctrl+c") + " quit at once",
	}
}

// tooSmallView says in words what matters most and which size is needed; a run continues
// meanwhile. What there is no room for is left out from the end.
func (a *App) tooSmallView() string {
	e := a.env
	var said []string
	if a.overlay == finishing {
		said = []string{writingThenQuits}
	}
	if q := a.asking(); q != nil {
		said = []string{q.InWords()}
	}
	for _, s := range slices.Backward(a.stack) {
		if t, ok := s.(screen.Terse); ok {
			said = append(said, t.InWords(e)...)
			break
		}
	}
	size := widget.Wrap(fmt.Sprintf("perfbench needs %d×%d, this is %d×%d", widget.MinWidth, widget.MinHeight, e.W, e.H), max(e.W-1, 1))
	if len(said) == 0 {
		return inTheMiddle(e, size)
	}
	var lines []string
	for _, text := range said {
		lines = append(lines, widget.Wrap(text, max(e.W-1, 1))...)
	}
	if len(lines)+len(size) <= e.H {
		lines = append(lines, widget.MutedLines(e.Styles, strings.Join(size, " "), max(e.W-1, 1))...)
	}
	for i := range lines {
		lines[i] = widget.Fit(" "+lines[i], e.W)
	}
	return widget.Page(e.W, e.H, lines)
}

// inTheMiddle draws a few lines in the middle of the terminal.
func inTheMiddle(e screen.Env, text []string) string {
	lines := widget.BlankLines(e.W, e.H)
	for i, l := range text[:min(len(text), e.H)] {
		pad := max(e.W-ansi.StringWidth(l), 0) / 2
		lines[max(e.H-len(text)+1, 0)/2+i] = widget.Fit(strings.Repeat(" ", pad)+l, e.W)
	}
	return strings.Join(lines, "\n")
}
