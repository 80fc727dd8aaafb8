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
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// side is the width of the figures beside a chart on large screens.
const side = 22

// charts are throughput and latency over time: their scales, and how they were drawn.
type charts struct {
	now     *reading
	sel     *selection
	against *comparison
	axes    axes
	// pressed says that the user chose the axes; else the times get a logarithmic one where they need it.
	pressed bool
	// steep are the operations whose times have needed that, -1 for all: to look at another one meanwhile
	// does not take it back.
	steep map[int]bool
	// scaleT and scaleL are the scales of throughput and latency.
	scaleT, scaleL                ceiling
	throughputPanel, latencyPanel cached
	cross                         chart.Crosshair
}

// ceiling is what a scale has room for.
type ceiling struct {
	chart.Ceiling
	// from is the moment from which on values set it.
	from time.Duration
}

// begin has values from a moment on set the ceiling; where that is another than before, it starts anew.
func (c *ceiling) begin(from time.Duration) {
	if from != c.from {
		*c = ceiling{from: from}
	}
}

// axes selects which scales are logarithmic.
type axes int

const (
	linear axes = iota
	logLatency
	logBoth
)

func (ch *charts) nextAxes() { ch.axes, ch.pressed = (ch.axes+1)%(logBoth+1), true }

// suit makes the axis of the times logarithmic where they need that. It stays so: a chart that went back and forth would
// be hard to read.
func (ch *charts) suit(p50, p99, most Series) {
	whole := min(p99.Whole, most.Whole)
	if ch.pressed || ch.axes != linear || whole-max(-p99.First, 0) < chart.Firm {
		return
	}
	if chart.Steep(p50.Vals[:whole], p99.Vals[:whole], most.Vals[:whole]) {
		ch.axes = logLatency
		if ch.steep == nil {
			ch.steep = map[int]bool{}
		}
		ch.steep[ch.sel.op] = true
	}
}

// key is what both charts depend on: the contents of their timelines rather than
// snapshots.
func (ch *charts) key(e screen.Env, p panes, r image.Rectangle) panelKey {
	k := panelKey{
		number: int64(ch.sel.fig.second), changes: len(ch.now.snap.Changes), rect: r, styles: e.Styles, op: ch.sel.op, marks: len(ch.now.snap.Marks),
		axes: ch.axes, tuning: !p.tune.Empty(),
	}
	if k.text = ch.sel.early(); ch.sel.fig.warmup {
		k.text += "warm-up"
	}
	if forms := ch.sel.answered(); forms != nil {
		k.text += forms[0]
	}
	if ch.against.earlier != nil {
		k.text += ch.against.earlier.ID
	}
	if ch.now.searching() {
		k.text += "searching"
	}
	k.cross = ch.cross
	return k
}

func (ch *charts) throughput(e screen.Env, p panes) []string {
	return ch.throughputPanel.get(ch.key(e, p, p.throughput), func() []string {
		a := ch.now.axis(chartCells(p, p.throughput))
		c := ch.rates(a, p.throughput.Dy()-2)
		lane := c.Lane(e.Styles)
		if lane != "" && p.throughput.Dy() > 4 {
			c.Rows--
			c.fit()
		}
		f, at := ch.sel.fig, ch.cross.Clock(a.Bucket)
		if at != "" {
			f.rate, _ = ch.figuresThen(a, ch.sel.op)
		}
		marks := logWord(c.Log) + barWord(a.Bucket)
		pane := widget.Panel{Title: "Throughput" + ch.sel.ofOp() + "  " + ch.sel.unit() + "/s" + marks}
		var beside [][3]string
		since, early, now := ch.sel.since(), ch.sel.early(), ch.sel.rateText(f.rate)
		op, other, unit, apart := ch.now.beside()
		if apart = apart && at == "" && ch.sel.op < 0; apart { // what counts is over
			now = ch.now.opName(ch.now.snap.Ops[op].Operation) + " " + units.Number(other) + " " + unit
		}
		switch {
		case p.size == widget.Small:
			since = cmp.Or(early, ch.sel.second())
			pane = widget.Panel{Title: now + ch.sel.ofOp() + marks}
		case p.size == widget.Medium || !p.tune.Empty():
			since = cmp.Or(early, ch.sel.second())
			pane.Title = "Throughput" + ch.sel.ofOp() + "  " + now + marks
		default:
			if early == "" {
				if since = strings.Replace(since, "figures", "mean and peak", 1); ch.sel.fig.whole && ch.sel.fig.from > 0 {
					since += ", dimmed before"
				}
			}
			beside = [][3]string{{"now", units.Number(f.rate), "b"}, {ch.sel.second(), "", ""}, {"mean", units.Number(f.mean), ""}}
			if peak, ok := ch.sel.peak(); ok {
				beside = append(beside, [3]string{"peak", units.Number(peak.rate), ""}, [3]string{theSecond(peak.second), "", ""})
			}
			switch {
			case at != "":
				beside = [][3]string{{"then", units.Number(f.rate), "b"}}
			case apart:
				beside = append(beside[2:], [3]string{ch.now.opName(ch.now.snap.Ops[op].Operation), "", ""}, [3]string{"now", units.Number(other), "b"}, [3]string{unit, "", ""})
			}
		}
		if ansi.StringWidth(pane.Title)+6 > p.throughput.Dx() {
			pane.Title = strings.TrimSuffix(pane.Title, barWord(a.Bucket))
		}
		pane.Note = noteFor(pane.Title, p.throughput.Dx(), cmp.Or(at, since))
		if keys := ch.against.keys(); e.Styles.Spoken && keys != nil {
			pane.Note = noteFor(pane.Title, p.throughput.Dx(), pane.Note, "compared with "+strings.TrimPrefix(keys[0], earlierSign+" "))
		}
		pane.Legend = ch.against.legend(e.Styles, ch.sel.legend(e.Styles), pane.Title, pane.Note, p.throughput.Dx())
		if marks := c.marks(); marks != nil && p.size != widget.Small {
			room := p.throughput.Dx()
			if beside == nil || ch.against.earlier != nil { // the other chart may have no legend
				room -= ansi.StringWidth(pane.Legend) + 2
			}
			pane.Title += fitting(marks, pane.Title, pane.Note, room)
		}
		if p.latency.Empty() {
			pane.Under = ch.timeline(a, p.throughput.Dx(), labelWidth(p))
		}
		return ch.draw(e, p, p.throughput, pane, c, lane, beside)
	})
}

func (ch *charts) latency(e screen.Env, p panes) []string {
	return ch.latencyPanel.get(ch.key(e, p, p.latency), func() []string {
		a := ch.now.axis(chartCells(p, p.latency))
		c := ch.bands(a, p.latency.Dy()-2)
		l, why := ch.sel.fig.latency, ch.sel.unknown()
		if l.Count == 0 {
			l.P99 = ch.sel.fig.lastP99
		}
		at := ch.cross.Clock(a.Bucket)
		if at != "" {
			_, l = ch.figuresThen(a, ch.sel.op)
			if why = ""; l.P99 == measure.Hidden {
				why = fmt.Sprintf("p99 takes %d calls", measure.Needs(99))
			}
		}
		brief := fmt.Sprintf("p50 %s   p99 %s   max %s", widget.Nanos(l.P50), widget.Nanos(l.P99), widget.Nanos(l.Max))
		var answered []string
		if at == "" {
			if answered = ch.sel.answered(); ch.now.watch.gone { // the figures are of before
				why = ""
			}
		}
		axis := logWord(c.Log)
		pane := widget.Panel{Title: "Latency" + ch.sel.ofOp() + axis, Under: ch.timeline(a, p.latency.Dx(), labelWidth(p))}
		var beside [][3]string
		switch {
		case p.size == widget.Small:
			pane.Title = brief + axis
		case p.size == widget.Medium || !p.tune.Empty():
			title, tight := "Latency"+ch.sel.ofOp()+"  ", strings.ReplaceAll(brief, "   ", "  ")+axis
			for _, pane.Title = range []string{title + brief + axis, title + tight, tight} { // since when is part of it
				if noteFor(pane.Title, p.latency.Dx(), cmp.Or(at, ch.sel.brief())) != "" {
					break
				}
			}
			if ansi.StringWidth(tight)+6 > p.latency.Dx() { // no figure is cut
				pane.Title = fmt.Sprintf("p50 %s  p99 %s%s", widget.Nanos(l.P50), widget.Nanos(l.P99), axis)
			}
		default:
			beside = [][3]string{{"p50", widget.Nanos(l.P50), ""}, {"p90", widget.Nanos(l.P90), ""}, {"p99", widget.Nanos(l.P99), "b"}, {"p99.9", widget.Nanos(l.P999), ""}, {"max", widget.Nanos(l.Max), ""}}
			if at != "" {
				beside = [][3]string{{"p50", widget.Nanos(l.P50), ""}, {"p99", widget.Nanos(l.P99), "b"}, {"max", widget.Nanos(l.Max), ""}}
			}
			for _, line := range widget.Wrap(why, side-2) {
				beside = append(beside, [3]string{line, "", ""})
			}
			why = ""
		}
		if noteFor(pane.Title, p.latency.Dx(), why) == "" {
			why, _, _ = strings.Cut(why, ",")
		}
		note := func(notes ...string) string { return noteFor(pane.Title, p.latency.Dx(), notes...) }
		since := cmp.Or(at, ch.sel.since())
		if note(since) == "" {
			since = cmp.Or(at, ch.sel.brief())
		}
		of := shortened(answered, func(form string) bool { return note(form, since) == form+" · "+since })
		if of == "" {
			of = shortened(answered, func(form string) bool { return note(form) != "" })
		}
		room, all := p.latency.Dx(), ch.sel.ofAll()
		for _, legend := range ch.against.timesLegends(e.Styles, ch.sel.legend(e.Styles)) {
			if p.size != widget.Small && legend != "" && ansi.StringWidth(pane.Title+keyOf(c.Lined)+note(of, why, since)+legend)+13 <= room {
				pane.Legend, all = legend, "" // it names them
				room -= ansi.StringWidth(legend) + 2
				break
			}
		}
		if pane.Note = note(of, why, all, since); of+why == "" && !strings.HasSuffix(pane.Note, since) && note(since) != "" {
			pane.Note = note(since, all)
		}
		if p.size != widget.Small {
			few := slices.ContainsFunc(c.Areas, func(a Area) bool { return slices.Contains(a.Few, true) })
			pane.Title += legendFor(c.Lined, pane.Title, pane.Note, room, few, c.marks())
		}
		return ch.draw(e, p, p.latency, pane, c, "", beside)
	})
}

// shortened returns the first form that fits; "" if none does.
func shortened(forms []string, fits func(string) bool) string {
	if i := slices.IndexFunc(forms, fits); i >= 0 {
		return forms[i]
	}
	return ""
}

// keyOf says what the marks of latency are of.
func keyOf(lined bool) string {
	if lined {
		return "─ p50  ▄ p99"
	}
	return "█ p50 to p99"
}

// legendFor returns what says what the marks of the latency chart are, the longest that has room in the upper border,
// with the space before it; empty if none has. If some of what is drawn is of few calls, that is said before the
// rest; what is above the scale has those marks.
func legendFor(lined bool, title, note string, width int, few bool, marks []string) string {
	band := keyOf(lined)
	list := []string{band + "  ⠒ max"}
	if marks != nil {
		list = []string{list[0] + "  " + marks[0], list[0] + "  " + marks[1], list[0], marks[1]}
	}
	list = append(list, band)
	if few {
		var dimmed []string
		for _, l := range list {
			if strings.HasPrefix(l, band) {
				dimmed = append(dimmed, strings.Replace(l, band, band+", "+chart.DimmedFew(), 1))
			}
		}
		list = append(append(dimmed, band+", "+chart.DimmedFew(), band+", dimmed: few calls"), list...)
	}
	return fitting(list, title, note, width)
}

// fitting returns the first of a list that has room in an upper border, with the space before it; empty if none has.
func fitting(list []string, title, note string, width int) string {
	for _, l := range list {
		if l = "   " + l; ansi.StringWidth(title)+ansi.StringWidth(l)+ansi.StringWidth(note)+10 <= width {
			return l
		}
	}
	return ""
}

// logWord returns the note for the title of a logarithmic axis.
func logWord(is bool) string {
	if is {
		return "  log"
	}
	return ""
}

// barWord returns the note for the title of a chart whose bars are of more than a second each.
func barWord(bucket time.Duration) string {
	if bucket <= time.Second {
		return ""
	}
	return "  a bar is " + units.Duration(bucket)
}

// plotted returns a plot with everything but its values.
func (ch *charts) plotted(a Axis, rows int, label func(float64) string) *Plot {
	c := &Plot{Cells: a.Cells, Rows: rows, Label: label, Warm: a.Cell(0)}
	for _, m := range ch.now.moments() {
		m.Cell = a.Cell(m.At.Seconds())
		c.Moments = append(c.Moments, m)
	}
	ch.now.announce(c, a)
	c.CrossAt, c.Cross = crossAt(ch.cross, a)
	c.Broken = brokenIn(ch.now.snap, a)
	return c
}

// brokenIn returns the columns in which a fault was in force.
func brokenIn(s *measure.Snapshot, a Axis) (out [][2]int) {
	since := map[string]time.Duration{}
	for _, c := range s.Changes {
		if _, ok := workload.FaultSetting(c.Name); !ok {
			continue
		}
		if from, ok := since[c.Name]; ok {
			out = append(out, [2]int{a.Cell(from.Seconds()), a.Cell(c.At.Seconds())})
			delete(since, c.Name)
		}
		if c.To != 0 {
			since[c.Name] = c.At
		}
	}
	for _, from := range since { // they go on
		out = append(out, [2]int{a.Cell(from.Seconds()), a.Cell(s.At.Seconds())})
	}
	return out
}

// light dims what is not in the window of the figures.
func (ch *charts) light(c *Plot, a Axis, s Series) {
	from, end := a.Lit(s, ch.sel.fig.from, ch.sel.fig.to)
	c.Warm, c.Fresh = max(c.Warm, from), end
}

// rates returns the throughput chart: the rates of the operations, stacked.
func (ch *charts) rates(a Axis, rows int) *Plot {
	c := ch.plotted(a, rows, units.Number)
	whole := a.Rate(ch.now.snap, ch.sel.op)
	all := a.Dots(whole)
	ch.light(c, a, whole)
	c.Areas = []Area{{To: all, Series: ch.sel.hue(ch.sel.op)}}
	if ops := ch.sel.apart(); ops != nil {
		c.Areas = stacked(all, ops, func(op int) []float64 { return a.Dots(a.Rate(ch.now.snap, op)) })
	}
	for x, v := range a.Dots(a.Failures(ch.now.snap, ch.sel.op)) {
		if v > 0 && (len(c.Failed) == 0 || c.Failed[len(c.Failed)-1] != x/2) {
			c.Failed = append(c.Failed, x/2)
		}
	}
	if ch.against.earlier != nil && ch.sel.op < 0 {
		c.Ghost = ch.against.earlier.Rates(a.Moments())
	}
	c.most = max(ch.scaleT.Most, chart.Robust(c.Ghost))
	if c.Log = ch.axes == logBoth; c.Log {
		c.least, c.most = lowest(whole.Vals), chart.Peak(whole.Vals)
	}
	c.fit()
	return c
}

// failures draws how many operations failed per second in a chart of so many rows, below the others and with their
// axis.
func (ch *charts) failures(e screen.Env, p panes, r image.Rectangle, rows int) []string {
	a := ch.now.axis(chartCells(p, r))
	c := ch.plotted(a, rows, func(v float64) string { return units.Number(v) + "/s" })
	line := a.Errors(ch.now.snap)
	dots := a.Dots(line)
	for i, v := range dots { // none is drawn as nothing
		if v == 0 {
			dots[i] = math.NaN()
		}
	}
	c.Fresh, c.Areas = c.Cells, []Area{{To: dots, Series: failing}}
	c.Scale = plot.Scale{High: plot.TopIn(chart.Peak(line.Vals), rows)}
	return scaled(e.Styles, labelWidth(p), c.Ticks(), c.Draw(e.Styles))
}

// failing is the series in whose colour errors are drawn.
const failing = 3

// stacked returns the areas of operations, stacked, which together reach as high as
// all; the last is in front, so that each shows the part above the one before. Each has the colour of its place.
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
	for i := range ops {
		to := make([]float64, len(all))
		for x, v := range each[i] {
			if v > 0 {
				upTo[x] += v
			}
			if to[x] = all[x] * upTo[x] / sums[x]; sums[x] == 0 {
				to[x] = all[x]
			}
		}
		out[len(ops)-1-i] = Area{To: to, Series: i}
	}
	return out
}

// bands returns the latency chart: a band from p50 to p99, or of several operations these two of each as lines, with
// the maximum above.
func (ch *charts) bands(a Axis, rows int) *Plot {
	c := ch.plotted(a, rows, latencyLabel)
	whole := a.Latency(ch.now.snap, ch.sel.op)
	all := a.Dots(whole)
	ch.light(c, a, whole)
	c.Above = a.Dots(a.Times(ch.now.snap, ch.sel.op, func(p measure.Point) int64 { return p.ResponseMax }))
	c.Pending, c.Alarm = a.Dots(a.Pending(ch.now.snap, ch.sel.op)), float64(time.Second)
	for x, v := range c.Above { // the slowest may be another operation of the track
		if c.Pending[x] < 2*v {
			c.Pending[x] = math.NaN()
		}
	}
	ops := ch.sel.apart()
	if ops == nil {
		ops = []int{ch.sel.op}
	}
	low := math.Inf(1)
	for _, op := range ops {
		b := Area{From: a.Dots(a.Times(ch.now.snap, op, func(p measure.Point) int64 { return p.ResponseP50 })), To: a.Dots(a.Latency(ch.now.snap, op)), Series: ch.sel.hue(op), Few: a.Few(ch.now.snap, op)}
		c.Areas, low = append(c.Areas, b), min(low, lowest(b.From))
	}
	if ch.against.earlier != nil && ch.sel.op < 0 {
		c.Ghost = ch.against.earlier.P99(a.Moments())
	}
	c.most = max(ch.scaleL.Most, chart.Robust(c.Ghost))
	for _, e := range ch.now.limits(ch.sel.op) {
		c.Limits = append(c.Limits, chart.Limit{Value: e.Limit, Text: e.Text})
		if e.Limit <= nearAbove*c.most {
			c.most = max(c.most, e.Limit)
		}
	}
	if c.Log = ch.axes != linear; c.Log {
		c.least, c.most = low, max(chart.Peak(c.Above), chart.Peak(all))
	}
	c.Lined = c.overlaps()
	c.fit()
	return c
}

// nearAbove is how many times the most that is to be shown a limit may be for the scale to grow to it.
const nearAbove = 4

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

// draw frames a chart: scale labels, plot area, figures at its side.
func (ch *charts) draw(e screen.Env, p panes, r image.Rectangle, pane widget.Panel, c *Plot, lane string, beside [][3]string) []string {
	lw := labelWidth(p)
	ticks := c.Ticks()
	if c.empty() { // no value says how high it is
		ticks = slices.DeleteFunc(ticks, func(t Tick) bool { return t.Text != "0" })
	}
	lines := scaled(e.Styles, lw, ticks, c.Draw(e.Styles))
	if c.Rows < r.Dy()-2 {
		lines = slices.Insert(lines, 0, strings.Repeat(" ", lw+2)+lane)
	}
	for y := range lines {
		if y < len(beside) {
			if b := beside[y]; b[0] != "" {
				if b[1] == "" { // a remark
					lines[y] += e.Styles.Muted.On(widget.FitRight(b[0], side-2))
					continue
				}
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

// timeline draws the lower border of the last chart: moments of the run.
func (ch *charts) timeline(a Axis, w, labels int) string {
	cells := []rune(strings.Repeat("─", max(w-2, 0)))
	x0 := labels + 2
	for _, t := range a.Round() {
		text := []rune(" " + widget.Clock(time.Duration(t)*time.Second) + " ")
		x := x0 + a.Cell(float64(t))
		if from := x - len(text)/2; x < x0+a.Cells && from >= 1 && from+len(text) < len(cells) {
			copy(cells[from:], text)
		}
	}
	return string(cells)
}

// rescale adapts the scales to what is visible.
func (ch *charts) rescale() {
	a := ch.now.axis(240) // finer than any chart; a coarser one stays below its peaks
	rate, lat := a.Rate(ch.now.snap, ch.sel.op), a.Latency(ch.now.snap, ch.sel.op)
	ch.scaleT.begin(ch.scaledFrom(a, rate, ch.scaleT.from))
	ch.scaleL.begin(ch.scaledFrom(a, lat, ch.scaleL.from))
	vals := func(s Series, from time.Duration) []float64 {
		if from == 0 {
			return s.Vals
		}
		first, _ := a.within(s, from, open)
		return s.Vals[first:]
	}
	second := int(ch.sel.fig.drawn / time.Second)
	ch.scaleT.Ceiling = ch.scaleT.Next(chart.Lasting(vals(rate, ch.scaleT.from)), second)
	early := floorDiv(chart.Settling, a.Bucket) - lat.First
	times := func(s Series) float64 {
		if from := ch.scaleL.from; from != 0 {
			return chart.Robust(vals(s, from))
		}
		return chart.Settled(s.Vals, early)
	}
	maxima := a.Times(ch.now.snap, ch.sel.op, func(p measure.Point) int64 { return p.ResponseMax })
	ch.suit(a.Times(ch.now.snap, ch.sel.op, func(p measure.Point) int64 { return p.ResponseP50 }), lat, maxima)
	p99, most := times(lat), times(maxima)
	if most > chart.Far*p99 { // no scale shows both
		most = 2 * p99
	}
	ch.scaleL.Ceiling = ch.scaleL.Next(max(p99, most), second)
}

// telling is how many bars of a window tell how high its values are, flattens how many times they fit into a scale that leaves
// hardly anything of them, and worth how many times higher what is above the scale is than what is in it.
const telling, flattens, worth = 3, 10, 2

// scaledFrom returns the moment from which on the values of a series set its scale: the end of the last segment that
// was more than flattens times above the window of the figures, and well above all later ones,
// or when a search began to limit the rate. It is 0 for all values, and stays what it was until the window has some
// bars that are not empty.
func (ch *charts) scaledFrom(a Axis, s Series, was time.Duration) time.Duration {
	from := limited(ch.now.snap.Changes)
	if ch.now.searching() { // its levels are compared
		return from
	}
	first, end := a.within(s, ch.sel.fig.from, ch.sel.fig.to)
	most := func(first, end int) float64 { return chart.Lasting(s.Vals[first:end]) }
	lit, next := most(first, end), ch.sel.fig.from
	if end-first < telling || lit == 0 {
		return max(from, was)
	}
	rest := lit
	for _, seg := range slices.Backward(ch.now.snap.Segments) {
		if seg.From >= ch.sel.fig.from {
			continue
		}
		top := most(a.within(s, seg.From, next))
		if top > flattens*lit && top > worth*rest {
			return max(from, next)
		}
		rest, next = max(rest, top), seg.From
	}
	return from
}

// limited returns when a search first set a limit to the rate of a run that had none: what
// was before may be far above all that it tries. It is 0 without such a search.
func limited(changes []measure.Change) time.Duration {
	for _, c := range slices.Backward(changes) {
		if c.By == measure.BySearch && c.Knob() == "rate" && c.From == 0 {
			return c.At
		}
	}
	return 0
}

// choose selects an operation, or all of them with a negative one.
func (ch *charts) choose(op int) {
	ch.sel.op = op
	ch.sel.refresh()
	if !ch.pressed {
		if ch.axes = linear; ch.steep[op] {
			ch.axes = logLatency
		}
	}
	ch.scaleT, ch.scaleL = ceiling{}, ceiling{}
	ch.rescale()
}

// lens draws a tab that is a picture; note is shown in its upper border. A heat map has cells
// columns.
func (ch *charts) lens(e screen.Env, p panes, r image.Rectangle, t tab, note string, cells int) []string {
	pane := widget.Panel{Title: t.String() + ch.sel.ofOp(), Note: note}
	lw := labelWidth(p)
	if t == tabHeat {
		a := ch.now.axis(cells)
		h := NewHeat(a, r.Dy()-2, ch.sel.spreads(true))
		if h == nil {
			return pane.Draw(e.Styles, r.Dx(), r.Dy(), []string{"  " + ch.sel.untimed()})
		}
		pane.Under = ch.timeline(a, r.Dx(), lw)
		return pane.Draw(e.Styles, r.Dx(), r.Dy(), scaled(e.Styles, lw, h.Ticks(latencyLabel), h.Draw(e.Styles)))
	}
	if whole := ch.whole(); note != whole && len(ch.now.snap.Segments) > 1 {
		pane.Foot = whole
	}
	spreads, series := ch.sel.distributions()
	c := NewCurve(r.Dx()-5-lw, r.Dy()-3, spreads, series, latencyLabel)
	if c == nil {
		why := fmt.Sprintf("p90 takes %d calls: there are fewer.", measure.Needs(90))
		if len(sum(spreads).Counts) == 0 {
			why = ch.sel.untimed()
		}
		return pane.Draw(e.Styles, r.Dx(), r.Dy(), []string{"  " + why})
	}
	lines := scaled(e.Styles, lw, c.Ticks(), c.Draw(e.Styles))
	lines = append(lines, strings.Repeat(" ", lw+2)+e.Styles.Muted.On(c.Foot()))
	return pane.Draw(e.Styles, r.Dx(), r.Dy(), lines)
}

// whole says that a picture is of the whole run, and how many segments that mixes.
func (ch *charts) whole() string {
	if n := len(ch.now.snap.Segments) - measure.Passed(measure.Acts(ch.now.snap.Changes)); n > 1 {
		return fmt.Sprintf("all of the run, %d segments mixed", n)
	}
	return "all of the run"
}

// histogram draws how many calls took how long.
func (ch *charts) histogram(e screen.Env, p panes, r image.Rectangle) []string {
	pane := widget.Panel{Title: "Histogram" + ch.sel.ofOp(), Note: ch.whole()}
	lw := labelWidth(p)
	spreads, series := ch.sel.distributions()
	h := NewHistogram(r.Dx()-5-lw, r.Dy()-4, spreads, series)
	if h == nil {
		return pane.Draw(e.Styles, r.Dx(), r.Dy(), []string{"  " + ch.sel.untimed()})
	}
	lines := scaled(e.Styles, lw, h.Ticks(), h.Draw(e.Styles))
	lines = slices.Insert(lines, 0, strings.Repeat(" ", lw+2)+h.Lane(e.Styles))
	lines = append(lines, strings.Repeat(" ", lw+2)+e.Styles.Muted.On(h.Foot(latencyLabel)))
	return pane.Draw(e.Styles, r.Dx(), r.Dy(), lines)
}

// scaled puts the scale labels to the left of the rows of a plot.
func scaled(s *widget.Styles, width int, ticks []Tick, rows []string) []string {
	labels := make([]string, len(rows))
	for _, t := range ticks {
		labels[t.Row] = t.Text
	}
	out := make([]string, len(rows))
	for y, row := range rows {
		edge := " │"
		if labels[y] != "" {
			edge = " ┤"
		}
		out[y] = s.Muted.On(widget.FitRight(labels[y], width)) + s.Line.On(edge) + row
	}
	return out
}
