package dashboard

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// side is the width of the figures beside a chart on large screens.
const side = 22

// chartPart is a chart ready to be framed.
type chartPart struct {
	dots  []float64
	whole int // columns of dots from here on are of a bucket in progress
	top   float64
	low   string // label of the bottom, "0" unless logarithmic
	label func(float64) string
	ink   widget.Ink
}

// chartKey is what both charts depend on: finished seconds, not snapshots.
func (d *Dashboard) chartKey(e screen.Env, r image.Rectangle) panelKey {
	k := panelKey{
		number: int64(d.fig.second), changes: len(d.snap.Changes), rect: r, styles: e.Styles, op: d.op, marks: len(d.snap.Marks),
		log: d.logAxis, tuning: d.aside(),
	}
	if d.fig.warmup {
		k.text = "warm-up"
	}
	return k
}

func (d *Dashboard) throughput(e screen.Env, p panes) []string {
	return d.cache.throughput.get(d.chartKey(e, p.throughput), func() []string {
		a := d.axis(chartCells(p, p.throughput))
		s := a.rate(d.snap, d.op)
		part := chartPart{dots: a.dots(s), whole: a.wholeDots(s), top: d.scaleT.Top, low: "0", label: units.Number, ink: e.Styles.Series[0]}
		f := d.fig
		pane := widget.Panel{Title: "Throughput" + d.ofOp() + "  " + d.unit() + "/s", Note: d.since()}
		var beside [][3]string
		switch {
		case p.size == widget.Small:
			pane = widget.Panel{Title: d.rateText(f.rate) + d.ofOp(), Note: d.since()}
		case p.size == widget.Medium || d.aside():
			pane.Title = "Throughput" + d.ofOp() + "  " + d.rateText(f.rate)
		default:
			beside = [][3]string{{"now", units.Number(f.rate), "b"}, {}, {"mean", units.Number(f.mean), ""}, {"peak", units.Number(f.peak), ""}}
		}
		if p.latency.Empty() {
			pane.Under = d.timeline(a, p.throughput.Dx(), labelWidth(p))
		}
		return d.drawChart(e, p, p.throughput, pane, a, part, beside)
	})
}

func (d *Dashboard) latency(e screen.Env, p panes) []string {
	return d.cache.latency.get(d.chartKey(e, p.latency), func() []string {
		a := d.axis(chartCells(p, p.latency))
		s := a.latency(d.snap, d.op)
		part := chartPart{dots: a.dots(s), whole: a.wholeDots(s), top: d.scaleL.Top, low: "0", label: latencyLabel, ink: e.Styles.Series[1]}
		if d.logAxis {
			part = logarithmic(part)
		}
		l := d.fig.latency
		if l.Count == 0 {
			l.P99 = d.fig.lastP99
		}
		brief := fmt.Sprintf("p50 %s   p99 %s   max %s", widget.Nanos(l.P50), widget.Nanos(l.P99), widget.Nanos(l.Max))
		axis := ""
		if d.logAxis {
			axis = "  log"
		}
		pane := widget.Panel{Title: "Latency" + d.ofOp() + "  p99" + d.ofSlowest() + axis, Under: d.timeline(a, p.latency.Dx(), labelWidth(p))}
		var beside [][3]string
		switch {
		case p.size == widget.Small:
			pane.Title = brief + axis
		case p.size == widget.Medium || d.aside():
			pane.Title = "Latency" + d.ofOp() + "  " + brief + axis
			if ansi.StringWidth(pane.Title)+6 > p.latency.Dx() {
				pane.Title = strings.ReplaceAll(brief, "   ", "  ") + axis
			}
		default:
			beside = [][3]string{{"p50", widget.Nanos(l.P50), ""}, {"p90", widget.Nanos(l.P90), ""}, {"p99", widget.Nanos(l.P99), "b"}, {"p99.9", widget.Nanos(l.P999), ""}, {"max", widget.Nanos(l.Max), ""}}
		}
		return d.drawChart(e, p, p.latency, pane, a, part, beside)
	})
}

// logarithmic turns a chart's values into those of an axis of three decades.
func logarithmic(c chartPart) chartPart {
	lo, hi := c.top/1000, c.top
	dots := make([]float64, len(c.dots))
	for i, v := range c.dots {
		dots[i] = chart.Log(v, lo, hi)
	}
	linear := c.label
	c.dots, c.top, c.low = dots, 1, linear(lo)
	c.label = func(v float64) string { return linear(lo * math.Pow(hi/lo, v)) }
	return c
}

func latencyLabel(v float64) string { return units.Duration(time.Duration(v)) }

func (d *Dashboard) ofOp() string {
	if d.op < 0 || d.op >= len(d.snap.Ops) {
		return ""
	}
	return " · " + d.opName(d.snap.Ops[d.op].Operation)
}

func (d *Dashboard) ofSlowest() string {
	if d.op >= 0 || len(d.snap.Ops) < 2 {
		return ""
	}
	return " of the slowest operation"
}

func (d *Dashboard) opName(o measure.Operation) string {
	if len(d.tracks) > 1 {
		return o.Track + "." + o.Op
	}
	return o.Op
}

// since says which stretch the figures are of.
func (d *Dashboard) since() string {
	switch {
	case d.fig.warmup:
		return "warm-up, not counted"
	case d.fig.since > 0:
		return "figures since " + widget.Clock(d.fig.since)
	}
	return ""
}

// labelWidth is the width of the labels of the vertical axis.
func labelWidth(p panes) int {
	if p.size == widget.Small {
		return 7
	}
	return 8
}

// chartCells is how many columns the line of a chart has.
func chartCells(p panes, r image.Rectangle) int {
	cells := r.Dx() - 2 - labelWidth(p) - 2 - 1
	if p.size == widget.Large && p.tune.Empty() {
		cells -= side
	}
	return cells
}

// wholeDots is the first column of dots of the bucket in progress.
func (a axis) wholeDots(s series) int {
	return int((float64(s.first+s.whole)*float64(a.bucket) - float64(a.from)) / a.perDot())
}

// drawChart frames a chart: labels, line, marks, figures at its side.
func (d *Dashboard) drawChart(e screen.Env, p panes, r image.Rectangle, pane widget.Panel, a axis, c chartPart, beside [][3]string) []string {
	h, lw := r.Dy()-2, labelWidth(p)
	rows := chart.Braille(c.dots, a.cells, h, c.top)
	rows = chart.Rule(rows, a.changeCells(measure.Folded(d.snap.Changes)), '┊')
	rows = chart.Rule(rows, d.markCells(a), '╎')
	warm, fresh := a.cell(0), c.whole/2
	lines := make([]string, 0, h)
	for y, row := range rows {
		label := ""
		switch {
		case y == h-1:
			label = c.low
		case y == 0:
			label = c.label(c.top)
		case h >= 5 && y == h/2:
			label = c.label(c.top / 2)
		}
		line := e.Styles.Muted.On(widget.FitRight(label, lw)) + e.Styles.Line.On(" ┤") + paint(row, warm, fresh, c.ink, e.Styles)
		if y < len(beside) {
			if b := beside[y]; b[0] != "" {
				value := widget.FitRight(b[1], 11)
				if b[2] != "" {
					value = e.Styles.Bold.On(value)
				}
				line += e.Styles.Muted.On(widget.FitRight(b[0], 9)) + value
			}
		}
		lines = append(lines, line)
	}
	return pane.Draw(e.Styles, r.Dx(), r.Dy(), lines)
}

// paint colours a row of a chart: what is left of warm and right of fresh is
// dimmed, marks have the colour of lines.
func paint(row string, warm, fresh int, line widget.Ink, s *widget.Styles) string {
	cells := []rune(row)
	kind := func(x int) int {
		switch {
		case cells[x] == '┊' || cells[x] == '╎':
			return 1
		case x < warm || x >= fresh:
			return 2
		}
		return 3
	}
	inks := [...]widget.Ink{1: s.Past, 2: s.Past, 3: line}
	var b strings.Builder
	for x := 0; x < len(cells); {
		k, from := kind(x), x
		for x < len(cells) && kind(x) == k {
			x++
		}
		text := string(cells[from:x])
		if strings.TrimSpace(text) == "" {
			b.WriteString(text)
		} else {
			b.WriteString(inks[k].On(text))
		}
	}
	return b.String()
}

func (d *Dashboard) markCells(a axis) []int {
	var out []int
	for _, m := range d.snap.Marks {
		out = append(out, a.cell(m.At.Seconds()))
	}
	return out
}

// timeline is the lower border of the last chart: moments of the run, and the
// user's marks.
func (d *Dashboard) timeline(a axis, w, labels int) string {
	cells := []rune(strings.Repeat("─", max(w-2, 0)))
	x0 := labels + 2
	step := 1
	for _, s := range []int{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 86400} {
		if step = s; float64(s)/float64(a.span)*float64(a.cells) >= 12 {
			break
		}
	}
	put := func(x int, text string) {
		if r := []rune(text); x >= 1 && x+len(r) < len(cells) {
			copy(cells[x:], r)
		}
	}
	for t := floorDiv(a.from+step-1, step) * step; t <= a.from+a.span; t += step {
		text := " " + widget.Clock(time.Duration(t)*time.Second) + " "
		x := x0 + a.cell(float64(t))
		if x < x0+a.cells {
			put(x-len([]rune(text))/2, text)
		}
	}
	marks := d.markCells(a)
	slices.Sort(marks)
	for _, m := range marks {
		if m >= 0 && m < a.cells {
			put(x0+m, "◆")
		}
	}
	return string(cells)
}
