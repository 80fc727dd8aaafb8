package tui

import (
	"fmt"
	"image"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
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
	switch sizeOf(w, h) {
	case tooSmall:
		return l
	case small:
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

func (p *picker) view(e env) string {
	s := e.styles
	l := pickerLayout(e.w, e.h, len(p.profiles), p.pane)
	draw := func(at pane) []string {
		r := l.panes[at]
		if r.Empty() {
			return nil
		}
		return p.panel(e, at, r.Dx(), r.Dy())
	}
	lines := []string{p.headline(e)}
	if sizeOf(e.w, e.h) == small {
		lines = append(lines, draw(p.pane)...)
	} else {
		left := append(draw(paneProfiles), draw(paneRuns)...)
		right := append(draw(paneForm), draw(panePlan)...)
		lines = append(lines, beside(left, right)...)
	}
	keys := footer(e.styles, e.w, p.keys().short)
	if p.toast.text != "" {
		keys = p.toast.line(s, e.w)
	}
	return page(e.w, e.h, append(lines, keys))
}

// paneSpots tells where the names of the panels stand on a small screen.
func paneSpots() []tabSpot {
	var out []tabSpot
	x := 1
	for t := range panesOfPicker {
		name := " " + t.String() + " "
		out = append(out, tabSpot{int(t), name, x, x + len(name)})
		x += len(name) + 1
	}
	return out
}

func (p *picker) headline(e env) string {
	s := e.styles
	if sizeOf(e.w, e.h) == small {
		var b strings.Builder
		for _, t := range paneSpots() {
			b.WriteByte(' ')
			if pane(t.at) == p.pane {
				b.WriteString(s.chosen(t.name))
			} else {
				b.WriteString(s.muted.on(t.name))
			}
		}
		return fit(b.String(), e.w)
	}
	return spread(" "+s.bold.on("perfbench"), s.muted.on("choose a profile, press enter, watch ")+" ", e.w)
}

// panel draws one panel in exactly w×h cells.
func (p *picker) panel(e env, at pane, w, h int) []string {
	s := e.styles
	box := panel{title: at.String(), focused: p.pane == at}
	var lines []string
	switch at {
	case paneProfiles:
		lines = p.profileLines(e, w-2, h-2)
	case paneRuns:
		lines = p.runLines(e, w-3, h-2)
		if n := len(p.runsOf()); n > h-2 {
			box.note = fmt.Sprintf("%d", n)
		}
	case paneForm:
		if pr := p.profile(); pr != nil {
			box.title = pr.Title
		}
		lines = p.formLines(e, w-2)
		p.form.scrollTo(h - 2)
		if n := len(lines); n > h-2 {
			box.note = fmt.Sprintf("%d–%d of %d", p.form.top+1, min(p.form.top+h-2, n), n)
		}
		lines = lines[min(p.form.top, len(lines)):]
		if p.err == nil && p.preview != nil {
			box.foot = "enter starts"
			if p.pane != paneProfiles {
				box.foot = "S starts"
			}
		}
	case panePlan:
		box.title = "What will happen"
		lines = indent(p.planLines(e, w-4))
		if p.err != nil {
			box.title = "This cannot start"
		}
		all := len(lines)
		lines = windowed(lines, &p.scroll, h-2)
		if all > h-2 {
			box.note = fmt.Sprintf("%d–%d of %d", p.scroll+1, p.scroll+len(lines), all)
		}
	}
	return box.draw(s, w, h, lines)
}

// driver is a store in the head of the list: its letter and its title.
type driver struct{ id, letter, title string }

// drivers lists the stores that any profile runs on, each with a letter of its
// own, at most as many as fit.
func (p *picker) drivers(most int) []driver {
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

func (p *picker) profileLines(e env, w, h int) []string {
	s := e.styles
	name := 12
	for i := range p.profiles {
		name = max(name, ansi.StringWidth(p.profiles[i].Title))
	}
	gap, ds := " ", p.drivers(len(p.stores))
	if len(ds)*2 > w-name-5 { // closer together where there is no room
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
	filter := s.muted.on("/ filter …")
	switch {
	case p.filtering:
		filter = s.accent.on("/ ") + p.filter.view(s, max(w-2*len(ds)-6, 8))
	case p.filter.value() != "":
		filter = s.accent.on("/ ") + p.filter.value()
	}
	lines := []string{" " + spread(filter, s.muted.on(heads.String()), w-2), ""}
	if len(p.shown) == 0 {
		lines = append(lines, " "+s.muted.on("No profile matches."))
	}
	for i, n := range p.shown {
		pr := &p.profiles[n]
		lead, ink := "   ", s.plain
		if i == p.at {
			lead, ink = " ▸ ", s.selected
		}
		right := p.dots(s, pr, ds, gap)
		if !built(pr) {
			right = s.muted.on("planned ")
			if i != p.at {
				ink = s.muted
			}
		}
		lines = append(lines, spread(ink.on(lead+ansi.Truncate(pr.Title, max(w-5-ansi.StringWidth(right), 8), "…")), right, w-1))
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

// dots shows on which stores a profile runs.
func (p *picker) dots(s *styles, pr *workload.Profile, ds []driver, gap string) string {
	var b strings.Builder
	for i, d := range ds {
		if i > 0 {
			b.WriteString(gap)
		}
		bind, ok := pr.Binding(d.id)
		switch {
		case !ok || bind.Refuse != "":
			b.WriteString(s.muted.on("·"))
		case bind.Note != "":
			b.WriteString(s.ok.on("○"))
		default:
			b.WriteString(s.ok.on("●"))
		}
	}
	return b.String() + " "
}

// legend says what dots and letters stand for.
func (p *picker) legend(s *styles, ds []driver, w int) []string {
	if len(ds) == 0 {
		return nil
	}
	out := []string{" " + s.muted.on("● runs  ○ in part  · not")}
	line := ""
	for _, d := range ds {
		word := d.letter + " " + d.title
		if line != "" && ansi.StringWidth(line+"  "+word) > w {
			out = append(out, " "+s.muted.on(line))
			line = ""
		}
		if line != "" {
			line += "  "
		}
		line += word
	}
	return append(out, " "+s.muted.on(line))
}

// runLines lists the last runs of the profile.
func (p *picker) runLines(e env, w, h int) []string {
	s := e.styles
	runs := p.runsOf()
	if len(runs) == 0 {
		return []string{" " + s.muted.on("No runs yet.")}
	}
	p.runAt = min(p.runAt, len(runs)-1)
	top := max(p.runAt-h+1, 0)
	g := grid{cols: []column{{}, {most: 10, drop: 1}, {right: true}, {right: true, drop: 2}, {}}}
	for i := top; i < len(runs) && i < top+h; i++ {
		f := figuresOf(runs[i])
		word, _ := trust(s, runs[i])
		sign, _, _ := strings.Cut(word, " ")
		lead := "  "
		if i == p.runAt && p.pane == paneRuns {
			lead = "▸ "
		}
		g.add(lead+dayText(runs[i].Started, e.now), runs[i].Store.Name, units.Number(f.rate)+"/s", nanos(f.p99), sign)
	}
	g.ink = func(row, col int) ink {
		switch {
		case col == 4:
			_, k := trust(s, runs[top+row])
			return k
		case top+row == p.runAt && p.pane == paneRuns:
			return s.selected
		case col < 2:
			return s.muted
		}
		return s.plain
	}
	_, lines := g.lines(s, w)
	return indent(lines)
}

// planLines say what will happen, or why nothing can.
func (p *picker) planLines(e env, w int) []string {
	s := e.styles
	pr := p.profile()
	switch {
	case pr == nil:
		return []string{s.muted.on("There is no profile to choose.")}
	case !built(pr):
		return append(wrap(pr.Summary, w), "", s.muted.on("Planned: it cannot be run yet."))
	case p.err != nil:
		var out []string
		for _, l := range sentences(s, p.err, w) {
			out = append(out, s.bad.on(unflagged(ansi.Strip(l))))
		}
		return out
	case p.preview == nil:
		return []string{s.muted.on("Working out the plan …")}
	}
	v := p.preview
	var out []string
	add := func(label string, k ink, texts ...string) {
		for _, t := range texts {
			out = append(out, labelled(s, 10, label, t, k, w)...)
			label = ""
		}
	}
	for _, t := range v.Warnings {
		out = append(out, labelled(s, 10, "!", t, s.warn, w)...)
	}
	add("Runs", s.plain, v.Tracks...)
	volume := fmt.Sprintf("up to %s", plural(int64(v.Connections), "connection"))
	if v.Bytes > 0 {
		volume = units.Size(v.Bytes) + " of values, " + volume
	}
	add("Writes", s.plain, v.Writes...)
	add("Volume", s.plain, volume)
	if len(v.Deletes) > 0 {
		add("Deletes", s.warn, v.Deletes...)
	} else {
		add("Deletes", s.muted, "nothing; the data stays for the next run")
	}
	req := p.request()
	add("Changes", s.plain, req.Timetable...)
	add("Must hold", s.plain, req.Thresholds...)
	reports := strings.Join(v.Documents, ", ")
	if out, ok := found(v.Run, "out"); ok {
		reports += " to a folder in " + out.Text
	}
	add("Reports", s.plain, reports)
	return out
}
