package dashboard

import (
	"image"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// mouse does with the pointer what keys do: select an operation or a knob, turn a knob
// with its arrows, its slider or the wheel.
func (d *Dashboard) mouse(msg tea.MouseMsg, e screen.Env) {
	if d.prompt != nil || d.progress.Stage == screen.Preparing {
		return
	}
	m := msg.Mouse()
	p := d.rects(e)
	if d.seek.Open && in(p.tune, m.X, m.Y) {
		return // there is nothing to click
	}
	switch msg.(type) {
	case tea.MouseClickMsg:
		if m.Button == tea.MouseLeft {
			d.click(m, p, e)
		}
	case tea.MouseMotionMsg, tea.MouseReleaseMsg:
		d.drag(m, p, e)
		if _, ok := msg.(tea.MouseReleaseMsg); ok {
			d.tuner.drag = 0
		}
	case tea.MouseWheelMsg:
		d.wheel(m, p, e)
	}
}

func (d *Dashboard) click(m tea.Mouse, p panes, e screen.Env) {
	switch {
	case in(p.knobs, m.X, m.Y):
		_, zones := d.knobs(e)
		for _, z := range zones {
			if m.X >= z.from && m.X < z.to {
				d.turn(e, z.knob, z.up, false)
				return
			}
		}
	case in(p.latency, m.X, m.Y) && m.Y == p.latency.Min.Y:
		d.nextAxes()
	case in(p.ops, m.X, m.Y) && m.Y == p.ops.Min.Y:
		d.clickTab(m.X, p.ops)
	case in(p.ops, m.X, m.Y):
		d.clickRow(m.Y-p.ops.Min.Y-2, p.ops)
	case in(p.tune, m.X, m.Y) && m.Y == p.tune.Max.Y-1: // the border names the key that closes it
		d.tuner.open, d.tuner.typing = false, false
	case in(p.tune, m.X, m.Y):
		l, ok := d.tuneLineAt(m, p.tune, e)
		if !ok || l.row < 0 {
			return
		}
		d.tuner.row, d.tuner.typing = l.row, false
		if l.row == 0 {
			d.nextTrack(1)
			return
		}
		if x := m.X - p.tune.Min.X - 1 - l.slider; l.wide > 0 && x >= 0 && x < l.wide {
			d.tuner.drag = l.row
			d.drag(m, p, e)
		}
	}
}

// clickTab switches to the tab whose name in the upper border of the lower panel was
// clicked.
func (d *Dashboard) clickTab(x int, r image.Rectangle) {
	others := d.otherTabs(r.Dx())
	at := r.Max.X - 3 - ansi.StringWidth(others) + len("tab: ")
	for i, name := range strings.Split(strings.TrimPrefix(others, "tab: "), " · ") {
		n := ansi.StringWidth(name)
		if x >= at && x < at+n {
			d.lower, d.scroll = (d.lower+1+tab(i))%tabs, 0
			return
		}
		at += n + ansi.StringWidth(" · ")
	}
}

// clickRow selects the operation of a row of the lower panel; a second click deselects
// it.
func (d *Dashboard) clickRow(row int, r image.Rectangle) {
	if d.lower != tabOps || row < 0 || row >= r.Dy()-3 {
		return
	}
	n := len(d.snap.Ops)
	op := row + max(min(d.op-(r.Dy()-3)+1, n-(r.Dy()-3)), 0)
	if op >= n {
		return
	}
	if op == d.op {
		op = -1
	}
	d.op = op
	d.reselect()
}

func (d *Dashboard) tuneLineAt(m tea.Mouse, r image.Rectangle, e screen.Env) (tuneLine, bool) {
	lines := d.tuneLines(e, r.Dx()-2, r.Dy()-2)
	y := m.Y - r.Min.Y - 1
	if y < 0 || y >= len(lines) {
		return tuneLine{}, false
	}
	return lines[y], true
}

// drag moves the slider that is being dragged.
func (d *Dashboard) drag(m tea.Mouse, p panes, e screen.Env) {
	if d.tuner.drag == 0 || !d.tuner.open {
		return
	}
	for _, l := range d.tuneLines(e, p.tune.Dx()-2, p.tune.Dy()-2) {
		if l.row != d.tuner.drag || l.wide == 0 {
			continue
		}
		k := d.plan.Knobs[l.row-1]
		x := min(max(m.X-p.tune.Min.X-1-l.slider, 0), l.wide-1)
		if widget.Slide(k, k.Get(d.run.Settings(d.tuner.track)), l.wide) == x {
			return // unchanged, so there is no change to log
		}
		d.change(e, k, false, func(float64) float64 { return widget.Slid(k, x, l.wide) })
		return
	}
}

func (d *Dashboard) wheel(m tea.Mouse, p panes, e screen.Env) {
	up := m.Button == tea.MouseWheelUp
	switch {
	case in(p.ops, m.X, m.Y):
		if up {
			d.move(-1)
		} else {
			d.move(1)
		}
	case in(p.tune, m.X, m.Y):
		if l, ok := d.tuneLineAt(m, p.tune, e); ok && l.row > 0 {
			d.tuner.row = l.row
			d.turnRow(e, up, false)
		}
	}
}
