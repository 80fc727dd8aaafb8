package dashboard

import (
	"image"

	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/widget"
)

// look is what the layout of the dashboard depends on in addition to the size.
type contents struct {
	// tuning means that the tuning panel is open.
	tuning bool
	// lower means that a small screen shows the lower panel instead of latency.
	lower bool
	// rows is how many rows the lower panel would like to show, whatever its tab is.
	rows int
	// tall gives the lower panel more room where it needs more lines than it would like of any tab. needs is 0 of
	// a picture, which fills what there is.
	tall  bool
	needs int
}

// panes are the rectangles of the dashboard. One that is not shown is empty.
type panes struct {
	size                             widget.Size
	status, throughput, latency, ops image.Rectangle
	tune, knobs, state, event, keys  image.Rectangle
	// wall is the area beside the charts of a very large screen, which shows the other tabs
	// at once, in this many columns.
	wall    image.Rectangle
	columns int
}

// layout cuts the dashboard into panes; pure. Together they fill the terminal.
//
//	status                      status
//	╭ throughput ───────────╮   ╭ throughput ╮╭ tune ──╮
//	╭ latency ──────────────╮   ╭ latency ───╮│        │
//	╭ ops ──────────────────╮   ╭ ops ───────╮╰────────╯
//	knobs                       state
//	state                       keys
//	event
//	keys
func layout(w, h int, l contents) panes {
	p := panes{size: widget.SizeOf(w, h)}
	if p.size == widget.TooSmall {
		return p
	}
	row := func(y int) image.Rectangle { return image.Rect(0, y, w, y+1) }
	p.status, p.keys = row(0), row(h-1)
	if l.tuning {
		return tuningLayout(p, w, h, l)
	}
	bottom := h - 4 // first row below the panels
	p.knobs, p.state, p.event = row(h-4), row(h-3), row(h-2)
	if p.size == widget.Small {
		bottom = h - 5
		p.knobs, p.state, p.event = row(h-5), row(h-4), row(h-3)
	}
	if w >= wallFrom.X && h >= wallFrom.Y {
		p.columns = min(max((w-leastCharts)/leastColumn, 1), mostColumns)
		wide := min(w-leastCharts, p.columns*mostColumn)
		p.wall = image.Rect(w-wide, 1, w, bottom)
		w -= wide
	}
	charts := bottom
	if p.size == widget.Small {
		if l.lower {
			charts = 1 + (bottom-1)/2
			p.throughput = image.Rect(0, 1, w, charts)
			p.ops = image.Rect(0, charts, w, bottom)
			return p
		}
	} else {
		charts -= opsHeight(p.size, h, l.rows)
		p.ops = image.Rect(0, charts, w, bottom)
	}
	p.charts(w, charts, l)
	return p
}

// charts divides the rows from 1 to end between the two charts. What a tall lower panel needs it takes from the end of
// the latency chart, of which leastLatency rows are left, so that the other stays where it is from tab to tab. Only a
// picture takes the place of the latency chart: it shows latency itself.
func (p *panes) charts(w, end int, l contents) {
	mid := 1 + end/2
	p.throughput = image.Rect(0, 1, w, mid)
	if l.tall && !p.ops.Empty() {
		if l.needs == 0 {
			p.ops.Min.Y = mid
			return
		}
		end = min(end, max(p.ops.Max.Y-l.needs-frame, mid+leastLatency))
		p.ops.Min.Y = end
	}
	p.latency = image.Rect(0, mid, w, end)
}

// leastLatency is the least height of the latency chart above a tall panel, mostOps how many rows
// the table of operations has on a terminal that is not large, frame what a panel has around its rows: its
// head and the border.
const leastLatency, mostOps, frame = 6, 4, 3

// From size wallFrom on there is room for a wall.
var wallFrom = image.Pt(170, 45)

// Charts beside a wall are leastCharts wide or more. A column of the wall is from leastColumn
// to mostColumn wide, and there are mostColumns at most.
const leastCharts, leastColumn, mostColumn, mostColumns = 104, 64, 88, 2

// A panel beside the charts is from leastAside to mostAside wide, and as wide as a column of a wall
// where there is room for one.
const leastAside, mostAside = 38, 50

func tuningLayout(p panes, w, h int, l contents) panes {
	p.state = image.Rect(0, h-2, w, h-1)
	if p.size == widget.Small {
		charts := 6 + (h-widget.MinHeight)/3
		p.throughput, p.tune = image.Rect(0, 1, w, charts), image.Rect(0, charts, w, h-2)
		return p
	}
	most := mostAside
	if w >= wallFrom.X {
		most = mostColumn
	}
	x := w - min(max(w*2/5, leastAside), most)
	p.tune = image.Rect(x, 1, w, h-2)
	charts := h - 2 - opsHeight(p.size, h, l.rows)
	p.ops = image.Rect(0, charts, x, h-2)
	p.charts(x, charts, l)
	return p
}

// opsHeight returns the height of the lower panel: rows, a header and the border, but
// never so much that the charts become too small. On a tall screen, it has room for mostOps rows in any case, so
// that the charts stay where they are from tab to tab.
func opsHeight(s widget.Size, h, rows int) int {
	least, most := 1, mostOps
	if s == widget.Large {
		least, most = min(h/10, mostOps), max(mostOps, h/4)
	}
	return min(max(rows, least), most) + frame
}

// panelKey holds everything that a panel of the dashboard depends on: when it is
// unchanged, so are its lines.
type panelKey struct {
	number  int64 // of the snapshot, or the last finished second
	errors  int64
	changes int
	rect    image.Rectangle
	styles  *widget.Styles
	op      int
	tab     tab
	scroll  int
	marks   int
	axes    axes
	tuning  bool
	text    string
	cross   chart.Crosshair
}

// cached holds the lines of a panel as last drawn.
type cached struct {
	key   panelKey
	lines []string
}

// get returns the lines for a key, drawing them if the key has changed.
func (c *cached) get(k panelKey, draw func() []string) []string {
	if c.lines == nil || c.key != k {
		c.key, c.lines = k, draw()
	}
	return c.lines
}
