// Package picker is the first screen of the workbench: which profile, on which store,
// with which values, and what that would do.
package picker

import (
	"maps"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Picker is the first screen: which profile, on which store, with which values; what
// that would do; and the last runs. It belongs to the event loop.
type Picker struct {
	bench     Bench
	runParams []workload.Param
	profiles  []workload.Profile
	stores    []screen.StoreInfo
	recent    []string
	presets   map[string][]screen.Preset
	runs      []rundir.Run
	// requests holds the settings of each profile, by its name.
	requests map[string]request.Request
	// begun is what requests began with, until the last settings are known; then nil.
	begun map[string]request.Request
	// shown indexes the profiles that pass the filter; at is the selected one of these,
	// name the one that was selected last.
	shown  []int
	at     int
	name   string
	filter widget.Filter

	pane   pane
	form   form
	scroll int  // of the plan
	long   bool // the plan is longer than its panel
	runAt  int
	shelf  archive.RunList // of the runs
	ping   pinger
	toast  widget.Note

	// asked numbers the previews requested; got is the number of the newest one
	// received.
	asked, got int
	preview    *request.Preview
	// last is the newest preview without a fault for each profile.
	last map[string]*request.Preview
	err  error
	// wanted returns where to go as soon as the preview has arrived; nil if nothing is
	// requested.
	wanted func(request.Request) screen.Destination
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

// previewMsg delivers the preview with number asked.
type previewMsg struct {
	number  int
	preview *request.Preview
	err     error
}

// New begins with the settings of a request; runParams describe the parameters that
// every run has.
func New(b Bench, first request.Request, runParams []workload.Param) *Picker {
	p := &Picker{
		shelf: archive.NewRunList(b), bench: b, runParams: runParams, profiles: b.Profiles(), stores: b.Stores(),
		requests: map[string]request.Request{}, last: map[string]*request.Preview{}, presets: map[string][]screen.Preset{},
	}
	if clean, password := widget.SplitSecret(first.Target); password != "" && first.Password == "" {
		first.Target, first.Password = clean, password
	}
	p.sift()
	for i, n := range p.shown {
		if pr := p.profiles[n]; pr.Name == first.Profile || first.Profile == "" && built(&pr) {
			p.at, first.Profile = i, pr.Name
			break
		}
	}
	p.requests[first.Profile], p.name = first, first.Profile
	p.begun = maps.Clone(p.requests)
	p.form.rebuild(p)
	return p
}

// built reports whether a profile can run yet.
func built(p *workload.Profile) bool { return p.Design != nil }

// profile returns the selected one, or nil.
func (p *Picker) profile() *workload.Profile {
	if p.at < 0 || p.at >= len(p.shown) {
		return nil
	}
	return &p.profiles[p.shown[p.at]]
}

// request returns what would be run: the values set for the selected profile.
func (p *Picker) request() request.Request {
	pr := p.profile()
	if pr == nil {
		return request.Request{}
	}
	r := p.requests[pr.Name]
	r.Profile = pr.Name
	return r
}

// set replaces the request of the selected profile.
func (p *Picker) set(r request.Request) {
	if pr := p.profile(); pr != nil {
		r.Profile = pr.Name
		p.requests[pr.Name] = r
	}
}

// Start reads what is slow to read, once.
func (p *Picker) Start(e screen.Env) tea.Cmd {
	if r := p.request(); !widget.Local(r.Target) {
		p.ping.soon(e, 0)
	}
	return tea.Batch(screen.ReadHistory(p.bench), p.know(), p.ask())
}

// ask requests the preview of the current settings, including the text being typed.
func (p *Picker) ask() tea.Cmd {
	p.asked++
	pr := p.profile()
	if pr == nil || !built(pr) {
		p.got, p.preview, p.err = p.asked, nil, nil
		p.form.rebuild(p)
		return nil
	}
	number, bench, req := p.asked, p.bench, p.form.draft(p)
	req.Values, req.Files = maps.Clone(req.Values), slices.Clone(req.Files)
	return func() tea.Msg {
		preview, err := bench.Preview(req)
		return previewMsg{number, preview, err}
	}
}

// Typing reports whether text is being typed.
func (p *Picker) Typing() bool {
	return p.filter.Typing() || p.shelf.Typing() || p.form.edit != nil || p.form.find != nil
}

// Update handles one message.
func (p *Picker) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case screen.FrameMsg:
		p.toast.Tick(e.Now)
		return p, p.ping.frame(p.bench, p.request(), e)
	case screen.HistoryMsg:
		if msg.Err == nil {
			p.runs = msg.Runs
		}
	case archive.DoneMsg:
		return p, archive.Settle(p.bench, msg, &p.toast, e)
	case screen.RunsChangedMsg:
		return p, tea.Batch(screen.ReadHistory(p.bench), p.know())
	case knownMsg:
		p.recent, p.presets = msg.recent, msg.presets
		if msg.err != nil && p.begun != nil {
			p.toast.Say(e.Now, msg.err.Error(), true)
		}
		if p.recall(msg.last) {
			return p, p.ask()
		}
		p.form.rebuild(p)
	case previewMsg:
		return p, p.previewed(msg, e)
	case pongMsg:
		p.ping.answered(msg)
	case completedMsg:
		p.form.completed(msg)
		return p, p.ask()
	case tea.PasteMsg:
		return p, p.paste(msg, e)
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
	if msg.number != p.asked {
		return nil
	}
	p.got, p.preview, p.err = msg.number, msg.preview, msg.err
	if msg.err == nil && msg.preview != nil {
		p.last[p.request().Profile] = msg.preview
	}
	p.form.rebuild(p)
	if p.wanted != nil {
		return p.launch(e, p.wanted)
	}
	return nil
}

func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

func (p *Picker) paste(msg tea.PasteMsg, e screen.Env) tea.Cmd {
	switch {
	case p.filter.Typing():
		p.filter.Paste(msg)
		p.refilter(e)
	case p.shelf.Typing():
		p.shelf.Paste(msg)
	case p.form.find != nil:
		p.form.find.field, _ = p.form.find.field.Update(msg)
		p.form.next(0)
	case p.form.edit != nil:
		p.form.edit.field, _ = p.form.edit.field.Update(msg)
		return p.ask()
	}
	return nil
}

// sift finds the profiles that contain every word of the filter.
func (p *Picker) sift() {
	p.shown = p.shown[:0]
	for i := range p.profiles {
		if pr := &p.profiles[i]; widget.HasWords(pr.Name+" "+pr.Title+" "+pr.Summary, p.filter.Text()) {
			p.shown = append(p.shown, i)
		}
	}
}

// refilter keeps the selected profile if it passes the filter.
func (p *Picker) refilter(e screen.Env) tea.Cmd {
	p.sift()
	at := 0
	for i, n := range p.shown {
		if p.profiles[n].Name == p.name {
			at = i
		}
	}
	return p.choose(at, e)
}

// choose selects a profile. Target, password and the parameters of every run are
// carried over.
func (p *Picker) choose(at int, e screen.Env) tea.Cmd {
	from := p.requests[p.name]
	p.at = max(min(at, len(p.shown)-1), 0)
	pr := p.profile()
	if pr == nil {
		p.form.rebuild(p)
		return nil
	}
	if p.name != pr.Name {
		p.name = pr.Name
		to, known := p.requests[pr.Name]
		if !known {
			to.Values = maps.Clone(from.Values)
			maps.DeleteFunc(to.Values, func(name string, _ workload.Value) bool { return !p.runParam(name) })
		}
		to.Target, to.Password, to.Out = from.Target, from.Password, from.Out
		p.set(to)
		p.scroll, p.runAt = 0, 0
		p.form.leave()
		p.preview, p.err = nil, nil
	}
	p.form.rebuild(p)
	return p.ask()
}

// runParam reports whether a value is one that every run has.
func (p *Picker) runParam(name string) bool {
	return slices.ContainsFunc(p.runParams, func(q workload.Param) bool { return q.Name == name })
}

// runsOf returns the runs of the selected profile, filtered and sorted.
func (p *Picker) runsOf() []*rundir.Run {
	var all []archive.Item
	name := p.request().Profile
	for i := range p.runs {
		if p.runs[i].Profile == name {
			all = append(all, archive.Item{Run: &p.runs[i]})
		}
	}
	var out []*rundir.Run
	for _, i := range p.shelf.Shown(all) {
		out = append(out, all[i].Run)
	}
	return out
}

func (p *Picker) bindings() widget.Bindings {
	k := widget.AllKeys
	pr := p.profile()
	can := pr != nil && built(pr)
	k.Start.SetEnabled(can)
	k.Launch.SetEnabled(can)
	k.Copy.SetEnabled(can)
	k.Search.SetEnabled(can)
	k.Sweep.SetEnabled(can)
	k.Targets.SetEnabled(can)
	k.Compare.SetEnabled(len(p.runs) > 1)
	k.Next.SetHelp("tab", "next panel")
	if p.filter.Text() == "" || p.pane != paneProfiles {
		k.Back.SetHelp("esc", "profiles")
	} else {
		k.Back.SetHelp("esc", "clear filter")
	}
	k.Back.SetEnabled(p.pane != paneProfiles || p.filter.Text() != "")
	if p.pane == paneRuns {
		if p.shelf.Filter.Text() != "" {
			k.Back.SetHelp("esc", "clear filter")
		}
		runs := p.runsOf()
		for _, b := range []*key.Binding{&k.Up, &k.Down, &k.Choose} {
			b.SetEnabled(len(runs) > 0)
		}
		archive.Bindings(&k, len(runs) > 0, len(runs) > 0)
	}
	return k
}

// Keys returns the keys that work now.
func (p *Picker) Keys() widget.KeyMap {
	k := p.bindings()
	move := func(what string) key.Binding { return widget.Bind("↑↓", what, "up", "down") }
	common := []key.Binding{k.Launch, k.Search, k.Sweep, k.Targets, k.Ping, k.Copy, k.History, k.Compare, k.Next, k.Prev, k.Back}
	switch {
	case p.filter.Typing():
		list := []key.Binding{widget.Bind("enter", "keep", "enter"), widget.Bind("esc", "clear", "esc")}
		return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
	case p.shelf.Typing():
		return p.shelf.Keys()
	case p.form.edit != nil:
		return p.form.editKeys()
	case p.form.find != nil:
		return findKeys()
	case p.pane == paneForm:
		k.Filter.SetHelp("/", "find value")
		k.Left.SetHelp("←", "value before")
		k.Right.SetHelp("→", "next value")
		k.Reset.SetHelp("r", "reset value")
		turn := widget.Bind("←→", "change", "left", "right")
		return widget.KeyMap{
			Short: []key.Binding{move("value"), turn, k.Edit, k.Launch, k.Help, k.Reset, k.Ping, k.Filter, k.Next, k.Quit},
			Full:  [][]key.Binding{{k.Up, k.Down, k.First, k.Last, k.PageUp, k.PageDown, k.Left, k.Right, k.Edit, k.Filter, k.Reset}, common},
		}
	case p.pane == panePlan:
		scroll := move("scroll")
		for _, b := range []*key.Binding{&scroll, &k.Up, &k.Down, &k.PageUp, &k.PageDown} {
			b.SetEnabled(p.long)
		}
		return widget.KeyMap{
			Short: []key.Binding{scroll, k.Launch, k.Next, k.Help, k.Back, k.Quit},
			Full:  [][]key.Binding{{k.Up, k.Down, k.PageUp, k.PageDown}, common},
		}
	case p.pane == paneRuns:
		k.Choose.SetHelp("enter", "open run")
		run := move("run")
		run.SetEnabled(k.Up.Enabled())
		return widget.KeyMap{
			Short: []key.Binding{run, k.Choose, k.Launch, k.Help, k.Filter, k.Order, k.Annotate, k.Remove, k.History, k.Next, k.Quit},
			Full:  [][]key.Binding{{k.Up, k.Down, k.Choose, k.Filter, k.Order, k.Annotate, k.Pack, k.Remove}, common},
		}
	}
	k.Right.SetHelp("→", "setup")
	return widget.KeyMap{
		Short: []key.Binding{k.Start, move("choose"), widget.Bind("→", "values", "right"), k.Help, k.Filter, k.Ping, k.History, k.Search, k.Sweep, k.Quit},
		Full:  [][]key.Binding{{k.Up, k.Down, k.First, k.Last, k.Filter, k.Start, k.Right}, common},
	}
}
