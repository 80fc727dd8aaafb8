package picker

import (
	"fmt"
	"image"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// pickerPanes are the rectangles of the picker's panels; one that is not shown is
// empty. On a small terminal only the one with the focus is shown.
type pickerPanes struct {
	panes [panesOfPicker]image.Rectangle
}

// pickerLayout cuts the picker; pure.
//
//	title
//	╭ Profiles ───╮╭ Setup ────────╮
//	│             ││               │
//	╰─────────────╯│               │
//	╭ Last runs ──╮╰───────────────╯
//	│             │╭ Plan ─────────╮
//	╰─────────────╯╰───────────────╯
//	keys
func pickerLayout(w, h, profiles int, focus pane) pickerPanes {
	var l pickerPanes
	switch widget.SizeOf(w, h) {
	case widget.TooSmall:
		return l
	case widget.Small:
		l.panes[focus] = image.Rect(0, 1, w, h-1)
		return l
	}
	left := min(max(w*42/100, 34), 56)
	list := min(profiles+11, h-2-6)
	l.panes[paneProfiles] = image.Rect(0, 1, left, 1+list)
	l.panes[paneRuns] = image.Rect(0, 1+list, left, h-1)
	plan := min(max((h-2)*4/10, 9), 13)
	l.panes[paneForm] = image.Rect(left, 1, w, h-1-plan)
	l.panes[panePlan] = image.Rect(left, h-1-plan, w, h-1)
	return l
}

// View draws the page.
func (p *Picker) View(e screen.Env) string {
	s := e.Styles
	l := pickerLayout(e.W, e.H, len(p.profiles), p.pane)
	draw := func(at pane) []string {
		r := l.panes[at]
		if r.Empty() {
			return nil
		}
		return p.panel(e, at, r.Dx(), r.Dy())
	}
	lines := []string{p.headline(e)}
	if widget.SizeOf(e.W, e.H) == widget.Small {
		lines = append(lines, draw(p.pane)...)
	} else {
		left := append(draw(paneProfiles), draw(paneRuns)...)
		right := append(draw(paneForm), draw(panePlan)...)
		lines = append(lines, widget.Beside(left, right)...)
	}
	keys := widget.Footer(e.Styles, e.W, p.Keys().Short)
	if p.toast.Text != "" && !p.shelf.Typing() {
		keys = p.toast.Line(s, e.W)
	}
	return widget.Page(e.W, e.H, append(lines, keys))
}

// paneSpots returns the positions of the panels' names on a small screen.
func paneSpots() []widget.TabSpot {
	var out []widget.TabSpot
	x := 1
	for t := range panesOfPicker {
		name := " " + t.String() + " "
		out = append(out, widget.TabSpot{At: int(t), Name: name, From: x, To: x + len(name)})
		x += len(name) + 1
	}
	return out
}

func (p *Picker) headline(e screen.Env) string {
	s := e.Styles
	if widget.SizeOf(e.W, e.H) == widget.Small {
		var b strings.Builder
		for _, t := range paneSpots() {
			b.WriteByte(' ')
			if pane(t.At) == p.pane {
				b.WriteString(s.Chosen(t.Name))
			} else {
				b.WriteString(s.Muted.On(t.Name))
			}
		}
		return widget.Fit(b.String(), e.W)
	}
	return widget.Spread(" "+s.Bold.On("perfbench"), s.Muted.On("choose a profile, press enter, watch ")+" ", e.W)
}

// panel draws one panel in exactly w×h cells.
func (p *Picker) panel(e screen.Env, at pane, w, h int) []string {
	s := e.Styles
	box := widget.Panel{Title: at.String(), Focused: p.pane == at}
	var lines []string
	switch at {
	case paneProfiles:
		lines = p.profileLines(e, w-2, h-2)
	case paneRuns:
		lines = p.runLines(e, w-3, h-2)
		if n := len(p.runsOf()); n > h-2 {
			box.Note = fmt.Sprintf("%d", n)
		}
		if o := p.shelf.Order(); o != archive.Newest {
			box.Title = "Earlier runs by " + o.String()
		}
	case paneForm:
		if pr := p.profile(); pr != nil {
			box.Title = pr.Title
		}
		if x := p.form.find; x != nil {
			box.Title = x.title(p.form.rows)
		}
		lines = p.formLines(e, w-2)
		p.form.scrollTo(h - 2)
		if n := len(lines); n > h-2 {
			box.Note = fmt.Sprintf("%d–%d of %d", p.form.top+1, min(p.form.top+h-2, n), n)
		}
		lines = lines[min(p.form.top, len(lines)):]
		if p.err == nil && p.preview != nil {
			box.Foot = "enter starts"
			if p.pane != paneProfiles {
				box.Foot = "S starts"
			}
		}
	case panePlan:
		box.Title = "What will happen"
		lines = widget.Indent(p.planLines(e, w-4))
		if p.err != nil {
			box.Title = "This cannot start"
		}
		all := len(lines)
		lines = widget.Windowed(lines, &p.scroll, h-2)
		if p.long = all > h-2; p.long {
			box.Note = fmt.Sprintf("%d–%d of %d", p.scroll+1, p.scroll+len(lines), all)
		}
	}
	return box.Draw(s, w, h, lines)
}

// driver is a store in the head of the list.
type driver struct{ id, letter, title string }

// drivers lists the stores that any profile runs on, each with its own letter, at most
// as many as fit.
func (p *Picker) drivers(most int) []driver {
	var out []driver
	used := map[string]bool{}
	for _, st := range p.stores {
		runs := false
		for i := range p.profiles {
			b, ok := p.profiles[i].Binding(st.Driver)
			runs = runs || ok && b.Refuse == ""
		}
		if !runs || len(out) == most {
			continue
		}
		title, _, _ := strings.Cut(st.Title, " (")
		if ansi.StringWidth(title) > 18 {
			title = st.Driver
		}
		letter := "?"
		for _, r := range strings.ToUpper(title) {
			if l := string(r); !used[l] && r >= 'A' && r <= 'Z' {
				letter = l
				break
			}
		}
		used[letter] = true
		out = append(out, driver{st.Driver, letter, title})
	}
	return out
}

func (p *Picker) profileLines(e screen.Env, w, h int) []string {
	s := e.Styles
	name := 12
	for i := range p.profiles {
		name = max(name, ansi.StringWidth(p.profiles[i].Title))
	}
	gap, ds := " ", p.drivers(len(p.stores))
	if len(ds)*2 > w-name-5 { // closer together if there is no room
		gap, ds = "", p.drivers(max(w-name-6, 0))
	}
	var heads strings.Builder
	for i, d := range ds {
		if i > 0 {
			heads.WriteString(gap)
		}
		heads.WriteString(d.letter)
	}
	heads.WriteByte(' ')
	filter := p.filter.View(s, "/ filter …", max(w-2*len(ds)-6, 8)+2)
	lines := []string{" " + widget.Spread(filter, s.Muted.On(heads.String()), w-2), ""}
	if len(p.shown) == 0 {
		lines = append(lines, " "+s.Muted.On("No profile matches."))
	}
	for i, n := range p.shown {
		pr := &p.profiles[n]
		lead, ink := "   ", s.Plain
		if i == p.at {
			lead, ink = " ▸ ", s.Selected
		}
		right := p.dots(s, pr, ds, gap)
		if !built(pr) {
			right = s.Muted.On("planned ")
			if i != p.at {
				ink = s.Muted
			}
		}
		lines = append(lines, widget.Spread(ink.On(lead+ansi.Truncate(pr.Title, max(w-5-ansi.StringWidth(right), 8), "…")), right, w-1))
	}
	legend := p.legend(s, ds, w-2)
	if room := max(h-len(lines)-1, 0); len(legend) > room {
		legend = legend[len(legend)-room:]
	}
	for len(lines) < h-len(legend) {
		lines = append(lines, "")
	}
	return append(lines, legend...)
}

// dots shows the stores on which a profile runs.
func (p *Picker) dots(s *widget.Styles, pr *workload.Profile, ds []driver, gap string) string {
	var b strings.Builder
	for i, d := range ds {
		if i > 0 {
			b.WriteString(gap)
		}
		bind, ok := pr.Binding(d.id)
		switch {
		case !ok || bind.Refuse != "":
			b.WriteString(s.Muted.On("·"))
		case bind.Note != "":
			b.WriteString(s.OK.On("○"))
		default:
			b.WriteString(s.OK.On("●"))
		}
	}
	return b.String() + " "
}

// legend explains dots and letters.
func (p *Picker) legend(s *widget.Styles, ds []driver, w int) []string {
	if len(ds) == 0 {
		return nil
	}
	words := make([]string, len(ds))
	for i, d := range ds {
		words[i] = d.letter + " " + d.title
	}
	out := flowed(s, []string{"● supported", "○ partly", "· not supported"}, w)
	return append(out, flowed(s, words, w)...)
}

// flowed lays out words side by side, in as many lines of w cells as needed.
func flowed(s *widget.Styles, words []string, w int) (out []string) {
	line := ""
	for _, word := range words {
		if line != "" && ansi.StringWidth(line+"  "+word) > w {
			out = append(out, " "+s.Muted.On(line))
			line = ""
		}
		if line != "" {
			line += "  "
		}
		line += word
	}
	return append(out, " "+s.Muted.On(line))
}

// planLines describe what will happen, or why the run cannot start.
func (p *Picker) planLines(e screen.Env, w int) []string {
	s := e.Styles
	pr := p.profile()
	switch {
	case pr == nil:
		return []string{s.Muted.On("There is no profile to choose.")}
	case !built(pr):
		return append(widget.Wrap(pr.Summary, w), "", s.Muted.On("Planned: it cannot be run yet."))
	case p.err != nil:
		var out []string
		for _, l := range widget.Sentences(s, p.err, w) {
			out = append(out, s.Bad.On(unflagged(ansi.Strip(l))))
		}
		return out
	case p.preview == nil:
		return []string{s.Muted.On("Working out the plan …")}
	}
	v := p.preview
	var out []string
	add := func(label string, k widget.Ink, texts ...string) {
		for _, t := range texts {
			out = append(out, widget.Labelled(s, 12, label, t, k, w)...)
			label = ""
		}
	}
	for _, t := range v.Warnings {
		out = append(out, widget.Labelled(s, 12, "!", t, s.Warn, w)...)
	}
	add("Length", s.Plain, v.Length)
	add("Runs", s.Plain, v.Tracks...)
	size := fmt.Sprintf("up to %s", widget.Plural(int64(v.Connections), "connection"))
	if v.Bytes > 0 {
		size = units.Size(v.Bytes) + " of values, " + size
	}
	add("Writes", s.Plain, v.Writes...)
	add("Data size", s.Plain, size)
	if len(v.Deletes) > 0 {
		add("Deletes", s.Warn, v.Deletes...)
	} else {
		add("Deletes", s.Muted, "nothing; the data stays for the next run")
	}
	add("Changes", s.Plain, v.Timetable...)
	add("Thresholds", s.Plain, p.request().Thresholds...)
	reports := strings.Join(v.Documents, ", ")
	if out, ok := lineOf(v.Run, "out"); ok {
		reports += " to a folder in " + out.Text
	}
	add("Reports", s.Plain, reports)
	return out
}
