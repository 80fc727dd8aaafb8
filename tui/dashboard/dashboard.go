// Package dashboard is the screen of a run in progress, from connecting to its end,
// with the tuning panel.
package dashboard

import (
	"cmp"
	"fmt"
	"math"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Dashboard is the live screen of a run, with a panel beside it while that is open. Its
// parts know one thing each, and it gives them the keys and the room. All of them belong
// to the event loop.
type Dashboard struct {
	narrow, small bool // as last drawn

	control screen.Control // nil if the run is only watched
	now     *reading
	ending  *ending
	sel     *selection
	against *comparison
	charts  *charts
	lower   *lower
	says    *messages
	knobs   *knobs
	breaks  *breaking
	coming  *comingChoice
	tuner   *tuner
	search  *searcher
	lines   *lines
	page    *page
}

// New returns a dashboard for a run.
func New(b Bench, a screen.Access) *Dashboard {
	d := &Dashboard{control: a.Control, now: newReading(a), says: &messages{}}
	d.ending = &ending{now: d.now, says: d.says, run: a.Ending}
	d.sel = &selection{now: d.now, op: -1}
	d.against = &comparison{sel: d.sel, says: d.says, past: b.Past}
	d.charts = &charts{now: d.now, sel: d.sel, against: d.against}
	d.lower = &lower{now: d.now, sel: d.sel, against: d.against, charts: d.charts}
	d.knobs = &knobs{now: d.now, control: a.Control, sel: d.sel, says: d.says, track: screen.All, past: &d.charts.cross}
	d.breaks = &breaking{control: a.Control, now: d.now, ending: d.ending, says: d.says, last: cmp.Or(b.Broke, &Broke{})}
	d.coming = &comingChoice{knobs: d.knobs, says: d.says}
	d.tuner = &tuner{now: d.now, sel: d.sel, says: d.says, knobs: d.knobs, presets: b.Presets, list: d.now.plan.Live(), row: 1}
	if d.search = (&searcher{now: d.now, searches: a.Searches, says: d.says, kept: b.Sought}); b.Sought == nil {
		d.search.kept = Sought{}
	}
	d.lines = &lines{now: d.now, sel: d.sel, says: d.says, knobs: d.knobs}
	d.page = &page{now: d.now, against: d.against, charts: d.charts, lower: d.lower, tuner: d.tuner, search: d.search, lines: d.lines}
	d.refresh()
	return d
}

// Running returns the run, or nil once it has ended or if it is only watched, since a
// watched run continues without us.
func (d *Dashboard) Running() screen.Ending { return d.ending.running() }

// Stopped reports whether the user has asked the run to end.
func (d *Dashboard) Stopped() bool { return d.ending.stopped }

// Tell answers a key that does nothing; the next one drops that by itself.
func (d *Dashboard) Tell(sentence string, e screen.Env) {
	switch {
	case sentence != "":
		d.says.tell(e, sentence)
	case d.says.told: // no key came here since
		d.says.next()
		d.says.hush()
	}
}

// Typing reports whether text is being typed.
func (d *Dashboard) Typing() bool {
	return d.says.prompt != nil || d.breaks.open || d.coming.open || d.search.panel.Asking || d.tuner.open && d.tuner.typing
}

// Untouched reports whether a dialog asks for a value into which nothing has been typed.
func (d *Dashboard) Untouched() bool {
	switch {
	case d.says.prompt != nil:
		return d.says.prompt.question != nil
	case d.breaks.open:
		return d.breaks.untouched()
	case d.coming.open:
		return true
	case d.search.panel.Asking:
		return d.search.panel.form.Untouched()
	}
	return d.tuner.open && d.tuner.typing && d.tuner.text.Untouched()
}

// Idle reports that the run is paused and none of its operations is in progress.
func (d *Dashboard) Idle() bool {
	return d.now.progress.Stage == screen.Measuring && d.sel.fig.paused && d.sel.fig.inFlight == 0 && d.says.toast.text == ""
}

// refresh reads the newest state of the run, from memory only.
func (d *Dashboard) refresh() {
	if !d.now.read() {
		return
	}
	old := d.sel.fig.drawn
	d.sel.refresh()
	if d.sel.fig.drawn != old {
		d.charts.rescale()
	}
}

// Update handles one message.
func (d *Dashboard) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case screen.FrameMsg:
		return d, d.frame(e)
	case screen.HistoryMsg:
		d.against.chooser.Offer(msg.Runs, d.now.info.Profile, d.now.info.Store)
	case earlierMsg:
		d.against.hold(e, msg)
	case presetSavedMsg:
		if msg.err != nil {
			d.says.say(e, "the preset was not saved: "+msg.err.Error(), true)
		} else {
			d.says.say(e, "saved as preset: "+msg.path, false)
		}
	case tea.KeyPressMsg:
		cmd := d.press(msg, e)
		d.refresh()
		return d, cmd
	case tea.PasteMsg:
		if d.says.prompt != nil { // what answers a question has no letters of it
			d.says.prompt.field, _ = d.says.prompt.field.Update(msg)
		} else if d.breaks.open {
			d.breaks.paste(msg)
		} else if d.search.panel.Asking {
			d.search.panel.Paste(msg)
		} else if d.tuner.open && d.tuner.typing {
			d.tuner.text, _ = d.tuner.text.Update(msg)
		}
	case tea.MouseMsg:
		d.mouse(msg, e)
		d.refresh()
	}
	return d, nil
}

func (d *Dashboard) frame(e screen.Env) tea.Cmd {
	d.refresh()
	d.says.fade(e)
	if p := d.says.prompt; p != nil && p.question != nil && d.now.progress.Stage > screen.Measuring {
		d.says.prompt = nil // what was asked about goes with the run
	}
	if d.ending.over {
		return nil
	}
	d.search.begin(e)
	d.refresh()
	return d.ending.report()
}

// askMark asks for the text of a mark, which stands at the moment at which it was asked for.
func (d *Dashboard) askMark() {
	at := d.now.snap.At
	d.says.prompt = &prompt{label: "Note", done: func(e screen.Env, text string) tea.Cmd {
		if d.ending.over {
			d.says.say(e, "the run has ended: the mark was not kept", true)
			return nil
		}
		if text == "" {
			text = fmt.Sprintf("mark %d", len(d.now.snap.Marks)+1)
		}
		d.says.say(e, "marked at "+widget.At(at)+": "+text, false)
		d.control.Mark(at, text)
		return nil
	}}
}

// Outside returns the window title and the progress for the tab or task bar.
func (d *Dashboard) Outside(screen.Env) (string, *tea.ProgressBar) {
	title := "perfbench " + d.now.progress.Stage.String()
	part, known := d.now.done()
	if d.now.progress.Stage == screen.Measuring && !math.IsNaN(d.sel.fig.rate) {
		title = "perfbench " + d.sel.rateText(d.sel.fig.rate)
		if known {
			title = fmt.Sprintf("perfbench %.0f %% · %s", part*100, d.sel.rateText(d.sel.fig.rate))
		}
	}
	state := tea.ProgressBarDefault
	switch {
	case d.now.watch.gone:
		state = tea.ProgressBarError
	case d.sel.fig.paused:
		state = tea.ProgressBarWarning
	case !known:
		state = tea.ProgressBarIndeterminate
	}
	return title, tea.NewProgressBar(state, int(part*100))
}

// Bench is what the dashboard needs beside the run. All of it is called from a tea.Cmd.
type Bench struct {
	Past    Past
	Presets Presets
	// Broke keeps the fault that was made last, for the next run; nil: it is kept for one run.
	Broke *Broke
	// Sought keeps what was typed into the form of a search, for the next one; nil: it is kept for one run.
	Sought Sought
}
