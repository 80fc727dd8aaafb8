package dashboard

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// lower is the panel below the charts, and the wall that shows the rest of its tabs.
type lower struct {
	now              *reading
	sel              *selection
	against          *comparison
	charts           *charts
	tab              tab
	scroll           int
	folded           bool // a small screen shows it instead of latency
	turned           bool // another tab or operation was asked for
	cells            int  // of the charts, whose moment is read
	rows             int  // of the table, which a page is
	drawn, wallDrawn cached
}

// draw draws operations, tracks, errors or changes.
func (low *lower) draw(e screen.Env, p panes) []string {
	r := p.ops
	low.cells = chartCells(p, p.throughput)
	key := panelKey{
		number: int64(low.sel.fig.second), errors: low.sel.fig.errors, changes: len(low.now.snap.Changes), marks: len(low.now.snap.Marks), rect: r, styles: e.Styles, op: low.sel.op, tab: low.tab, scroll: low.scroll, tuning: !p.tune.Empty(),
	}
	if low.tab != tabOps {
		key.number = low.now.snap.Number
	}
	if low.against.earlier != nil {
		key.text = low.against.earlier.ID
	}
	if low.charts != nil {
		key.cross = low.charts.cross
	}
	return low.drawn.get(key, func() []string {
		if low.tab.drawn() {
			return low.charts.lens(e, p, r, low.tab, low.otherTabs(r.Dx()), chartCells(p, r))
		}
		w, rows := r.Dx()-4, r.Dy()-3
		head, body := low.table(e, low.tab, w)
		above := low.course(e, p, len(body))
		rows -= len(above)
		low.rows = max(rows, 1)
		at, most := low.scroll, max(len(body)-rows, 0)
		brief := low.tab.folds() && most > 0
		switch { // the first step down shows them in full
		case brief && at == 0:
			head, body = low.briefly(e.Styles, w)
		case brief:
			at, most, brief = at-1, most+1, false
		}
		if low.tab == tabOps {
			at = max(low.sel.op-rows+1, 0)
			if low.sel.op < 0 {
				at = low.now.firstRunning()
			}
		}
		low.scroll = min(low.scroll, most)
		at = min(at, max(len(body)-rows, 0))
		pane := widget.Panel{Title: low.tab.String() + low.moment(), Note: low.otherTabs(r.Dx())}
		if low.tab == tabOps && !low.reads() {
			pane.Foot = low.sel.short()
		} else if low.tab == tabOps && low.charts.short(low.now.axis(low.cells)) {
			pane.Foot = tooFew()
		}
		if pane.Foot == "" && low.tab == tabOps && low.against.earlier != nil {
			pane.Foot = "vs mean and p99 of all of " + low.against.earlier.ID
		}
		if len(body) > rows {
			pane.Foot = fmt.Sprintf("%d–%d of %d", at+1, min(at+rows, len(body)), len(body))
		}
		if brief {
			pane.Foot = strings.TrimPrefix(pane.Foot+" · ↓ in full", " · ")
		}
		lines := append(above, " "+e.Styles.Muted.On(head))
		for _, l := range body[at:min(at+rows, len(body))] {
			lines = append(lines, " "+l)
		}
		return pane.Draw(e.Styles, r.Dx(), r.Dy(), lines)
	})
}

// reads reports whether a moment is read.
func (low *lower) reads() bool { return low.charts != nil && low.charts.cross.On }

// moment says since when the operations have their figures. While a moment is read, it says of which the
// panel is: operations are of that one, changes are those up to it, and what stands in the other tables is
// of now.
func (low *lower) moment() string {
	switch {
	case !low.reads() && low.tab == tabOps:
		return " · " + low.sel.brief()
	case !low.reads() || low.tab == tabErrors:
		return ""
	case low.tab == tabChanges:
		return " · up to " + widget.Clock(low.charts.cross.At)
	case low.tab == tabOps:
		return " · " + low.charts.cross.Clock(low.now.axis(low.cells).Bucket)
	}
	return " · now"
}

// counted is how many there are, in brackets: a bare number would look like a key.
func counted(n int64) string { return " (" + widget.Whole(n) + ")" }

// otherTabs names the tabs that the tab key switches to, as far as there is room.
func (low *lower) otherTabs(w int) string {
	room := w - ansi.StringWidth(low.tab.String()+low.moment()) - 9
	text := "tab: "
	for i := range tabs - 1 {
		t := (low.tab + 1 + i) % tabs
		name := strings.ToLower(t.String())
		switch {
		case t == tabErrors && low.sel.fig.errors > 0:
			name += counted(low.sel.fig.errors)
		case t == tabChanges && len(low.now.snap.Changes) > 0:
			name += counted(int64(len(measure.Acts(low.now.snap.Changes))))
		case t == tabVerdict && len(low.now.verdict.Told()) > 0:
			name += counted(int64(len(low.now.verdict.Told())))
		}
		if i > 0 {
			name = " · " + name
		}
		if left := room - ansi.StringWidth(text+name); left < 0 || left < 2 && i < tabs-2 {
			return strings.TrimRight(text, " ") + " …"
		}
		text += name
	}
	return text
}

// Columns of the tables.
const (
	numberCol = 10
	nameCol   = 24
	// leastTrend is the room for the least course of a rate.
	leastTrend = 12
)

func (low *lower) opRows(e screen.Env, w int) (string, []string) {
	s := e.Styles
	name := low.now.nameWidth(w)
	versus := low.against.earlier != nil
	least := 6*numberCol + leastTrend
	if versus {
		least += 2 * numberCol
	}
	extra := w-name >= least
	narrow := w-name < 4*numberCol
	used := name + 4*numberCol
	past := low.reads()
	rate, short := low.now.perSecond(), "per s"
	if !past { // the rest is of all the time since
		if short = "per s now"; ansi.StringWidth(rate+" now") < numberCol {
			rate += " now"
		} else {
			rate = short
		}
	}
	head := widget.Fit("  op", name) + cols(rate, "p50", "p99")
	switch {
	case narrow: // errors are shown in the state line
		cols := narrowCols
		head = widget.Fit("  op", name) + cols(short, "p50", "p99")
	case extra && past: // a second has no p99.9
		head += cols("max", "errors")
		used += numberCol
	case extra:
		head += cols("p99.9", "max", "errors")
		used += 2 * numberCol
	default:
		head += cols("errors")
	}
	mean := false
	if versus = versus && !narrow && w-used >= 2*numberCol; versus {
		if mean = w-used >= 3*numberCol+leastTrend; mean {
			head += cols("mean")
			used += numberCol
		}
		head += cols("vs mean", "vs p99")
		used += 2 * numberCol
	}
	spark := min(w-used-4, 60)
	if s.Spoken {
		spark = 0
	}
	if spark >= 8 {
		head += fmt.Sprintf("    last %d s", spark)
	}
	var out []string
	a := low.now.axis(low.cells)
	for i, t := range low.now.snap.Ops {
		f := digest(low.now.snap, i)
		l, failed := f.latency, f.failed
		if past {
			f.rate, l = low.charts.figuresThen(a, i)
			failed = nanos(low.charts.then(a, a.Failures(low.now.snap, i)))
		}
		label := widget.Fit("  "+low.now.opLabel(t.Operation), name)
		if slices.Contains(low.sel.apart(), i) {
			label = s.Series[low.sel.hue(i)].On("■ ") + widget.Fit(low.now.opLabel(t.Operation), name-2)
		}
		if i == low.sel.op {
			label = s.Selected.On(widget.Fit("▸ "+low.now.opLabel(t.Operation), name))
		}
		if narrow {
			out = append(out, label+s.Bold.On(narrowCols(units.Number(f.rate)))+narrowCols(widget.Nanos(l.P50), widget.Nanos(l.P99)))
			continue
		}
		line := label + s.Bold.On(cols(units.Number(f.rate))) + cols(widget.Nanos(l.P50), widget.Nanos(l.P99))
		if extra && !past {
			line += cols(widget.Nanos(l.P999))
		}
		if extra {
			line += cols(widget.Nanos(l.Max))
		}
		errs := cols(widget.Whole(failed))
		if failed > 0 {
			errs = s.Bad.On(errs)
		}
		line += errs
		switch {
		case mean && past:
			line += cols("–")
		case mean:
			line += cols(units.Number(f.mean))
		}
		switch {
		case versus && past:
			line += cols("–", "–") // the other run's figures are of all of it
		case versus:
			line += cols(low.against.earlier.Against(t.Operation, f.mean, l.P99))
		}
		if spark >= 8 {
			vals := recentRates(low.now.snap, i, low.sel.fig.second, spark)
			line += "    " + low.sel.ink(s, i).On(chart.Sparkline(vals, spark, chart.Peak(vals)))
		}
		out = append(out, line)
	}
	return head, out
}

// recentRates returns the rates of the last n seconds, with gaps where the operation's
// track was not running.
func recentRates(s *measure.Snapshot, op, last, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	if op >= len(s.Recent) {
		return out
	}
	for _, r := range s.Recent[op] {
		if x := r.T - last + n - 1; x >= 0 && x < n {
			out[x] = r.PerSecond()
		}
	}
	return out
}

// cols right-aligns texts in columns of equal width.
func cols(texts ...string) string { return columns(numberCol, texts) }

func narrowCols(texts ...string) string { return columns(numberCol-1, texts) }

// trackCols aligns the columns of a narrow table of tracks, whose third head is long.
func trackCols(rate, threads, inFlight, behind string) string {
	return widget.FitRight(rate, numberCol-2) + widget.FitRight(threads, numberCol-1) + widget.FitRight(inFlight, numberCol+1) + widget.FitRight(behind, numberCol-2)
}

func columns(w int, texts []string) string {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString(widget.FitRight(t, w))
	}
	return b.String()
}

// trackRate is what a track did per second in a second: of its operations that count or, if none does, of all that are
// no parts of others.
func trackRate(s *measure.Snapshot, track string, second int) float64 {
	counted, all := math.NaN(), math.NaN()
	for op, o := range s.Ops {
		r, ok := rowAt(s, op, second)
		switch {
		case o.Track != track || !ok:
		case s.Counts(op):
			counted = nanAdd(counted, r.PerSecond())
		case s.Fails(op):
			all = nanAdd(all, r.PerSecond())
		}
	}
	if math.IsNaN(counted) {
		return all
	}
	return counted
}

func (low *lower) trackRows(e screen.Env, w int) (string, []string) {
	s := e.Styles
	name := low.now.nameWidth(w)
	rate := low.now.perSecond()
	if slices.Contains(low.now.snap.Apart, true) {
		rate = "per s" // of other units, too
	}
	head := widget.Fit("  track", name) + cols(rate, "threads", "in flight", "oldest", "behind")
	wide, narrow := w-name >= 8*numberCol+2, w-name < 5*numberCol
	if narrow {
		head = widget.Fit("  track", name) + trackCols("per s", "threads", "in flight", "behind")
	}
	if wide {
		head += widget.FitRight("payload", numberCol+2) + cols("batch", "rate") // "as planned" is as wide as a number
	}
	var out []string
	for i, t := range low.now.snap.Tracks {
		if i >= len(low.now.snap.Gauges) {
			break
		}
		g := low.now.snap.Gauges[i]
		rate := trackRate(low.now.snap, t, low.sel.fig.second)
		behind := "–" // operations have no due time
		if g.Rate > 0 || g.Backlog > 0 {
			behind = units.Number(float64(g.Backlog))
		}
		inFlight := widget.Whole(int64(g.InFlight))
		if i < len(low.now.tracks) && low.now.tracks[i].Relays {
			inFlight = "–" // its calls are none of the store
		}
		if narrow {
			line := widget.Fit("  "+t, name) + trackCols(s.Bold.On(units.Number(rate)), widget.Whole(int64(g.Threads)), inFlight, behind)
			out = append(out, low.atRest(e, g.Running, t, name, line))
			continue
		}
		line := widget.Fit("  "+t, name) + s.Bold.On(cols(units.Number(rate))) + cols(widget.Whole(int64(g.Threads)), inFlight, age(g.OldestDue), behind)
		if wide {
			limit := units.Unlimited
			if g.Rate > 0 {
				limit = units.Number(g.Rate)
			}
			payload := units.Size(int64(g.Payload))
			if k, ok := low.now.plan.Knob("payload"); ok {
				payload = widget.KnobText(k, float64(g.Payload))
				if !low.now.tracks[i].Turns(k) {
					payload = "–"
				}
			}
			line += widget.FitRight(payload, numberCol+2) + cols(widget.Whole(int64(g.Batch)), limit)
		}
		out = append(out, low.atRest(e, g.Running, t, name, line))
	}
	return head, out
}

// atRest returns the row of a track; if it is not running, the row says only that.
func (low *lower) atRest(e screen.Env, running bool, track string, name int, line string) string {
	if running {
		return line
	}
	return e.Styles.Muted.On(widget.Fit("  "+track, name) + "  not running")
}

func (low *lower) errorRows(e screen.Env, w int) (string, []string) {
	differ := low.differing(w)
	if low.sel.fig.errors == 0 && len(low.now.snap.Errors) == 0 {
		return "No operation has failed.", differ
	}
	name := low.now.nameWidth(w) + 1
	lead := name + 14 + ansi.StringWidth(cols("")) + 2
	said := func(c *measure.ErrorCount) (texts []string) {
		for _, m := range low.now.snap.Messages {
			if m.Class == c.Class && m.Operation == c.Operation {
				texts = append(texts, m.Text)
			}
		}
		return texts
	}
	long := func(text string) bool { return ansi.StringWidth(text) > w-lead }
	// Messages that would be broken into a narrow column stand below their row, over the whole width.
	at, head := lead, "  first messages"
	for i := range low.now.snap.Errors {
		if w-lead < leastMessage && slices.ContainsFunc(said(&low.now.snap.Errors[i]), long) {
			at, head = 4, ""
		}
	}
	var out []string
	for i := range low.now.snap.Errors {
		c := &low.now.snap.Errors[i]
		line, texts := widget.Fit("  "+low.now.opName(c.Operation), name-1)+" "+widget.Fit(c.Class, 14)+e.Styles.Bad.On(cols(widget.Whole(c.Count)))+"  ", said(c)
		if at < lead || len(texts) == 0 {
			out, line = append(out, line), widget.Fit("", at)
		}
		for _, text := range texts {
			for _, l := range widget.Wrap(text, max(w-at, 10)) {
				out, line = append(out, line+l), widget.Fit("", at)
			}
		}
	}
	return widget.Fit("  op", name) + widget.Fit("class", 14) + cols("count") + head, append(out, differ...)
}

// leastMessage is how wide the column of messages is at least.
const leastMessage = 60

// A chart of errors is from leastCourse to mostCourse rows high, and leaves half of the panel to their list if that is
// as long, but at least leastErrors.
const leastCourse, mostCourse, leastErrors = 3, 8, 3

// courseRows returns how high the chart is above a list of so many rows, in h rows.
func courseRows(h, list int) int { return min(h-min(list, max(leastErrors, h/2)), mostCourse) }

// course is the chart of errors above their list of so many rows; none where there is no room, or nothing has failed.
func (low *lower) course(e screen.Env, p panes, list int) []string {
	if !low.fails() || e.Styles.Spoken {
		return nil
	}
	rows := courseRows(p.ops.Dy()-3, list)
	if rows < leastCourse {
		return nil
	}
	return low.charts.failures(e, p, p.ops, rows)
}

// fails reports whether the panel has errors.
func (low *lower) fails() bool { return low.tab == tabErrors && low.sel.fig.errors > 0 }

// tall reports whether the panel needs more room than others.
func (low *lower) tall() bool { return low.tab.tall() || low.fails() }

// needs returns how many rows a tall panel that is w cells wide has to show below its head; 0 of a picture.
func (low *lower) needs(e screen.Env, w int) int {
	if low.tab.drawn() {
		return 0
	}
	_, body := low.table(e, low.tab, w)
	if low.fails() && !e.Styles.Spoken {
		return max(len(body), leastErrors) + mostCourse
	}
	return max(len(body), 1)
}

// differing shows the answers that differ from those of an earlier replay; nil if none are compared.
func (low *lower) differing(w int) []string {
	a := low.now.answers
	if a == nil {
		return nil
	}
	out := widget.Indent(widget.Wrap("Answers: "+a.Words(), max(w-2, 10)))
	for _, e := range a.Examples {
		out = append(out, widget.Indent(widget.Wrap(e, max(w-2, 10)))...)
	}
	return out
}

// verdictRows shows the verdict on the run so far, and its reasons.
func (low *lower) verdictRows(e screen.Env, w int) (string, []string) {
	if len(low.now.verdict.Told()) == 0 {
		so := ": nothing casts doubt on the figures."
		if low.sel.fig.behind() {
			so = ", but the run is behind its rate."
		}
		return low.now.verdict.State + " so far" + so, append(low.now.thresholdRows(e.Styles, w), low.inUse(e.Styles, w)...)
	}
	_, k := widget.Worth(e.Styles, low.now.verdict)
	var out []string
	indent := 16
	if w < 100 { // the line of state has the causes
		indent = 4
	}
	for _, d := range low.now.verdict.Told() {
		for j, l := range widget.Wrap(d.Text, max(w-indent, 10)) {
			cause := "  · "
			if indent > 4 {
				cause = "  " + d.Cause.Word()
			}
			if j > 0 {
				cause = ""
			}
			out = append(out, k.On(widget.Fit(cause, indent))+l)
		}
		for _, x := range d.Shows {
			for j, l := range widget.Wrap(x.Text, max(w-indent-2, 10)) {
				out = append(out, widget.Fit("", indent)+e.Styles.Muted.On(map[bool]string{true: "· ", false: "  "}[j == 0]+l))
			}
		}
	}
	return low.now.verdict.State + " so far: " + low.now.verdict.Use(), slices.Concat(low.now.thresholdRows(e.Styles, w), out)
}

// inUse draws how much of the processors was in use in the last second, as the page of a finished run does for its
// periods.
func (low *lower) inUse(s *widget.Styles, w int) (out []string) {
	i := &low.now.info
	for _, l := range chart.Uses(s, explain.Now(low.now.run.Samples(), widget.Local(i.Target), i.CPUs, i.Cores), w-2) {
		out = append(out, "  "+l)
	}
	if len(out) > 0 {
		out = slices.Insert(out, 0, s.Muted.On("  In use in "+chart.LastSecond+":"))
	}
	return out
}

// next switches the lower panel to the next tab; if it folds, the latency chart is
// one of them.
func (low *lower) next(by int, folds bool) {
	low.scroll, low.turned = 0, true
	n := int(tabs)
	if !folds {
		low.tab = tab((int(low.tab) + by + n) % n)
		return
	}
	at := 0 // latency
	if low.folded {
		at = int(low.tab) + 1
	}
	at = (at + by + n + 1) % (n + 1)
	low.folded = at > 0
	if at > 0 {
		low.tab = tab(at - 1)
	}
}

// move selects an operation, or scrolls the lower panel.
func (low *lower) move(by int) {
	if low.tab != tabOps && !low.tab.drawn() {
		low.scroll = max(low.scroll+by, 0)
		return
	}
	low.turned = true
	low.charts.choose(min(max(low.sel.op+by, -1), len(low.now.snap.Ops)-1))
}

// table returns the head and the rows of a tab that is a table, in w cells.
func (low *lower) table(e screen.Env, t tab, w int) (head string, body []string) {
	switch t {
	case tabTracks:
		return low.trackRows(e, w)
	case tabErrors:
		return low.errorRows(e, w)
	case tabChanges:
		return low.changeRows(e.Styles, w)
	case tabBoth:
		return low.sides(e.Styles, w, false)
	case tabVerdict:
		return low.verdictRows(e, w)
	}
	return low.opRows(e, w)
}

// sides is what both sides used in the last second, in w cells; brief as chart.Sides has it.
func (low *lower) sides(s *widget.Styles, w int, brief bool) (head string, body []string) {
	head, body = chart.Sides(s, chart.LastSecond, low.now.run.Samples(), &low.now.course, low.now.info.Store, low.now.verdict, w, brief)
	if i := slices.IndexFunc(body, func(l string) bool { return strings.HasPrefix(l, "  connections ") }); i >= 0 && low.now.info.Shared {
		body = slices.Insert(body, i+1, widget.Fit("    · "+request.Sharing, w))
	}
	return head, body
}

// briefly returns the table of a tab that folds, without what it can do without.
func (low *lower) briefly(s *widget.Styles, w int) (head string, body []string) {
	if low.tab == tabBoth {
		return low.sides(s, w, true)
	}
	return low.changeLines(s, w, true)
}

// clickTab switches to the tab whose name in the upper border of the lower panel was
// clicked.
func (low *lower) clickTab(x int, r image.Rectangle) {
	others := low.otherTabs(r.Dx())
	at := r.Max.X - 3 - ansi.StringWidth(others) + len("tab: ")
	for i, name := range strings.Split(strings.TrimPrefix(others, "tab: "), " · ") {
		n := ansi.StringWidth(name)
		if x >= at && x < at+n {
			low.tab, low.scroll = (low.tab+1+tab(i))%tabs, 0
			return
		}
		at += n + ansi.StringWidth(" · ")
	}
}

// clickRow selects the operation of a row of the lower panel; a second click deselects
// it.
func (low *lower) clickRow(row int, r image.Rectangle) {
	if low.tab != tabOps || row < 0 || row >= r.Dy()-3 {
		return
	}
	n := len(low.now.snap.Ops)
	op := row + max(min(low.sel.op-(r.Dy()-3)+1, n-(r.Dy()-3)), 0)
	if op >= n {
		return
	}
	if op == low.sel.op {
		op = -1
	}
	low.charts.choose(op)
}

// tab is what the lower panel shows.
type tab int

const (
	tabOps tab = iota
	tabTracks
	tabErrors
	tabChanges
	tabVerdict
	tabBoth
	tabHeat
	tabCurve
	tabs
)

// tall reports whether a tab needs more room than the others.
func (t tab) tall() bool { return t >= tabBoth && t < tabs }

// drawn reports whether a tab is a picture, which needs room, rather than a table.
func (t tab) drawn() bool { return t >= tabHeat && t < tabs }

// folds reports whether a tab leaves out what it can do without as long as it has too little room.
func (t tab) folds() bool { return t == tabChanges || t == tabBoth }

// String returns the title of the panel.
func (t tab) String() string {
	return [...]string{"Operations", "Tracks", "Errors", "Changes", "Verdict", "Store and perfbench", "Heat map", "Percentiles"}[t]
}

func sum(list []measure.Spread) (all measure.Spread) {
	for _, s := range list {
		all = all.Plus(s)
	}
	return all
}
