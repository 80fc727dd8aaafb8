package dashboard

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// bindings returns the keys in their current state.
func (d *Dashboard) bindings() widget.Bindings {
	k := widget.AllKeys
	live := d.progress.Stage == screen.Measuring
	has := func(name string) bool {
		k, ok := d.plan.Knob(name)
		return ok && live && d.turns(k)
	}
	for _, b := range []*key.Binding{&k.More, &k.Less, &k.MoreTen, &k.LessTen} {
		b.SetEnabled(has("threads"))
	}
	k.PayloadDown.SetEnabled(has("payload"))
	k.PayloadUp.SetEnabled(has("payload"))
	k.RateDown.SetEnabled(has("rate"))
	k.RateUp.SetEnabled(has("rate") && !d.unlimited())
	k.Pause.SetEnabled(live)
	if d.snap != nil && d.fig.paused {
		k.Pause.SetHelp("space", "resume")
	}
	k.Stop.SetEnabled(d.progress.Stage <= screen.Measuring)
	k.Tune.SetEnabled(d.progress.Stage >= screen.Measuring)
	k.Mark.SetEnabled(d.progress.Stage >= screen.Measuring)
	k.Undo.SetEnabled(live && len(d.tuner.done) > 0)
	k.Reset.SetEnabled(live)
	k.SideB.SetHelp("b", "overlay an earlier run")
	if d.earlier != nil {
		k.SideB.SetHelp("b", "drop the earlier run")
	}
	k.Search.SetEnabled(live)
	k.Sweep.SetEnabled(live && !d.searching())
	k.Targets.SetEnabled(live && !d.searching())
	if d.searching() {
		notWhileSearching(&k)
	}
	if d.info.Watched {
		for _, b := range changing(&k) {
			b.SetEnabled(false)
		}
	}
	k.Up.SetHelp("↑", "operation up")
	k.Down.SetHelp("↓", "operation down")
	k.Back.SetHelp("esc", "all operations")
	if d.seek.Open {
		k.Back.SetHelp("esc", "close")
	}
	if d.lower != tabOps && !d.lower.drawn() {
		k.Up.SetHelp("↑", "scroll up")
		k.Down.SetHelp("↓", "scroll down")
	}
	return k
}

// Keys returns the keys that work now.
func (d *Dashboard) Keys() widget.KeyMap {
	if d.prompt != nil {
		return promptKeys()
	}
	if d.seek.Asking {
		return d.seek.Keys()
	}
	if d.chooser.Open {
		return d.chooser.Keys()
	}
	k := d.bindings()
	if d.tuner.open {
		return d.tuningKeys(k)
	}
	threads := widget.Bind("+−", "threads", "+", "-")
	threads.SetEnabled(k.More.Enabled())
	payload := widget.Bind("[ ]", "payload", "[", "]")
	payload.SetEnabled(k.PayloadUp.Enabled())
	rate := widget.Bind("{ }", "rate", "{", "}")
	rate.SetEnabled(k.RateDown.Enabled())
	short := []key.Binding{k.Pause, threads, payload, rate, k.Tune, k.Help, k.Stop, k.Search, k.Sweep, k.Mark, widget.Bind("tab", "panel", "tab"), k.Quit}
	if knob, ok := d.plan.Knob("payload"); !ok || !d.turns(knob) {
		short = slices.Delete(short, 2, 3) // there is no payload to turn now
	}
	if d.narrow { // the line of knobs has arrows to click, and the help lists all keys
		k.Next.SetHelp("tab", "more")
		short = []key.Binding{k.Pause, k.Tune, k.Search, k.Stop, k.Help, k.Next, k.Quit}
	}
	if d.searching() {
		short = []key.Binding{k.Search, k.Stop, k.Mark, k.Help, k.Back, k.Next, k.Quit}
	}
	if d.info.Watched {
		k.Quit.SetHelp("q", "leave")
		short = []key.Binding{widget.Bind("tab", "panel", "tab"), k.Help, k.Quit, widget.Bind("watching:", "no key changes the run")}
	}
	return widget.KeyMap{
		Short: short,
		Full: [][]key.Binding{
			{k.Pause, widget.Long(k.Stop, "stop this run and report"), widget.Long(k.Mark, "put a mark with a note"), widget.Long(k.Tune, "tuning panel"), widget.Long(k.Search, searchHelp(k)), widget.Long(k.Sweep, "runs at several values"), k.Targets, k.Undo},
			{k.More, k.Less, k.MoreTen, k.LessTen},
			{k.PayloadUp, k.PayloadDown, k.RateUp, k.RateDown},
			{k.Up, k.Down, k.Next, k.Prev, k.LogAxis, k.SideB, k.Copy, k.Back},
		},
	}
}

// searchHelp returns the help text for searching.
func searchHelp(k widget.Bindings) string {
	if text := k.Search.Help().Desc; text != "search" {
		return text
	}
	return "find the highest load"
}

func promptKeys() widget.KeyMap {
	list := []key.Binding{widget.Bind("enter", "keep", "enter"), widget.Bind("esc", "cancel", "esc")}
	return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
}

// turns reports whether a knob has an effect now: on the selected track, or on one that
// is running.
func (d *Dashboard) turns(k workload.Knob) bool {
	if t := d.tuner.track; t != screen.All {
		return d.tracks[t].Turns(k)
	}
	any, running := false, false
	for i, t := range d.tracks {
		any = any || t.Turns(k)
		if d.snap == nil || i >= len(d.snap.Gauges) || !d.snap.Gauges[i].Running {
			continue
		}
		if running = true; t.Turns(k) {
			return true
		}
	}
	return any && !running // between two phases nothing is running
}

// without returns why a knob cannot be turned.
func (d *Dashboard) without(knob string) string {
	if _, ok := d.plan.Knob(knob); !ok {
		return "this profile has no " + knob + " to turn"
	}
	if t := d.tuner.track; t != screen.All {
		return "there is no " + knob + " to turn in " + d.tracks[t].Name
	}
	return "there is no " + knob + " to turn in this phase"
}

// unlimited reports whether the rate is unlimited on every track where it would be
// turned now.
func (d *Dashboard) unlimited() bool {
	k, ok := d.plan.Knob("rate")
	if !ok {
		return false
	}
	if t := d.tuner.track; t != screen.All {
		return k.Get(d.run.Settings(t)) == 0
	}
	_, highest := d.span(k)
	return highest == 0
}

// noHigherRate returns why the rate cannot be increased.
func (d *Dashboard) noHigherRate() string {
	if d.unlimited() {
		return "the rate is unlimited: { sets a target"
	}
	return "this profile has no rate to turn"
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
		{k.Search, "the run is not running"},
		{k.Sweep, "the run is not running"},
		{k.Targets, "the run is not running"},
		{k.Undo, "nothing to undo"},
		{k.More, "this profile has no threads to turn"},
		{k.Less, "this profile has no threads to turn"},
		{k.PayloadUp, d.without("payload")},
		{k.PayloadDown, d.without("payload")},
		{k.RateUp, d.noHigherRate()},
		{k.RateDown, "this profile has no rate to turn"},
	} {
		if !r.b.Enabled() && widget.Presses(msg, r.b) {
			if d.searching() {
				r.why = noKnobs
			}
			if d.progress.Stage > screen.Measuring {
				r.why = "the run is ending: its knobs no longer turn"
			}
			d.say(e, r.why, false)
			return
		}
	}
}

// pressKnob handles the keys that turn a knob from anywhere.
func (d *Dashboard) pressKnob(msg tea.KeyPressMsg, k widget.Bindings, e screen.Env) bool {
	for _, t := range []struct {
		b       key.Binding
		knob    string
		up, ten bool
	}{
		{k.More, "threads", true, false},
		{k.Less, "threads", false, false},
		{k.MoreTen, "threads", true, true},
		{k.LessTen, "threads", false, true},
		{k.PayloadUp, "payload", true, false},
		{k.PayloadDown, "payload", false, false},
		{k.RateUp, "rate", true, false},
		{k.RateDown, "rate", false, false},
	} {
		if key.Matches(msg, t.b) {
			knob, _ := d.plan.Knob(t.knob)
			d.turn(e, knob, t.up, t.ten)
			return true
		}
	}
	return false
}
