package dashboard

import (
	"image"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// View draws the page.
func (d *Dashboard) View(e screen.Env) string {
	d.narrow, d.small = e.W < 80, widget.SizeOf(e.W, e.H) == widget.Small
	var all []string
	if d.now.progress.Stage == screen.Preparing {
		all = d.lines.preparing(e)
	} else {
		all = d.page.draw(e)
	}
	page := widget.Page(e.W, e.H, append(all, widget.Footer(e.Styles, e.W, d.Keys().Short)))
	if said := d.lines.whole(e); len(said) > 1 { // over what stands above, for the seconds that it takes to read
		page = widget.Laid(page, said, 0, e.H-1-len(said))
	}
	if d.breaks.open {
		return d.breaks.over(e, page)
	}
	if d.coming.open {
		return d.coming.over(e, page)
	}
	return page
}

// page is where the parts of the dashboard are, now that it has its size and they their
// states.
type page struct {
	now     *reading
	against *comparison
	charts  *charts
	lower   *lower
	tuner   *tuner
	search  *searcher
	lines   *lines
}

// aside reports whether there is a panel beside the charts: tuning or a search.
func (p *page) aside() bool { return p.tuner.open || p.search.panel.Open }

// side draws the panel beside the charts.
func (p *page) side(e screen.Env, r image.Rectangle) []string {
	if p.search.panel.Open {
		return p.search.draw(e, r)
	}
	return p.tuner.draw(e, r)
}

// folds reports whether latency is one of the tabs of the lower panel.
func (p *page) folds(e screen.Env) bool {
	return widget.SizeOf(e.W, e.H) == widget.Small && !p.aside()
}

// look is what decides how the page is cut.
func (p *page) contents() contents {
	return contents{
		tuning: p.aside(), lower: p.lower.folded || p.against.chooser.Open, rows: max(len(p.now.snap.Ops), 2), tall: p.lower.tall() || p.against.chooser.Open,
	}
}

// panes returns the rectangles of the parts.
func (p *page) panes(e screen.Env) panes {
	c := p.contents()
	at := layout(e.W, e.H, c)
	if at.ops.Empty() || p.against.chooser.Open {
		return at
	}
	switch p.lower.tab {
	case tabVerdict: // whole sentences
		c.tall, c.needs = true, 4+len(p.now.asked())
	case tabChanges:
		c.tall, c.needs = true, max(len(measure.Acts(p.now.snap.Changes))+len(p.now.snap.Marks), 1)
	default:
		if c.tall {
			c.needs = p.lower.needs(e, at.ops.Dx()-4)
		}
	}
	if c.needs > 0 {
		return layout(e.W, e.H, c)
	}
	return at
}

// draw draws all of the page but the keys.
func (p *page) draw(e screen.Env) []string {
	at := p.panes(e)
	lines := []string{p.lines.status(e)}
	switch {
	case p.aside() && at.size == widget.Small:
		lines = append(lines, p.charts.throughput(e, at)...)
		lines = append(lines, p.side(e, at.tune)...)
		lines = append(lines, p.foot(e, at))
	case p.aside():
		left := append([]string{}, p.charts.throughput(e, at)...)
		if !at.latency.Empty() {
			left = append(left, p.charts.latency(e, at)...)
		}
		left = append(left, p.bottom(e, at)...)
		lines = append(lines, widget.Beside(left, p.side(e, at.tune))...)
		lines = append(lines, p.foot(e, at))
	default:
		left := append([]string{}, p.charts.throughput(e, at)...)
		if !at.latency.Empty() {
			left = append(left, p.charts.latency(e, at)...)
		}
		if !at.ops.Empty() {
			left = append(left, p.bottom(e, at)...)
		}
		if !at.wall.Empty() {
			left = widget.Beside(left, p.lower.wall(e, at))
		}
		lines = append(lines, left...)
		knobs, _ := p.lines.knobs.line(e)
		lines = append(lines, widget.Fit(knobs, e.W))
		if p.charts.cross.On && p.lines.says.prompt == nil {
			lines = append(lines, p.lines.alarm(e, 1)...)
			lines = append(lines, p.charts.read(e.Styles, at, e.W, max(e.H-1-len(lines), 1))...)
		} else {
			lines = append(lines, p.lines.state(e))
			lines = append(lines, p.lines.event(e, max(e.H-1-len(lines), 1))...)
		}
	}
	for len(lines) < e.H-1 {
		lines = append(lines, strings.Repeat(" ", e.W))
	}
	return lines
}

// foot draws the line below a panel beside the charts.
func (p *page) foot(e screen.Env, at panes) string {
	if p.charts.cross.On && p.lines.says.prompt == nil && p.lines.alarm(e, 1) == nil {
		return p.charts.read(e.Styles, at, e.W, 1)[0]
	}
	return p.lines.bottom(e)
}

// bottom draws the list of earlier runs while that is open, else the lower panel.
func (p *page) bottom(e screen.Env, at panes) []string {
	if p.against.chooser.Open {
		return p.against.chooser.Draw(e.Styles, at.ops.Dx(), at.ops.Dy(), e.Now)
	}
	return p.lower.draw(e, at)
}
