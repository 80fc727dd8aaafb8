package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// knobs are the settings of the run that can be turned, from wherever: by keys, by the
// mouse, or in the tuning panel.
type knobs struct {
	now     *reading
	control screen.Control // nil if the run is only watched
	sel     *selection
	says    *messages
	// track is what is being turned: one track, or All.
	track   int
	history []turn
	// past is the moment that is read, of which the line shows the values; nil: there is none.
	past *chart.Crosshair
}

// pause pauses the run, or resumes it.
func (ks *knobs) pause() {
	paused := !ks.now.run.Settings(screen.All).Paused
	ks.control.Change("workbench", screen.All, func(s workload.Settings) workload.Settings {
		s.Paused = paused
		return s
	})
}

// comingKnob is the way in which calls come, as a knob: what undo takes back.
var comingKnob = workload.Knob{
	Name: workload.ComingKnob,
	Get:  func(s workload.Settings) float64 { return float64(s.Coming) },
	Set:  func(s workload.Settings, v float64) workload.Settings { s.Coming = workload.Coming(v); return s },
}

// comesIn returns how the calls of a track come now.
func (ks *knobs) comesIn(track int) workload.Coming {
	if c := ks.now.run.Settings(track).Coming; c != workload.AsBegun {
		return c
	}
	return ks.begun().Kind()
}

// begun returns the arrivals that the run began with.
func (ks *knobs) begun() workload.Arrivals {
	if text := ks.now.info.Request.Values[workload.ComingKnob].Text; text != "" {
		if a, err := workload.ParseArrivals(text); err == nil {
			return a
		}
	}
	return ks.now.plan.UsualArrivals()
}

// comes returns how calls come now: those of the first track.
func (ks *knobs) comes() workload.Coming { return ks.comesIn(0) }

// arrive has calls of all tracks come in another way.
func (ks *knobs) arrive(e screen.Env, way workload.Coming) {
	before := make([]float64, len(ks.now.tracks))
	for i := range before {
		before[i] = float64(ks.comesIn(i))
	}
	ks.control.Change("workbench", screen.All, func(s workload.Settings) workload.Settings {
		s.Coming = way
		return s
	})
	ks.history = append(ks.history, turn{comingKnob, before, before[0], screen.All, e.Now})
}

// come says how calls come at the rate: now, or at the moment that is read; empty if nobody asked for
// that or changed it.
func (ks *knobs) come(past bool) string {
	text := ks.now.info.Request.Values[workload.ComingKnob].Text
	if ks.now.snap == nil {
		return text
	}
	changes := slices.DeleteFunc(slices.Clone(ks.now.snap.Changes), func(c measure.Change) bool { return c.Name != workload.ComingKnob })
	for i, c := range changes {
		if i == 0 && text == "" {
			text = workload.Coming(c.From).String()
		}
		if !past || c.At < ks.past.At+ks.past.Width {
			text = workload.Coming(c.To).String()
		}
	}
	return text
}

// hopeless reports that the backlog will take long to serve, and how to get rid of it, which
// relief says in short; both are empty if it will not.
func (ks *knobs) hopeless() (text, relief string) {
	n, done := float64(ks.sel.fig.backlog), digest(ks.now.snap, -1).rate
	if !(done > 0) || n < done*farBehind.Seconds() {
		return "", ""
	}
	how, relief := "a lower rate drops it", "a lower rate drops it"
	if t := ks.history; len(t) > 0 && t[len(t)-1].knob.Name == "rate" {
		how, relief = "u undoes the rate and drops it", "u drops it"
	}
	return fmt.Sprintf("%s of work behind schedule: %s", units.Length(time.Duration(min(n/done, 1e9))*time.Second), how), relief
}

// effective reports whether a knob has an effect now: on the selected track, or on one that
// is running.
func (ks *knobs) effective(k workload.Knob) bool {
	if k.Fixed != "" {
		return false
	}
	if t := ks.track; t != screen.All {
		return ks.now.tracks[t].Turns(k)
	}
	any, running := false, false
	for i, t := range ks.now.tracks {
		any = any || t.Turns(k)
		if ks.now.snap == nil || i >= len(ks.now.snap.Gauges) || !ks.now.snap.Gauges[i].Running {
			continue
		}
		if running = true; t.Turns(k) {
			return true
		}
	}
	return any && !running // between two phases nothing is running
}

// without returns why a knob cannot be turned.
func (ks *knobs) without(knob string) string {
	k, ok := ks.now.plan.Knob(knob)
	if !ok {
		return "this profile has no " + knob + " to turn"
	}
	if why := ks.now.plan.Idle(workload.AllTracks, k); why != "" {
		return knob + " has no effect in this run: " + why
	}
	if t := ks.track; t != screen.All {
		return knob + " has no effect in " + ks.now.tracks[t].Name + ": " + ks.now.plan.Idle(t, k)
	}
	return "there is no " + knob + " to turn in this phase"
}

// unlimited reports whether the rate is unlimited on every track where it would be
// turned now.
func (ks *knobs) unlimited() bool {
	k, ok := ks.now.plan.Knob("rate")
	if !ok {
		return false
	}
	if t := ks.track; t != screen.All {
		return k.Get(ks.now.run.Settings(t)) == 0
	}
	_, highest := ks.span(k)
	return highest == 0
}

// noHigherRate returns why the rate cannot be increased.
func (ks *knobs) noHigherRate() string {
	if ks.unlimited() {
		return "the rate is unlimited: { sets a target"
	}
	return "this profile has no rate to turn"
}

// press handles the keys that turn a knob from anywhere.
func (ks *knobs) press(msg tea.KeyPressMsg, k widget.Bindings, e screen.Env) bool {
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
			knob, _ := ks.now.plan.Knob(t.knob)
			ks.turn(e, knob, t.up, t.ten)
			return true
		}
	}
	return false
}

// change turns a knob: one Change, here in the event loop, so that quick presses arrive
// in order and none is lost. If the tracks have different values that do not add up,
// and the change is relative to them, each track gets its own value.
func (ks *knobs) change(e screen.Env, k workload.Knob, relative bool, f func(v float64) float64) {
	ks.changeEach(e, k, relative && !k.Sum, func(_ int, v float64) float64 { return f(v) })
}

// changeEach is change with a function of the track as well; each means that it is for every track by
// itself where all are turned, also if their values add up.
func (ks *knobs) changeEach(e screen.Env, k workload.Knob, each bool, f func(track int, v float64) float64) {
	if k.Get == nil || ks.now.progress.Stage != screen.Measuring {
		return
	}
	if why := ks.now.held(); why != "" {
		ks.says.say(e, why, false)
		return
	}
	if ks.control == nil {
		ks.says.say(e, ks.now.onlyWatched(), false)
		return
	}
	total := k.Get(ks.now.run.Settings(screen.All))
	before, turned := make([]float64, len(ks.now.tracks)), []float64{}
	for i, t := range ks.now.tracks {
		before[i] = k.Get(ks.now.run.Settings(i))
		if t.Turns(k) {
			turned = append(turned, before[i])
		}
	}
	if len(turned) == 0 || ks.now.plan.Idle(ks.track, k) != "" {
		ks.says.say(e, ks.without(k.Name), false)
		return
	}
	if err := ks.control.Room(ks.after(k, each, f)); err != nil {
		ks.says.say(e, "not turned: "+err.Error(), true)
		return
	}
	ks.says.hush()
	change := func(track int) {
		ks.control.Change("workbench", track, func(s workload.Settings) workload.Settings { return k.Set(s, k.Clamp(f(track, k.Get(s)))) })
	}
	if ks.track == screen.All && each && (k.Sum || slices.Min(turned) != slices.Max(turned)) {
		for i, t := range ks.now.tracks {
			if !k.Sum || t.Adds(k) {
				change(i)
			}
		}
	} else {
		change(ks.track)
	}
	if k.Keeps != "" {
		ks.says.say(e, k.Keeps, false)
	}
	n := len(ks.history)
	if n > 0 && ks.history[n-1].knob.Name == k.Name && ks.history[n-1].track == ks.track && e.Now.Sub(ks.history[n-1].at) < together {
		ks.history[n-1].at = e.Now
	} else {
		ks.history = append(ks.history, turn{k, before, total, ks.track, e.Now})
	}
}

// parts says how a rate of all tracks is divided over them; empty if it is not.
func (ks *knobs) parts(k workload.Knob) string {
	if k.Name != "rate" || ks.track != screen.All {
		return ""
	}
	return widget.Parts(k, ks.now.tracks, func(i int) workload.Settings { return ks.now.run.Settings(i) })
}

// after returns the settings of the tracks after a knob has been turned.
func (ks *knobs) after(k workload.Knob, each bool, f func(track int, v float64) float64) []workload.Settings {
	now := make([]workload.Settings, len(ks.now.tracks))
	for i := range now {
		now[i] = ks.now.run.Settings(i)
	}
	if ks.track == screen.All && each {
		for i, t := range ks.now.tracks {
			if !k.Sum || t.Adds(k) {
				now[i] = k.Set(now[i], k.Clamp(f(i, k.Get(now[i]))))
			}
		}
		return now
	}
	return workload.Turned(ks.now.tracks, now, ks.track, k, f(ks.track, k.Get(ks.now.run.Settings(ks.track))))
}

// turn turns a knob up or down by one notch, or ten. From an unlimited rate of all tracks, each begins just below
// what it did itself.
func (ks *knobs) turn(e screen.Env, k workload.Knob, up, ten bool) {
	did, least := ks.usual(k)
	was := k.Get(ks.now.run.Settings(ks.track))
	apart := k.Name == "rate" && was == 0 && len(did) > 1 && least > 0
	ks.changeEach(e, k, apart || !k.Sum, func(track int, v float64) float64 {
		now, ok := did[track]
		if !ok {
			now = least
		}
		return widget.Turned(k, v, up, ten, now)
	})
	is := k.Get(ks.now.run.Settings(ks.track))
	switch {
	case k.Zero != "" && k.Usual > 0 && was == 0 && is > 0:
		ks.says.say(e, fmt.Sprintf("%s %s was %s on average; now each value has %s", k.Name, k.Zero, units.Size(int64(k.Usual)), units.Size(int64(is))), false)
	case apart && is > 0:
		ks.says.say(e, fmt.Sprintf("rate %s, each track a notch below its last %d s", units.Number(is), keptSeconds), false)
	case k.Name == "rate" && was == 0 && is > 0 && least > 0:
		ks.says.say(e, fmt.Sprintf("rate %s, a notch below %s, the median of the last %d s", units.Number(is), units.Number(least), keptSeconds), false)
	}
}

// usual returns what each track that is turned did in the median of its last seconds: the selected one, or those
// whose values add up, and what the slowest of them did, NaN if that is not known. One that does not run, or of
// which it is not known, has the same as the slowest.
func (ks *knobs) usual(k workload.Knob) (did map[int]float64, least float64) {
	did, least = map[int]float64{}, math.NaN()
	for i, t := range ks.now.tracks {
		if i != ks.track && (ks.track != screen.All || !t.Adds(k)) {
			continue
		}
		rate := ks.now.kept(i)
		if i != ks.track && !(i < len(ks.now.snap.Gauges) && ks.now.snap.Gauges[i].Running) {
			rate = math.NaN()
		}
		if did[i] = rate; rate > 0 && !(least <= rate) {
			least = rate
		}
	}
	for i, rate := range did {
		if !(rate > 0) {
			did[i] = least
		}
	}
	return did, least
}

// undo reverts the last turn, in every track that it changed.
func (ks *knobs) undo(e screen.Env) {
	if len(ks.history) == 0 {
		return
	}
	ks.says.hush()
	last := ks.history[len(ks.history)-1]
	ks.history = ks.history[:len(ks.history)-1]
	if n := ks.sel.fig.backlog; n > 0 && last.knob.Name == "rate" {
		ks.says.say(e, widget.Whole(n)+" calls that were due but not yet sent are dropped: they count as never sent", false)
	}
	back := func(track int, v float64) {
		ks.control.Change(measure.ByUndo, track, func(s workload.Settings) workload.Settings { return last.knob.Set(s, v) })
	}
	if last.track == screen.All && (last.knob.Sum || slices.Min(last.before) == slices.Max(last.before)) {
		back(screen.All, last.total) // one change, as the turn was
	}
	for i, v := range last.before {
		if last.knob.Get(ks.now.run.Settings(i)) != v {
			back(i, v)
		}
	}
}

// reset returns every knob to the value that the plan began with.
func (ks *knobs) reset(e screen.Env) {
	for i, tr := range ks.now.tracks {
		ks.control.Change(measure.ByReset, i, func(s workload.Settings) workload.Settings {
			for _, k := range ks.now.plan.Knobs {
				s = k.Set(s, k.Get(tr.Start))
			}
			return s
		})
	}
	ks.history = nil
	ks.says.say(e, "every knob is back where the run began", false)
}

// span returns the lowest and the highest value of a knob over the tracks on which it
// has an effect.
func (ks *knobs) span(k workload.Knob) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i, t := range ks.now.tracks {
		if t.Turns(k) {
			v := k.Get(ks.now.run.Settings(i))
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}

// nextTrack selects the track to turn: all tracks, then one after the other.
func (ks *knobs) nextTrack(by int) {
	n := len(ks.now.tracks)
	if n < 2 {
		return
	}
	ks.track = (ks.track+1+by+n+1)%(n+1) - 1
}

// line draws the line of live settings, and returns where it can be clicked.
func (ks *knobs) line(e screen.Env) (string, []zone) {
	s := e.Styles
	prefix := " "
	was := ks.past != nil && ks.past.On
	if was {
		prefix += "at " + widget.Clock(ks.past.At) + "  "
	}
	if t := ks.track; t != screen.All {
		prefix += ks.now.tracks[t].Name + ": "
	}
	// Wide, with spaces around the arrows, or else compact.
	knobs := slices.DeleteFunc(slices.Clone(ks.now.plan.Knobs), func(k workload.Knob) bool { return !ks.effective(k) })
	values := make([]string, len(knobs))
	roomy := ansi.StringWidth(prefix)
	for i, k := range knobs {
		values[i] = ks.value(k)
		if was {
			values[i] = ks.valueThen(k)
		}
		if ks.track == screen.All {
			values[i] = each(ks.now.plan, k, values[i])
		}
		roomy += ansi.StringWidth(k.Name+values[i]) + 8
	}
	if i := slices.IndexFunc(knobs, func(k workload.Knob) bool { return k.Name == "rate" }); i >= 0 && values[i] != units.Unlimited {
		how := ks.come(was)
		if n := ansi.StringWidth(how); n > 0 && roomy-5*len(knobs)-1+n <= e.W {
			values[i], roomy = values[i]+" "+how, roomy+1+n
		}
	}
	pad, gap, space := " ", "   ", " "
	if roomy-len(gap) > e.W {
		for i, v := range values {
			if short, ok := strings.CutSuffix(v, perTrack); ok {
				values[i], roomy = short+" each", roomy-len(perTrack)+len(" each")
			}
		}
	}
	if roomy -= len(gap); roomy > e.W {
		pad, gap = "", "  "
		roomy -= 3*len(knobs) - 1
	}
	if roomy > e.W {
		gap, space = " ", ""
	}
	line, x := s.Muted.On(prefix), ansi.StringWidth(prefix)
	if ks.control == nil || was || ks.now.held() != "" { // what was cannot be turned
		return ks.still(s, line, x, knobs, values, gap, e.W), nil
	}
	var zones []zone
	for i, k := range knobs {
		at := x + ansi.StringWidth(k.Name+space) // of the left arrow
		to := at + 1 + 2*len(pad) + ansi.StringWidth(values[i])
		if to >= e.W {
			break
		}
		zones = append(zones, zone{at - 1, at + 1 + len(pad), k, false}, zone{to - len(pad), to + 2, k, true})
		line += s.Muted.On(k.Name) + space + s.Accent.On("◂") + pad + s.Bold.On(values[i]) + pad + s.Accent.On("▸") + gap
		x = to + 1 + len(gap)
	}
	return strings.TrimRight(line, " "), zones
}

// still continues the line of knobs that do not turn, with nothing to click.
func (ks *knobs) still(s *widget.Styles, line string, x int, list []workload.Knob, values []string, gap string, w int) string {
	for i, k := range list {
		if x += ansi.StringWidth(k.Name+values[i]) + 1 + len(gap); x-len(gap) > w {
			break
		}
		line += s.Muted.On(k.Name) + " " + s.Bold.On(values[i]) + gap
	}
	return strings.TrimRight(line, " ")
}

// value returns the requested value; if tracks differ in a value that does not add
// up, from the lowest to the highest.
func (ks *knobs) value(k workload.Knob) string {
	t := ks.track
	switch {
	case t != screen.All && !ks.now.tracks[t].Turns(k):
		return "–"
	case t != screen.All || k.Sum || len(ks.now.tracks) < 2:
		return widget.KnobText(k, k.Get(ks.now.run.Settings(t)))
	}
	lo, hi := ks.span(k)
	return widget.RangeText(k, lo, hi)
}

// valueThen returns the value at the moment that is read, and what it was before if it was changed there.
func (ks *knobs) valueThen(k workload.Knob) string {
	before := ks.valueAt(k, ks.past.At-1)
	after := ks.valueAt(k, ks.past.At+ks.past.Width-1)
	if before == after {
		return after
	}
	return before + " → " + after
}

// valueAt returns the value that was requested at a moment of the run.
func (ks *knobs) valueAt(k workload.Knob, at time.Duration) string {
	set := measure.SettingsAt(ks.now.snap.Segments, ks.now.snap.Changes, at)
	if t := ks.track; t != screen.All && len(ks.now.tracks) > 1 {
		v, ok := set[ks.now.tracks[t].Name+"."+k.Name]
		if !ok {
			return "–"
		}
		return widget.KnobText(k, v)
	}
	return cmp.Or(widget.KnobIn(k, set), "–")
}

// farBehind is how long a backlog must take to serve before it is reported.
const farBehind = time.Minute

// turn is something that undo reverts: the values that a knob had in each track.
type turn struct {
	knob   workload.Knob
	before []float64
	total  float64 // over all tracks
	track  int
	at     time.Time
}

// together is the maximum interval between turns of one knob that are undone as one.
const together = time.Second

// farBeyond is how many times the peak a rate must be to be probably a mistake.
const farBeyond = 100

// zone is a part of the knobs line that turns a knob when clicked.
type zone struct {
	from, to int
	knob     workload.Knob
	up       bool
}

// perTrack says of a value that each track has it.
const perTrack = " per track"

// each adds to the text of threads or a rate that the value applies to each track, if
// it is not a total.
func each(p *workload.Plan, k workload.Knob, text string) string {
	turned := 0
	for _, t := range p.Tracks() {
		if t.Turns(k) && !t.Apart {
			turned++
		}
	}
	if k.Sum || turned < 2 || k.Name != "threads" && k.Name != "rate" || strings.HasSuffix(text, units.Unlimited) {
		return text
	}
	return text + perTrack
}
