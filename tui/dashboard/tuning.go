package dashboard

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Presets are those of the user.
type Presets interface {
	// SavePreset saves a run as a preset of the user and returns its path.
	SavePreset(name string, r request.Request) (path string, err error)
}

// tuner is the tuning panel: which row is selected, and what is typed or dragged there.
type tuner struct {
	now     *reading
	sel     *selection
	says    *messages
	knobs   *knobs
	presets Presets
	// list has the knobs that turn something on some track.
	list []workload.Knob
	open bool
	// row is the selected row: 0 for the track, from 1 on the knobs.
	row     int
	typing  bool
	text    widget.Field
	dragged int // the row whose slider is; 0 for none
}

// presetSavedMsg reports where a preset was saved.
type presetSavedMsg struct {
	path string
	err  error
}

// toggle opens the panel at its first knob, or closes it: what is typed next is meant for no
// row of an earlier time.
func (tu *tuner) toggle() { tu.open, tu.typing, tu.row = !tu.open, false, 1 }

// close closes the panel.
func (tu *tuner) close() { tu.open, tu.typing = false, false }

func (tu *tuner) askPreset() {
	req := tu.now.info.Request.At(tu.now.plan, tu.now.run.Settings)
	tu.says.prompt = &prompt{label: "Save this run as preset, name", done: func(e screen.Env, name string) tea.Cmd {
		if name == "" {
			tu.says.say(e, "a preset needs a name", false)
			return nil
		}
		presets := tu.presets
		return func() tea.Msg {
			path, err := presets.SavePreset(name, req)
			return presetSavedMsg{path, err}
		}
	}}
}

// selected returns the knob of the selected row.
func (tu *tuner) selected() (workload.Knob, bool) {
	if i := tu.row - 1; i >= 0 && i < len(tu.list) {
		return tu.list[i], true
	}
	return workload.Knob{}, false
}

// firstRow returns the first row that can be selected: with a single track there is no
// choice of track.
func (tu *tuner) firstRow() int {
	if len(tu.now.tracks) > 1 {
		return 0
	}
	return 1
}

// press handles a key of the tuning panel; false if the key is not one of its
// own.
func (tu *tuner) press(msg tea.KeyPressMsg, k widget.Bindings, e screen.Env) bool {
	if tu.typing {
		tu.pressTyping(msg, e)
		return true
	}
	switch {
	case key.Matches(msg, k.Back):
		tu.open = false
	case key.Matches(msg, k.Up):
		tu.row = max(tu.row-1, tu.firstRow())
	case key.Matches(msg, k.Down):
		tu.row = min(tu.row+1, len(tu.list))
	case key.Matches(msg, k.TurnDown):
		tu.turnRow(e, false, false)
	case key.Matches(msg, k.TurnUp):
		tu.turnRow(e, true, false)
	case key.Matches(msg, k.TurnDownTen):
		tu.turnRow(e, false, true)
	case key.Matches(msg, k.TurnUpTen):
		tu.turnRow(e, true, true)
	case key.Matches(msg, k.Reset):
		tu.knobs.reset(e)
	case tu.now.watched && widget.Presses(msg, k.SavePreset):
		tu.says.say(e, savedElsewhere, false)
	case key.Matches(msg, k.SavePreset):
		tu.askPreset()
	case tu.row == 0 && (key.Matches(msg, k.TypeValue) || key.Matches(msg, k.Edit)):
		tu.says.say(e, "no knob is selected: ↓ selects one, ← → choose the track", false)
	case key.Matches(msg, k.TypeValue):
		tu.typing, tu.text = true, widget.NewField(msg.String())
	case key.Matches(msg, k.Edit):
		tu.typing = true
		tu.typeOver()
	default:
		return false
	}
	return true
}

func (tu *tuner) turnRow(e screen.Env, up, ten bool) {
	if k, ok := tu.selected(); ok {
		tu.knobs.turn(e, k, up, ten)
		return
	}
	if up {
		tu.knobs.nextTrack(1)
	} else {
		tu.knobs.nextTrack(-1)
	}
}

// typeOver puts the value of the selected knob into the field, for the first letter typed to replace.
func (tu *tuner) typeOver() {
	if k, ok := tu.selected(); ok {
		tu.text = widget.NewChosen(widget.FieldText(k, k.Get(tu.now.run.Settings(tu.knobs.track))))
	}
}

// pressTyping handles the digits of a value. Nothing turns before enter, and what was typed goes
// along to another knob.
func (tu *tuner) pressTyping(msg tea.KeyPressMsg, e screen.Env) {
	switch msg.String() {
	case "esc":
		tu.typing = false
	case "up", "down":
		by := map[string]int{"up": -1, "down": 1}[msg.String()]
		tu.row = min(max(tu.row+by, 1), len(tu.list))
		if tu.text.Untouched() {
			tu.typeOver()
		}
	case "enter":
		tu.typing = false
		k, ok := tu.selected()
		if !ok {
			return
		}
		v, ok := widget.Typed(k, tu.text.Value())
		switch {
		case !ok && k.Unit == "bytes":
			tu.says.say(e, strconv.Quote(tu.text.Value())+" is not a size such as 512, 4KiB or 1MiB", true)
		case !ok:
			tu.says.say(e, strconv.Quote(tu.text.Value())+" is not a number", true)
		case k.Name != "rate" && k.Step == math.Trunc(k.Step) && v != math.Trunc(v):
			tu.says.say(e, strconv.Quote(tu.text.Value())+" is not a whole number", true)
		case k.Clamp(v) != v:
			end := func(v float64) string { // as it could be typed
				return strings.ReplaceAll(widget.KnobText(workload.Knob{Unit: k.Unit}, v), "\u2009", "")
			}
			tu.says.say(e, fmt.Sprintf("%s: %s is not in %s..%s", k.Name, strings.TrimSpace(tu.text.Value()), end(k.Min), end(k.Max)), true)
		default:
			tu.changeTo(e, k, v)
		}
	default:
		tu.text, _ = tu.text.Update(msg)
	}
}

// changeTo sets a knob to a value that was typed. It asks for confirmation of a rate
// far above what the run has reached, because operations that are due and not sent have
// to be waited for.
func (tu *tuner) changeTo(e screen.Env, k workload.Knob, v float64) {
	set := func(e screen.Env) {
		tu.knobs.change(e, k, false, func(float64) float64 { return v })
		if parts := tu.knobs.parts(k); parts != "" && k.Get(tu.now.run.Settings(screen.All)) > 0 {
			tu.says.say(e, "rate "+widget.KnobText(k, k.Get(tu.now.run.Settings(screen.All)))+", "+parts, false)
		}
	}
	most := max(chart.Peak(tu.now.axis(240).Rate(tu.now.snap, tu.sel.op).Vals), k.Get(tu.now.run.Settings(tu.knobs.track)))
	if k.Name != "rate" || most <= 0 || v < farBeyond*most {
		set(e)
		return
	}
	tu.says.prompt = &prompt{
		question: &widget.Question{
			Text: fmt.Sprintf("%s/s is %s times what was reached. Set it?", units.Number(v), units.Number(v/most)),
			Yes:  "set it all the same", No: "leave it",
		},
		answered: func(e screen.Env, yes bool) {
			if yes {
				set(e)
			} else {
				tu.says.say(e, "the rate stays as it was", false)
			}
		},
	}
}

func (tu *tuner) keys(k widget.Bindings, small bool) widget.KeyMap {
	k.Up.SetHelp("↑", "knob above")
	k.Down.SetHelp("↓", "knob below")
	k.Back.SetHelp("esc", "close")
	named := func(what string) string {
		if knob, ok := tu.selected(); ok {
			return what + " " + knob.Name
		}
		return what
	}
	if tu.typing {
		list := []key.Binding{widget.Bind("enter", named("set"), "enter"), widget.Bind("esc", "leave it", "esc"), widget.Bind("↑↓", "another knob", "up", "down")}
		return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
	}
	for _, b := range []*key.Binding{&k.LogAxis, &k.Next, &k.Prev} { // what they change is not visible there
		b.SetEnabled(!small)
	}
	knob := widget.Bind("↑↓", "knob", "up", "down")
	k.Edit.SetHelp("enter", "type over the value")
	typed := k.TypeValue
	if !small {
		typed.SetHelp("0–9", named("type"))
	}
	typed.SetEnabled(tu.row > 0)
	turn := widget.Bind("←→", "turn", "left", "right")
	ten := widget.Bind("shift", "×10", "shift+left", "shift+right")
	return widget.KeyMap{
		Short: []key.Binding{knob, turn, ten, typed, k.Help, k.Undo, k.Reset, k.SavePreset, k.Back},
		Full: [][]key.Binding{
			{k.Up, k.Down, k.TurnDown, k.TurnUp, k.TurnDownTen, k.TurnUpTen, widget.Long(k.TypeValue, "type a value; enter sets it"), k.Edit},
			{k.Undo, widget.Long(k.Reset, "reset all knobs"), widget.Long(k.SavePreset, "save as preset"), widget.Long(k.Tune, "close"), k.Back},
			{k.Pause, widget.Long(k.Stop, "stop this run and report"), widget.Long(k.Mark, "put a mark with a note"), k.LogAxis, k.Next, k.Prev},
			{widget.Long(k.Search, searchHelp(k)), widget.Long(k.Sweep, "runs at several values"), k.Targets, k.Fault, k.SideB, k.LastMark, k.Copy},
			{k.More, k.Less, k.MoreTen, k.LessTen, k.PayloadUp, k.PayloadDown, k.RateUp, k.RateDown, k.Arrivals},
		},
	}
}

func (tu *tuner) lineAt(m tea.Mouse, r image.Rectangle, e screen.Env) (tuneLine, bool) {
	lines := tu.lines(e, r.Dx()-2, r.Dy()-2)
	y := m.Y - r.Min.Y - 1
	if y < 0 || y >= len(lines) {
		return tuneLine{}, false
	}
	return lines[y], true
}

// drag moves the slider that is being dragged.
func (tu *tuner) drag(m tea.Mouse, r image.Rectangle, e screen.Env) {
	if tu.dragged == 0 || !tu.open {
		return
	}
	for _, l := range tu.lines(e, r.Dx()-2, r.Dy()-2) {
		if l.row != tu.dragged || l.wide == 0 {
			continue
		}
		k := tu.list[l.row-1]
		x := min(max(m.X-r.Min.X-1-l.slider, 0), l.wide-1)
		if widget.Slide(k, k.Get(tu.now.run.Settings(tu.knobs.track)), l.wide) == x {
			return // unchanged, so there is no change to log
		}
		tu.knobs.change(e, k, false, func(float64) float64 { return widget.Slid(k, x, l.wide) })
		return
	}
}

// draw draws the tuning panel.
func (tu *tuner) draw(e screen.Env, r image.Rectangle) []string {
	lines := tu.lines(e, r.Dx()-2, r.Dy()-2)
	text := make([]string, len(lines))
	for i, l := range lines {
		text[i] = l.text
	}
	return widget.Panel{Title: "Tune", Foot: "esc closes", Focused: true}.Draw(e.Styles, r.Dx(), r.Dy(), text)
}

// lines lays out the panel in w×h cells: three lines per knob if there is room,
// else two, else one; below them the effect of the last change.
func (tu *tuner) lines(e screen.Env, w, h int) []tuneLine {
	n := len(tu.list)
	last := tu.effectLines(e, w, false)
	per := 1
	switch {
	case 2+3*n+len(last) <= h:
		per = 3
	case 1+2*n+len(last) <= h:
		per = 2
	}
	lines := []tuneLine{{text: tu.trackLine(e, w), row: 0}}
	if per == 3 {
		lines = append(lines, tuneLine{row: -1})
	}
	for i := range tu.list {
		lines = append(lines, tu.knobLines(e, i+1, w, per)...)
	}
	if all := tu.effectLines(e, w, true); len(lines)+len(all) <= h {
		last = all
	}
	spread := tu.spreadLines(e, w)
	if _, is := tu.now.lastEffect(); !is && len(lines)+len(spread)+len(last) > h && len(spread) > 0 {
		last = nil // it would only say that there is none yet
	}
	if len(lines)+len(spread)+len(last) <= h {
		for _, l := range spread {
			lines = append(lines, tuneLine{text: l, row: -1})
		}
	}
	if room := h - len(lines); room < len(last) && room > 0 {
		last = tu.briefEffect(e, w, room)
	}
	// Scroll so that the selected row is visible.
	if over := len(lines) - h; over > 0 {
		from := 0
		for from < over && lines[from].row < tu.row-1 {
			from++
		}
		return lines[from : from+h]
	}
	for _, l := range last {
		lines = append(lines, tuneLine{text: l, row: -1})
	}
	about := tu.aboutKnob(e, w)
	if _, is := tu.now.lastEffect(); is {
		takes := widget.Wrap(effect.Takes(), w-4)
		if len(lines)+2+len(takes)+len(about) <= h {
			lines = append(lines, tuneLine{row: -1})
			for _, l := range takes {
				lines = append(lines, tuneLine{text: "   " + e.Styles.Muted.On(l), row: -1})
			}
		}
	}
	if len(lines)+1+len(about) <= h {
		for len(lines) < h-len(about) {
			lines = append(lines, tuneLine{row: -1})
		}
		for _, l := range about {
			lines = append(lines, tuneLine{text: l, row: -1})
		}
	}
	return lines
}

// Of the pictures of how calls are spread over records: how many there are at most, and how wide
// the name is, and the picture.
const (
	mostSpreads = 3
	spreadName  = 22 // in a panel that is wide enough
	mostParts   = 40
)

// spreadLines are small pictures of how the calls are spread over the records, from the first or
// the one that is called most to the last. Their height is the root of the share, so that the rest
// of a skewed distribution can be seen as well.
func (tu *tuner) spreadLines(e screen.Env, w int) []string {
	all := tu.now.plan.KeySpreads
	long := min(spreadName, w/2+1)
	wide := min(w-5-long, mostParts)
	if len(all) == 0 || wide < 8 {
		return nil
	}
	s, set := e.Styles, tu.now.run.Settings(tu.knobs.track)
	out := []string{"", " " + s.Muted.On("  Calls by record")}
	for i := range all[:min(len(all), mostSpreads)] {
		text, shares := all[i].Of(set, wide)
		roots := make([]float64, len(shares))
		for j, v := range shares {
			roots[j] = math.Sqrt(v)
		}
		name := widget.Fit(ansi.Truncate(all[i].Name+" "+text, long-1, "…"), long)
		out = append(out, "   "+name+s.Accent.On(chart.Sparkline(roots, wide, chart.Peak(roots))))
	}
	return out
}

// aboutKnob explains the selected knob.
func (tu *tuner) aboutKnob(e screen.Env, w int) []string {
	k, ok := tu.selected()
	if !ok {
		return nil
	}
	bare := workload.Knob{Unit: k.Unit}
	var out []string
	help := k.Help
	if parts := tu.knobs.parts(k); parts != "" {
		help = "all tracks together, " + parts + "; " + help
	}
	for _, l := range widget.Wrap(k.Name+": "+help+"; "+widget.KnobText(bare, k.Min)+" to "+widget.KnobText(bare, k.Max), w-4) {
		out = append(out, "  "+e.Styles.Muted.On(l))
	}
	return out
}

func (tu *tuner) trackLine(e screen.Env, w int) string {
	s := e.Styles
	name, of := "all tracks, totals", fmt.Sprintf("%d tracks", len(tu.now.tracks))
	if t := tu.knobs.track; t != screen.All {
		name, of = tu.now.tracks[t].Name, fmt.Sprintf("%d of %d", t+1, len(tu.now.tracks))
	} else if len(tu.now.tracks) == 1 {
		return widget.Spread(" "+s.Muted.On("  Track  ")+tu.now.tracks[0].Name, s.Muted.On("the only one  "), w)
	}
	if ansi.StringWidth(name+of)+16 > w {
		name, _, _ = strings.Cut(name, ",")
	}
	return widget.Spread(" "+tu.label(e, 0, "Track")+"  "+s.Accent.On("◂")+" "+s.Bold.On(name)+" "+s.Accent.On("▸"), s.Muted.On(of+"  "), w)
}

// label returns the name of a row, marked if it is the selected one.
func (tu *tuner) label(e screen.Env, row int, name string) string {
	if row == tu.row {
		return e.Styles.Selected.On("▸ " + name)
	}
	return "  " + name
}

func (tu *tuner) knobLines(e screen.Env, row, w, per int) []tuneLine {
	k := tu.list[row-1]
	name := units.Capital(k.Name)
	value := e.Styles.Bold.On(tu.unitText(k))
	typing := tu.typing && tu.row == row
	v := k.Get(tu.now.run.Settings(tu.knobs.track))
	if per == 1 {
		at, wide := 27, w-29
		if ansi.StringWidth(value) > 13 { // the name of the knob has to say of what
			value = e.Styles.Bold.On(tu.knobs.value(k))
		}
		left := " " + widget.Fit(tu.label(e, row, name), 11) + widget.FitRight(value, 13)
		if typing {
			return []tuneLine{{text: left + " → " + tu.text.View(e.Styles, wide), row: row}}
		}
		return []tuneLine{{text: widget.Fit(left, at) + widget.Slider(e.Styles, k, v, wide, row == tu.row), row: row, slider: at, wide: wide}}
	}
	if typing {
		before := e.Styles.Muted.On(tu.knobs.value(k)) + " → "
		value = before + tu.text.View(e.Styles, min(max(w-ansi.StringWidth(" ▸ "+name+before)-4, 6), 12))
	}
	wide := w - 5
	out := []tuneLine{
		{text: widget.Spread(" "+tu.label(e, row, name), value+"  ", w), row: row},
		{text: "   " + widget.Slider(e.Styles, k, v, wide, row == tu.row), row: row, slider: 3, wide: wide},
	}
	if per == 3 {
		out = append(out, tuneLine{row: -1})
	}
	return out
}

// unitText returns a knob's value with its unit, if the unit adds information.
func (tu *tuner) unitText(k workload.Knob) string {
	text := tu.knobs.value(k)
	if k.Unit != "" && k.Unit != "bytes" && k.Unit != k.Name && text != units.Unlimited {
		text += " " + k.Unit
	}
	if tu.knobs.track == screen.All {
		text = each(tu.now.plan, k, text)
	}
	return text
}

// effectLines describe the effect of the last change: before, after, difference; whole
// with ranges, and with what would make sure.
func (tu *tuner) effectLines(e screen.Env, w int, whole bool) []string {
	s := e.Styles
	ef, ok := tu.now.lastEffect()
	if !ok {
		out := []string{""}
		text := "No change yet. An effect takes 3 to 30 s on either side."
		if whole {
			text = "No change yet. " + effect.Takes()
		}
		for _, l := range widget.Wrap(text, w-2) {
			out = append(out, " "+s.Muted.On(l))
		}
		return out
	}
	when := "Last change, " + ef.When()
	what := ef.What()
	if len(ef.With) > 0 {
		when = "Last changes, " + ef.WhenAll()
		if ansi.StringWidth(what)+3 > w {
			what = ef.InFew()
		}
	} else if i := strings.LastIndex(what, " → "); i >= 0 && ansi.StringWidth(what)+3 > w { // what it came to is not cut
		what = ef.Knobs() + what[i:]
	}
	if ef.SoFar() {
		when += ", so far"
	}
	if long := when + ", percentile of the median second"; ansi.StringWidth(long)+ansi.StringWidth(ef.By)+3 <= w {
		when = long
	}
	out := []string{"", widget.Spread(" "+s.Muted.On(when), s.Muted.On(ef.By)+" ", w), "   " + s.Bold.On(what)}
	if ef.Pauses() || ef.Missing() != "" {
		for _, l := range widget.Wrap(ef.Outcome(w-4), w-4) {
			out = append(out, "   "+s.Muted.On(l))
		}
		return append(out, make([]string, max(5-len(out), 0))...)
	}
	if short := ef.Short(); short != "" {
		out = append(out, "   "+s.Warn.On(short))
	}
	throughput, latency := ef.Throughput(), ef.Latency()
	wide := max(9, min(ansi.StringWidth(latency.Name()), w/3)) + 1
	figure := func(name string, f effect.Figure, moreIsBetter bool) {
		value := "–"
		switch {
		case f.Is == "":
		case f.Moved():
			value = compare(s, w-wide-12, f, moreIsBetter, ef.SoFar())
		default:
			numbers, is := f.Numbers(), f.Judged()
			if wide+4+ansi.StringWidth(numbers)+len(is) > w {
				is = string(f.Is)
			}
			value = widget.Fit(numbers, max(w-wide-6-len(is), ansi.StringWidth(numbers))) + " " + s.Muted.On(is)
		}
		out = append(out, "   "+s.Muted.On(widget.Fit(ansi.Truncate(name, wide-1, "…"), wide))+value)
		if f.Is == "" || !whole {
			return
		}
		if f.Of() != "" {
			out = append(out, "   "+s.Muted.On(widget.Fit("", wide)+ansi.Truncate("of "+f.Of(), max(w-wide-4, 10), "…")))
		}
		if text := f.Ranges(); ansi.StringWidth(text)+wide+4 <= w {
			out = append(out, "   "+s.Muted.On(widget.Fit("", wide)+text))
		}
	}
	rate, tail := func() { figure(tu.now.perSecond(), throughput, true) }, func() { figure(cmp.Or(latency.Name(), "p99"), latency, false) }
	first, second := throughput.Is, latency.Is
	if ef.Given() {
		rate, tail, first, second = tail, rate, second, first
	}
	lacks := func() {
		if !whole || ef.Lacks() == "" {
			return
		}
		for _, l := range widget.Wrap(ef.Lacks(), w-4) {
			out = append(out, "   "+s.Muted.On(l))
		}
	}
	early := first == effect.Unsure && second != effect.Unsure // what is lacking stands below what lacks it
	rate()                                                     // what decides comes first
	if early {
		lacks()
	}
	tail()
	if !early {
		lacks()
	}
	if slow := ef.Slow(); whole && slow != "" {
		for _, l := range widget.Wrap(slow, w-4) {
			out = append(out, "   "+s.Muted.On(l))
		}
	}
	return out
}

// briefEffect is effectLines for one line of w cells, or two.
func (tu *tuner) briefEffect(e screen.Env, w, room int) []string {
	ef, ok := tu.now.lastEffect()
	if !ok {
		return nil
	}
	what, outcome := ef.What(), ef.Brief(w-4)
	line := "   " + e.Styles.Bold.On(what) + "  " + outcome
	switch fits := ansi.StringWidth(line) <= w; {
	case fits && room > 1:
		return []string{"", line}
	case room > 1:
		return []string{"   " + e.Styles.Bold.On(what), "   " + outcome}
	case fits:
		return []string{line}
	}
	return []string{"   " + outcome}
}

// tuneLine is a line of the tuning panel and what a click on it does.
type tuneLine struct {
	text string
	row  int // the row that it belongs to; -1 for none
	// slider is the column where its slider starts, wide its width; 0 without a slider.
	slider, wide int
}

// compare formats a change in w cells and a few more, with its direction as an arrow
// and a percentage. What was asked for, or may yet be chance, is neither good nor bad.
func compare(s *widget.Styles, w int, f effect.Figure, moreIsBetter, early bool) string {
	text, before, after := f.Numbers(), f.Before, f.After
	p := strings.TrimLeft(units.Percent(before, after), "+−±")
	if p == "" {
		return text
	}
	sign, colour := "=", s.Muted
	switch diff := (after - before) / before; {
	case diff > 0.005:
		sign, colour = "▲", s.Bad
		if moreIsBetter {
			colour = s.OK
		}
	case diff < -0.005:
		sign, colour = "▼", s.OK
		if moreIsBetter {
			colour = s.Bad
		}
	}
	if f.Is == effect.Asked || early {
		colour = s.Muted
	}
	return widget.Fit(text, max(w, 13, ansi.StringWidth(text))) + " " + colour.On(sign+" "+p)
}
