package archive

import (
	"fmt"
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Runs are those that are kept, to be listed and changed.
type Runs interface {
	screen.Archive
	Keeper
	// Watch returns a run that another process of this machine drives, as it goes. It asks
	// that process. An error says why it cannot be watched.
	Watch(id string) (screen.Access, error)
	PlanMaker
}

// PlanMaker makes plans of runs that are kept.
type PlanMaker interface {
	// PlanName is a name for a plan file that nothing in the working directory has. It looks at files.
	PlanName() string
	// PlanOf writes a plan file of that name that does some runs again, unless there is another file of
	// that name, and returns it. It reads and writes files.
	PlanOf(ids []string, name string) (screen.Suite, error)
}

// Preview shows beside a list what the selected run came to. It belongs to the event loop.
type Preview interface {
	// Read returns the command that reads a run; nil if there is nothing to be read now.
	Read(id string) tea.Cmd
	// Take takes what such a command has read, and ignores other messages.
	Take(msg tea.Msg)
	// Draw draws a run in a panel of h lines with that title; the panel is empty until the run was read.
	Draw(e screen.Env, id, title string, h int) []string
}

// OpenRun opens a run: live while it goes, if it can be watched, else what it came to, so far.
func OpenRun(kept Runs, r *rundir.Run) tea.Cmd {
	id := r.ID
	if r.EndedBy != rundir.StillRunning {
		return screen.Open(screen.Results{ID: id})
	}
	return func() tea.Msg {
		if a, err := kept.Watch(id); err == nil {
			return screen.OpenMsg{To: screen.Watched{Access: a}}
		}
		return screen.OpenMsg{To: screen.Results{ID: id}}
	}
}

// List lists the runs and sweeps of the results directory, newest first, for opening
// one or comparing runs. It belongs to the event loop.
type List struct {
	// Deletes is the run to ask about once the runs are read, whether it is to be deleted; empty: none.
	Deletes string

	kept   Runs
	rows   []kept.Item
	loaded bool
	err    error
	// shown indexes the rows that pass the filter, those of folded sweeps and groups left out; at is the
	// selected one of these.
	shown []int
	// of has, by the id of each run of a sweep or group, the id of that, and opened the ids of those
	// whose runs are listed below them. Where the list is filtered or sorted, each run stands alone.
	of     map[string]string
	opened map[string]bool
	nested bool
	// parts has, by the id of each of those runs, which part of that it is: threads 4, side A.
	parts   map[string]string
	at, top int
	shelf   RunList
	moments kept.Moments      // of all rows
	changed map[string]string // what changed for good from a run on, by its id
	// chosen are the ids of two runs, or repeats of one, to compare, in the order of choosing. If any
	// run was put on a side, sides has the ids on side A and B instead, any number of them.
	chosen []string
	sides  [2][]string
	// lost are those of chosen and of the sides that are not in the list now: u may bring them back.
	lost [3][]string
	// against is the id of the run that the list was opened to compare: enter chooses the other side.
	against string
	toast   widget.Note
	drawn   widget.Rows
	marked  bool // a sign stands for what is kept with runs
	deleted bool // runs were deleted here last, so that the key that brings them back comes first
	back    bool // deleted runs have been brought back, of which the first is to be selected
	runs    []rundir.Run
	reread  screen.Reread
	preview Preview // nil: there is none
}

// NewRuns lists the runs; with an id that run is chosen, to be compared with the next one
// chosen. opened has the ids of sweeps and groups whose runs are listed below them, and keeps those for
// the next list. preview may be nil.
func NewRuns(kept Runs, id string, opened map[string]bool, preview Preview) *List {
	h := &List{kept: kept, shelf: NewRunList(kept), opened: opened, preview: preview}
	if id != "" {
		h.chosen, h.against = []string{id}, id
	}
	return h
}

// Start reads what is shown.
func (h *List) Start(e screen.Env) tea.Cmd {
	if n := h.kept.Left(); n > 0 {
		h.toast.Say(e.Now, fmt.Sprintf("a workbench that was killed had deleted %s%s", widget.Plural(int64(n), "run"), then(": u brings it back", n)), false)
	}
	return screen.ReadHistory(h.kept)
}

// Tell shows a sentence for a while.
func (h *List) Tell(sentence string, e screen.Env) { h.toast.Tell(e.Now, sentence) }

// Typing reports whether text is being typed, or a question answered.
func (h *List) Typing() bool { return h.shelf.Typing() }

// Update handles one message.
func (h *List) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	h.shelf.At(e)
	switch msg := msg.(type) {
	case screen.FrameMsg:
		h.toast.Tick(e.Now)
		if !h.loaded || e.Covered {
			return h, nil
		}
		cmd := h.ahead(e)
		if h.reread.Due(e.Now, h.runs) {
			cmd = tea.Batch(cmd, screen.ReadHistory(h.kept))
		}
		return h, cmd
	case screen.HistoryMsg:
		if h.changed == nil || ended(msg.Runs) != ended(h.runs) {
			h.changed = changedIn(msg.Runs)
		}
		was, at, before := h.current(), h.at, h.rows // of the rows that there were
		h.rows, h.err, h.loaded, h.runs = kept.Items(msg.Runs, msg.Sweeps, msg.Groups), msg.Err, true, msg.Runs
		h.moments, h.of, h.parts = kept.MomentsOf(h.rows), groupsOf(h.rows), partsOf(h.rows)
		if !(h.back && h.siftAt(newIn(h.rows, before))) && !h.siftAt(was) { // it is gone: what is now where it was
			h.at = max(min(at, len(h.shown)-1), 0)
		}
		h.back = false
		if h.err == nil {
			h.keepMarks()
			return h, h.askDelete()
		}
	case DoneMsg:
		h.back, h.deleted = msg.restored, msg.deleted
		return h, Settle(h.kept, msg, &h.toast, e)
	case tea.PasteMsg:
		h.shelf.Paste(msg)
		h.sift()
	case tea.KeyPressMsg:
		return h, h.press(msg, e)
	case tea.MouseClickMsg:
		return h, h.click(msg.Mouse(), e)
	case tea.MouseWheelMsg:
		h.move(widget.Wheel(msg.Mouse(), 3))
	default:
		if h.preview != nil {
			h.preview.Take(msg)
		}
	}
	return h, nil
}

// askDelete selects the run that is to be deleted, and asks whether it is, once.
func (h *List) askDelete() tea.Cmd {
	id := h.Deletes
	h.Deletes = ""
	i := h.place(id)
	if i < 0 {
		return nil
	}
	if group := h.of[id]; group != "" {
		h.opened[group] = true
	}
	h.siftAt(&h.rows[i])
	cmd, _ := h.shelf.Press(widget.PressOf(widget.AllKeys.Remove.Keys()[0]), h.current(), nil)
	return cmd
}

// ahead returns the command that reads the selected run for its preview, if there is room for one; nil if
// there is nothing to be read.
func (h *List) ahead(e screen.Env) tea.Cmd {
	if r := h.run(); r != nil && r.EndedBy != rundir.StillRunning && h.previewed(e) > 0 {
		return h.preview.Read(r.ID)
	}
	return nil
}

// newIn returns the first item of rows that was not there before; nil without one.
func newIn(rows, before []kept.Item) *kept.Item {
	for i := range rows {
		if !slices.ContainsFunc(before, func(b kept.Item) bool { return b.ID() == rows[i].ID() }) {
			return &rows[i]
		}
	}
	return nil
}

// ended counts the runs that have ended.
func ended(runs []rundir.Run) (n int) {
	for i := range runs {
		if runs[i].EndedBy != rundir.StillRunning {
			n++
		}
	}
	return n
}

// changedIn says what changed for good in kept runs, by the first run after it.
func changedIn(list []rundir.Run) map[string]string {
	runs := make([]*rundir.Run, len(list))
	for i := range list {
		runs[i] = &list[i]
	}
	return report.ChangedAt(compare.Changed(runs))
}

// keepMarks takes the marks of runs that are no longer in the list, and gives them back to those that are
// there again, unless others have been chosen since.
func (h *List) keepMarks() {
	for i, ids := range []*[]string{&h.chosen, &h.sides[0], &h.sides[1]} {
		all := *ids
		if i > 0 && len(h.chosen) == 0 || i == 0 && len(all) < 2 && len(h.sides[0])+len(h.sides[1]) == 0 {
			all = append(slices.Clone(all), h.lost[i]...)
		}
		*ids, h.lost[i] = nil, nil
		for _, id := range all {
			if h.place(id) < 0 {
				h.lost[i] = append(h.lost[i], id)
			} else if !slices.Contains(*ids, id) {
				*ids = append(*ids, id)
			}
		}
	}
}

// marks reports whether runs are chosen or on a side, other than the one that the list was opened with.
func (h *List) marks() bool {
	if len(h.sides[0])+len(h.sides[1]) > 0 {
		return true
	}
	return len(h.chosen) > 0 && !(len(h.chosen) == 1 && h.chosen[0] == h.against)
}

// unmark ends all marks: they were compared, or are no longer meant.
func (h *List) unmark() { h.chosen, h.sides, h.lost = nil, [2][]string{}, [3][]string{} }

// unseen returns the items with a mark that no row on the screen shows, newest first.
func (h *List) unseen() (out []*kept.Item) {
	marked := slices.Concat(h.allChosen(), h.sides[0], h.sides[1])
	for _, n := range h.shown[min(h.drawn.Top, len(h.shown)):min(h.drawn.Top+h.drawn.N, len(h.shown))] {
		if runs := runsOf(&h.rows[n]); within(runs, h.allChosen()) || within(runs, h.sides[0]) || within(runs, h.sides[1]) {
			marked = slices.DeleteFunc(marked, func(id string) bool { return slices.Contains(runs, id) })
		}
	}
	for i := range h.rows {
		if slices.Contains(marked, h.rows[i].ID()) {
			out = append(out, &h.rows[i])
		}
	}
	return out
}

// sift finds the rows that contain every word of the filter; what was selected stays so.
func (h *List) sift() { h.siftAt(h.current()) }

// siftAt is sift where that was selected, and reports whether it still is; nil: nothing was.
func (h *List) siftAt(was *kept.Item) (still bool) {
	h.shown, h.nested = h.shelf.Folded(h.rows, h.opened)
	h.at = 0
	for i, n := range h.shown {
		if id := h.rows[n].ID(); was != nil && (id == was.ID() || id == h.of[was.ID()] && !h.opened[id]) {
			h.at, still = i, true
		}
	}
	return still
}

// groupsOf returns, by the id of each run of a sweep or group that is listed, the id of that.
func groupsOf(rows []kept.Item) map[string]string {
	out := map[string]string{}
	for i := range rows {
		for _, r := range rows[i].Of {
			out[r.ID] = rows[i].ID()
		}
	}
	return out
}

// partsOf says of each run of a sweep at which point it is, and of each of a comparison on which side.
func partsOf(rows []kept.Item) map[string]string {
	out := map[string]string{}
	for i := range rows {
		if s := rows[i].Sweep; s != nil {
			for _, r := range s.Runs {
				out[r.ID] = s.Named(r.Point)
			}
		}
		if g := rows[i].Group; g != nil && g.Kind == kept.Compare {
			for n, side := range [][]string{g.A, g.B} {
				for _, id := range side {
					out[id] = "side " + string(rune('A'+n))
				}
			}
		}
	}
	return out
}

// group returns the id of the sweep or group that is selected, or of which a run is; empty if that is
// neither, or its runs do not stand below it.
func (h *List) group() string {
	r := h.current()
	switch {
	case r == nil || !h.nested:
		return ""
	case len(r.Of) > 0:
		return r.ID()
	}
	return h.of[r.ID()]
}

// fold shows or hides the runs of the selected sweep or group.
func (h *List) fold(hide bool) {
	h.opened[h.group()] = !hide
	h.sift()
}

// current returns the selected row; nil if the list is empty.
func (h *List) current() *kept.Item {
	if h.at < 0 || h.at >= len(h.shown) || h.shown[h.at] >= len(h.rows) {
		return nil
	}
	return &h.rows[h.shown[h.at]]
}

// picks reports whether enter on the selected row chooses the other side of a comparison.
func (h *List) picks() bool {
	return h.against != "" && len(h.chosen) == 1 && h.chosen[0] == h.against && h.run() != nil
}

// open opens the selected row, or chooses it as the other side of a comparison.
func (h *List) open(e screen.Env) tea.Cmd {
	if h.picks() {
		a, b, two := h.pair()
		if !two {
			h.toast.Say(e.Now, "this is the run itself: choose another one", false)
			return nil
		}
		return screen.Open(screen.Compare{A: a, B: b})
	}
	return OpenItem(h.kept, h.current())
}

// OpenItem returns the command that opens what is kept.
func OpenItem(runs Runs, i *kept.Item) tea.Cmd {
	switch i.Kind() {
	case kept.Sweep:
		return screen.Open(screen.Sweep{ID: i.Sweep.ID})
	case kept.Compare:
		return screen.Open(screen.Compare{A: i.Group.A, B: i.Group.B})
	case kept.Repeat:
		return screen.Open(screen.Noise{Runs: i.Group.A})
	default:
		return OpenRun(runs, i.Run)
	}
}

func (h *List) move(by int) { h.at = max(min(h.at+by, len(h.shown)-1), 0) }

func (h *List) press(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	if cmd, ours := h.shelf.Press(msg, h.current(), h.listed()); ours {
		h.sift()
		return cmd
	}
	k := h.bindings()
	if by, ok := k.Moves(msg, len(h.shown), e.H); ok {
		h.move(by)
		return nil
	}
	if len(h.shown) == 0 && h.shelf.Filter.Text() != "" && h.Keys().Dims(msg) {
		h.toast.Say(e.Now, h.shelf.Filter.NoMatch("run"), false)
		return nil
	}
	switch {
	case key.Matches(msg, k.Back):
		switch {
		case h.shelf.Filter.Text() != "":
			h.shelf.Filter.Clear()
			h.sift()
		case h.marks():
			h.unmark()
		default:
			return screen.Back
		}
	case key.Matches(msg, k.Left):
		h.fold(true)
	case key.Matches(msg, k.Right):
		h.fold(false)
	case key.Matches(msg, k.Toggle):
		h.toggle()
	case key.Matches(msg, k.Choose):
		return h.open(e)
	case key.Matches(msg, k.SideA):
		h.putOn(0)
	case key.Matches(msg, k.SideB):
		h.putOn(1)
	case key.Matches(msg, k.Compare):
		a, b, two := h.pair()
		alone := h.alone()
		h.unmark()
		if !two {
			return screen.Open(screen.Noise{Runs: alone})
		}
		return screen.Open(screen.Compare{A: a, B: b})
	case key.Matches(msg, k.Plans):
		ids := h.forPlan()
		i := h.place(ids[0])
		h.shelf.AskPlan(h.kept, ids, len(ids) == 1 && i >= 0 && h.rows[i].Run != nil && h.rows[i].Run.Searched(), h)
	case widget.Presses(msg, k.Plans) && h.current() != nil:
		h.toast.Say(e.Now, noneKept, false)
	case widget.Presses(msg, k.Undo):
		h.toast.Say(e.Now, gone, false)
	case key.Matches(msg, k.History):
		h.toast.Say(e.Now, "this is the list of runs", false)
	case h.noSide() != "" && (widget.Presses(msg, k.Compare) || widget.Presses(msg, k.Toggle) || widget.Presses(msg, k.SideA) || widget.Presses(msg, k.SideB)):
		h.toast.Say(e.Now, h.noSide(), false)
	case widget.Presses(msg, k.Compare):
		h.toast.Say(e.Now, h.lacking(), false)
	}
	return nil
}

// lacking says what there is to choose before runs can be compared.
func (h *List) lacking() string {
	switch a, b := h.sides[0], h.sides[1]; {
	case len(a) > 0 && len(b) == 0:
		return "side B has no run yet: select another one and press b"
	case len(b) > 0 && len(a) == 0:
		return "side A has no run yet: select another one and press a"
	case len(h.chosen) == 1:
		return "one run is chosen: select another one and press c"
	}
	return "choose two runs with space, or several a side with a and b"
}

// forPlan returns the runs that a plan is made of: those with marks or, without any, what is selected: of a sweep or a
// comparison, those that are kept.
func (h *List) forPlan() (ids []string) {
	if ids := slices.Concat(h.sides[0], h.sides[1], h.allChosen()); len(ids) > 0 {
		return ids
	}
	for _, r := range runsIn(h.current()) {
		ids = append(ids, r.ID)
	}
	return ids
}

// noSide says why what is selected cannot be chosen for comparing; empty if it can, or nothing is selected.
func (h *List) noSide() string {
	r := h.current()
	switch {
	case r == nil:
		return ""
	case r.Kind() == kept.Sweep:
		return "a sweep is no side: enter opens it, and there c compares two of its points"
	case r.Kind() == kept.Compare:
		return "a comparison is no side: enter opens it; its runs can be chosen, each on its own"
	case r.Kind() == kept.Repeat && len(r.Of) == 0:
		return noneKept
	}
	return ""
}

// side returns the ids of the runs that the selected row is chosen as; none if it cannot be.
func (h *List) side() []string {
	if r := h.current(); r != nil && h.noSide() == "" {
		return runsOf(r)
	}
	return nil
}

// runsOf returns the ids of the runs that are repeats of one, or else the id of the item.
func runsOf(r *kept.Item) (ids []string) {
	if r.Kind() != kept.Repeat || len(r.Of) == 0 {
		return []string{r.ID()}
	}
	for _, run := range r.Of {
		ids = append(ids, run.ID)
	}
	return ids
}

// runsChosen returns the ids of the runs of something that was chosen.
func (h *List) runsChosen(id string) []string {
	if i := h.place(id); i >= 0 {
		return runsOf(&h.rows[i])
	}
	return []string{id}
}

// place returns the index of an item; -1 if it is not listed.
func (h *List) place(id string) int {
	return slices.IndexFunc(h.rows, func(r kept.Item) bool { return r.ID() == id })
}

// overlap reports whether two sides share a run.
func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(id string) bool { return slices.Contains(b, id) })
}

// within reports whether all runs of ids are among those of a side.
func within(ids, side []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(side, id) })
}

// allChosen returns the ids of all runs that are chosen.
func (h *List) allChosen() (out []string) {
	for _, id := range h.chosen {
		out = append(out, h.runsChosen(id)...)
	}
	return out
}

// run returns the selected run; nil if something else or nothing is selected.
func (h *List) run() *rundir.Run {
	if r := h.current(); r != nil {
		return r.Run
	}
	return nil
}

// listed returns the ids of all runs that pass the filter.
func (h *List) listed() (out []string) {
	for _, i := range h.shown {
		if r := h.rows[i].Run; r != nil {
			out = append(out, r.ID)
		}
	}
	return out
}

// toggle chooses the selected run, or repeats of one, for comparing, or deselects it; with three the
// first one is dropped.
func (h *List) toggle() {
	runs := h.side()
	if len(runs) == 0 {
		return
	}
	h.sides = [2][]string{}
	was := within(runs, h.allChosen())
	h.chosen = slices.DeleteFunc(slices.Clone(h.chosen), func(id string) bool { return overlap(runs, h.runsChosen(id)) })
	if was {
		return
	}
	h.chosen = append(h.chosen, h.current().ID())
	if len(h.chosen) > 2 {
		h.chosen = h.chosen[1:]
	}
}

// putOn puts the selected run, or all repeats of one, on a side of a comparison, or removes them from there.
func (h *List) putOn(side int) {
	runs := h.side()
	h.chosen = nil
	was := within(runs, h.sides[side])
	for i := range h.sides {
		h.sides[i] = slices.DeleteFunc(slices.Clone(h.sides[i]), func(id string) bool { return slices.Contains(runs, id) })
	}
	if !was {
		h.sides[side] = append(h.sides[side], runs...)
	}
}

// pair returns the two sides to compare; of two that were chosen without a side, the earlier
// one first.
func (h *List) pair() (a, b []string, ok bool) {
	at := h.side()
	if a, b := h.sides[0], h.sides[1]; len(a)+len(b) > 0 {
		switch { // the other side may be what is selected
		case len(a) == 0 && !overlap(at, b):
			a = at
		case len(b) == 0 && !overlap(at, a):
			b = at
		}
		return a, b, len(a) > 0 && len(b) > 0
	}
	ids := h.chosen
	if len(ids) == 1 && len(at) > 0 && !overlap(at, h.runsChosen(ids[0])) {
		ids = append(ids[:1:1], h.current().ID())
	}
	if len(ids) != 2 {
		return nil, nil, false
	}
	a, b = h.runsChosen(ids[0]), h.runsChosen(ids[1])
	if h.place(ids[0]) < h.place(ids[1]) { // newest first
		a, b = b, a
	}
	return a, b, true
}

// alone returns the runs of the only side that has any, or of what alone is chosen, if they are
// enough to say how much runs differ; nil otherwise.
func (h *List) alone() []string {
	for i, ids := range h.sides {
		if len(ids) >= leastAlone && len(h.sides[1-i]) == 0 {
			return ids
		}
	}
	if ids := h.allChosen(); len(h.chosen) == 1 && len(ids) >= leastAlone {
		return ids
	}
	return nil
}

// leastAlone is how many runs it takes to say how much they differ.
const leastAlone = 3

func (h *List) bindings() widget.Bindings {
	k := widget.AllKeys
	some, side := h.current() != nil, len(h.side()) > 0
	_, _, two := h.pair()
	k.Choose.SetHelp("enter", "open")
	if r := h.run(); r != nil && r.EndedBy == rundir.StillRunning {
		k.Choose.SetHelp("enter", "watch")
	}
	if h.picks() {
		k.Choose.SetHelp("enter", "compare with this")
	}
	for _, b := range []*key.Binding{&k.Choose, &k.Up, &k.Down, &k.First, &k.Last, &k.PageUp, &k.PageDown} {
		b.SetEnabled(some)
	}
	group := h.group()
	k.Right.SetHelp("→", "list its runs below it")
	k.Right.SetEnabled(group != "" && !h.opened[group])
	k.Left.SetHelp("←", "hide its runs")
	k.Left.SetEnabled(group != "" && h.opened[group])
	k.Toggle.SetHelp("space", "choose for comparing")
	k.Toggle.SetEnabled(side)
	k.SideA.SetEnabled(side)
	k.SideB.SetEnabled(side)
	k.Plans.SetHelp("P", "make a plan of them")
	switch r := h.current(); {
	case h.marks():
	case r != nil && r.Run == nil:
		k.Plans.SetHelp("P", "make a plan of its runs")
	default:
		k.Plans.SetHelp("P", "make a plan of it")
	}
	k.Plans.SetEnabled(len(h.forPlan()) > 0)
	h.shelf.Bindings(&k, some, h.current())
	k.Compare.SetHelp("c", "compare")
	k.Compare.SetEnabled(two || h.alone() != nil)
	switch {
	case h.shelf.Filter.Text() != "":
		k.Back.SetHelp("esc", "clear filter")
	case h.marks():
		k.Back.SetHelp("esc", "clear marks")
	}
	return k
}

// Keys returns the keys that work now.
func (h *List) Keys() widget.KeyMap {
	if h.shelf.Typing() {
		return h.shelf.Keys()
	}
	k := h.bindings()
	short := k.Toggle
	short.SetHelp("space", "choose")
	move, sides := widget.Bind("↑↓", "run", "up", "down"), widget.Bind("a b", "sides", "a", "b")
	move.SetEnabled(k.Up.Enabled())
	sides.SetEnabled(k.SideA.Enabled())
	away := k.Remove
	if !k.Pack.Enabled() && k.Undo.Enabled() { // of an archived run
		away = widget.Long(k.Undo, "take out")
	}
	list := []key.Binding{move, k.Choose, short, sides, k.Compare, k.Help, k.Filter, k.Order, k.Annotate, k.Retag, away, widget.Long(k.Plans, "plan"), k.Back, widget.Long(k.Home, "home"), k.Quit}
	switch {
	case k.Right.Enabled():
		list = slices.Insert(list, 2, widget.Long(k.Right, "its runs"))
	case k.Left.Enabled():
		list = slices.Insert(list, 2, k.Left)
	}
	if h.shelf.restores(h.current()) {
		at := 0
		if !h.deleted {
			at = 5
		}
		list = slices.Insert(list, at, widget.Long(k.Undo, "bring back"))
	}
	return widget.KeyMap{
		Short: list,
		Full:  [][]key.Binding{{k.Up, k.Down, k.First, k.Last, k.PageUp, k.PageDown, k.Right, k.Left}, {k.Choose, k.Toggle, k.SideA, k.SideB, k.Compare, k.Plans, k.Filter, k.Order, k.Annotate, k.Retag, k.Pack, k.Undo, k.Remove, k.Back}},
	}
}
