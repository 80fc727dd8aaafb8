// Package picker is the first screen of the workbench: which profile, on which store,
// with which values, and what that would do.
package picker

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Picker is the first screen: which profile, on which store, with which values; what
// that would do; and the last runs. Its parts know one thing each, and it gives them the
// keys and the room. All of them belong to the event loop.
type Picker struct {
	bench Bench
	pane  pane
	toast widget.Note

	list     *profiles
	drafts   *drafts
	known    *known
	forecast *forecast
	ping     *pinger
	form     *form
	runs     *earlier
	reread   screen.Reread
	unread   error // why what was set last is not known; nil: it is
	// plan is the page on which the run in the form was picked, to go back to; nil: it was not.
	plan screen.Screen
	// had is what was set of its profile before that, and was the profile that was selected.
	had request.Request
	was string
	// entered means that the last key was the → that led from the profiles to their values, which ← takes back.
	entered bool
}

// pane is a part of the picker that can have the focus.
type pane int

const (
	paneProfiles pane = iota
	paneForm
	panePlan
	paneRuns
	panesOfPicker
)

// String returns the title of the panel.
func (p pane) String() string { return [...]string{"Profiles", "Setup", "Plan", "Last runs"}[p] }

// New begins with the settings of a request; every are the parameters that every run has.
func New(b Bench, first request.Request, every []workload.Param) *Picker {
	list := newProfiles(b.Catalogue)
	p := &Picker{
		bench: b, list: list, drafts: newDrafts(list, first, b.Memory.Newest()),
		known:    &known{catalogue: b.Catalogue, memory: b.Memory, every: every, labs: b.Memory.Labs()},
		forecast: &forecast{planner: b.Planner, last: map[string]*request.Preview{}},
		ping:     &pinger{pinger: b.Pinger},
		runs:     &earlier{list: list, kept: b.Runs, shelf: archive.NewRunList(b.Runs), failed: &unstarted{list: list}},
	}
	// What is shown first stays, so these small files are read before it is.
	p.known.learn(p.known.read(list))
	last, err := b.Memory.Last()
	p.unread = err
	p.drafts.recall(last)
	p.form = &form{list: list, drafts: p.drafts, known: p.known, forecast: p.forecast, ping: p.ping}
	p.form.rebuild()
	return p
}

// Start reads what is slow to read, once.
func (p *Picker) Start(e screen.Env) tea.Cmd {
	if !widget.Local(p.drafts.request().Target) {
		p.ping.soon(e, 0)
	}
	if p.unread != nil {
		p.toast.Say(e.Now, p.unread.Error(), true)
	}
	return tea.Batch(screen.ReadHistory(p.bench.Runs), p.form.ask())
}

// Tell shows a sentence for a while.
func (p *Picker) Tell(sentence string, e screen.Env) { p.toast.Tell(e.Now, sentence) }

// Typing reports whether text is being typed.
func (p *Picker) Typing() bool {
	return p.list.filter.Typing() || p.runs.shelf.Typing() || p.form.edit != nil || p.form.find != nil
}

// Untouched reports whether a value is edited into which nothing has been typed; a password may
// begin with anything.
func (p *Picker) Untouched() bool {
	x := p.form.edit
	return x != nil && x.row.kind != rowPassword && x.field.Untouched()
}

// Writes reports whether a key begins to type the selected value: small letters do, digits and signs, or, where it is
// chosen, goes to a choice. Capitals are commands, as are ? and, but where a path is typed, /.
func (p *Picker) Writes(msg tea.KeyPressMsg) bool {
	if p.pane != paneForm || p.Typing() || p.form.current() == nil {
		return false
	}
	if !p.form.typed() {
		return slices.Contains(writing, msg.String())
	}
	r, _ := utf8.DecodeRuneInString(msg.Text)
	return unicode.IsPrint(r) && !unicode.IsUpper(r) && r != ' ' && r != '?' && (r != '/' || p.form.onPath()) && msg.Text != ""
}

// Idle reports that there is no target to ping soon and no message to remove.
func (p *Picker) Idle() bool {
	return (p.ping.due.IsZero() || p.ping.done) && !p.ping.busy && p.toast.Text == ""
}

// Update handles one message.
func (p *Picker) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	p.runs.shelf.At(e)
	switch msg := msg.(type) {
	case screen.FrameMsg:
		p.toast.Tick(e.Now)
		if !e.Covered && p.reread.Due(e.Now, p.runs.all) {
			return p, tea.Batch(screen.ReadHistory(p.bench.Runs), p.ping.frame(p.drafts.request(), e))
		}
		return p, p.ping.frame(p.drafts.request(), e)
	case screen.HistoryMsg:
		if msg.Err == nil {
			at := p.runs.selected()
			p.runs.all, p.runs.rows = msg.Runs, kept.Items(msg.Runs, msg.Sweeps, msg.Groups)
			if p.pane == paneRuns { // otherwise none is seen to be selected, and the newest is
				p.runs.stay(at)
			}
		}
	case screen.NotStartedMsg:
		p.runs.failed.add(msg)
	case screen.StartedMsg:
		p.runs.failed.all = nil
	case archive.DoneMsg:
		return p, archive.Settle(p.bench.Runs, msg, &p.toast, e)
	case screen.RunsChangedMsg:
		return p, tea.Batch(screen.ReadHistory(p.bench.Runs), p.known.again(p.list))
	case knownMsg:
		p.known.learn(msg)
		p.form.rebuild()
	case previewMsg:
		return p, p.previewed(msg, e)
	case pongMsg:
		p.ping.answered(msg, e.Now)
	case completedMsg:
		p.form.completed(msg)
		return p, p.form.ask()
	case plannedMsg:
		return p, p.opened(msg, e)
	case screen.SetUpMsg:
		var dropped tea.Cmd
		if p.plan != nil { // what was set up before it is not what the form had
			dropped = p.drop(e)
		}
		p.pane, p.plan, p.was = paneForm, msg.From, p.drafts.request().Profile
		return p, tea.Batch(dropped, p.setUp(e, msg.Request, msg.Said))
	case tea.PasteMsg:
		return p, p.paste(msg)
	case tea.KeyPressMsg:
		return p, p.press(msg, e)
	case tea.MouseClickMsg:
		return p, p.click(msg.Mouse(), e)
	case tea.MouseWheelMsg:
		return p, p.wheel(msg, e)
	}
	return p, nil
}

func (p *Picker) previewed(msg previewMsg, e screen.Env) tea.Cmd {
	if !p.forecast.arrived(msg, p.drafts.request().Profile) {
		return nil
	}
	p.form.rebuild()
	if said := p.form.undid(); said != "" {
		p.toast.Say(e.Now, said, false)
	}
	if p.forecast.wanted != nil {
		return p.launch(e, p.forecast.wanted)
	}
	return nil
}

// opened begins with what a plan says of its one run, in the place of what was set before; a plan of
// several has a page of its own.
func (p *Picker) opened(msg plannedMsg, e screen.Env) tea.Cmd {
	if now := p.drafts.request(); now.Profile != msg.before.Profile || len(now.Files) != 1 || now.Files[0] != msg.path {
		return nil // something else was set since
	}
	if msg.err != nil {
		p.toast.Say(e.Now, "not opened: "+widget.Unflagged(firstLine(msg.err)), true)
		return nil
	}
	f := p.form
	if n := len(f.past); n > 0 && reflect.DeepEqual(f.past[n-1], msg.before) { // the plan is no file of the profile
		f.past = f.past[:n-1]
	}
	if plan := msg.plan.Plain(); plan != nil {
		p.drafts.set(msg.before)
		p.plan = nil
		return p.setUp(e, *plan, "opened "+msg.path)
	}
	return tea.Batch(f.change(e, msg.before), screen.Open(screen.Suite{Path: msg.path, File: msg.plan}))
}

// setUp shows a run, such as one of a plan, in the form, in the place of what was set before; undo takes it back, and
// esc leads to the page of the plan if it was picked there.
func (p *Picker) setUp(e screen.Env, plan request.Request, said string) tea.Cmd {
	f := p.form
	plan = plan.Typed()
	if clean, password := widget.SplitSecret(plan.Target); password != "" {
		plan.Target, plan.Password = clean, password
	}
	p.show(plan.Profile)
	p.had = p.drafts.request()
	f.past = append(f.past, p.had)
	back := p.bindings().Undo.Help().Key + " takes it back"
	if p.plan != nil {
		back = "esc goes back"
	}
	if plan.OfPlan() {
		said += ": what it says is marked plan"
	}
	p.toast.Say(e.Now, said+"; "+back, false)
	return f.change(e, plan)
}

// show selects a profile, if it is another one than before.
func (p *Picker) show(profile string) {
	if profile == p.drafts.request().Profile {
		return
	}
	p.list.filter.Clear()
	p.list.sift()
	p.list.prefer(profile)
	p.drafts.name = profile
	p.runs.at = 0
	p.forecast.forget()
	p.form.leave()
}

// back returns to the screen that the form was opened from, and the form to what it had before.
func (p *Picker) back(e screen.Env) tea.Cmd {
	to := p.plan
	return tea.Batch(p.drop(e), screen.Open(screen.Return{To: to}))
}

// drop returns the form to what it had before another screen set it up, which is forgotten; undo brings back what it
// has now.
func (p *Picker) drop(e screen.Env) tea.Cmd {
	p.plan = nil
	p.form.past = append(p.form.past, p.drafts.request())
	again := p.form.change(e, p.had)
	if p.was != p.had.Profile {
		p.show(p.was)
		again = tea.Batch(again, p.form.change(e, p.drafts.request()))
	}
	return again
}

func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

func (p *Picker) paste(msg tea.PasteMsg) tea.Cmd {
	switch {
	case p.list.filter.Typing():
		p.list.filter.Paste(msg)
		return p.refilter()
	case p.runs.shelf.Typing():
		p.runs.shelf.Paste(msg)
	case p.form.edit == nil && p.form.find == nil && (p.pane != paneForm || !p.form.typed()):
	default:
		return p.form.paste(msg)
	}
	return nil
}

// refilter keeps the profile that was selected before the filter was typed if it passes it, or if
// none does.
func (p *Picker) refilter() tea.Cmd {
	p.list.sift()
	name := p.list.before
	if !p.list.filter.Typing() {
		p.list.keep()
		if p.list.filter.Text() != "" || name == "" { // the one that was found
			name = p.drafts.name
		}
	}
	p.list.prefer(name)
	return p.arrive()
}

// noMatch says that no profile passes the filter, and what to do; empty if one does, or the keys are elsewhere.
func (p *Picker) noMatch() string {
	if p.pane != paneProfiles || len(p.list.shown) > 0 {
		return ""
	}
	return p.list.filter.NoMatch("profile")
}

// filterProfiles begins to filter the list of profiles.
func (p *Picker) filterProfiles() {
	p.list.before = p.drafts.name
	p.list.filter.Begin()
}

// choose selects a profile by its place among those shown.
func (p *Picker) choose(at int) tea.Cmd {
	p.list.selectAt(at)
	return p.arrive()
}

// arrive shows the selected profile. Target, password and the parameters of every run are
// carried over.
func (p *Picker) arrive() tea.Cmd {
	if p.list.selected() == nil {
		p.form.rebuild()
		return nil
	}
	was := p.drafts.requests[p.drafts.name]
	if p.drafts.carryOver(p.known.every) {
		p.ping.turn(was, p.drafts.request(), screen.Env{})
		p.runs.at, p.plan = 0, nil
		p.forecast.forget()
		p.form.leave()
	}
	p.form.rebuild()
	return p.form.ask()
}

// List gives the keys to the list of profiles.
func (p *Picker) List() { p.pane = paneProfiles }

// Home gives the keys to the list of profiles, as when the workbench begins, and returns the form to what it had before
// another screen set it up; changed is false if all was so.
func (p *Picker) Home(e screen.Env) (cmd tea.Cmd, changed bool) {
	changed = p.pane != paneProfiles
	p.List()
	if p.plan == nil {
		return nil, changed
	}
	p.toast.Say(e.Now, "the form is as it was before; U in it brings back what was set up", false)
	return p.drop(e), true
}

func (p *Picker) bindings() widget.Bindings {
	k := widget.AllKeys
	pr := p.list.selected()
	can := pr != nil && built(pr) && p.noMatch() == ""
	k.Start.SetEnabled(can)
	k.Launch.SetEnabled(can)
	k.Copy.SetEnabled(can)
	k.Search.SetEnabled(can && !p.forecast.replays())
	k.Sweep.SetEnabled(can)
	k.Targets.SetEnabled(can)
	k.Compare.SetEnabled(len(p.runs.all) > 1)
	k.Details.SetHelp("ctrl+d", "all values and stores")
	if p.form.all {
		k.Details.SetHelp("ctrl+d", "only the main values")
	}
	if p.pane == paneForm { // where small letters are typed
		k.Unlettered()
		k.Filter.SetEnabled(!p.form.onPath())
	}
	k.Next.SetHelp("tab", "next panel")
	filtered := p.pane == paneProfiles && p.list.filter.Text() != ""
	if p.noMatch() != "" {
		for _, b := range []*key.Binding{&k.Up, &k.Down, &k.First, &k.Last, &k.Right} {
			b.SetEnabled(false)
		}
	}
	switch {
	case filtered:
		k.Back.SetHelp("esc", "clear filter")
	case p.plan != nil:
		k.Back.SetHelp("esc", "back")
	case p.pane == paneForm:
		k.Back.SetHelp("esc", "profiles, where letters are commands")
	default:
		k.Back.SetHelp("esc", "profiles")
	}
	k.Back.SetEnabled(p.pane != paneProfiles || filtered || p.plan != nil)
	if p.pane == paneRuns {
		some := len(p.runs.items()) > 0
		for _, b := range []*key.Binding{&k.Up, &k.Down, &k.Choose} {
			b.SetEnabled(some)
		}
		p.runs.shelf.Bindings(&k, some, p.runs.selected())
		if p.runs.failed.ours() != nil {
			k.Back.SetHelp("esc", "dismiss what did not start")
			k.Again.SetHelp("R", "try again")
		} else {
			k.Again.SetEnabled(false)
		}
		if p.runs.shelf.Filter.Text() != "" {
			k.Back.SetHelp("esc", "clear filter")
		}
	}
	return k
}

// writing are the keys that begin to type a value.
var writing = strings.Split("abcdefghijklmnopqrstuvwxyz0123456789.", "")

// Keys returns the keys that work now.
func (p *Picker) Keys() widget.KeyMap {
	k := p.bindings()
	move := func(what string) key.Binding { return widget.Bind("↑↓", what, "up", "down") }
	common := []key.Binding{
		widget.Long(k.Launch, "start, from any panel"), widget.Long(k.Search, "find the highest load"), widget.Long(k.Sweep, "runs at several values"), k.Targets, k.Ping, k.Copy,
		widget.Long(k.Plans, "plans: files of runs"), k.History, widget.Long(k.Compare, "compare earlier runs"), k.Details, k.Next, k.Prev, k.Back,
	}
	details := widget.Long(k.Details, "all")
	if p.form.all {
		details = widget.Long(k.Details, "less")
	}
	switch {
	case p.list.filter.Typing():
		list := []key.Binding{widget.Bind("enter", "keep", "enter"), widget.Bind("esc", "clear", "esc")}
		return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
	case p.runs.shelf.Typing():
		return p.runs.shelf.Keys()
	case p.form.edit != nil:
		return p.form.editKeys()
	case p.form.find != nil:
		return findKeys()
	case p.pane == paneForm:
		k.Filter.SetHelp("/", "find")
		k.Left.SetHelp("←", "value before")
		k.Right.SetHelp("→", "next value")
		if p.entered {
			k.Left.SetHelp("←", "back to the profiles")
		}
		k.Quit = widget.Bind("ctrl+c", "quit", "ctrl+c")
		k.Undo.SetEnabled(p.form.undoable() >= 0)
		k.Reset.SetEnabled(k.Reset.Enabled() && p.form.resettable())
		turn := widget.Bind("←→", "change", "left", "right")
		if r := p.form.current(); r != nil && r.off {
			for _, b := range []*key.Binding{&turn, &k.Left, &k.Right, &k.Edit} {
				b.SetEnabled(false)
			}
		}
		if p.form.meant() != "" {
			k.Edit.SetHelp("enter", "take what is offered")
		}
		k.TypeValue = widget.Bind("a–z 0–9", "type", writing...)
		short := []key.Binding{move("value"), k.Edit, k.Launch, k.TypeValue, details, k.Help, k.Reset, k.Undo, widget.Long(k.Ping, "ping"), k.Filter, k.Next, k.Quit}
		switch r := p.form.current(); {
		case r != nil && len(r.choices) > 0:
			k.TypeValue.SetHelp("a–z", "choose")
			short[3] = k.TypeValue
			fallthrough
		case r != nil && (r.knob != nil || r.time):
			short = slices.Insert(short, 1, turn)
		}
		if p.plan != nil {
			short = slices.Insert(short, 4, k.Back)
		}
		return widget.KeyMap{
			Short: short,
			Full:  [][]key.Binding{{k.Up, k.Down, k.First, k.Last, k.PageUp, k.PageDown, k.Left, k.Right, k.Edit, k.TypeValue, k.Filter, k.Reset, k.Undo}, common},
		}
	case p.pane == panePlan:
		scroll := move("scroll")
		for _, b := range []*key.Binding{&scroll, &k.Up, &k.Down, &k.PageUp, &k.PageDown} {
			b.SetEnabled(p.forecast.long)
		}
		return widget.KeyMap{
			Short: []key.Binding{scroll, k.Launch, k.Next, k.Help, k.Back, k.Quit},
			Full:  [][]key.Binding{{k.Up, k.Down, k.PageUp, k.PageDown}, common},
		}
	case p.pane == paneRuns:
		k.Choose.SetHelp("enter", "open run")
		run := move("run")
		run.SetEnabled(k.Up.Enabled())
		short := []key.Binding{run, k.Choose}
		if k.Again.Enabled() {
			short = append(short, k.Again)
		}
		return widget.KeyMap{
			Short: append(short, k.Launch, k.Help, k.Filter, k.Order, k.Annotate, k.Remove, k.History, k.Next, k.Quit),
			Full:  [][]key.Binding{{k.Up, k.Down, k.Choose, k.Again, k.Filter, k.Order, k.Annotate, k.Retag, k.Pack, k.Undo, k.Remove}, common},
		}
	}
	k.Right.SetHelp("→", "setup")
	short := []key.Binding{k.Start, move("choose"), widget.Bind("→", "values", "right"), k.Help, k.Search, k.Sweep, k.History, details, k.Filter, k.Plans, k.Ping, k.Quit}
	switch {
	case p.noMatch() != "":
		short = []key.Binding{k.Back, k.Filter, details, k.Help, k.Plans, k.History, k.Quit}
	case k.Back.Enabled():
		short = slices.Insert(short, 3, k.Back)
	}
	return widget.KeyMap{
		Short: short,
		Full:  [][]key.Binding{{k.Up, k.Down, k.First, k.Last, k.Filter, k.Start, k.Right}, common},
	}
}
