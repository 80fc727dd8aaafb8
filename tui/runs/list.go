// Package runs holds the screens of the earlier runs: their list, and two of them
// beside each other.
package runs

import (
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// List lists the runs and sweeps of the results folder, newest first: to open one, or to
// compare runs. It belongs to the event loop.
type List struct {
	bench  screen.Archive
	rows   []row
	loaded bool
	err    error
	// shown indexes the rows that pass the filter; at is the selected one of these.
	shown     []int
	at, top   int
	filter    widget.Field
	filtering bool
	// chosen are the ids of two runs to compare, in the order of choosing; sides, where any
	// is in one, has the ids of any number on side A or B.
	chosen []string
	sides  [2][]string
	toast  widget.Note
	asked  *question // nil: nothing
	rowsAt int       // line of the first row, for the mouse
}

// row is a run, or a sweep.
type row struct {
	run   *rundir.Run
	sweep *sweep.Kept
}

func (r *row) id() string {
	if r.sweep != nil {
		return r.sweep.ID
	}
	return r.run.ID
}

func (r *row) when() time.Time {
	if r.sweep != nil {
		return r.sweep.When
	}
	return r.run.Started
}

// rowsOf are runs and sweeps, newest first; a sweep stands above the runs that it began
// with.
func rowsOf(runs []rundir.Run, sweeps []sweep.Kept) []row {
	var out []row
	for i := range sweeps {
		out = append(out, row{sweep: &sweeps[i]})
	}
	for i := range runs {
		out = append(out, row{run: &runs[i]})
	}
	slices.SortStableFunc(out, func(a, b row) int { return b.when().Compare(a.when()) })
	return out
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

// Typing tells whether a text is being typed, or a question answered.
func (h *List) Typing() bool { return h.filtering || h.asked != nil }

// Update takes one message.
func (h *List) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case screen.FrameMsg:
		h.toast.Tick(e.Now)
	case screen.HistoryMsg:
		h.rows, h.err, h.loaded = rowsOf(msg.Runs, msg.Sweeps), msg.Err, true
		h.sift()
	case keptMsg:
		return h, h.kept(msg, e)
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

// sift finds the rows that hold every word of the filter.
func (h *List) sift() {
	was := h.current()
	h.shown = h.shown[:0]
	for i := range h.rows {
		if matches(&h.rows[i], h.filter.Value()) {
			h.shown = append(h.shown, i)
		}
	}
	h.at = 0
	for i, n := range h.shown {
		if was != nil && h.rows[n].id() == was.id() {
			h.at = i
		}
	}
}

// matches tells whether a row holds every word.
func matches(r *row, words string) bool {
	var parts []string
	if k := r.sweep; k != nil {
		parts = []string{k.ID, "sweep", k.Profile, k.Target}
		for _, a := range k.Axes {
			parts = append(parts, a.Name)
		}
	} else {
		r := r.run
		parts = []string{r.ID, r.Profile, r.Mode, r.Store.Name, r.Store.Product, r.Target, r.Verdict.State, r.EndedBy, r.Parameters["preset"]}
		parts = append(parts, r.TagWords()...)
	}
	text := strings.ToLower(strings.Join(parts, " "))
	for w := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// current is the selected row; nil when the list is empty.
func (h *List) current() *row {
	if h.at < 0 || h.at >= len(h.shown) || h.shown[h.at] >= len(h.rows) {
		return nil
	}
	return &h.rows[h.shown[h.at]]
}

// open goes to what the selected row is.
func (h *List) open() tea.Cmd {
	if r := h.current(); r.sweep != nil {
		return screen.Open(screen.Sweep{ID: r.sweep.ID})
	}
	return screen.Open(screen.Results{ID: h.current().run.ID})
}

func (h *List) move(by int) { h.at = max(min(h.at+by, len(h.shown)-1), 0) }

func (h *List) press(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	switch {
	case h.filtering:
		h.pressFilter(msg)
		return nil
	case h.asked != nil:
		return h.answer(msg)
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
		return h.open()
	case key.Matches(msg, k.SideA):
		h.putOn(0)
	case key.Matches(msg, k.SideB):
		h.putOn(1)
	case key.Matches(msg, k.Remove):
		h.ask("delete", h.bench.Remove)
	case key.Matches(msg, k.Pack):
		h.ask("archive", h.bench.Pack)
	case key.Matches(msg, k.Compare):
		a, b, _ := h.pair()
		return screen.Open(screen.Compare{A: a, B: b})
	case widget.Presses(msg, k.Compare):
		h.toast.Say(e.Now, "choose two runs with space, or several a side with a and b", false)
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

// run is the selected run; nil where a sweep or nothing is selected.
func (h *List) run() *rundir.Run {
	if r := h.current(); r != nil {
		return r.run
	}
	return nil
}

// toggle chooses the selected run for comparing, or no longer; of three the first
// one goes.
func (h *List) toggle() {
	r := h.run()
	if r == nil {
		return
	}
	h.sides = [2][]string{}
	if i := slices.Index(h.chosen, r.ID); i >= 0 {
		h.chosen = slices.Delete(slices.Clone(h.chosen), i, i+1)
		return
	}
	h.chosen = append(h.chosen, r.ID)
	if len(h.chosen) > 2 {
		h.chosen = h.chosen[1:]
	}
}

// putOn puts the selected run on a side of a comparison, or takes it away from there.
func (h *List) putOn(side int) {
	r := h.run()
	if r == nil {
		return
	}
	h.chosen = nil
	was := slices.Contains(h.sides[side], r.ID)
	for i := range h.sides {
		h.sides[i] = slices.DeleteFunc(slices.Clone(h.sides[i]), func(id string) bool { return id == r.ID })
	}
	if !was {
		h.sides[side] = append(h.sides[side], r.ID)
	}
}

// pair returns the two sides to compare; of two runs that were chosen without saying on
// which side the earlier one first.
func (h *List) pair() (a, b []string, ok bool) {
	r := h.run()
	if a, b := h.sides[0], h.sides[1]; len(a)+len(b) > 0 {
		switch { // the other side may be the selected run
		case len(a) == 0 && r != nil && !slices.Contains(b, r.ID):
			a = []string{r.ID}
		case len(b) == 0 && r != nil && !slices.Contains(a, r.ID):
			b = []string{r.ID}
		}
		return a, b, len(a) > 0 && len(b) > 0
	}
	ids := h.chosen
	if len(ids) == 1 && r != nil && r.ID != ids[0] {
		ids = append(ids[:1:1], r.ID)
	}
	if len(ids) != 2 {
		return nil, nil, false
	}
	place := func(id string) int {
		return slices.IndexFunc(h.rows, func(r row) bool { return r.id() == id })
	}
	if place(ids[0]) < place(ids[1]) { // newest first
		return ids[1:2], ids[:1], true
	}
	return ids[:1], ids[1:2], true
}

func (h *List) bindings() widget.Bindings {
	k := widget.AllKeys
	some, run := h.current() != nil, h.run() != nil
	_, _, two := h.pair()
	k.Choose.SetHelp("enter", "open")
	k.Choose.SetEnabled(some)
	k.Toggle.SetHelp("space", "choose for comparing")
	k.Toggle.SetEnabled(run)
	k.SideA.SetEnabled(run)
	k.SideB.SetEnabled(run)
	k.Remove.SetEnabled(run)
	k.Pack.SetEnabled(run)
	k.Compare.SetHelp("c", "compare")
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
	if h.asked != nil {
		list := h.asked.keys()
		return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
	}
	k := h.bindings()
	short := k.Toggle
	short.SetHelp("space", "choose")
	return widget.KeyMap{
		Short: []key.Binding{widget.Bind("↑↓", "run", "up", "down"), k.Choose, short, widget.Bind("a b", "sides", "a", "b"), k.Compare, k.Help, k.Filter, k.Back, k.Quit},
		Full:  [][]key.Binding{{k.Up, k.Down, k.First, k.Last, k.PageUp, k.PageDown}, {k.Choose, k.Toggle, k.SideA, k.SideB, k.Compare, k.Filter, k.Pack, k.Remove, k.Back}},
	}
}
