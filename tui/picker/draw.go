package picker

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/widget"
)

// draw draws the form in w cells, line by line, and records which line belongs to
// which row; focused means that the keys are its own. Rows that are not shown are named in
// what they leave of h lines.
func (f *form) draw(s *widget.Styles, w, h int, focused bool) []string {
	if s.Spoken {
		w = widget.Unbroken
	}
	f.lines = f.lines[:0]
	f.align(w)
	var out []string
	add := func(row int, text string) {
		out = append(out, text)
		f.lines = append(f.lines, row)
	}
	pr := f.list.selected()
	if pr == nil {
		return nil
	}
	if pr.Summary != "" {
		for _, l := range widget.Wrap(pr.Summary, w-2) {
			add(-1, " "+s.Muted.On(l))
		}
		add(-1, "")
	}
	section := ""
	var hidden []string
	for i := range f.rows {
		r := &f.rows[i]
		if r.section != "" {
			section = r.section
		}
		if !f.shows(i) {
			hidden = append(hidden, label(r.name))
			continue
		}
		if section != "" && f.all {
			add(-1, "")
			add(-1, " "+s.Muted.On(section))
			section = ""
		}
		add(i, f.rowLine(s, i, w, focused))
		for n, l := range f.below(s, i, w, focused) {
			row := -1
			if x := f.edit; x != nil && i == f.at && n < min(len(x.offers)-x.firstOffer(), shownOffers) && len(r.wrong) == 0 {
				row = -2 - n - x.firstOffer()
			}
			add(row, l)
		}
	}
	if len(hidden) > 0 {
		add(-1, "")
		for _, l := range named("ctrl+d shows", hidden, w-2, max(min(h-len(out), mostNamed), 1)) {
			add(moreLine, " "+s.Muted.On(l))
		}
	}
	return out
}

// moreLine stands for a line that names rows which are not shown, in the place of a row.
const moreLine = -1 << 16

// mostNamed is how many lines name rows that are not shown.
const mostNamed = 2

// named says what shows so many more rows, such as "ctrl+d shows", and names them, as many as have room in so many lines of w cells.
func named(shows string, hidden []string, w, most int) []string {
	for n := len(hidden); ; n-- {
		text := fmt.Sprintf("%s %d more: %s", shows, len(hidden), strings.Join(hidden[:n], ", "))
		switch {
		case n == 0:
			text = fmt.Sprintf("%s %d more …", shows, len(hidden))
		case n < len(hidden):
			text += " …"
		}
		if lines := widget.Wrap(text, w); len(lines) <= most || n == 0 {
			return lines
		}
	}
}

// tallest returns how many lines of w cells the main values need, whichever profile is selected, so
// that nothing moves from one to the next: the longest summary, the rows that any may have or, if more
// are set, those that are shown, how many there are besides, and some help.
func (f *form) tallest(w int) int {
	summary, shown := 0, 0
	for i := range f.list.all {
		summary = max(summary, len(widget.Wrap(f.list.all[i].Summary, w-2)))
	}
	for i := range f.rows {
		if f.shows(i) {
			shown++
		}
	}
	const own, besides, help = 5, 1, 2 // preset, target, password, mode, duration
	return summary + 1 + max(own+len(workload.Usual()), shown) + besides + help
}

// align finds where the values of w cells begin: behind the longest name, of each section where these have heads;
// but a longer name than there is room for stands out, because names are not cut for as long as a value has room
// beside them.
func (f *form) align(w int) {
	f.columns = make([]int, len(f.rows))
	begin, column := 0, leastColumn
	for i := range f.rows {
		if f.all && f.rows[i].section != "" {
			begin, column = i, leastColumn
		}
		if !f.shows(i) {
			continue
		}
		width := ansi.StringWidth(label(f.rows[i].name)) + 4
		column = max(column, min(width, max(w*2/5, w-besideLong)))
		for k := begin; k <= i; k++ {
			f.columns[k] = max(column, f.columns[k])
		}
		f.columns[i] = max(column, min(width, w-leastValue))
	}
}

// Values begin at leastColumn or behind it; a long name leaves besideLong cells to the values of its section, and
// leastValue to its own.
const leastColumn, besideLong, leastValue = 16, 23, 12

// rowLine draws a row: its name, its value and the origin of the value.
func (f *form) rowLine(s *widget.Styles, i, w int, focused bool) string {
	r := &f.rows[i]
	here := i == f.at && focused
	lead, name := " ", s.Muted
	if here {
		lead, name = "▸", s.Selected
	}
	column := f.columns[i]
	head := " " + name.On(lead+" "+widget.Fit(label(r.name), column-4)) + " "
	if f.edit != nil && i == f.at {
		if s.Spoken {
			return "▸ " + label(r.name) + ": " + strings.TrimRight(f.edit.view(s, w), " ")
		}
		return head + " " + f.edit.view(s, w-column-2)
	}
	origin := r.from
	if r.kind == rowFile {
		origin = ""
	}
	if s.Spoken {
		return spokenRow(r, here, origin)
	}
	room := w - column - 4
	text := ansi.Truncate(shownText(*r), room, "…")
	ink := s.Plain
	switch {
	case len(r.wrong) > 0:
		ink = s.Bad
	case r.off:
		ink = s.Muted
	case r.mine:
		ink = s.Bold
	}
	value := "  " + ink.On(text) + "  "
	if here && (len(r.choices) > 1 || r.knob != nil || r.time) {
		value = s.Accent.On("◂ ") + ink.On(text) + s.Accent.On(" ▸")
	}
	if len(r.wrong) > 0 {
		value += s.Bad.On(" ✗")
	}
	rest := w - column - ansi.StringWidth(value) - 1
	if n := ansi.StringWidth(origin); n > 0 && rest >= n {
		return head + value + s.Muted.On(widget.FitRight(origin, rest))
	}
	return head + value
}

// spokenRow is a row as it is read, with nothing cut off: its name, its value, and what the value
// comes from or what is wrong with it.
func spokenRow(r *row, here bool, origin string) string {
	lead := " "
	if here {
		lead = "▸"
	}
	text := lead + " " + label(r.name) + ": " + shownText(*r)
	switch {
	case len(r.wrong) > 0:
		text += "  refused"
	case origin != "":
		text += "  " + origin
	}
	return text
}

// label returns the form's name for a value.
func label(name string) string {
	return widget.Label(name)
}

// shownText returns the displayed text of a value.
func shownText(r row) string {
	switch {
	case r.kind == rowTarget:
		return widget.HideSecrets(r.text)
	case r.text == "":
		return "–"
	}
	if r.limit() && r.words() == r.text && r.text != "" && r.text[0] >= '0' && r.text[0] <= '9' { // units a second
		return r.text + " " + strings.TrimPrefix(r.knob.Unit, "/s")
	}
	return r.words()
}

// below draws what is shown below a row: faults of the text, offers, the store's
// answer, the help of the selected row.
func (f *form) below(s *widget.Styles, i, w int, focused bool) []string {
	r := &f.rows[i]
	column := f.columns[i]
	at := strings.Repeat(" ", column+2)
	var out []string
	sentence := func(text string, k widget.Ink, most int) {
		lines := widget.Wrap(text, max(w-column-4, 12))
		if len(lines) > most {
			lines = append(lines[:most-1], widget.Brief(strings.Join(lines[most-1:], " "), max(w-column-4, 12)))
		}
		for _, l := range lines {
			out = append(out, at+k.On(l))
		}
	}
	selected := i == f.at && focused
	for _, m := range r.wrong {
		sentence(m.text, s.Bad, 8)
		if r.meant == "" && (selected || r.kind == rowFile) {
			sentence(m.hint, s.Muted, 4)
		}
	}
	if x := f.edit; x != nil && i == f.at {
		if r.meant != "" && x.pick < 0 {
			sentence("tab: "+widget.HideSecrets(r.meant), s.Muted, 1)
		}
		if cmd := commands[x.text()]; cmd != "" && r.kind == rowValue && len(r.wrong) > 0 {
			sentence("esc, then "+cmd, s.Muted, 2)
		}
		if r.kind == rowTexts && len(x.offers) == 0 {
			sentence(r.help, s.Muted, 4)
		}
		return append(out, x.offerLines(s, at, w)...)
	}
	if r.kind == rowTarget && len(r.wrong) == 0 {
		out = append(out, f.ping.lines(s, at, w)...)
	}
	if selected && r.meant != "" {
		sentence("enter "+widget.HideSecrets(r.meant)+"?", s.Muted, 2)
	}
	if selected && r.help != "" && (len(r.wrong) == 0 || r.kind == rowTexts) {
		sentence(r.help, s.Muted, 4)
	}
	if selected && r.from == remembered {
		sentence(whereFrom, s.Muted, 2)
	}
	return out
}

// commands say what does what a letter does in a list, where it is typed instead.
var commands = map[string]string{
	"d": "ctrl+d shows all values", "p": "ctrl+p pings", "q": "ctrl+c quits", "r": "del resets", "u": "U undoes",
	"c": "esc leads to the profiles, where c compares", "f": "esc leads to the profiles, where f searches",
	"h": "esc leads to the profiles, where h lists earlier runs", "w": "esc leads to the profiles, where w sweeps",
	"y": "esc leads to the profiles, where y copies the command",
}

// shownOffers is how many offers are shown at once.
const shownOffers = 5

func (x *edit) firstOffer() int { return max(x.pick-shownOffers+1, 0) }

func (x *edit) offerLines(s *widget.Styles, at string, w int) []string {
	var out []string
	from := x.firstOffer()
	for n := from; n < len(x.offers) && n < from+shownOffers; n++ {
		lead, k := "  ", s.Muted
		if n == x.pick {
			lead, k = "▸ ", s.Selected
		}
		out = append(out, at[2:]+k.On(ansi.Truncate(lead+widget.HideSecrets(x.offers[n]), w-len(at), "…")))
	}
	if more := len(x.offers) - from - shownOffers; more > 0 {
		out = append(out, at+s.Muted.On(fmt.Sprintf("… %d more", more)))
	}
	return out
}

func (x *edit) view(s *widget.Styles, w int) string {
	if x.pick >= 0 && x.pick < len(x.offers) {
		return s.Selected.On(ansi.Truncate(widget.HideSecrets(x.offers[x.pick]), w, "…"))
	}
	return x.field.View(s, w)
}

// scrollTo scrolls so that the selected row, with what is shown below it, is within the
// h visible lines.
func (f *form) scrollTo(h int) {
	first, last := -1, -1
	for i, r := range f.lines {
		if r == f.at {
			first = i
		}
		if first >= 0 && (i == first || r < 0) && (last < 0 || i == last+1) {
			last = i
		}
	}
	if first < 0 {
		f.top = 0
		return
	}
	if f.at == 0 {
		first = 0
	}
	f.top = max(f.top, min(last, first+h-1)-h+1)
	f.top = min(f.top, first)
	f.top = max(min(f.top, len(f.lines)-h), 0)
}
