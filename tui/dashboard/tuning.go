package dashboard

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// tuner is the state of the tuning panel and the history of turns.
type tuner struct {
	open bool
	// track is what is being turned: one track, or All.
	track int
	// row is the selected row: 0 for the track, from 1 on the knobs.
	row    int
	typing bool
	text   widget.Field
	drag   int // the row whose slider is being dragged; 0 for none
	done   []turn
}

// turn is something that undo reverts: the values that a knob had in each track.
type turn struct {
	knob   workload.Knob
	before []float64
	track  int
	at     time.Time
}

// presetSavedMsg reports where a preset was saved.
type presetSavedMsg struct {
	path string
	err  error
}

// together is the maximum interval between turns of one knob that are undone as one.
const together = time.Second

// change turns a knob: one Change, here in the event loop, so that quick presses arrive
// in order and none is lost. If the tracks have different values that do not add up,
// and the change is relative to them, each track gets its own value.
func (d *Dashboard) change(e screen.Env, k workload.Knob, relative bool, f func(v float64) float64) {
	t := &d.tuner
	if k.Get == nil || d.progress.Stage != screen.Measuring {
		return
	}
	if d.searching() {
		d.say(e, noKnobs, false)
		return
	}
	if d.info.Watched {
		d.say(e, onlyWatched, false)
		return
	}
	before, turned := make([]float64, len(d.tracks)), []float64{}
	for i, t := range d.tracks {
		before[i] = k.Get(d.run.Settings(i))
		if t.Turns(k) {
			turned = append(turned, before[i])
		}
	}
	if len(turned) == 0 || t.track != screen.All && !d.tracks[t.track].Turns(k) {
		d.say(e, d.without(k.Name), false)
		return
	}
	if err := d.run.Room(d.after(k, relative, f)); err != nil {
		d.say(e, "not turned: "+err.Error(), true)
		return
	}
	apply := func(s workload.Settings) workload.Settings { return k.Set(s, k.Clamp(f(k.Get(s)))) }
	if t.track == screen.All && relative && !k.Sum && slices.Min(turned) != slices.Max(turned) {
		for i := range d.tracks {
			d.run.Change("workbench", i, apply)
		}
	} else {
		d.run.Change("workbench", t.track, apply)
	}
	n := len(t.done)
	if n > 0 && t.done[n-1].knob.Name == k.Name && t.done[n-1].track == t.track && e.Now.Sub(t.done[n-1].at) < together {
		t.done[n-1].at = e.Now
	} else {
		t.done = append(t.done, turn{k, before, t.track, e.Now})
	}
	d.refresh()
}

// after returns the settings of the tracks after a knob has been turned.
func (d *Dashboard) after(k workload.Knob, relative bool, f func(v float64) float64) []workload.Settings {
	now := make([]workload.Settings, len(d.tracks))
	for i := range now {
		now[i] = d.run.Settings(i)
	}
	if d.tuner.track == screen.All && relative && !k.Sum {
		for i := range now {
			now[i] = k.Set(now[i], k.Clamp(f(k.Get(now[i]))))
		}
		return now
	}
	return workload.Turned(d.tracks, now, d.tuner.track, k, f(k.Get(d.run.Settings(d.tuner.track))))
}

// turn turns a knob up or down by one notch, or ten.
func (d *Dashboard) turn(e screen.Env, k workload.Knob, up, ten bool) {
	now := d.fig.rate
	d.change(e, k, true, func(v float64) float64 { return widget.Turned(k, v, up, ten, now) })
}

// undo reverts the last turn, in every track that it changed.
func (d *Dashboard) undo(e screen.Env) {
	t := &d.tuner
	if len(t.done) == 0 {
		return
	}
	last := t.done[len(t.done)-1]
	t.done = t.done[:len(t.done)-1]
	if n := d.fig.backlog; n > 0 && last.knob.Name == "rate" {
		d.say(e, widget.Whole(n)+" calls that were due but not yet sent are dropped: they count as never sent", false)
	}
	for i, v := range last.before {
		d.run.Change("undo", i, func(s workload.Settings) workload.Settings { return last.knob.Set(s, v) })
	}
	d.refresh()
}

// reset returns every knob to the value that the plan began with.
func (d *Dashboard) reset(e screen.Env) {
	for i, tr := range d.tracks {
		d.run.Change("reset", i, func(s workload.Settings) workload.Settings {
			for _, k := range d.plan.Knobs {
				s = k.Set(s, k.Get(tr.Start))
			}
			return s
		})
	}
	d.tuner.done = nil
	d.say(e, "every knob is back where the run began", false)
	d.refresh()
}

// span returns the lowest and the highest value of a knob over the tracks on which it
// has an effect.
func (d *Dashboard) span(k workload.Knob) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i, t := range d.tracks {
		if t.Turns(k) {
			v := k.Get(d.run.Settings(i))
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}

func (d *Dashboard) askPreset() {
	request := d.info.Request.At(d.plan, d.run.Settings)
	d.prompt = &prompt{label: "Save this run as preset, name", done: func(_ *Dashboard, e screen.Env, name string) tea.Cmd {
		if name == "" {
			d.say(e, "a preset needs a name", false)
			return nil
		}
		bench := d.bench
		return func() tea.Msg {
			path, err := bench.SavePreset(name, request)
			return presetSavedMsg{path, err}
		}
	}}
}

// selected returns the knob of the selected row.
func (d *Dashboard) selected() (workload.Knob, bool) {
	if i := d.tuner.row - 1; i >= 0 && i < len(d.plan.Knobs) {
		return d.plan.Knobs[i], true
	}
	return workload.Knob{}, false
}

// firstRow returns the first row that can be selected: with a single track there is no
// choice of track.
func (d *Dashboard) firstRow() int {
	if len(d.tracks) > 1 {
		return 0
	}
	return 1
}

// nextTrack selects the track to turn: all tracks, then one after the other.
func (d *Dashboard) nextTrack(by int) {
	n := len(d.tracks)
	if n < 2 {
		return
	}
	d.tuner.track = (d.tuner.track+1+by+n+1)%(n+1) - 1
}

// pressTuning handles a key of the tuning panel; false if the key is not one of its
// own.
func (d *Dashboard) pressTuning(msg tea.KeyPressMsg, e screen.Env) bool {
	t := &d.tuner
	if t.typing {
		d.pressTyping(msg, e)
		return true
	}
	k := d.bindings()
	switch {
	case key.Matches(msg, k.Back):
		t.open = false
	case key.Matches(msg, k.Up):
		t.row = max(t.row-1, d.firstRow())
	case key.Matches(msg, k.Down):
		t.row = min(t.row+1, len(d.plan.Knobs))
	case key.Matches(msg, k.TurnDown):
		d.turnRow(e, false, false)
	case key.Matches(msg, k.TurnUp):
		d.turnRow(e, true, false)
	case key.Matches(msg, k.TurnDownTen):
		d.turnRow(e, false, true)
	case key.Matches(msg, k.TurnUpTen):
		d.turnRow(e, true, true)
	case key.Matches(msg, k.Reset):
		d.reset(e)
	case key.Matches(msg, k.SavePreset):
		d.askPreset()
	case key.Matches(msg, k.TypeValue):
		if t.row == 0 {
			t.row = 1
		}
		t.typing, t.text = true, widget.NewField(msg.String())
	case key.Matches(msg, k.Edit):
		if knob, ok := d.selected(); ok {
			t.typing, t.text = true, widget.NewChosen(widget.FieldText(knob, knob.Get(d.run.Settings(t.track))))
		}
	default:
		return false
	}
	return true
}

func (d *Dashboard) turnRow(e screen.Env, up, ten bool) {
	if k, ok := d.selected(); ok {
		d.turn(e, k, up, ten)
		return
	}
	if up {
		d.nextTrack(1)
	} else {
		d.nextTrack(-1)
	}
}

// pressTyping handles the digits of a value.
func (d *Dashboard) pressTyping(msg tea.KeyPressMsg, e screen.Env) {
	t := &d.tuner
	switch msg.String() {
	case "esc":
		t.typing = false
	case "enter":
		t.typing = false
		k, ok := d.selected()
		if !ok {
			return
		}
		v, ok := widget.Typed(k, t.text.Value())
		switch {
		case !ok && k.Unit == "bytes":
			d.say(e, strconv.Quote(t.text.Value())+" is not a size such as 512, 4KiB or 1MiB", true)
		case !ok:
			d.say(e, strconv.Quote(t.text.Value())+" is not a number", true)
		case k.Name != "rate" && v != math.Trunc(v):
			d.say(e, strconv.Quote(t.text.Value())+" is not a whole number", true)
		default:
			if v != k.Clamp(v) {
				d.say(e, k.Name+" is between "+widget.KnobText(workload.Knob{Unit: k.Unit}, k.Min)+" and "+widget.KnobText(k, k.Max), false)
			}
			d.changeTo(e, k, k.Clamp(v))
		}
	default:
		t.text, _ = t.text.Update(msg)
	}
}

// farBeyond is how many times the peak a rate must be to be probably a mistake.
const farBeyond = 100

// changeTo sets a knob to a value that was typed. It asks for confirmation of a rate
// far above what the run has reached, because operations that are due and not sent have
// to be waited for.
func (d *Dashboard) changeTo(e screen.Env, k workload.Knob, v float64) {
	set := func(e screen.Env) { d.change(e, k, false, func(float64) float64 { return v }) }
	most := max(chart.Peak(d.axis(240).Rate(d.snap, d.op).Vals), k.Get(d.run.Settings(d.tuner.track)))
	if k.Name != "rate" || most <= 0 || v < farBeyond*most {
		set(e)
		return
	}
	d.prompt = &prompt{
		label: fmt.Sprintf("%s/s is %s times what the run has reached; y sets it", units.Number(v), units.Number(v/most)),
		done: func(d *Dashboard, e screen.Env, text string) tea.Cmd {
			if strings.EqualFold(text, "y") {
				set(e)
			} else {
				d.say(e, "the rate stays as it was", false)
			}
			return nil
		},
	}
}

func (d *Dashboard) tuningKeys(k widget.Bindings) widget.KeyMap {
	k.Up.SetHelp("↑", "knob above")
	k.Down.SetHelp("↓", "knob below")
	k.Back.SetHelp("esc", "close")
	if d.tuner.typing {
		return promptKeys()
	}
	for _, b := range []*key.Binding{&k.LogAxis, &k.Next, &k.Prev} { // what they change is not visible there
		b.SetEnabled(!d.small)
	}
	knob := widget.Bind("↑↓", "knob", "up", "down")
	k.Edit.SetHelp("enter", "type over the value")
	turn := widget.Bind("←→", "turn", "left", "right")
	ten := widget.Bind("shift", "×10", "shift+left", "shift+right")
	return widget.KeyMap{
		Short: []key.Binding{knob, turn, ten, k.TypeValue, k.Help, k.Undo, k.Reset, k.SavePreset, k.Back},
		Full: [][]key.Binding{
			{k.Up, k.Down, k.TurnDown, k.TurnUp, k.TurnDownTen, k.TurnUpTen, k.TypeValue, k.Edit},
			{k.Undo, widget.Long(k.Reset, "reset all knobs"), widget.Long(k.SavePreset, "save as preset"), widget.Long(k.Tune, "close"), k.Back},
			{k.Pause, widget.Long(k.Stop, "stop this run and report"), widget.Long(k.Mark, "put a mark with a note"), k.LogAxis, k.Next, k.Prev},
			{k.More, k.Less, k.MoreTen, k.LessTen, k.PayloadUp, k.PayloadDown, k.RateUp, k.RateDown},
		},
	}
}
