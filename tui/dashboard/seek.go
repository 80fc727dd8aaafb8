package dashboard

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Panel asks for a search and shows it. Its zero value is closed.
type Panel struct {
	// Open means that it is shown, Asking that a search is being requested.
	Open, Asking bool
	form         widget.Form
	// note describes, in sentences, what happens when the search begins, before how it goes on.
	note []string
	from beginning
	// typed says that the form began with what was typed before; "" if it did not.
	typed string
	// began is what the form began with.
	began find.Asked
	// chosen is the level whose outcome is told in full; 0: the newest.
	chosen float64
}

// choose moves to another of the levels that were tried, listed from the newest on.
func (p *Panel) choose(levels []float64, by int) {
	at := min(max(max(slices.Index(levels, p.chosen), 0)+by, 0), len(levels)-1)
	if p.chosen = levels[at]; at == 0 {
		p.chosen = 0
	}
}

// Ask opens the form; note describes what starting leads to, before how a search goes on, and ops are those of the run, if
// they are known.
func (p *Panel) Ask(from beginning, note []string, ops []measure.Operation) {
	a, typed := from.asked()
	p.Open, p.Asking, p.note, p.from, p.typed = true, true, note, from, typed
	p.form = widget.Form{Rows: []widget.FormRow{
		widget.NewRow("under", "must hold", strings.Join(a.Under, ", "), "like "+find.Example(ops)),
		widget.NewRow("over", "raise", a.Over, "the rate, or threads that run as fast as they can", find.OverRate, find.OverThreads),
		widget.NewRow("from", "from", a.From, "empty: a quarter of what it could do of this mix, or one thread"),
		widget.NewRow("to", "up to", a.To, "empty: no bound, or 256 threads"),
		widget.NewRow("duration", "time limit", a.Within, "it ends sooner if it has its answer"),
	}}
	p.began = p.asked()
}

// Paste handles pasted text.
func (p *Panel) Paste(msg tea.PasteMsg) {
	p.form.Press(msg)
	p.form.Check(find.Check(p.asked()))
}

// Press handles a key while a search is being requested. On enter it returns what was
// requested; nothing has begun then, and the form stays open until Begun or Blame.
func (p *Panel) Press(msg tea.KeyPressMsg) (asked find.Asked, enter bool) {
	switch msg.String() {
	case "enter":
		err := find.Check(p.asked())
		p.Blame(err)
		return p.asked(), err == nil
	case "esc":
		p.Open, p.Asking = false, false
		if a := p.asked(); !reflect.DeepEqual(a, p.began) {
			p.from.keep(a)
		}
	default:
		p.form.Press(msg)
		p.form.Check(find.Check(p.asked()))
	}
	return asked, false
}

// asked returns the contents of the form.
func (p *Panel) asked() (a find.Asked) {
	for one := range strings.SplitSeq(p.form.Value("under"), ",") {
		if one = strings.TrimSpace(one); one != "" {
			a.Under = append(a.Under, one)
		}
	}
	a.Over, a.From, a.To, a.Within = p.form.Value("over"), p.form.Value("from"), p.form.Value("to"), strings.TrimSpace(p.form.Value("duration"))
	return a
}

// Begun closes the form because a search has begun.
func (p *Panel) Begun(a find.Asked) {
	p.Open, p.Asking, p.chosen = true, false, 0
	p.from.keep(a)
}

// Blame shows in the form why the search cannot begin.
func (p *Panel) Blame(err error) { p.form.Blame(err) }

// Keys returns the keys of the form.
func (p *Panel) Keys() widget.KeyMap { return p.form.Keys("search") }

// Draw fills w×h cells. level is the current value of the knob, since how long it has
// had it, and threads how many there are if the search has raised their number; otherwise 0.
func (p *Panel) Draw(s *widget.Styles, w, h int, now *screen.Search, level float64, since time.Duration, threads int) []string {
	frame := widget.Panel{Title: "Search", Focused: true}
	if p.Asking {
		lines := p.asks(s, w)
		if h >= len(lines)+4 {
			lines = append([]string{""}, lines...)
		}
		return asking.Draw(s, w, h, lines)
	}
	if now == nil {
		return frame.Draw(s, w, h, nil)
	}
	frame.Title = "Search · " + strings.Join(now.Under, " and ")
	if threads > 0 && now.Going {
		frame.Title += " · " + report.Several(threads, "thread")
	}
	frame.Foot = "f hides · E ends the search"
	if !now.Going {
		frame.Foot = "esc closes"
	}
	return frame.Draw(s, w, h, widget.Indent(state(s, now, w-3, h-2, level, since, p.chosen)))
}

// asking is the frame of the form.
var asking = widget.Panel{Title: "Find the highest load that holds", Focused: true, Foot: "enter searches · esc cancels"}

// asks is the form in a frame of w cells, with what happens when the search begins.
func (p *Panel) asks(s *widget.Styles, w int) []string {
	var notes []string
	for _, sentence := range slices.Concat([]string{p.typed}, p.note, goes(p.asked())) {
		if sentence == "" {
			continue
		}
		notes = append(notes, widget.MutedLines(s, sentence, w-4)...)
	}
	if p.form.Wrong() { // nothing starts then, and the box stays where it is
		notes = make([]string, len(notes))
	}
	return widget.Indent(slices.Concat(p.form.Lines(s, w-4), []string{""}, notes))
}

// A panel of tight lines has none to spare, and one of wide cells has its words in a line.
const tight, wide = 14, 72

// state draws the progress of a search in w×h cells: in words, as a curve, step by step; chosen is the level that is told
// in full, 0 for the newest. What is said has as many lines all the time, so that the curve stays where it is.
func state(s *widget.Styles, now *screen.Search, w, h int, level float64, since time.Duration, chosen float64) []string {
	var out []string
	switch {
	case !now.Going && now.Why == find.Interrupted:
		out = widget.Wrap(ended(now), w-1)
	case !now.Going:
		out = widget.Wrap(strings.TrimSuffix("ended: "+now.Why, ": "), w-1)
	default:
		out = trying(s, now, w-1, level, since)
	}
	lines := 2
	if w >= wide {
		lines = 1
	}
	if way := wayOut(s, now, w-1); len(way) > 0 { // in place of what is tried next, and of what is known
		if now.Going {
			out = out[:2]
		}
		out = append(out, way...)
	} else {
		out = append(out, known(s, now, w-1))
	}
	levels, told := now.Newest(), []string{}
	if len(levels) > 0 { // the table has it in a word
		if !slices.Contains(levels, chosen) {
			chosen = levels[0]
		}
		words, _, _ := now.Told(chosen)
		for i, l := range widget.Wrap(units.Number(chosen)+" "+words, w-2) {
			lead := "  "
			if i == 0 {
				lead = "▸ "
			}
			told = append(told, s.Muted.On(lead+l))
		}
	}
	if h < tight {
		out = append(slices.DeleteFunc(out, func(l string) bool { return l == "" }), told...)
		return append(out, chart.Steps(s, &now.Result, w-1, h-len(out), chosen)...)
	}
	if len(told) > lines {
		told = append(told[:lines-1:lines-1], widget.Fit(told[lines-1]+s.Muted.On(" "+strings.TrimSpace(ansi.Strip(told[lines]))), w-1))
	}
	out = append(out, told...)
	for range lines - len(told) {
		out = append(out, "")
	}
	legend := chart.LatencyLegend(s, &now.Result, w-1)
	if room := h - len(out) - max(h/3, 4) - len(legend) - 2; room >= 5 {
		curve := chart.Latency(s, &now.Result).Draw(s, w-1, room)
		if curve == nil {
			legend, curve = make([]string, len(legend)), make([]string, room) // the table stays where it is
			copy(curve, widget.MutedLines(s, "Latency is drawn here once two levels have been tried.", w-1))
		}
		out = slices.Concat(out, []string{""}, legend, curve, []string{""})
	}
	return append(out, chart.Steps(s, &now.Result, w-1, h-len(out), chosen)...)
}

// roomy returns the first of several ways to say the same that has room in w cells, or the last.
func roomy(w int, ways ...string) string {
	for _, way := range ways {
		if ansi.StringWidth(way) <= w {
			return way
		}
	}
	return ways[len(ways)-1]
}

// trying says in three lines of w cells what is being tried, what it waits for, and what comes next; level and since are
// those of the knob, where the search does not tell.
func trying(s *widget.Styles, now *screen.Search, w int, level float64, since time.Duration) []string {
	say := func(v float64, ways ...string) string {
		amount := units.Number(v) + " threads"
		if now.Over != find.OverThreads {
			amount = units.Number(v) + " " + now.Unit + "/s"
		}
		var full []string
		for _, amount := range []string{amount, units.Number(v)} {
			for _, rest := range ways {
				full = append(full, s.Muted.On("trying ")+s.Bold.On(amount)+s.Muted.On(rest))
			}
		}
		return roomy(w, full...)
	}
	t := now.Trying
	switch {
	case t == nil && level == 0:
		return []string{s.Muted.On("trying ") + s.Bold.On("unlimited"), s.Muted.On("to know where to begin"), ""}
	case t == nil:
		return []string{say(level, " · "+report.Length(math.Floor(since.Seconds()))), "", ""}
	}
	if t.Waits != "" {
		return []string{say(t.Level, fmt.Sprintf(" again in %d s", t.Most-t.Seconds)), roomy(w, s.Warn.On(t.Waits)+s.Muted.On(": waits for that to pass"), s.Warn.On(t.Waits)+s.Muted.On(": waiting")), ""}
	}
	so, again := fmt.Sprintf(" · %d s, up to %d s", t.Seconds, t.Most), ""
	if t.Again {
		again = " again"
	}
	head := say(t.Level, again+so, so, fmt.Sprintf(" · %d of %d s", t.Seconds, t.Most))
	waits := s.Muted.On("holds so far · tries on until sure")
	switch figure, _, _ := strings.Cut(t.Open, ", "); {
	case !t.Told():
		waits = s.Muted.On("too early to tell")
	case t.Open != "":
		waits = s.Warn.On("unclear yet") + s.Muted.On(": "+roomy(w-len("unclear yet: "), t.Open, figure))
	}
	var next, short []string
	if t.IfHolds > 0 {
		next, short = append(next, units.Number(t.IfHolds)+" if it holds"), append(short, units.Number(t.IfHolds))
	}
	if t.IfNot > 0 {
		next, short = append(next, units.Number(t.IfNot)+" if not"), append(short, units.Number(t.IfNot))
	}
	then := ""
	if len(next) > 0 {
		then = s.Muted.On(roomy(w, "then "+strings.Join(next, ", "), "then "+strings.Join(short, " or ")))
	}
	return []string{head, waits, then}
}

// known says in w cells what a search knows so far, in the words and inks that its table has, or in its signs.
func known(s *widget.Styles, now *screen.Search, w int) string {
	holds, from, to, tooMuch := now.Known()
	var words, signs []string
	add := func(ink widget.Ink, word, sign string, level float64, more string) {
		if level > 0 {
			text := units.Number(level) + more
			words, signs = append(words, s.Muted.On(word+" ")+ink.On(text)), append(signs, ink.On(sign+" "+text))
		}
	}
	upTo := ""
	if to > from {
		upTo = "–" + units.Number(to)
	}
	ink := s.OK
	if now.Waited(holds) > 0 {
		ink = s.Warn
	}
	add(ink, "holds", "✓", holds, "")
	add(s.Warn, "unclear", "±", from, upTo)
	add(s.Bad, "too much", "✗", tooMuch, "")
	if len(words) == 0 {
		return s.Muted.On("nothing is known yet")
	}
	dot := s.Muted.On(" · ")
	return roomy(w, strings.Join(words, dot), strings.Join(signs, dot))
}

// wayOut says in two sentences, in lines of w cells, that a search learns nothing of the store, because perfbench or its
// machine was measured in its last tries, and how to learn something; nil where it may yet.
func wayOut(s *widget.Styles, now *screen.Search, w int) []string {
	under, why := now.Instead()
	ends := ""
	switch {
	case len(under) == 0:
		return nil
	case now.Going:
		ends = "E ends it; "
	case now.Why != find.Interrupted: // the run ends as well
		return nil
	}
	const not = "his does not measure the store."
	out := []string{s.Warn.On(roomy(w, why+", so t"+not, "T"+not))}
	return append(out, widget.MutedLines(s, roomy(w, ends+"f searches under "+strings.Join(under, " and ")+".", ends+"f searches the store alone."), w)...)
}

// ended says of a search that its user has ended how far it had come.
func ended(now *screen.Search) string {
	if n := len(now.Newest()); n > 0 {
		return "ended by you after " + units.Plural(n, "level")
	}
	return "ended by you before a level was tried to its end"
}
