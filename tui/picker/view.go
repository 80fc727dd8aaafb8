package picker

import (
	"fmt"
	"image"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// pickerPanes are the rectangles of the picker's panels; one that is not shown is
// empty. On a small terminal only the one with the focus is shown.
type pickerPanes struct {
	panes [panesOfPicker]image.Rectangle
}

// layout cuts the picker.
//
//	title
//	╭ Profiles ───╮╭ Setup ────────╮
//	│             ││               │
//	╰─────────────╯│               │
//	╭ Last runs ──╮╰───────────────╯
//	│             │╭ Plan ─────────╮
//	╰─────────────╯╰───────────────╯
//	keys
//
// Below the setup, the plan has the rows that a form of the main values leaves. On a very wide terminal it is
// beside the setup if those are few, or the form has all values.
func (p *Picker) layout(w, h int) pickerPanes {
	var l pickerPanes
	switch widget.SizeOf(w, h) {
	case widget.TooSmall:
		return l
	case widget.Small:
		l.panes[p.pane] = image.Rect(0, 1, w, h-1)
		return l
	}
	left := min(max(w*42/100, 35), 56)
	if w >= largeFrom {
		left = leastLeft
	}
	if w >= wideFrom {
		left = min(max(w-mostForm-2, leastLeft), mostLeft)
	}
	list := min(len(p.list.all)+11, h-2-6)
	l.panes[paneProfiles] = image.Rect(0, 1, left, 1+list)
	l.panes[paneRuns] = image.Rect(0, 1+list, left, h-1)
	rest := h - 2 - p.form.tallest(min(w-left-2, mostForm)) - 2
	if w >= wideFrom && (p.form.all || rest < wholePlan) {
		left = min(max(w*34/100, leastLeft), mostLeft)
		l.panes[paneProfiles].Max.X, l.panes[paneRuns].Max.X = left, left
		mid := left + (w-left)/2
		l.panes[paneForm], l.panes[panePlan] = image.Rect(left, 1, mid, h-1), image.Rect(mid, 1, w, h-1)
		return l
	}
	plan := min(max((h-2)*4/10, 9), 13)
	if !p.form.all {
		plan = max(plan, min(rest, wholePlan+2))
	}
	l.panes[paneForm] = image.Rect(left, 1, w, h-1-plan)
	l.panes[panePlan] = image.Rect(left, h-1-plan, w, h-1)
	return l
}

// From largeFrom columns on, the left one has leastLeft, in which the last runs have all their figures. From
// wideFrom columns on there is room for three; the left one is mostLeft wide at most. In wholePlan rows of
// two of them, a plan is whole. A form of more than mostForm columns would have values and their origins too far
// apart.
const largeFrom, leastLeft, wideFrom, mostLeft, wholePlan, mostForm = 120, 64, 160, 80, 20, 90

// View draws the page.
func (p *Picker) View(e screen.Env) string {
	s := e.Styles
	l := p.layout(e.W, e.H)
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
		right := draw(paneForm)
		if l.panes[panePlan].Min.Y > 1 {
			right = append(right, draw(panePlan)...)
		} else {
			right = widget.Beside(right, draw(panePlan))
		}
		lines = append(lines, widget.Beside(left, right)...)
	}
	keys := widget.Footer(e.Styles, e.W, p.Keys().Short)
	if p.toast.Text != "" && !p.Typing() { // what is typed needs its keys
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
	return widget.Spread(" "+s.Bold.On("perfbench")+s.Muted.On(" · load tests for data stores"), s.Muted.On("choose a profile, press enter, watch ")+" ", e.W)
}

// panel draws one panel in exactly w×h cells.
func (p *Picker) panel(e screen.Env, at pane, w, h int) []string {
	s := e.Styles
	box := widget.Panel{Title: at.String(), Focused: p.pane == at}
	var lines []string
	switch at {
	case paneProfiles:
		lines = p.list.lines(s, w-2, h-2)
	case paneRuns:
		lines = p.runs.lines(e, w-3, h-2, box.Focused)
		if n := len(p.runs.items()); n > h-2 {
			box.Note = fmt.Sprintf("%d", n)
		}
		if o := p.runs.shelf.Order(); o != kept.Newest {
			box.Title = "Earlier runs by " + o.String()
		}
	case paneForm:
		if pr := p.list.selected(); pr != nil {
			box.Title = pr.Title
		}
		if x := p.form.find; x != nil {
			box.Title = x.title(p.form.rows)
		}
		lines = p.form.draw(s, min(w-2, mostForm), h-2, box.Focused)
		p.form.scrollTo(h - 2)
		if n := len(lines); n > h-2 {
			box.Note = fmt.Sprintf("%d–%d of %d", p.form.top+1, min(p.form.top+h-2, n), n)
		}
		lines = lines[min(p.form.top, len(lines)):]
		if p.forecast.err == nil && p.forecast.preview != nil {
			box.Foot = "enter starts"
			if p.pane != paneProfiles {
				box.Foot = "S starts"
			}
		}
	case panePlan:
		f := p.forecast
		box.Title = f.title()
		parts := f.parts(s, p.list.selected(), p.drafts.request(), s.TextWidth(w-4))
		whole := true
		if lines = slices.Concat(parts...); !p.form.all && !s.Spoken {
			lines, whole = brief(parts, h-2)
		}
		if !whole {
			box.Foot = "ctrl+d shows all"
		}
		lines = widget.Indent(lines)
		all := len(lines)
		lines = widget.Windowed(lines, &f.scroll, h-2)
		if f.long = all > h-2; f.long {
			box.Note = fmt.Sprintf("%d–%d of %d", f.scroll+1, f.scroll+len(lines), all)
		}
	}
	return box.Draw(s, w, h, lines)
}
