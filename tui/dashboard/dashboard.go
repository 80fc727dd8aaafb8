// Package dashboard is the screen of a run in progress, from connecting to its end,
// with the tuning panel.
package dashboard

import (
	"fmt"
	"math"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/search/found"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Dashboard is the live screen of a run, with the tuning panel beside it when that is
// open. It belongs to the event loop.
type Dashboard struct {
	bench  Bench
	run    screen.Run
	info   screen.RunInfo
	plan   *workload.Plan
	tracks []*workload.Track
	ended  bool
	// stopped means that the user has asked the run to end.
	stopped bool

	// As of the last frame.
	snap     *measure.Snapshot
	progress screen.Progress
	fig      figures
	watch    watch
	course   Course
	verdict  rundir.Verdict
	scaleT   chart.Scale
	scaleL   chart.Scale

	// What the user is looking at.
	op            int // selected operation; -1 for all
	lower         tab
	scroll        int
	folded        bool // a small screen shows the lower panel
	axes          axes
	narrow, small bool // as last drawn
	toast         toast
	prompt        *prompt

	tuner tuner
	seek  Panel
	// earlier is the run that this one is compared with, or nil.
	earlier *Run
	chooser Chooser
	cache   dashCache
	// found is the last search as of the last frame. once and askOnce are what to do as
	// soon as the run measures, then is where to go when it has ended.
	found   *screen.Search
	once    *found.Asked
	askOnce bool
	then    screen.Destination
}

// toast is a short message that disappears by itself.
type toast struct {
	text  string
	bad   bool
	until time.Time
}

// prompt asks for a line of text.
type prompt struct {
	label string
	field widget.Field
	done  func(d *Dashboard, e screen.Env, text string) tea.Cmd
}

// New returns a dashboard for a run.
func New(b Bench, r screen.Run) *Dashboard {
	d := &Dashboard{bench: b, run: r, info: r.Info(), plan: r.Plan(), op: -1}
	d.tracks = d.plan.Tracks()
	d.tuner.track, d.tuner.row = screen.All, 1
	d.refresh()
	return d
}

// Running returns the run, or nil once it has ended or if it is only watched, since a
// watched run continues without us.
func (d *Dashboard) Running() screen.Ending {
	if d.ended || d.info.Watched {
		return nil
	}
	return d.run
}

// Stopped reports whether the user has asked the run to end.
func (d *Dashboard) Stopped() bool { return d.stopped }

// Typing reports whether text is being typed.
func (d *Dashboard) Typing() bool {
	return d.prompt != nil || d.seek.Asking || d.tuner.open && d.tuner.typing
}

// Resting reports that the run is paused and none of its operations is in progress.
func (d *Dashboard) Resting() bool {
	return d.progress.Stage == screen.Measuring && d.fig.paused && d.fig.inFlight == 0 && d.toast.text == ""
}

// refresh reads the newest state of the run, from memory only.
func (d *Dashboard) refresh() {
	d.progress, d.found = d.run.Progress(), d.run.Found()
	s := d.run.Snapshot()
	if s == nil || d.snap == s {
		return
	}
	d.snap = s
	d.course.Add(d.run.Samples())
	old := d.fig.drawn
	d.fig = digest(s, d.op)
	d.watch = d.watch.next(s)
	d.verdict = d.run.Verdict()
	if d.fig.drawn != old {
		d.rescale()
	}
}

// rescale adapts the scales to what is visible.
func (d *Dashboard) rescale() {
	a := d.axis(240) // finer than any chart; a coarser one stays below its peaks
	rate, lat := a.Rate(d.snap, d.op), a.Latency(d.snap, d.op)
	second := int(d.fig.drawn / time.Second)
	d.scaleT = d.scaleT.Next(chart.Robust(rate.Vals), second)
	p99, most := chart.Robust(lat.Vals), chart.Robust(a.Times(d.snap, d.op, func(p measure.Point) int64 { return p.ResponseMax }).Vals)
	d.scaleL = d.scaleL.Next(max(p99, min(most, 3*p99)), second)
}

// axis returns the time axis for charts of that many cells.
func (d *Dashboard) axis(cells int) Axis {
	return NewAxis(cells, widget.Seconds(-d.snap.Began), widget.Seconds(d.snap.At)+1, widget.Seconds(d.info.Duration), d.snap.Bucket)
}

// Update handles one message.
func (d *Dashboard) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case screen.FrameMsg:
		return d, d.frame(e)
	case screen.HistoryMsg:
		d.chooser.Offer(msg.Runs, d.info.Profile, d.info.Store)
	case earlierMsg:
		d.hold(e, msg)
	case presetSavedMsg:
		if msg.err != nil {
			d.say(e, "the preset was not saved: "+msg.err.Error(), true)
		} else {
			d.say(e, "saved as preset: "+msg.path, false)
		}
	case tea.KeyPressMsg:
		return d, d.press(msg, e)
	case tea.PasteMsg:
		if d.prompt != nil {
			d.prompt.field, _ = d.prompt.field.Update(msg)
		} else if d.seek.Asking {
			d.seek.Paste(msg)
		}
	case tea.MouseMsg:
		d.mouse(msg, e)
	}
	return d, nil
}

func (d *Dashboard) frame(e screen.Env) tea.Cmd {
	d.refresh()
	if !d.toast.until.IsZero() && !e.Now.Before(d.toast.until) {
		d.toast = toast{}
	}
	if d.ended {
		return nil
	}
	d.searchOnce(e)
	select {
	case <-d.run.Done():
		d.ended = true
		msg := screen.EndedMsg{Outcome: d.run.Outcome(), Then: d.then}
		return func() tea.Msg { return msg }
	default:
		return nil
	}
}

// say shows a short message for a few seconds.
func (d *Dashboard) say(e screen.Env, text string, bad bool) {
	d.toast = toast{text, bad, e.Now.Add(5 * time.Second)}
}

// press handles a key: of a prompt, then of the tuning panel, then of the dashboard.
func (d *Dashboard) press(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	if d.prompt != nil {
		return d.pressPrompt(msg, e)
	}
	if d.seek.Asking {
		d.pressAsked(msg, e)
		return nil
	}
	if d.chooser.Open {
		return d.load(d.chooser.Press(msg))
	}
	if d.tuner.open {
		if d.pressTuning(msg, e) {
			return nil
		}
	}
	k := d.bindings()
	switch {
	case d.info.Watched && d.refuseChange(msg, k, e):
	case key.Matches(msg, k.Pause):
		d.pause()
	case key.Matches(msg, k.Tune):
		d.tuner.open, d.tuner.typing, d.seek.Open = !d.tuner.open, false, false
	case key.Matches(msg, k.Search):
		d.pressFind(e)
	case key.Matches(msg, k.Sweep):
		return screen.Open(screen.AskSweep{Request: d.info.Request.At(d.plan, d.run.Settings), After: d.run})
	case key.Matches(msg, k.Targets):
		return screen.Open(screen.AskSweep{Request: d.info.Request.At(d.plan, d.run.Settings), After: d.run, Targets: true})
	case key.Matches(msg, k.Copy):
		d.say(e, "copied: the command of a run with the settings of this one now", false)
		return screen.Copy(d.info.Request.At(d.plan, d.run.Settings))
	case key.Matches(msg, k.SideB):
		return d.pressEarlier()
	case key.Matches(msg, k.LogAxis):
		d.nextAxes()
	case key.Matches(msg, k.Mark):
		d.askMark()
	case key.Matches(msg, k.Stop):
		d.run.Stop()
		d.stopped = true
		d.say(e, "stopping: what is under way may finish, then the report is written", false)
	case key.Matches(msg, k.Undo):
		d.undo(e)
	case key.Matches(msg, k.Next):
		d.nextTab(e, 1)
	case key.Matches(msg, k.Prev):
		d.nextTab(e, -1)
	case key.Matches(msg, k.Up):
		d.move(-1)
	case key.Matches(msg, k.Down):
		d.move(1)
	case key.Matches(msg, k.Back) && d.seek.Open:
		d.seek.Open = false
	case key.Matches(msg, k.Back):
		d.op, d.folded = -1, false
		d.reselect()
	default:
		if !d.pressKnob(msg, k, e) {
			d.refuse(msg, k, e)
		}
	}
	return nil
}

func (d *Dashboard) pause() {
	paused := !d.run.Settings(screen.All).Paused
	d.run.Change("workbench", screen.All, func(s workload.Settings) workload.Settings {
		s.Paused = paused
		return s
	})
	d.refresh()
}

// askMark asks for the text of a mark. The run records it with the moment at which it
// receives it; if writing it took longer, the text includes the moment that was meant.
func (d *Dashboard) askMark() {
	at := d.snap.At
	d.prompt = &prompt{label: "Note", done: func(d *Dashboard, e screen.Env, text string) tea.Cmd {
		if d.ended {
			d.say(e, "the run has ended: the mark was not kept", true)
			return nil
		}
		if text == "" {
			text = fmt.Sprintf("mark %d", len(d.snap.Marks)+1)
		}
		d.say(e, "marked "+widget.Clock(at)+": "+text, false)
		if widget.Clock(d.snap.At) != widget.Clock(at) {
			text = widget.Clock(at) + " " + text
		}
		d.run.Mark(text)
		d.refresh()
		return nil
	}}
}

func (d *Dashboard) pressPrompt(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	p := d.prompt
	switch msg.String() {
	case "enter":
		d.prompt = nil
		return p.done(d, e, p.field.Value())
	case "esc":
		d.prompt = nil
	default:
		p.field, _ = p.field.Update(msg)
	}
	return nil
}

// nextTab switches the lower panel to the next tab; on a small screen the latency chart
// is one of them.
func (d *Dashboard) nextTab(e screen.Env, by int) {
	d.scroll = 0
	n := int(tabs)
	if widget.SizeOf(e.W, e.H) != widget.Small || d.aside() {
		d.lower = tab((int(d.lower) + by + n) % n)
		return
	}
	at := 0 // latency
	if d.folded {
		at = int(d.lower) + 1
	}
	at = (at + by + n + 1) % (n + 1)
	d.folded = at > 0
	if at > 0 {
		d.lower = tab(at - 1)
	}
}

// move selects an operation, or scrolls the lower panel.
func (d *Dashboard) move(by int) {
	if d.lower != tabOps && !d.lower.drawn() {
		d.scroll = max(d.scroll+by, 0)
		return
	}
	d.op = min(max(d.op+by, -1), len(d.snap.Ops)-1)
	d.reselect()
}

// reselect updates figures and scales for the selected operation.
func (d *Dashboard) reselect() {
	d.fig = digest(d.snap, d.op)
	d.scaleT, d.scaleL = chart.Scale{}, chart.Scale{}
	d.rescale()
}

// Outside returns the window title and the progress for the tab or task bar.
func (d *Dashboard) Outside(screen.Env) (string, *tea.ProgressBar) {
	title := "perfbench " + d.progress.Stage.String()
	part, known := d.part()
	if d.progress.Stage == screen.Measuring && !math.IsNaN(d.fig.rate) {
		title = "perfbench " + d.rateText(d.fig.rate)
		if known {
			title = fmt.Sprintf("perfbench %.0f %% · %s", part*100, d.rateText(d.fig.rate))
		}
	}
	state := tea.ProgressBarDefault
	switch {
	case d.watch.gone:
		state = tea.ProgressBarError
	case d.fig.paused:
		state = tea.ProgressBarWarning
	case !known:
		state = tea.ProgressBarIndeterminate
	}
	return title, tea.NewProgressBar(state, int(part*100))
}

// part returns the fraction of the run that is done.
func (d *Dashboard) part() (float64, bool) {
	if d.progress.Stage != screen.Measuring {
		if d.progress.Total > 0 {
			return min(float64(d.progress.Done)/float64(d.progress.Total), 1), true
		}
		return 0, false
	}
	part, known := 0.0, false
	if d.info.Duration > 0 {
		part, known = max(d.snap.At.Seconds(), 0)/d.info.Duration.Seconds(), true
	}
	if d.snap.Total > 0 {
		part, known = max(part, float64(d.snap.Done)/float64(d.snap.Total)), true
	}
	return min(part, 1), known
}
