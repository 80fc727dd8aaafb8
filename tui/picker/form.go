package picker

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// form is the middle of the picker: every value of the run, to be changed before the
// start.
type form struct {
	list     *profiles
	drafts   *drafts
	known    *known
	forecast *forecast
	ping     *pinger

	rows    []row
	at, top int
	all     bool // all rows are shown, not only those of a first run
	edit    *edit
	past    []request.Request // before each change, for undo
	undone  map[string]string // the rows that undo has changed, with what they had; nil once that is said
	find    *finder           // nil unless searching for a row
	// lines maps each drawn line to its row, -1 for none; for the mouse.
	lines []int
	// columns are where the values of rows begin in their lines.
	columns []int
}

// edit is a value being typed.
type edit struct {
	row   row
	field widget.Field
	// offers are the possible completions of the text; pick is the selected one, -1 for
	// none.
	offers []string
	pick   int
}

// completedMsg delivers the paths that begin like the typed one.
type completedMsg struct {
	typed string
	paths []string
}

func (f *form) current() *row {
	if f.at < 0 || f.at >= len(f.rows) {
		return nil
	}
	return &f.rows[f.at]
}

// shows reports whether a row is shown; the selected one is, however it was found.
func (f *form) shows(i int) bool { return f.all || !f.rows[i].more || i == f.at }

// showAll shows all rows, with the stores of all profiles, or the main ones again.
func (f *form) showAll() {
	f.all = !f.all
	f.list.matrix = f.all
}

// move selects a row that is so many shown ones further on, or the last one that way.
func (f *form) move(by int) {
	step := 1
	if by < 0 {
		step = -1
	}
	for i := f.at + step; i >= 0 && i < len(f.rows) && by != 0; i += step {
		if f.all || !f.rows[i].more {
			f.at, by = i, by-step
		}
	}
}

// leave ends typing without keeping the text, and returns to the top.
func (f *form) leave() { f.edit, f.find, f.at, f.top, f.rows = nil, nil, 0, 0, nil }

// goTo moves to the first row that is meant; false if there is none.
func (f *form) goTo(meant func(*row) bool) bool {
	for i := range f.rows {
		if meant(&f.rows[i]) {
			f.at = i
			return true
		}
	}
	return false
}

// ask requests the preview of what is set, including the text being typed.
func (f *form) ask() tea.Cmd {
	cmd := f.forecast.ask(f.list.selected(), f.draft())
	if cmd == nil {
		f.rebuild()
	}
	return cmd
}

// draft returns the request including the text being typed.
func (f *form) draft() request.Request {
	req := f.drafts.request()
	if f.edit == nil {
		return req
	}
	return applied(req, f.edit.row, f.edit.text())
}

// text returns the typed text, or the selected offer.
func (x *edit) text() string {
	if x.pick >= 0 && x.pick < len(x.offers) {
		return x.offers[x.pick]
	}
	return x.field.Value()
}

// applied returns a request with one value set; an empty text removes it.
func applied(req request.Request, r row, text string) request.Request {
	text = strings.TrimSpace(text)
	req.From = maps.Clone(req.From)
	delete(req.From, r.name)
	switch r.kind {
	case rowPreset:
		req.Preset = text
	case rowFile:
		req.Files = nil
		for path := range strings.SplitSeq(text, ",") {
			if path = strings.TrimSpace(path); path != "" {
				req.Files = append(req.Files, path)
			}
		}
	case rowTarget:
		clean, password := widget.SplitSecret(text)
		if clean != req.Target {
			// A password belongs to the server that it was typed for.
			if hostOf(clean) != hostOf(req.Target) {
				req.Password = ""
			}
			req.Target = clean
		}
		if password != "" {
			req.Password = password
		}
	case rowPassword:
		req.Password = text
	case rowTexts:
		textsNamed(r.name).set(&req, text)
	case rowOut:
		req.Out = text
	default:
		if r.limit() && (strings.EqualFold(text, units.Unlimited) || strings.EqualFold(text, "max")) {
			text = "0"
		}
		if zero := r.nothing(); zero != "" && strings.EqualFold(text, zero) {
			text = "0"
		}
		req.Values = without(without(req.Values, r.name), r.alias())
		if text != "" {
			req.Values[r.name] = workload.Value{Name: r.name, Text: text, Origin: workload.OriginFlag}
		}
	}
	return req
}

// without copies values except for one: those of a request that was handed out are
// never modified.
func without(vs workload.Values, name string) workload.Values {
	set := workload.Values{}
	maps.Copy(set, vs)
	delete(set, name)
	return set
}

// hostOf returns the part of a target before its path and parameters.
func hostOf(target string) string {
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok {
		return target
	}
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		rest = rest[:i]
	}
	return scheme + "://" + rest
}

// press handles a key while the form has the focus and nothing is being typed.
func (f *form) press(msg tea.KeyPressMsg, k widget.Bindings, e screen.Env) tea.Cmd {
	r := f.current()
	switch {
	case r == nil:
	case key.Matches(msg, k.Edit) && r.meant != "" && !r.off:
		return f.keep(e, *r, r.meant) // as is offered
	case key.Matches(msg, k.Edit):
		f.begin()
	case key.Matches(msg, k.Left):
		return f.turn(e, -1)
	case key.Matches(msg, k.Right):
		return f.turn(e, 1)
	case key.Matches(msg, k.Reset):
		return f.keep(e, *r, "")
	case key.Matches(msg, k.Undo):
		return f.undo(e)
	default:
		f.move(steps(msg, k, e.H))
	}
	return nil
}

// keep sets a value and requests a preview.
func (f *form) keep(e screen.Env, r row, text string) tea.Cmd {
	before := f.drafts.request()
	after := applied(before, r, text)
	if !reflect.DeepEqual(before, after) {
		f.past = append(f.past, before)
	}
	return f.change(e, after)
}

// change sets a whole request and requests a preview.
func (f *form) change(e screen.Env, to request.Request) tea.Cmd {
	was := f.drafts.request()
	f.drafts.set(to)
	f.ping.turn(was, to, e)
	f.rebuild()
	return f.ask()
}

// undo takes back the last change to a value of the selected profile, also a reset.
func (f *form) undo(e screen.Env) tea.Cmd {
	at := f.undoable()
	if at < 0 {
		return nil
	}
	before := f.past[at]
	f.past = slices.Delete(f.past, at, at+1)
	now := f.drafts.request()
	f.undone = map[string]string{}
	for i := range f.rows {
		if r := &f.rows[i]; r.differs(now, before) {
			f.undone[r.key()] = r.words()
		}
	}
	return f.change(e, before)
}

// undid says, once, what undo has changed; empty while the values of before are not known.
func (f *form) undid() string {
	if len(f.undone) == 0 || !f.forecast.current() {
		return ""
	}
	var said []string
	for i := range f.rows {
		r := &f.rows[i]
		was, differs := f.undone[r.key()]
		switch {
		case !differs:
		case r.kind == rowPassword:
			said = append(said, label(r.name))
		default:
			said = append(said, label(r.name)+" "+cmp.Or(was, "–")+" → "+cmp.Or(r.words(), "–"))
		}
	}
	f.undone = nil
	return "undo: " + strings.Join(said, ", ")
}

// undoable returns which change undo takes back; -1 if there is none.
func (f *form) undoable() int {
	for i := len(f.past) - 1; i >= 0; i-- {
		if f.past[i].Profile == f.drafts.request().Profile {
			return i
		}
	}
	return -1
}

// turn changes a value to its neighbour: the next word, or one notch of a knob.
func (f *form) turn(e screen.Env, by int) tea.Cmd {
	r := *f.current()
	switch {
	case len(r.choices) > 0:
		at := slices.Index(r.choices, r.text)
		if at < 0 && by < 0 {
			at = 0
		}
		n := len(r.choices)
		return f.keep(e, r, r.choices[(at+by+n)%n])
	case r.knob != nil:
		v := widget.Turned(*r.knob, r.at, by > 0, false, math.NaN())
		return f.keep(e, r, strconv.FormatFloat(v, 'f', -1, 64))
	}
	if r.time {
		return f.keep(e, r, nextTime(r.text, by, r.auto))
	}
	f.begin()
	return nil
}

// begin starts typing the selected value.
func (f *form) begin() {
	r := f.current()
	if r == nil || r.off {
		return
	}
	f.edit = &edit{row: *r, field: widget.NewChosen(r.words()), pick: -1}
	switch r.kind {
	case rowPassword:
		f.edit.field = widget.Field{Secret: true}
	case rowTarget:
		f.edit.field.Mask = widget.MaskTyped
	}
	f.edit.offer()
}

// typed reports whether the selected value is one that is typed, and not chosen among words.
func (f *form) typed() bool {
	r := f.current()
	return r != nil && !r.off && len(r.choices) == 0
}

// write begins to type the selected value in the place of what it is, with a key, or goes to its next choice that begins
// with that letter. It says which it went to, or why neither can be.
func (f *form) write(msg tea.KeyPressMsg, e screen.Env) (cmd tea.Cmd, says string) {
	r := *f.current()
	if r.off {
		return nil, r.help
	}
	if len(r.choices) == 0 {
		f.begin()
		f.edit.pick = -1
		return f.pressEdit(msg, e), ""
	}
	next, ok := widget.Choice(r.choices, r.text, msg.Text)
	if !ok {
		return nil, fmt.Sprintf("no %s begins with %s: %s", label(r.name), msg.Text, cmp.Or(commands[msg.Text], "←→ or enter choose"))
	}
	return f.keep(e, r, next), label(r.name) + ": " + next
}

// onPath reports whether the selected value is a path, which may begin with a slash.
func (f *form) onPath() bool {
	r := f.current()
	return r != nil && (r.kind == rowFile || r.kind == rowOut)
}

// resettable reports whether the selected value has been set, so that it can be reset.
func (f *form) resettable() bool {
	r := f.current()
	return r != nil && r.mine
}

// meant returns what the error about the text being typed supposes; empty if nothing.
func (f *form) meant() string {
	if r := f.current(); r != nil {
		return r.meant
	}
	return ""
}

// meant returns what an error supposes that was meant by a value; empty if it does not.
func meant(said string) string {
	_, rest, _ := strings.Cut(said, "did you mean ")
	value, _, ok := strings.Cut(rest, "?")
	if !ok || strings.ContainsAny(value, " =") {
		return "" // several, or more than the value
	}
	return value
}

func (f *form) editKeys() widget.KeyMap {
	list := []key.Binding{widget.Bind("enter", "keep "+label(f.edit.row.name), "enter"), widget.Bind("esc", "cancel", "esc")}
	if len(f.edit.offers) > 0 {
		list = append(list, widget.Bind("↑↓", "choose", "up", "down"))
	}
	if f.edit.row.kind == rowFile || len(f.edit.offers) > 0 || f.meant() != "" {
		list = append(list, widget.Bind("tab", "complete", "tab"))
	}
	list = append(list, widget.Bind("ctrl+u", "clear", "ctrl+u"))
	return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
}

// pressEdit handles a key while a value is being typed.
func (f *form) pressEdit(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	x := f.edit
	switch msg.String() {
	case "esc":
		f.edit = nil
		return f.ask()
	case "enter":
		f.edit = nil
		before := f.drafts.request()
		return tea.Batch(f.keep(e, x.row, x.text()), f.opens(x.row, before))
	case "up":
		x.pick = max(x.pick-1, -1)
	case "down":
		if x.pick < 0 { // the first that is another than what is there
			x.pick = slices.Index(x.offers, x.field.Value())
		}
		x.pick = min(x.pick+1, len(x.offers)-1)
	case "tab":
		if meant := f.meant(); meant != "" && x.pick < 0 {
			x.field = widget.Field{Text: []rune(meant), Pos: len([]rune(meant)), Mask: x.field.Mask}
			x.offer()
			return f.ask()
		}
		return x.complete()
	default:
		if x.pick >= 0 { // typing continues from what was chosen
			x.field, x.pick = widget.Field{Text: []rune(x.text()), Pos: len([]rune(x.text())), Mask: x.field.Mask}, -1
		}
		var ours bool
		if x.field, ours = x.field.Update(msg); !ours {
			return nil
		}
		x.offer()
	}
	return f.ask()
}

// offer reduces the choices to those that contain the typed text; unchanged text is
// offered all.
func (x *edit) offer() {
	x.pick, x.offers = -1, nil
	typed := strings.ToLower(x.field.Value())
	all := slices.Concat(x.row.choices, x.row.offers)
	if strings.HasPrefix(typed, "lab") {
		for _, l := range x.row.labs {
			if !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
	}
	for _, c := range all {
		if typed == strings.ToLower(x.row.words()) || strings.Contains(strings.ToLower(c), typed) {
			x.offers = append(x.offers, c)
		}
	}
}

// click selects a row; on the selected one it changes the value.
func (f *form) click(x, line int, had bool, e screen.Env) tea.Cmd {
	line += f.top
	if line >= 0 && line < len(f.lines) && f.lines[line] == moreLine {
		f.showAll()
		return nil
	}
	if line < 0 || line >= len(f.lines) || f.lines[line] < 0 {
		return nil
	}
	i := f.lines[line]
	if !had || i != f.at {
		f.at = i
		return nil
	}
	r := f.rows[i]
	if len(r.choices) > 0 || r.knob != nil || r.time {
		column := f.columns[i]
		switch end := column + 4 + len([]rune(shownText(r))); {
		case x >= column && x <= column+2:
			return f.turn(e, -1)
		case x >= end-1 && x <= end+1:
			return f.turn(e, 1)
		}
	}
	f.begin()
	return nil
}

// clickEdit keeps the typed text, or accepts the offer in a line of the form.
func (f *form) clickEdit(line int, e screen.Env) tea.Cmd {
	x := f.edit
	if line += f.top; line >= 0 && line < len(f.lines) && f.lines[line] <= -2 && f.lines[line] != moreLine {
		x.pick = -2 - f.lines[line]
	}
	f.edit = nil
	before := f.drafts.request()
	return tea.Batch(f.keep(e, x.row, x.text()), f.opens(x.row, before))
}

// plannedMsg delivers the plan that was named as a file; before is the request without it.
type plannedMsg struct {
	path   string
	before request.Request
	plan   *request.File
	err    error
}

// opens looks, in the background, whether the one file that a row names is a plan; before is the
// request without it.
func (f *form) opens(r row, before request.Request) tea.Cmd {
	files := f.drafts.request().Files
	if r.kind != rowFile || len(files) != 1 {
		return nil
	}
	path, planner := files[0], f.forecast.planner
	return func() tea.Msg {
		plan, is, err := planner.Plan(path)
		if !is {
			return nil
		}
		return plannedMsg{path, before, plan, err}
	}
}

// paste inserts text where text is being typed, which it begins if need be.
func (f *form) paste(msg tea.PasteMsg) tea.Cmd {
	if f.find != nil {
		f.find.field, _ = f.find.field.Update(msg)
		f.seek()
		return nil
	}
	if f.edit == nil {
		f.begin()
		f.edit.pick = -1
	}
	f.edit.field, _ = f.edit.field.Update(msg)
	return f.ask()
}
