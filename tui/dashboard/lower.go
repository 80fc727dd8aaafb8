package dashboard

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// lowerPanel draws operations, tracks, errors or changes.
func (d *Dashboard) lowerPanel(e screen.Env, r image.Rectangle) []string {
	key := panelKey{
		number: int64(d.fig.drawn), changes: len(d.snap.Changes), marks: len(d.snap.Marks), rect: r, styles: e.Styles, op: d.op, tab: d.lower, scroll: d.scroll, tuning: d.aside(),
	}
	if d.lower != tabOps {
		key.number = d.snap.Number
	}
	if d.chooser.Open {
		return d.chooser.Draw(e.Styles, r.Dx(), r.Dy(), e.Now)
	}
	if d.earlier != nil {
		key.text = d.earlier.ID
	}
	return d.cache.lower.get(key, func() []string {
		if d.lower.drawn() {
			return d.lens(e, r, d.lower, d.otherTabs(r.Dx()))
		}
		w, rows := r.Dx()-4, r.Dy()-3
		head, body := d.table(e, d.lower, w)
		at := d.scroll
		if d.lower == tabOps {
			at = max(d.op-rows+1, 0)
			if d.op < 0 {
				at = d.firstRunning()
			}
		}
		d.scroll = min(d.scroll, max(len(body)-rows, 0))
		at = min(at, max(len(body)-rows, 0))
		p := widget.Panel{Title: d.lower.String(), Note: d.otherTabs(r.Dx())}
		if len(body) > rows {
			p.Foot = fmt.Sprintf("%d–%d of %d", at+1, min(at+rows, len(body)), len(body))
		}
		lines := []string{" " + e.Styles.Muted.On(head)}
		for _, l := range body[at:min(at+rows, len(body))] {
			lines = append(lines, " "+l)
		}
		return p.Draw(e.Styles, r.Dx(), r.Dy(), lines)
	})
}

// firstRunning returns the first operation that is running now; 0 if none is.
func (d *Dashboard) firstRunning() int {
	for op, o := range d.snap.Ops {
		if i := slices.Index(d.snap.Tracks, o.Track); i >= 0 && i < len(d.snap.Gauges) && d.snap.Gauges[i].Running {
			return op
		}
	}
	return 0
}

// otherTabs names the tabs that the tab key switches to, as far as there is room.
func (d *Dashboard) otherTabs(w int) string {
	room := w - ansi.StringWidth(d.lower.String()) - 9
	text := "tab: "
	for i := range tabs - 1 {
		t := (d.lower + 1 + i) % tabs
		name := strings.ToLower(t.String())
		switch {
		case t == tabErrors && d.fig.errors > 0:
			name += " " + widget.Whole(d.fig.errors)
		case t == tabChanges && len(d.snap.Changes) > 0:
			name += " " + widget.Whole(int64(len(folded(d.snap.Changes))))
		case t == tabVerdict && len(d.verdict.Reasons) > 0:
			name += " " + widget.Whole(int64(len(d.verdict.Reasons)))
		}
		if i > 0 {
			name = " · " + name
		}
		if left := room - ansi.StringWidth(text+name); left < 0 || left < 2 && i < tabs-2 {
			return text + " …"
		}
		text += name
	}
	return text
}

// Columns of the tables.
const (
	numberCol = 10
	nameCol   = 24
)

func (d *Dashboard) nameWidth(w int) int {
	n := 10
	for _, t := range d.snap.Ops {
		n = max(n, ansi.StringWidth(d.opLabel(t.Operation))+2)
	}
	return min(n, max(nameCol, w/5), max(w-3*numberCol+3, 10))
}

// perSecond returns the head of a column of rates, with the unit if it fits.
func (d *Dashboard) perSecond() string {
	if head := d.info.Unit + "/s"; ansi.StringWidth(head) < numberCol {
		return head
	}
	return "per s"
}

func (d *Dashboard) opRows(e screen.Env, w int) (string, []string) {
	s := e.Styles
	name := d.nameWidth(w)
	extra := w-name >= 7*numberCol+24
	narrow := w-name < 4*numberCol
	used := name + 4*numberCol
	head := widget.Fit("  op", name) + cols(d.perSecond(), "p50", "p99")
	switch {
	case narrow: // errors are shown in the state line
		cols := narrowCols
		head = widget.Fit("  op", name) + cols("per s", "p50", "p99")
	case extra:
		head += cols("p99.9", "max", "errors")
		used += 2 * numberCol
	default:
		head += cols("errors")
	}
	versus := d.earlier != nil && !narrow && w-used >= 2*numberCol
	if versus {
		head += cols("vs rate", "vs p99")
		used += 2 * numberCol
	}
	spark := min(w-used-4, 60)
	if spark >= 8 {
		head += fmt.Sprintf("    last %d s", spark)
	}
	var out []string
	for i, t := range d.snap.Ops {
		f := digest(d.snap, i)
		l := f.latency
		label := widget.Fit("  "+d.opLabel(t.Operation), name)
		if slices.Contains(d.apart(), i) {
			label = s.Series[d.hue(i)].On("■ ") + widget.Fit(d.opLabel(t.Operation), name-2)
		}
		if i == d.op {
			label = s.Selected.On(widget.Fit("▸ "+d.opLabel(t.Operation), name))
		}
		if narrow {
			out = append(out, label+s.Bold.On(narrowCols(units.Number(f.rate)))+narrowCols(widget.Nanos(l.P50), widget.Nanos(l.P99)))
			continue
		}
		line := label + s.Bold.On(cols(units.Number(f.rate))) + cols(widget.Nanos(l.P50), widget.Nanos(l.P99))
		if extra {
			line += cols(widget.Nanos(l.P999), widget.Nanos(l.Max))
		}
		errs := cols(widget.Whole(t.Errors))
		if t.Errors > 0 {
			errs = s.Bad.On(errs)
		}
		line += errs
		if versus {
			line += cols(d.earlier.Against(t.Operation, f.mean, l.P99))
		}
		if spark >= 8 {
			vals := recentRates(d.snap, i, d.fig.second, spark)
			line += "    " + s.Series[d.hue(i)].On(chart.Trend(vals, spark))
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

func columns(w int, texts []string) string {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString(widget.FitRight(t, w))
	}
	return b.String()
}

func (d *Dashboard) trackRows(e screen.Env, w int) (string, []string) {
	s := e.Styles
	name := d.nameWidth(w)
	head := widget.Fit("  track", name) + cols(d.perSecond(), "threads", "in flight", "oldest", "behind")
	wide, narrow := w-name >= 8*numberCol, w-name < 5*numberCol
	if narrow {
		head = widget.Fit("  track", name) + narrowCols("per s", "threads", "flying", "behind")
	}
	if wide {
		head += cols("payload", "batch", "rate")
	}
	var out []string
	for i, t := range d.snap.Tracks {
		if i >= len(d.snap.Gauges) {
			break
		}
		g := d.snap.Gauges[i]
		rate := math.NaN()
		for op, o := range d.snap.Ops {
			if o.Track != t || !d.snap.Counts(op) {
				continue
			}
			if r, ok := rowAt(d.snap, op, d.fig.second); ok {
				rate = nanAdd(rate, r.PerSecond())
			}
		}
		behind := "–" // operations have no due time
		if g.Rate > 0 || g.Backlog > 0 {
			behind = units.Number(float64(g.Backlog))
		}
		if narrow {
			line := widget.Fit("  "+t, name) + s.Bold.On(narrowCols(units.Number(rate))) + narrowCols(widget.Whole(int64(g.Threads)), widget.Whole(int64(g.InFlight)), behind)
			out = append(out, d.atRest(e, g.Running, t, name, line))
			continue
		}
		line := widget.Fit("  "+t, name) + s.Bold.On(cols(units.Number(rate))) + cols(widget.Whole(int64(g.Threads)), widget.Whole(int64(g.InFlight)), age(g.Oldest), behind)
		if wide {
			limit := units.Unlimited
			if g.Rate > 0 {
				limit = units.Number(g.Rate)
			}
			payload := units.Size(int64(g.Payload))
			if k, ok := d.plan.Knob("payload"); ok && !d.tracks[i].Turns(k) {
				payload = "–"
			}
			line += cols(payload, widget.Whole(int64(g.Batch)), limit)
		}
		out = append(out, d.atRest(e, g.Running, t, name, line))
	}
	return head, out
}

// atRest returns the row of a track; if it is not running, the row says only that.
func (d *Dashboard) atRest(e screen.Env, running bool, track string, name int, line string) string {
	if running {
		return line
	}
	return e.Styles.Muted.On(widget.Fit("  "+track, name) + "  not running")
}

func (d *Dashboard) errorRows(e screen.Env, w int) (string, []string) {
	if d.fig.errors == 0 && len(d.snap.Errors) == 0 {
		return "No operation has failed.", nil
	}
	name := d.nameWidth(w) + 1
	var out []string
	for _, c := range d.snap.Errors {
		text := ""
		for _, m := range d.snap.Messages {
			if m.Class == c.Class && m.Operation == c.Operation {
				text = m.Text
				break
			}
		}
		out = append(out, widget.Fit("  "+d.opName(c.Operation), name-1)+" "+widget.Fit(c.Class, 14)+e.Styles.Bad.On(cols(widget.Whole(c.Count)))+"  "+ansi.Truncate(text, max(w-name-26, 0), "…"))
	}
	return widget.Fit("  op", name) + widget.Fit("class", 14) + cols("count") + "  first message", out
}

func (d *Dashboard) changeRows(e screen.Env, w int) (string, []string) {
	if len(d.snap.Changes) == 0 {
		return "Nothing has been changed yet.", nil
	}
	by := 12
	if w < 70 {
		by = 0 // no room for who changed it
	}
	text := max(w-20-by, 10)
	row := func(at, change, who, segment string) string {
		return widget.Fit("  "+at, 10) + widget.Fit(change, text) + "  " + e.Styles.Muted.On(widget.Fit(who, by)) + widget.FitRight(segment, 7)
	}
	var out []string
	for _, c := range slices.Backward(folded(d.snap.Changes)) {
		by := c.By
		if c.Ramp > 0 {
			by = "ramp"
		}
		out = append(out, row(widget.Clock(c.At), changeText(d.plan, c.Name, c.From, c.To), by, fmt.Sprintf("%d", c.Segment+1)))
	}
	return widget.Fit("  at", 10) + widget.Fit("change", text) + "  " + widget.Fit("by", by) + widget.FitRight("segment", 7), out
}

// verdictRows shows the verdict on the run so far, and its reasons.
func (d *Dashboard) verdictRows(e screen.Env, w int) (string, []string) {
	if len(d.verdict.Reasons) == 0 {
		return d.verdict.State + " so far: nothing casts doubt on the figures.", nil
	}
	_, k := widget.Worth(e.Styles, d.verdict)
	var out []string
	for i, reason := range d.verdict.Reasons {
		for j, l := range widget.Wrap(reason, max(w-16, 10)) {
			cause := ""
			if j == 0 {
				cause = d.verdict.Causes[i]
			}
			out = append(out, k.On(widget.Fit("  "+cause, 16))+l)
		}
	}
	return d.verdict.State + " so far", out
}
