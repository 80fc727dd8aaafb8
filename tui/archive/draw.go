package archive

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// View draws the page.
func (s *Screen) View(e screen.Env) string {
	st := e.Styles
	lines := []string{s.headline(e)}
	foot := widget.Footer(st, e.W, s.Keys().Short)
	switch {
	case s.ask.open:
		lines = append(lines, s.asking(e)...)
		return widget.Page(e.W, e.H, append(lines, foot))
	case len(s.now.Points) == 0:
		body := []string{"", " " + st.Muted.On("Reading "+s.id+" …")}
		if s.going != nil {
			body = []string{"", " " + st.Muted.On("The first run has yet to end.")}
		}
		if s.err != nil {
			body = append([]string{"", " " + st.Bad.On("There is no sweep to show"), ""}, widget.Indent(widget.Sentences(st, s.err, e.W-4))...)
		}
		lines = append(lines, widget.Panel{Title: "Sweep", Focused: true}.Draw(st, e.W, e.H-3, body)...)
	default:
		lines = append(lines, s.body(e, e.H-3)...)
	}
	return widget.Page(e.W, e.H, append(lines, s.bottom(e), foot))
}

// headline names what is swept, and its progress.
func (s *Screen) headline(e screen.Env) string {
	st := e.Styles
	if s.ask.open {
		return widget.Fit(" "+st.Bold.On("Sweep · "+s.ask.req.Profile), e.W)
	}
	title, right := "Sweep", ""
	if len(s.now.Axes) > 0 {
		title += " · " + s.now.Profile
		if s.now.Target != "" {
			scheme, _, _ := strings.Cut(s.now.Target, ":")
			title += " on " + scheme
		}
		title += " · over " + over(&s.now.Result)
		right = progress(&s.now)
	}
	ink := st.Warn
	if s.now.Complete() {
		ink = st.OK
	}
	return widget.Spread(" "+st.Bold.On(title), ink.On(right)+" ", e.W)
}

func over(r *sweep.Result) string {
	var names []string
	for _, a := range r.Axes {
		names = append(names, a.Name)
	}
	return strings.Join(names, " and ")
}

// progress formats how many runs are done.
func progress(now *screen.SweepNow) string {
	if now.Complete() {
		return widget.Plural(int64(len(now.Runs)), "run") + ", complete"
	}
	return fmt.Sprintf("%d of %s done", len(now.Runs), widget.Plural(int64(now.All()), "run"))
}

// body draws the results of the sweep in h lines: in words, as a chart, point by point.
func (s *Screen) body(e screen.Env, h int) []string {
	st, size := e.Styles, widget.SizeOf(e.W, e.H)
	most := map[widget.Size]int{widget.Small: 1, widget.Medium: 2, widget.Large: 4}[size]
	if s.now.OverRate() >= 0 && len(s.now.Axes) > 1 {
		most = max(most, 2) // the knee of each side
	}
	var out []string
	for _, l := range swept(st, &s.now.Result, e.W-2, most) {
		out = append(out, " "+l+" ")
	}
	if s.Running() != nil {
		out = append(out, s.underWay(e))
	}
	room := h - len(out)
	if e.W >= wideFrom { // the points beside the picture
		left, right := e, e
		left.W = e.W * 9 / 20
		right.W = e.W - left.W
		if drawn := picture(right, &s.now.Result, room); drawn != nil {
			return append(out, widget.Beside(s.table(left, len(out)+1, room), drawn)...)
		}
	}
	below := len(s.now.Points) + 3
	if more := s.more(st, e.W-4); len(more) > 0 && size == widget.Large {
		below += 1 + len(more)
	}
	if above := room - min(below, max(room/2, 5)); above >= 6 {
		out = append(out, picture(e, &s.now.Result, above)...)
	}
	return append(out, s.table(e, len(out)+1, h-len(out))...)
}

// wideFrom is the width from which on pictures are beside tables.
const wideFrom = 160

// From tallPicture lines on there is room for two pictures below each other, and from widePicture cells on
// beside each other.
const tallPicture, widePicture = 24, 100

// picture draws the results of a sweep in at most h lines: latency over the rate where rates are swept, as throughput is then
// what was asked for; else throughput over the knob, and the p99 below or beside it where there is
// room, or the points as bars; nil if there is nothing to draw.
func picture(e screen.Env, r *sweep.Result, h int) []string {
	st, c := e.Styles, report.LoadCurve(r)
	panel := func(title, legend string, p chart.Plot, w, h int) []string {
		lines := []string{legend}
		if widget.SizeOf(e.W, e.H) == widget.Small {
			lines = nil
		}
		curves := p.Draw(st, w-4, h-2-len(lines))
		if curves == nil {
			return nil
		}
		return widget.Panel{Title: title}.Draw(st, w, h, widget.Indent(append(lines, curves...)))
	}
	if out := panel("Latency over rate", chart.LoadLegend(st, &c), chart.Load(st, &c), e.W, h); out != nil {
		return out
	}
	throughput := func(w, h int) []string {
		return panel("Throughput", chart.Legend(st, r), chart.Throughput(st, r), w, h)
	}
	tail := func(w, h int) []string {
		return panel("Latency", chart.TailLegend(st, r), chart.Tail(st, r), w, h)
	}
	if left := e.W / 2; h >= tallPicture {
		if above, below := throughput(e.W, h-h*2/5), tail(e.W, h*2/5); above != nil && below != nil {
			return append(above, below...)
		}
	} else if e.W >= widePicture {
		if above, right := throughput(left, h), tail(e.W-left, h); above != nil && right != nil {
			return widget.Beside(above, right)
		}
	}
	if out := throughput(e.W, h); out != nil {
		return out
	}
	if bars := chart.Beside(st, r, e.W-4); len(bars) > 0 && len(bars)+2 <= h {
		return widget.Panel{Title: "Side by side"}.Draw(st, e.W, len(bars)+2, widget.Indent(bars))
	}
	return nil
}

// swept says what a sweep found, in at most so many lines of w cells, as many facts on each as it has room for; how many
// of its runs are done stands elsewhere.
func swept(st *widget.Styles, r *sweep.Result, w, most int) (out []string) {
	facts, _ := report.SweepAnswer(r)
	if !r.Complete() {
		facts = facts[1:]
	}
	var lines []string
	for i, fact := range facts {
		if fact = widget.Unflagged(fact, rowsOfSweeps()...); i > 0 {
			if one := lines[len(lines)-1] + " · " + fact; ansi.StringWidth(one) <= w {
				lines[len(lines)-1] = one
				continue
			}
		}
		lines = append(lines, fact)
	}
	for _, one := range lines {
		wrapped := widget.Wrap(one, w)
		if len(out)+len(wrapped) > most {
			wrapped = []string{ansi.Truncate(one, w, "…")}
		}
		for _, l := range wrapped {
			if out = append(out, st.Bold.On(widget.Fit(l, w))); len(out) == most {
				return out
			}
		}
	}
	return out
}

// more is what else is known of a sweep, in lines of w cells.
func (s *Screen) more(st *widget.Styles, w int) (out []string) {
	_, facts := report.SweepAnswer(&s.now.Result)
	for _, fact := range facts {
		out = append(out, widget.MutedLines(st, widget.Unflagged(fact, rowsOfSweeps()...), w)...)
	}
	return out
}

// table draws the points in h lines, starting at line y of the page.
func (s *Screen) table(e screen.Env, y, h int) []string {
	st := e.Styles
	rows := max(h-3, 1)
	s.top = max(min(s.top, s.at, len(s.now.Points)-rows), s.at-rows+1, 0)
	s.drawn = widget.Rows{Line: y + 2, Top: s.top, N: min(rows, len(s.now.Points)-s.top)}
	g := chart.Points(&s.now.Result, func(i int) string {
		lead := "  "
		if i == s.at {
			lead = "▸ "
		}
		switch {
		case slices.Contains(s.chosen, i):
			return lead + "●"
		case s.Running() != nil && s.now.Run != nil && s.now.Point == i:
			return lead + "▶"
		}
		return lead + " "
	})
	g.Ink = func(row, _ int) widget.Ink {
		switch p := s.now.Points[row]; {
		case row == s.at:
			return st.Selected
		case p.Runs == 0:
			return st.Muted
		}
		return st.Plain
	}
	head, lines := g.Lines(st, e.W-4)
	p := widget.Panel{Title: "Points", Focused: true, Note: fmt.Sprintf("%d of %d", s.at+1, len(lines))}
	body := append([]string{head}, lines[s.top:min(s.top+rows, len(lines))]...)
	if more := s.more(st, e.W-4); len(more) > 0 && len(body)+2 < h-2 {
		body = append(append(body, ""), more[:min(len(more), h-3-len(body))]...)
	}
	if slices.ContainsFunc(s.now.Points, func(p sweep.Point) bool { return p.Runs > 1 }) {
		p.Note = sweep.Mean + " · " + p.Note
	}
	return p.Draw(st, e.W, h, widget.Indent(body))
}

// underWay describes the run in progress, and how long the rest may take.
func (s *Screen) underWay(e screen.Env) string {
	st, left := e.Styles, ""
	if done := len(s.now.Runs) - s.now.Before; done > 0 {
		each := e.Now.Sub(s.now.Began) / time.Duration(done)
		left = "about " + units.Length((each * time.Duration(s.now.All()-len(s.now.Runs))).Round(time.Second)) + " left"
	}
	text := " " + st.Accent.On("▶") + " " + st.Bold.On(s.now.What)
	if r := s.now.Run; r != nil {
		now := st.Muted.On(" · " + state(r, e.W-ansi.StringWidth(text+left)-5))
		if note := r.Progress().Note; note != "" && ansi.StringWidth(text+now) > e.W { // somebody has to act on it
			text = " " + st.Accent.On("▶")
			now = " " + st.Muted.On(note)
		}
		text += now
	}
	if left == "" || ansi.StringWidth(text)+ansi.StringWidth(left)+2 > e.W {
		return widget.Fit(text, e.W)
	}
	return widget.Spread(text, st.Muted.On(left)+" ", e.W)
}

// state describes what a run is doing now: how long it has been going, if w cells have room for that, its
// throughput, and the highest p99 of its operations, both of the last second.
func state(r screen.Run, w int) string {
	p := r.Progress()
	if p.Stage != screen.Measuring {
		return cmp.Or(p.Note, p.Stage.String())
	}
	snap := r.Snapshot()
	clock := widget.Clock(snap.At)
	if d := r.Info().Duration; d > 0 && snap.At >= 0 {
		clock += " / " + widget.Clock(d)
	}
	rate, p99 := lastSecond(r)
	figures := units.Number(rate) + " " + r.Info().Unit + "/s · p99 " + widget.Nanos(p99)
	if snap.At < 0 {
		clock = "warm-up " + clock
	}
	if text := clock + " · " + figures; ansi.StringWidth(text) <= w {
		return text
	}
	return figures
}

// lately returns the throughput of a run under way, and the highest p99 of its operations in nanoseconds, both of
// each of the last two minutes' seconds, from the second first on; NaN where nothing was done.
func lately(r screen.Run) (first int, rates, p99s []float64) {
	snap := r.Snapshot()
	var rows []measure.Row
	for i := range snap.Recent {
		if snap.Counts(i) && (i >= len(snap.Ops) || r.Info().Units[snap.Ops[i].Track+"."+snap.Ops[i].Op] == "") {
			rows = append(rows, snap.Recent[i]...)
		}
	}
	if len(rows) == 0 {
		return 0, nil, nil
	}
	second := func(a, b measure.Row) int { return a.T - b.T }
	first = slices.MinFunc(rows, second).T
	n := slices.MaxFunc(rows, second).T - first + 1
	rates, p99s = slices.Repeat([]float64{math.NaN()}, n), slices.Repeat([]float64{math.NaN()}, n)
	add := func(sum *float64, v float64, with func(a, b float64) float64) {
		switch {
		case !(v > 0):
		case math.IsNaN(*sum):
			*sum = v
		default:
			*sum = with(*sum, v)
		}
	}
	for _, row := range rows {
		add(&rates[row.T-first], row.PerSecond(), func(a, b float64) float64 { return a + b })
		add(&p99s[row.T-first], float64(row.ResponseP99), math.Max)
	}
	return first, rates, p99s
}

// lastSecond returns the throughput of a run, and the highest p99 of its operations, both of its last second.
func lastSecond(r screen.Run) (rate float64, p99 int64) {
	_, rates, p99s := lately(r)
	if n := len(rates); n > 0 && rates[n-1] > 0 {
		rate = rates[n-1]
	}
	if n := len(p99s); n > 0 && p99s[n-1] > 0 {
		p99 = int64(p99s[n-1])
	}
	return rate, p99
}

// bottom returns the last message, else the runs of the selected point.
func (s *Screen) bottom(e screen.Env) string {
	st := e.Styles
	if s.toast.Text != "" {
		return s.toast.Line(st, e.W)
	}
	if s.ended && s.err != nil {
		return widget.Fit(" "+st.Bad.On(strings.ReplaceAll(s.err.Error(), "\n", " · ")), e.W)
	}
	n := s.runs()
	if n == 0 || len(s.now.Points) == 0 {
		return widget.Fit("", e.W)
	}
	which := "under way"
	if !s.isLive() {
		which = s.now.RunsOf(s.at)[s.run()]
	}
	text := " " + st.Muted.On(fmt.Sprintf("run %d of %d of %s: ", s.run()+1, n, s.now.Place(s.at))) + which
	return widget.Fit(text, e.W)
}
