package dashboard

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

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
	// note describes what happens when the search begins, before how it goes on.
	note string
	last find.Asked
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

// Ask opens the form with the previous entries; note describes what starting leads to,
// before how a search goes on, and ops are those of the run, if they are known.
func (p *Panel) Ask(note string, ops []measure.Operation) {
	a := p.last
	if len(a.Under) == 0 {
		a = find.Asked{Under: []string{"p99<10ms"}, Over: find.OverRate, Within: a.Within}
	}
	p.Open, p.Asking, p.note = true, true, note
	p.form = widget.Form{Rows: []widget.FormRow{
		widget.NewRow("under", "must hold", strings.Join(a.Under, ", "), "like "+find.Example(ops)),
		widget.NewRow("over", "raise", a.Over, "the rate, or threads that run as fast as they can", find.OverRate, find.OverThreads),
		widget.NewRow("from", "from", a.From, "empty: a quarter of the unlimited rate, or one thread"),
		widget.NewRow("to", "up to", a.To, "empty: no bound, or 256 threads"),
		widget.NewRow("duration", "time limit", cmp.Or(a.Within, find.Within), "it ends sooner if it has its answer"),
	}}
}

// Paste handles pasted text.
func (p *Panel) Paste(msg tea.PasteMsg) { p.form.Press(msg) }

// Press handles a key while a search is being requested. On enter it returns what was
// requested; nothing has begun then, and the form stays open until Begun or Blame.
func (p *Panel) Press(msg tea.KeyPressMsg) (asked find.Asked, enter bool) {
	switch msg.String() {
	case "enter":
		return p.asked(), true
	case "esc":
		p.Open, p.Asking, p.last = false, false, p.asked()
	default:
		p.form.Press(msg)
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
func (p *Panel) Begun(a find.Asked) { p.Open, p.Asking, p.last, p.chosen = true, false, a, 0 }

// Blame shows in the form why the search cannot begin.
func (p *Panel) Blame(err error) { p.form.Blame(err) }

// Keys returns the keys of the form.
func (p *Panel) Keys() widget.KeyMap { return p.form.Keys("search") }

// Draw fills w×h cells. level is the current value of the knob, since how long it has
// had it, and threads how many there are if the search has raised their number; otherwise 0.
func (p *Panel) Draw(s *widget.Styles, w, h int, now *screen.Search, level float64, since time.Duration, threads int) []string {
	frame := widget.Panel{Title: "Search", Focused: true}
	if p.Asking {
		frame.Title, frame.Foot = "Find the highest load that holds", "enter searches · esc cancels"
		lines := p.form.Lines(s, w-4)
		lines = append(lines, "")
		lines = append(lines, widget.MutedLines(s, strings.TrimSpace(p.note+" "+goes(p.asked())), w-4)...)
		if h >= len(lines)+4 {
			lines = append([]string{""}, lines...)
		}
		return frame.Draw(s, w, h, widget.Indent(lines))
	}
	if now == nil {
		return frame.Draw(s, w, h, nil)
	}
	frame.Title = "Search · " + strings.Join(now.Under, " and ")
	frame.Foot = "f hides · E ends the search"
	if !now.Going {
		frame.Foot = "esc closes"
	}
	return frame.Draw(s, w, h, widget.Indent(state(s, now, w-3, h-2, level, since, threads, p.chosen)))
}

// state draws the progress of a search in w×h cells: in words, as a curve, step by
// step; chosen is the level that is told in full, 0 for the newest.
func state(s *widget.Styles, now *screen.Search, w, h int, level float64, since time.Duration, threads int, chosen float64) []string {
	amount := func(v float64) string {
		if now.Over == find.OverThreads {
			return units.Number(v) + " threads"
		}
		return units.Number(v) + " " + now.Unit + "/s"
	}
	held, _ := now.Bracket()
	bracket := known(s, now)
	var out []string
	switch {
	case !now.Going && now.Why == find.Interrupted:
		out = append(widget.Wrap(ended(now), w-1), bracket)
	case !now.Going:
		out = append(widget.Wrap(strings.TrimSuffix("ended: "+now.Why, ": "), w-1), bracket)
	case level == 0:
		out = []string{s.Muted.On("trying") + "  " + s.Bold.On("unlimited") + s.Muted.On(", to know where to begin"), bracket}
	default:
		out = []string{s.Muted.On("trying") + "  " + s.Bold.On(amount(level)) + s.Muted.On("  for "+report.Length(math.Floor(since.Seconds())))}
		if threads > 0 {
			out = append(out, s.Muted.On("with ")+s.Bold.On(report.Several(threads, "thread"))+s.Muted.On(", raised"))
		}
		out = append(out, bracket)
	}
	if d := now.Waited(held); d > 0 {
		out = append(out, s.Warn.On("at "+units.Number(held)+" users wait "+units.Duration(d)))
	}
	levels := now.Newest()
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
			out = append(out, s.Muted.On(lead+l))
		}
	}
	table := min(len(levels)+1, max(h/3, 4))
	legend := chart.LatencyLegend(s, &now.Result, w-1)
	if room := h - len(out) - table - len(legend) - 2; room >= 5 {
		if curve := chart.Latency(s, &now.Result).Draw(s, w-1, room); curve != nil {
			out = slices.Concat(out, []string{""}, legend, curve, []string{""})
		}
	}
	return append(out, chart.Steps(s, &now.Result, w-1, h-len(out), chosen)...)
}

// known says what a search knows so far, in the words and inks that its table has.
func known(s *widget.Styles, now *screen.Search) string {
	holds, from, to, tooMuch := now.Known()
	var out []string
	add := func(ink widget.Ink, word string, level float64, more string) {
		if level > 0 {
			out = append(out, s.Muted.On(word+" ")+ink.On(units.Number(level)+more))
		}
	}
	upTo := ""
	if to > from {
		upTo = "–" + units.Number(to)
	}
	add(s.OK, "holds", holds, "")
	add(s.Warn, "unclear", from, upTo)
	add(s.Bad, "too much", tooMuch, "")
	if len(out) == 0 {
		return s.Muted.On("nothing is known yet")
	}
	return strings.Join(out, s.Muted.On(" · "))
}

// ended says of a search that its user has ended how far it had come.
func ended(now *screen.Search) string {
	if n := len(now.Newest()); n > 0 {
		return "ended by you after " + units.Plural(n, "level")
	}
	return "ended by you before a level was tried to its end"
}
