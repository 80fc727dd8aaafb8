// Package runs holds the screens of the earlier runs: their list, and two of them
// beside each other.
package runs

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// List lists the runs of the results folder, newest first: to open one, or to
// compare two. It belongs to the event loop.
type List struct {
	bench  screen.Archive
	runs   []rundir.Run
	loaded bool
	err    error
	// shown indexes the runs that pass the filter; at is the selected one of these.
	shown     []int
	at, top   int
	filter    widget.Field
	filtering bool
	// chosen are the ids to compare, at most two, in the order of choosing.
	chosen []string
	toast  widget.Note
	rowsAt int // line of the first row, for the mouse
}

// New lists the runs; with an id that run is chosen, and the next one is
// compared with it.
func New(b screen.Archive, id string) *List {
	h := &List{bench: b}
	if id != "" {
		h.chosen = []string{id}
	}
	return h
}

// Start reads what is shown.
func (h *List) Start(screen.Env) tea.Cmd { return screen.ReadHistory(h.bench) }

// Typing tells whether a text is being typed.
func (h *List) Typing() bool { return h.filtering }

// Update takes one message.
func (h *List) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case screen.FrameMsg:
		h.toast.Tick(e.Now)
	case screen.HistoryMsg:
		h.runs, h.err, h.loaded = msg.Runs, msg.Err, true
		h.sift()
	case tea.PasteMsg:
		if h.filtering {
			h.filter, _ = h.filter.Update(msg)
			h.sift()
		}
	case tea.KeyPressMsg:
		return h, h.press(msg, e)
	case tea.MouseClickMsg:
		return h, h.click(msg.Mouse(), e)
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp {
			h.move(-3)
		} else {
			h.move(3)
		}
	}
	return h, nil
}

// sift finds the runs that hold every word of the filter.
func (h *List) sift() {
	was := h.current()
	h.shown = h.shown[:0]
	for i := range h.runs {
		if matches(&h.runs[i], h.filter.Value()) {
			h.shown = append(h.shown, i)
		}
	}
	h.at = 0
	for i, n := range h.shown {
		if was != nil && h.runs[n].ID == was.ID {
			h.at = i
		}
	}
}

// matches tells whether a run holds every word.
func matches(r *rundir.Run, words string) bool {
	text := strings.ToLower(strings.Join([]string{r.ID, r.Profile, r.Mode, r.Store.Name, r.Store.Product, r.Target, r.Verdict.State, r.EndedBy, r.Parameters["preset"], strings.Join(r.TagWords(), " ")}, " "))
	for w := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// current is the selected run; nil when the list is empty.
func (h *List) current() *rundir.Run {
	if h.at < 0 || h.at >= len(h.shown) || h.shown[h.at] >= len(h.runs) {
		return nil
	}
	return &h.runs[h.shown[h.at]]
}

func (h *List) move(by int) { h.at = max(min(h.at+by, len(h.shown)-1), 0) }

func (h *List) press(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	if h.filtering {
		h.pressFilter(msg)
		return nil
	}
	k := h.bindings()
	switch {
	case key.Matches(msg, k.Back):
		if h.filter.Value() == "" {
			return screen.Back
		}
		h.filter = widget.Field{}
		h.sift()
	case key.Matches(msg, k.Filter):
		h.filtering = true
	case key.Matches(msg, k.Up):
		h.move(-1)
	case key.Matches(msg, k.Down):
		h.move(1)
	case key.Matches(msg, k.PageUp):
		h.move(-e.H / 2)
	case key.Matches(msg, k.PageDown):
		h.move(e.H / 2)
	case key.Matches(msg, k.First):
		h.at = 0
	case key.Matches(msg, k.Last):
		h.move(len(h.shown))
	case key.Matches(msg, k.Toggle):
		h.toggle()
	case key.Matches(msg, k.Choose):
		return screen.Open(screen.Results{ID: h.current().ID})
	case key.Matches(msg, k.Compare):
		a, b, _ := h.pair()
		return screen.Open(screen.Compare{A: a, B: b})
	case widget.Presses(msg, k.Compare):
		h.toast.Say(e.Now, "choose two runs with space, or one and stand on the other", false)
	}
	return nil
}

func (h *List) pressFilter(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "enter", "down", "up":
		h.filtering = false
	case "esc":
		h.filtering, h.filter = false, widget.Field{}
	default:
		h.filter, _ = h.filter.Update(msg)
	}
	h.sift()
}

// toggle chooses the selected run for comparing, or no longer; of three the first
// one goes.
func (h *List) toggle() {
	r := h.current()
	if r == nil {
		return
	}
	for i, id := range h.chosen {
		if id == r.ID {
			h.chosen = append(h.chosen[:i:i], h.chosen[i+1:]...)
			return
		}
	}
	h.chosen = append(h.chosen, r.ID)
	if len(h.chosen) > 2 {
		h.chosen = h.chosen[1:]
	}
}

// pair returns the two runs to compare, the earlier one first.
func (h *List) pair() (a, b string, ok bool) {
	ids := h.chosen
	if r := h.current(); len(ids) == 1 && r != nil && r.ID != ids[0] {
		ids = append(ids[:1:1], r.ID)
	}
	if len(ids) != 2 {
		return "", "", false
	}
	place := func(id string) int {
		for i := range h.runs {
			if h.runs[i].ID == id {
				return i
			}
		}
		return -1
	}
	if place(ids[0]) < place(ids[1]) { // newest first
		return ids[1], ids[0], true
	}
	return ids[0], ids[1], true
}

func (h *List) bindings() widget.Bindings {
	k := widget.AllKeys
	some := h.current() != nil
	_, _, two := h.pair()
	k.Choose.SetHelp("enter", "open")
	k.Choose.SetEnabled(some)
	k.Toggle.SetHelp("space", "choose for comparing")
	k.Toggle.SetEnabled(some)
	k.Compare.SetHelp("c", "compare two")
	k.Compare.SetEnabled(two)
	if h.filter.Value() != "" {
		k.Back.SetHelp("esc", "clear filter")
	}
	return k
}

// Keys are those that work now.
func (h *List) Keys() widget.KeyMap {
	if h.filtering {
		list := []key.Binding{widget.Bind("enter", "keep", "enter"), widget.Bind("esc", "clear", "esc")}
		return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
	}
	k := h.bindings()
	short := k.Toggle
	short.SetHelp("space", "choose")
	return widget.KeyMap{
		Short: []key.Binding{widget.Bind("↑↓", "run", "up", "down"), k.Choose, short, k.Compare, k.Help, k.Filter, k.Back, k.Quit},
		Full:  [][]key.Binding{{k.Up, k.Down, k.First, k.Last, k.PageUp, k.PageDown}, {k.Choose, k.Toggle, k.Compare, k.Filter, k.Back}},
	}
}

// View draws the page.
func (h *List) View(e screen.Env) string {
	s := e.Styles
	right := ""
	switch n := len(h.chosen); n {
	case 1:
		right = s.Accent.On("1 chosen") + s.Muted.On(" · c compares it with the selected one ")
	case 2:
		right = s.Accent.On("2 chosen") + s.Muted.On(" · c compares them ")
	}
	if n := len(h.chosen); n > 0 && e.W < 80 {
		right = s.Accent.On(fmt.Sprintf("%d chosen ", n))
	}
	lines := []string{widget.Spread(" "+s.Bold.On("Earlier runs"), right, e.W)}
	p := widget.Panel{Title: "Runs  p99 of the slowest operation", Focused: true}
	body := h.body(e, e.W-4, e.H-5)
	if len(h.shown) > 0 {
		p.Note = fmt.Sprintf("%d of %d", h.at+1, len(h.shown))
		if len(h.shown) < len(h.runs) {
			p.Note += fmt.Sprintf(" (%d in all)", len(h.runs))
		}
	}
	lines = append(lines, p.Draw(s, e.W, e.H-3, widget.Indent(body))...)
	return widget.Page(e.W, e.H, append(lines, h.toast.Line(s, e.W), widget.Footer(e.Styles, e.W, h.Keys().Short)))
}

// body draws filter, head and rows in w cells and h lines.
func (h *List) body(e screen.Env, w, room int) []string {
	s := e.Styles
	out := []string{h.filterLine(s, w), ""}
	switch {
	case h.err != nil:
		return append(out, widget.Sentences(s, h.err, w)...)
	case !h.loaded:
		return append(out, s.Muted.On("Reading the results folder …"))
	case len(h.runs) == 0:
		return append(out, "No runs yet. "+s.Muted.On("Press esc, then enter to start one."))
	case len(h.shown) == 0:
		return append(out, "No run matches. "+s.Muted.On("Press esc to see all."))
	}
	rows := max(room-len(out)-1, 1)
	h.top = max(min(h.top, h.at, len(h.shown)-rows), h.at-rows+1, 0)
	g := widget.Grid{Cols: []widget.Column{
		{Head: ""},
		{Head: "when"},
		{Head: "profile", Most: 24},
		{Head: "store", Most: 14, Spare: 1},
		{Head: "throughput", Right: true},
		{Head: "p99", Right: true},
		{Head: "length", Right: true, Spare: 4},
		{Head: "errors", Right: true, Spare: 2},
		{Head: ""},
		{Head: "verdict", Spare: 3},
		{Head: "id", Spare: 5},
	}}
	end := min(h.top+rows, len(h.shown))
	for i := h.top; i < end; i++ {
		r := &h.runs[h.shown[i]]
		g.Add(append([]string{h.lead(i, r.ID)}, runCells(s, r, e)...)...)
	}
	g.Ink = func(row, col int) widget.Ink {
		r := &h.runs[h.shown[h.top+row]]
		switch {
		case col == 8 || col == 9:
			_, k := widget.Trust(s, r)
			return k
		case h.top+row == h.at:
			return s.Selected
		case col == 10:
			return s.Muted
		}
		return s.Plain
	}
	head, lines := g.Lines(s, w)
	h.rowsAt = 2 + len(out) + 1
	return append(append(out, head), lines...)
}

func (h *List) lead(i int, id string) string {
	lead := "  "
	if i == h.at {
		lead = "▸ "
	}
	if slices.Contains(h.chosen, id) {
		return lead + "●"
	}
	return lead + " "
}

// runCells are a run's cells in a list: when, profile, store, throughput, p99,
// length, errors, a sign and a word of its verdict, id.
func runCells(s *widget.Styles, r *rundir.Run, e screen.Env) []string {
	f := widget.FiguresOf(r)
	profile := r.Profile
	if r.Mode != "" {
		profile += " " + r.Mode
	}
	word, _ := widget.Trust(s, r)
	sign, word, _ := strings.Cut(word, " ")
	return []string{
		widget.DayText(r.Started, e.Now), profile, r.Store.Name, units.Number(f.Rate) + "/s", widget.Nanos(f.P99),
		widget.SecondsText(r.MeasuredS), widget.Whole(f.Errors), sign, word, r.ID,
	}
}

func (h *List) filterLine(s *widget.Styles, w int) string {
	switch {
	case h.filtering:
		return s.Accent.On("/ ") + h.filter.View(s, w-2)
	case h.filter.Value() != "":
		return s.Accent.On("/ ") + h.filter.Value()
	}
	return s.Muted.On("/ filter by profile, store, verdict, preset, tag or date …")
}

// click selects a run, and opens the one that is selected; on the filter it begins
// to filter.
func (h *List) click(m tea.Mouse, _ screen.Env) tea.Cmd {
	if m.Y == 2 {
		h.filtering = true
		return nil
	}
	i := h.top + m.Y - h.rowsAt
	if m.Y < h.rowsAt || i >= len(h.shown) {
		return nil
	}
	if i == h.at && m.X < 8 {
		h.toggle()
		return nil
	}
	if i == h.at {
		return screen.Open(screen.Results{ID: h.current().ID})
	}
	h.at = i
	return nil
}
