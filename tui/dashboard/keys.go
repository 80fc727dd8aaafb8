package dashboard

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// searchHelp returns the help text for searching.
func searchHelp(k widget.Bindings) string {
	if text := k.Search.Help().Desc; text != "search" {
		return text
	}
	return "find the highest load"
}

// press handles a key: of a prompt, then of the tuning panel, then of the dashboard.
func (d *Dashboard) press(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	if d.says.prompt != nil {
		return d.says.press(msg, e)
	}
	d.says.next()
	if d.breaks.open {
		d.breaks.key(msg, e)
		return nil
	}
	if d.coming.open {
		d.coming.key(msg, e)
		return nil
	}
	if d.search.panel.Asking {
		if elsewhere := d.search.answer(msg, e); elsewhere != nil {
			d.ending.then = elsewhere
			d.ending.stop(e, "stopping: then the search begins, in a run of its own")
		}
		return nil
	}
	if d.against.chooser.Open {
		return d.against.load(d.against.chooser.Press(msg))
	}
	if d.tuner.open {
		if d.tuner.press(msg, d.bindings(), e) {
			return nil
		}
	}
	k := d.bindings()
	switch {
	case d.now.watched && d.refuseChange(msg, k, e):
	case key.Matches(msg, k.Pause):
		d.knobs.pause()
	case key.Matches(msg, k.Arrivals):
		d.coming.press()
	case key.Matches(msg, k.Tune):
		d.search.panel.Open = false
		d.tuner.toggle()
	case key.Matches(msg, k.Search):
		d.search.press(e)
		d.tuner.close()
	case key.Matches(msg, k.EndSearch):
		d.search.askEnd()
	case key.Matches(msg, k.Sweep):
		return screen.Open(screen.AskSweep{Request: d.now.info.Request.At(d.now.plan, d.now.run.Settings), After: d.ending.run, Replays: d.now.plan.Replays})
	case key.Matches(msg, k.Targets):
		return screen.Open(screen.AskSweep{Request: d.now.info.Request.At(d.now.plan, d.now.run.Settings), After: d.ending.run, Targets: true})
	case key.Matches(msg, k.Copy):
		return screen.Copy("does a run with the settings that this one has now", d.now.info.Request.At(d.now.plan, d.now.run.Settings))
	case key.Matches(msg, k.SideB):
		return d.against.press()
	case key.Matches(msg, k.LogAxis):
		d.charts.nextAxes()
	case key.Matches(msg, k.Fault):
		d.breaks.press()
	case key.Matches(msg, k.Mark):
		d.askMark()
	case key.Matches(msg, k.Stop):
		d.ending.stop(e, "stopping: what is under way may finish, then the report is written")
	case key.Matches(msg, k.Undo):
		d.knobs.undo(e)
	case key.Matches(msg, k.Next):
		d.lower.next(1, d.page.folds(e))
	case key.Matches(msg, k.Prev):
		d.lower.next(-1, d.page.folds(e))
	case key.Matches(msg, k.Up) && d.search.listed():
		d.search.panel.choose(d.now.found.Newest(), -1)
	case key.Matches(msg, k.Down) && d.search.listed():
		d.search.panel.choose(d.now.found.Newest(), 1)
	case key.Matches(msg, k.Up):
		d.lower.move(-1)
	case key.Matches(msg, k.Down):
		d.lower.move(1)
	case key.Matches(msg, k.PageUp):
		d.lower.move(-d.lower.rows)
	case key.Matches(msg, k.PageDown):
		d.lower.move(d.lower.rows)
	case d.charts.cross.Press(msg, &k, func() chart.Readings { return d.charts.readings(d.page.panes(e)) }, d.now.moments):
	case key.Matches(msg, k.Back) && d.search.panel.Open:
		d.search.panel.Open = false
	case key.Matches(msg, k.Back) && d.leaves():
		return screen.Back
	case key.Matches(msg, k.Back):
		d.lower.folded = false
		d.charts.choose(-1)
	default:
		if !d.knobs.press(msg, k, e) {
			d.refuse(msg, k, e)
		}
	}
	return nil
}

// leaves reports whether esc leaves the screen: of a run that goes on without it, with nothing
// selected.
func (d *Dashboard) leaves() bool { return d.now.watched && d.sel.op < 0 && !d.lower.folded }

// noMarker is why there is nothing to go to.
const noMarker = "the chart has no marker yet: a change, a note, a phase or an outage makes one"

// bindings returns the keys in their current state.
func (d *Dashboard) bindings() widget.Bindings {
	k := widget.AllKeys
	live := d.now.progress.Stage == screen.Measuring
	has := func(name string) bool {
		k, ok := d.now.plan.Knob(name)
		return ok && live && d.knobs.effective(k)
	}
	for _, b := range []*key.Binding{&k.More, &k.Less, &k.MoreTen, &k.LessTen} {
		b.SetEnabled(has("threads"))
	}
	k.PayloadDown.SetEnabled(has("payload"))
	k.PayloadUp.SetEnabled(has("payload"))
	k.RateDown.SetEnabled(has("rate"))
	k.RateUp.SetEnabled(has("rate") && !d.knobs.unlimited())
	k.Arrivals.SetEnabled(has("rate") && !d.knobs.unlimited() && !d.now.plan.Replays)
	k.Pause.SetEnabled(live)
	k.Fault.SetEnabled(live)
	if d.now.snap != nil && d.sel.fig.paused {
		k.Pause.SetHelp("space", "resume")
	}
	k.Stop.SetEnabled(d.now.progress.Stage <= screen.Measuring)
	k.Tune.SetEnabled(live)
	k.Mark.SetEnabled(d.now.progress.Stage >= screen.Measuring)
	k.Undo.SetEnabled(live && len(d.knobs.history) > 0)
	if d.now.watched {
		k.Undo.SetHelp("u", "undo own change")
		k.SavePreset.SetEnabled(false)
	}
	k.Reset.SetEnabled(live)
	k.SideB.SetKeys("b", "c")
	k.SideB.SetHelp("b c", "compare with a run")
	if d.against.earlier != nil {
		k.SideB.SetHelp("b c", "drop the earlier run")
	}
	k.Search.SetEnabled(live && !d.now.plan.Replays)
	k.Sweep.SetEnabled(live && !d.now.searching())
	k.Targets.SetEnabled(live && !d.now.searching())
	if d.now.held() != "" { // a search controls them
		for _, b := range k.Knobs() {
			b.SetEnabled(false)
		}
	}
	if d.now.searching() {
		whileSearching(&k, d.search.panel.Open)
	}
	k.EndSearch.SetEnabled(d.now.searching())
	if d.now.watched {
		for _, b := range d.changing(&k) {
			b.SetEnabled(false)
		}
	}
	k.Up.SetHelp("↑", "operation up")
	k.Down.SetHelp("↓", "operation down")
	k.Back.SetHelp("esc", "all operations")
	if d.leaves() {
		k.Back.SetHelp("esc", "leave")
		if d.now.of != "" {
			k.Back.SetHelp("esc", "back to the "+d.now.of)
		}
	}
	some := d.sel.fig.some && d.now.progress.Stage >= screen.Measuring
	k.Reads(some, some && len(d.charts.moments()) > 0, d.charts.cross.On)
	if d.search.panel.Open {
		k.Back.SetHelp("esc", "close")
	}
	if d.lower.tab != tabOps && !d.lower.tab.drawn() {
		k.Up.SetHelp("↑", "scroll up")
		k.Down.SetHelp("↓", "scroll down")
	}
	if d.search.listed() {
		k.Up.SetHelp("↑", "a later level")
		k.Down.SetHelp("↓", "an earlier level")
	}
	return k
}

// Keys returns the keys that work now.
func (d *Dashboard) Keys() widget.KeyMap {
	if d.says.prompt != nil {
		return d.says.prompt.keys()
	}
	if d.breaks.open {
		return d.breaks.keys()
	}
	if d.coming.open {
		return d.coming.keys()
	}
	if d.search.panel.Asking {
		return d.search.panel.Keys()
	}
	if d.against.chooser.Open {
		return d.against.chooser.Keys()
	}
	k, live := d.bindings(), d.now.progress.Stage == screen.Measuring
	if d.tuner.open {
		return d.tuner.keys(k, d.small)
	}
	threads := widget.Bind("+−", "threads", "+", "-")
	threads.SetEnabled(k.More.Enabled())
	payload := widget.Bind("[ ]", "payload", "[", "]")
	payload.SetEnabled(k.PayloadUp.Enabled())
	rate := widget.Bind("{ }", "rate", "{", "}")
	rate.SetEnabled(k.RateDown.Enabled())
	short := []key.Binding{k.Pause, threads, payload, rate, k.Tune, k.Help, k.Stop, k.Search, k.Sweep, k.Mark, widget.Bind("tab", "panel", "tab"), k.Quit}
	if knob, ok := d.now.plan.Knob("payload"); !ok || !d.knobs.effective(knob) {
		short = slices.Delete(short, 2, 3) // there is no payload to turn now
	}
	if d.narrow { // the line of knobs has arrows to click, and the help lists all keys
		k.Next.SetHelp("tab", "more")
		short = []key.Binding{k.Pause, k.Tune, k.Next, k.Stop, k.Search, k.Help, k.Quit}
	}
	if d.now.searching() {
		short = []key.Binding{k.Search, k.EndSearch, k.Stop, k.Mark, k.Help, k.Next, k.Quit}
		if d.search.listed() {
			levels := widget.Bind("↑↓", "levels", "up", "down")
			short = slices.Insert(short, 2, levels)
		}
	}
	if d.now.watched {
		k.Quit.SetHelp("q", "leave")
		short = []key.Binding{widget.Bind("tab", "panel", "tab"), k.Help, k.Quit, widget.Bind("watching:", "no key changes the run")}
		switch {
		case d.now.of != "":
			short = []key.Binding{k.Back, widget.Bind("tab", "panel", "tab"), k.Help, widget.AllKeys.Quit, widget.Bind("watching:", "no key changes the run")}
		case d.control != nil && d.now.held() != "":
			short = []key.Binding{widget.Bind("tab", "panel", "tab"), k.Help, k.Back, k.Mark, k.Quit, widget.Bind("watching:", "a search turns the knobs")}
		case d.control != nil:
			short = []key.Binding{k.Pause, threads, payload, rate, k.Tune, k.Help, k.Back, k.Undo, k.Mark, widget.Bind("tab", "panel", "tab"), k.Quit}
			if d.narrow {
				short = []key.Binding{k.Pause, k.Tune, k.Help, k.Back, k.Next, k.Undo, k.Quit}
			}
		}
	}
	if over := d.now.progress.Stage > screen.Measuring; over || live && d.now.plan.Replays { // some will never work
		short = slices.DeleteFunc(short, func(b key.Binding) bool { return !b.Enabled() && len(b.Keys()) > 0 })
	}
	switch {
	case d.charts.cross.On: // what it is moved and ended by comes first
		short = k.Reading(short)
	case k.Undo.Enabled() && !d.now.watched: // the place of a sweep, which nobody begins then
		if i := slices.IndexFunc(short, func(b key.Binding) bool { return slices.Equal(b.Keys(), k.Sweep.Keys()) }); i >= 0 {
			short[i] = k.Undo
		}
	}
	out := widget.KeyMap{
		Short: short,
		Signs: chart.Signs(),
		Full: [][]key.Binding{
			{k.Pause, widget.Long(k.Stop, "stop this run and report"), widget.Long(k.Mark, "put a mark with a note"), widget.Long(k.Tune, "tuning panel"), widget.Long(k.Search, searchHelp(k)), widget.Long(k.Sweep, "runs at several values"), k.Targets, k.Fault, k.Undo},
			{k.More, k.Less, k.MoreTen, k.LessTen},
			{k.PayloadUp, k.PayloadDown, k.RateUp, k.RateDown, k.Arrivals},
			slices.Concat([]key.Binding{k.Up, k.Down}, k.ReadingHelp(), []key.Binding{k.Next, k.Prev, k.LogAxis, k.SideB, k.Copy, k.Back}),
		},
	}
	if k.EndSearch.Enabled() {
		out.Full[0] = slices.Insert(out.Full[0], 5, widget.Long(k.EndSearch, "end the search"))
	}
	if d.now.watched { // what it cannot do here it cannot do later
		never := d.changing(&k)
		for i, group := range out.Full {
			out.Full[i] = slices.DeleteFunc(group, func(b key.Binding) bool {
				return slices.ContainsFunc(never, func(n *key.Binding) bool { return slices.Equal(n.Keys(), b.Keys()) })
			})
		}
		out.Full = slices.DeleteFunc(out.Full, func(group []key.Binding) bool { return len(group) == 0 })
	}
	return out
}

// noUndo is why there is nothing to undo.
func (d *Dashboard) noUndo() string {
	if d.now.watched {
		return ownOnly
	}
	return "nothing to undo"
}

// noSearch is why nothing can be searched for.
func (d *Dashboard) noSearch() string {
	if d.now.plan.Replays {
		return screen.NoSearch
	}
	return "the run is not running"
}

// refuse explains why a dimmed key does nothing.
func (d *Dashboard) refuse(msg tea.KeyPressMsg, k widget.Bindings, e screen.Env) {
	for _, r := range []struct {
		b   key.Binding
		why string
	}{
		{k.Pause, "the run is not running"},
		{k.Stop, "the run is already ending"},
		{k.Tune, "there is nothing to tune"},
		{k.Search, d.noSearch()},
		{k.EndSearch, "no search is going on: f begins one"},
		{k.Fault, "the run is not running"},
		{k.Sweep, "the run is not running"},
		{k.Targets, "the run is not running"},
		{k.Undo, d.noUndo()},
		{k.More, "this profile has no threads to turn"},
		{k.Less, "this profile has no threads to turn"},
		{k.PayloadUp, d.knobs.without("payload")},
		{k.PayloadDown, d.knobs.without("payload")},
		{k.RateUp, d.knobs.noHigherRate()},
		{k.RateDown, "this profile has no rate to turn"},
		{k.LastMark, noMarker},
		{k.NextMark, noMarker},
		{k.Arrivals, "without a rate, calls come when the last ones are answered"},
	} {
		if !r.b.Enabled() && widget.Presses(msg, r.b) {
			if why := d.now.held(); why != "" {
				r.why = why
			}
			if d.now.progress.Stage > screen.Measuring {
				r.why = "the run is ending: its knobs no longer turn"
			}
			d.says.say(e, r.why, false)
			return
		}
	}
}

// refuseChange explains why a key that changes a run does nothing to this one; false if
// it is not such a key.
func (d *Dashboard) refuseChange(msg tea.KeyPressMsg, k widget.Bindings, e screen.Env) bool {
	for _, b := range d.changing(&k) {
		if widget.Presses(msg, *b) {
			why := d.now.onlyWatched()
			if d.control != nil {
				why = onlyKnobs
			}
			d.says.say(e, why, false)
			return true
		}
	}
	return false
}

// changing returns the keys that change a run that is only watched, or lead to something
// that does, and do not work here: all of them or, if its knobs can be turned, the others.
func (d *Dashboard) changing(k *widget.Bindings) []*key.Binding {
	others := []*key.Binding{&k.Stop, &k.Search, &k.EndSearch, &k.Sweep, &k.Targets, &k.Copy, &k.Fault}
	if d.control != nil {
		return others
	}
	if d.now.of != "" { // what it was asked for is known here
		others = slices.DeleteFunc(others, func(b *key.Binding) bool { return b == &k.Copy })
	}
	return append(append(k.Knobs(), &k.Mark), others...)
}
