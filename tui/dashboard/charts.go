package dashboard

import (
	"cmp"
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

// axes selects which scales are logarithmic.
type axes int

const (
	linear axes = iota
	logLatency
	logBoth
)

func (d *Dashboard) nextAxes() { d.axes = (d.axes + 1) % (logBoth + 1) }

// chartKey is what both charts depend on: the contents of their timelines rather than
// snapshots.
func (d *Dashboard) chartKey(e screen.Env, r image.Rectangle) panelKey {
	k := panelKey{
		number: int64(d.fig.drawn), changes: len(d.snap.Changes), rect: r, styles: e.Styles, op: d.op, marks: len(d.snap.Marks),
		axes: d.axes, tuning: d.aside(),
	}
	if d.fig.warmup {
		k.text = "warm-up"
	}
	if d.earlier != nil {
		k.text += d.earlier.ID
	}
	return k
}

func (d *Dashboard) throughput(e screen.Env, p panes) []string {
	return d.cache.throughput.get(d.chartKey(e, p.throughput), func() []string {
		a := d.axis(chartCells(p, p.throughput))
		c := d.rates(a, p.throughput.Dy()-2)
		f := d.fig
		peak := f.peak(d.snap, d.op, a, a.Rate(d.snap, d.op))
		pane := widget.Panel{Title: "Throughput" + d.ofOp() + "  " + d.unit() + "/s" + logWord(c.Log)}
		var beside [][3]string
		switch {
		case p.size == widget.Small:
			pane = widget.Panel{Title: d.rateText(f.rate) + d.ofOp() + logWord(c.Log)}
		case p.size == widget.Medium || d.aside():
			pane.Title = "Throughput" + d.ofOp() + "  " + d.rateText(f.rate) + logWord(c.Log)
		default:
			beside = [][3]string{{"now", units.Number(f.rate), "b"}, {}, {"mean", units.Number(f.mean), ""}, {"peak", units.Number(peak), ""}}
		}
		pane.Note = noteFor(pane.Title, p.throughput.Dx(), d.since(), d.dimmed())
		if p.latency.Empty() {
			pane.Under = d.timeline(a, p.throughput.Dx(), labelWidth(p))
		}
		return d.drawChart(e, p, p.throughput, pane, c, beside)
	})
}

func (d *Dashboard) latency(e screen.Env, p panes) []string {
	return d.cache.latency.get(d.chartKey(e, p.latency), func() []string {
		a := d.axis(chartCells(p, p.latency))
		c := d.bands(a, p.latency.Dy()-2)
		l := d.fig.latency
		if l.Count == 0 {
			l.P99 = d.fig.lastP99
		}
		brief := fmt.Sprintf("p50 %s   p99 %s   max %s", widget.Nanos(l.P50), widget.Nanos(l.P99), widget.Nanos(l.Max))
		axis := logWord(c.Log)
		pane := widget.Panel{Title: "Latency" + d.ofOp() + "  p50 to p99" + d.ofSlowest() + ", max" + axis, Under: d.timeline(a, p.latency.Dx(), labelWidth(p))}
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
		pane.Note = noteFor(pane.Title, p.latency.Dx(), d.worstOf(), d.since())
		return d.drawChart(e, p, p.latency, pane, c, beside)
	})
}

// logWord returns the note for the title of a logarithmic axis.
func logWord(is bool) string {
	if is {
		return "  log"
	}
	return ""
}

// apart lists the operations that charts show separately. It is nil if they show the
// selected one, or all as one because there are too many.
func (d *Dashboard) apart() []int {
	var out []int
	for i := range d.snap.Ops {
		if d.snap.Counts(i) {
			out = append(out, i)
		}
	}
	if d.op >= 0 || len(out) < 2 || len(out) > len(widget.Styles{}.Series) {
		return nil
	}
	return out
}

// hue returns the series whose colour an operation has everywhere.
func (d *Dashboard) hue(op int) int { return max(op, 0) % len(widget.Styles{}.Series) }

// plotted returns a plot with everything but its values.
func (d *Dashboard) plotted(a Axis, rows int, label func(float64) string) *Plot {
	c := &Plot{Cells: a.Cells, Rows: rows, Label: label, Warm: a.Cell(0)}
	put := func(at time.Duration, sign rune, name string) {
		c.Moments = append(c.Moments, Moment{Cell: a.Cell(at.Seconds()), Sign: sign, Name: name})
	}
	for i, ph := range d.snap.Ran {
		if i > 0 {
			put(ph.From, '╎', ph.Name)
		}
	}
	for _, m := range d.snap.Marks {
		put(m.At, '╎', m.Note)
	}
	changes := measure.Folded(d.snap.Changes)
	for i, m := range changes {
		name := changedTo(d.plan, m)
		if i+1 < len(changes) && changes[i+1].Name == m.Name && changes[i+1].At-m.At <= gap {
			name = "" // the next press of the same key carries the name
		}
		put(m.At, '┊', name)
	}
	return c
}

// light dims what is not in the window of the figures.
func (d *Dashboard) light(c *Plot, a Axis, s Series) {
	from, end := a.Lit(s, d.fig.from, d.fig.to)
	c.Warm, c.Fresh = max(c.Warm, from), end
}

// unnamed keeps only the rules of moments, because another chart shows their names.
func unnamed(c *Plot) *Plot {
	for i := range c.Moments {
		c.Moments[i].Name = ""
	}
	return c
}

// rates returns the throughput chart: the rates of the operations, stacked.
func (d *Dashboard) rates(a Axis, rows int) *Plot {
	c := d.plotted(a, rows, units.Number)
	whole := a.Rate(d.snap, d.op)
	all := a.Dots(whole)
	d.light(c, a, whole)
	c.Areas = []Area{{To: all, Series: d.hue(d.op)}}
	if ops := d.apart(); ops != nil {
		c.Areas = stacked(all, ops, func(op int) []float64 { return a.Dots(a.Rate(d.snap, op)) })
	}
	for x, v := range a.Dots(a.Failures(d.snap, d.op)) {
		if v > 0 && (len(c.Failed) == 0 || c.Failed[len(c.Failed)-1] != x/2) {
			c.Failed = append(c.Failed, x/2)
		}
	}
	if d.earlier != nil && d.op < 0 {
		c.Ghost = d.earlier.Rates(a.Moments())
	}
	c.High = max(d.scaleT.Top, chart.Nice(chart.Robust(c.Ghost)))
	if c.Log = d.axes == logBoth; c.Log {
		c.Low, c.High = chart.Decades(lowest(whole.Vals), chart.Peak(whole.Vals))
	}
	return c
}

// stacked returns the areas of operations, stacked, which together reach as high as
// all; the last is in front, so that each shows the part above the one before.
func stacked(all []float64, ops []int, rate func(op int) []float64) []Area {
	sums := make([]float64, len(all))
	each := make([][]float64, len(ops))
	for i, op := range ops {
		each[i] = rate(op)
		for x, v := range each[i] {
			if v > 0 {
				sums[x] += v
			}
		}
	}
	out := make([]Area, len(ops))
	upTo := make([]float64, len(all))
	for i, op := range ops {
		to := make([]float64, len(all))
		for x, v := range each[i] {
			if v > 0 {
				upTo[x] += v
			}
			if to[x] = all[x] * upTo[x] / sums[x]; sums[x] == 0 {
				to[x] = all[x]
			}
		}
		out[len(ops)-1-i] = Area{To: to, Series: op % 4}
	}
	return out
}

// bands returns the latency chart: a band from p50 to p99, with the maximum above.
func (d *Dashboard) bands(a Axis, rows int) *Plot {
	c := unnamed(d.plotted(a, rows, latencyLabel))
	whole := a.Latency(d.snap, d.op)
	all := a.Dots(whole)
	d.light(c, a, whole)
	c.Above = a.Dots(a.Times(d.snap, d.op, func(p measure.Point) int64 { return p.ResponseMax }))
	c.Pending, c.Alarm = a.Dots(a.Pending(d.snap, d.op)), float64(time.Second)
	for x, v := range c.Above { // the slowest may be another operation of the track
		if c.Pending[x] < 2*v {
			c.Pending[x] = math.NaN()
		}
	}
	ops := d.apart()
	if ops == nil {
		ops = []int{d.op}
	}
	low := math.Inf(1)
	for _, op := range ops {
		b := Area{From: a.Dots(a.Typical(d.snap, op)), To: a.Dots(a.Latency(d.snap, op)), Series: d.hue(op)}
		c.Areas, low = append(c.Areas, b), min(low, lowest(b.From))
	}
	slices.SortStableFunc(c.Areas, func(x, y Area) int { return cmp.Compare(chart.Peak(y.To), chart.Peak(x.To)) })
	if d.earlier != nil && d.op < 0 {
		c.Ghost = d.earlier.Slowest(a.Moments())
	}
	c.High = max(d.scaleL.Top, chart.Nice(chart.Robust(c.Ghost)))
	if c.Log = d.axes != linear; c.Log {
		c.Low, c.High = chart.Decades(low, max(chart.Peak(c.Above), chart.Peak(all)))
	}
	return c
}

// lowest returns the smallest value above 0.
func lowest(vals []float64) float64 {
	low := math.Inf(1)
	for _, v := range vals {
		if v > 0 {
			low = min(low, v)
		}
	}
	return low
}

func latencyLabel(v float64) string { return units.Duration(time.Duration(v)) }

func (d *Dashboard) ofOp() string {
	if d.op < 0 || d.op >= len(d.snap.Ops) {
		return ""
	}
	return " · " + d.opName(d.snap.Ops[d.op].Operation)
}

func (d *Dashboard) ofSlowest() string {
	if d.op >= 0 || len(d.snap.Ops) < 2 || d.apart() != nil {
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

// dimmed names the earlier run behind the charts.
func (d *Dashboard) dimmed() string {
	if d.earlier == nil || d.op >= 0 {
		return ""
	}
	return "dim: " + d.earlier.ID
}

// worstOf says that the latencies are of several operations.
func (d *Dashboard) worstOf() string {
	if d.op >= 0 || d.fig.of < 2 {
		return ""
	}
	return fmt.Sprintf("worst of %d ops", d.fig.of)
}

// noteFor joins as many notes as fit beside a title, the first ones first.
func noteFor(title string, width int, notes ...string) (out string) {
	for _, n := range notes {
		next := strings.TrimPrefix(out+" · "+n, " · ")
		if n != "" && ansi.StringWidth(title)+ansi.StringWidth(next)+8 <= width {
			out = next
		}
	}
	return out
}

// since names the window of the figures; empty: all that was measured so far.
func (d *Dashboard) since() string {
	switch {
	case d.fig.warmup:
		return "warm-up, not counted"
	case d.fig.to != open:
		return "figures " + widget.Clock(d.fig.from) + " to " + widget.Clock(d.fig.to)
	case d.fig.from > 0:
		return "figures since " + widget.Clock(d.fig.from)
	}
	return ""
}

// labelWidth returns the width of the labels of the vertical axis.
func labelWidth(p panes) int {
	if p.size == widget.Small {
		return 7
	}
	return 8
}

// chartCells returns the number of columns of a chart's line.
func chartCells(p panes, r image.Rectangle) int {
	cells := r.Dx() - 2 - labelWidth(p) - 2 - 1
	if p.size == widget.Large && p.tune.Empty() {
		cells -= side
	}
	return cells
}

// drawChart frames a chart: scale labels, plot area, figures at its side.
func (d *Dashboard) drawChart(e screen.Env, p panes, r image.Rectangle, pane widget.Panel, c *Plot, beside [][3]string) []string {
	lw := labelWidth(p)
	lines := scaled(e.Styles, lw, c.Ticks(), c.Draw(e.Styles))
	for y := range lines {
		if y < len(beside) {
			if b := beside[y]; b[0] != "" {
				value := widget.FitRight(b[1], 11)
				if b[2] != "" {
					value = e.Styles.Bold.On(value)
				}
				lines[y] += e.Styles.Muted.On(widget.FitRight(b[0], 9)) + value
			}
		}
	}
	return pane.Draw(e.Styles, r.Dx(), r.Dy(), lines)
}

func (d *Dashboard) markCells(a Axis) []int {
	var out []int
	for _, m := range d.snap.Marks {
		out = append(out, a.Cell(m.At.Seconds()))
	}
	return out
}

// timeline draws the lower border of the last chart: moments of the run, and the user's
// marks.
func (d *Dashboard) timeline(a Axis, w, labels int) string {
	cells := []rune(strings.Repeat("─", max(w-2, 0)))
	x0 := labels + 2
	put := func(x int, text string) {
		if r := []rune(text); x >= 1 && x+len(r) < len(cells) {
			copy(cells[x:], r)
		}
	}
	for _, t := range a.Round() {
		text := " " + widget.Clock(time.Duration(t)*time.Second) + " "
		x := x0 + a.Cell(float64(t))
		if x < x0+a.Cells {
			put(x-len([]rune(text))/2, text)
		}
	}
	marks := d.markCells(a)
	slices.Sort(marks)
	for _, m := range marks {
		if m >= 0 && m < a.Cells {
			put(x0+m, "◆")
		}
	}
	return string(cells)
}
