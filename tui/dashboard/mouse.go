package dashboard

import (
	"image"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// mouse does with the pointer what keys do: select an operation or a knob, turn a knob
// with its arrows, its slider or the wheel.
func (d *Dashboard) mouse(msg tea.MouseMsg, e screen.Env) {
	if d.says.prompt != nil || d.breaks.open || d.coming.open || d.now.progress.Stage == screen.Preparing {
		return
	}
	m := msg.Mouse()
	p := d.page.panes(e)
	if d.search.panel.Open && in(p.tune, m.X, m.Y) {
		return // there is nothing to click
	}
	switch msg.(type) {
	case tea.MouseClickMsg:
		if m.Button == tea.MouseLeft {
			d.click(m, p, e)
		}
	case tea.MouseMotionMsg, tea.MouseReleaseMsg:
		for _, r := range []image.Rectangle{p.throughput, p.latency} {
			if d.tuner.dragged == 0 && in(r, m.X, m.Y) && m.Button == tea.MouseLeft && d.charts.cross.On {
				d.charts.point(p, r, m.X)
			}
		}
		d.tuner.drag(m, p.tune, e)
		if _, ok := msg.(tea.MouseReleaseMsg); ok {
			d.tuner.dragged = 0
		}
	case tea.MouseWheelMsg:
		d.wheel(m, p, e)
	}
}

func (d *Dashboard) click(m tea.Mouse, p panes, e screen.Env) {
	switch {
	case in(p.knobs, m.X, m.Y):
		_, zones := d.knobs.line(e)
		for _, z := range zones {
			if m.X >= z.from && m.X < z.to {
				d.knobs.turn(e, z.knob, z.up, false)
				return
			}
		}
	case in(p.latency, m.X, m.Y) && m.Y == p.latency.Min.Y:
		d.charts.nextAxes()
	case in(p.throughput, m.X, m.Y):
		d.charts.point(p, p.throughput, m.X)
	case in(p.latency, m.X, m.Y):
		d.charts.point(p, p.latency, m.X)
	case in(p.ops, m.X, m.Y) && m.Y == p.ops.Min.Y:
		d.lower.clickTab(m.X, p.ops)
	case in(p.ops, m.X, m.Y):
		d.lower.clickRow(m.Y-p.ops.Min.Y-2, p.ops)
	case in(p.tune, m.X, m.Y) && m.Y == p.tune.Max.Y-1: // the border names the key that closes it
		d.tuner.close()
	case in(p.tune, m.X, m.Y):
		l, ok := d.tuner.lineAt(m, p.tune, e)
		if !ok || l.row < 0 {
			return
		}
		d.tuner.row, d.tuner.typing = l.row, false
		if l.row == 0 {
			d.knobs.nextTrack(1)
			return
		}
		if x := m.X - p.tune.Min.X - 1 - l.slider; l.wide > 0 && x >= 0 && x < l.wide {
			d.tuner.dragged = l.row
			d.tuner.drag(m, p.tune, e)
		}
	}
}

func (d *Dashboard) wheel(m tea.Mouse, p panes, e screen.Env) {
	switch {
	case in(p.ops, m.X, m.Y):
		d.lower.move(widget.Wheel(m, 1))
	case in(p.tune, m.X, m.Y):
		if l, ok := d.tuner.lineAt(m, p.tune, e); ok && l.row > 0 {
			d.tuner.row = l.row
			d.tuner.turnRow(e, m.Button == tea.MouseWheelUp, false)
		}
	}
}

func in(r image.Rectangle, x, y int) bool { return image.Pt(x, y).In(r) }
