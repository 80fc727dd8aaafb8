package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/widget"
)

// Latency returns what a search has tried: a point for the figure that is sought of each step, p99 or
// what the condition is on, which shows whether it held, and lines through that and p50 of the try that stands
// for each level; with rules at the level that holds and the one that does not, and a line at each
// time that was asked for. Each level has a place of its own along the axis, as far from its neighbours as
// any other: a search halves what lies between two, and its levels would soon lie upon each other. What is
// far above the limits does not set the scale.
func Latency(s *widget.Styles, r *find.Result) Plot {
	levels := ordered(r)
	p := Plot{Log: true, Format: func(ns float64) string { return units.Duration(time.Duration(ns)) }}
	p.Across = func(place float64) string { return units.Number(levels[int(place)]) }
	name, of := r.Sought()
	_, half := r.Half()
	sought, p50 := Curve{Ink: s.Series[1], Bare: true}, Curve{Ink: s.Series[0]}
	low, high := r.Bracket()
	for i, level := range levels {
		tries, place := r.Of(level), float64(i)
		o := r.Outcome(tries)
		shown := o.Shown
		for _, step := range tries.Steps {
			p.Points = append(p.Points, Point{At: place, Value: shownTime(of(step)), Good: step.Held, Doubt: step.Doubtful && (o.Doubtful || step.Threads != shown.Threads) || !r.Counts(step)})
		}
		sought.add(place, of(shown))
		p50.add(place, half(shown))
		if level == low || level == high {
			p.Marks = append(p.Marks, place)
		}
	}
	if p.Curves = []Curve{sought}; name != "p50" {
		p.Curves = append(p.Curves, p50)
	}
	for _, e := range r.Limits() {
		p.Limits = append(p.Limits, Limit{e.Limit, e.Text})
		p.Most = max(p.Most, farAbove*e.Limit)
	}
	if low := lowest(sought.Values); p.Most > 0 && finite(low) { // the lowest one is shown
		p.Most = max(p.Most, 2*low)
	}
	return p
}

// ordered returns the levels that were tried, from the lowest up.
func ordered(r *find.Result) []float64 {
	list := r.Newest()
	slices.Sort(list)
	return list
}

// farAbove is how many times a limit a time may be to set the scale.
const farAbove = 100

// LatencyLegend names what Latency draws, in its colours, in lines of w cells.
func LatencyLegend(s *widget.Styles, r *find.Result, w int) []string {
	name, _ := r.Sought()
	half, _ := r.Half()
	text := s.Series[1].On(name)
	if name != "p50" {
		text += s.Muted.On(" and ") + s.Series[0].On(half)
	}
	each := " at each rate"
	if r.Over == find.OverThreads {
		each = " at each number of threads"
	}
	if ansi.StringWidth(text+each) > w {
		each = " at each level"
	}
	text += s.Muted.On(each)
	signs := s.OK.On(signGood) + s.Muted.On(" holds") + "  " + s.Bad.On(signBad) + s.Muted.On(" too much"+byWhat(r))
	if slices.ContainsFunc(Latency(s, r).Points, func(p Point) bool { return p.Doubt }) {
		signs += "  " + s.Warn.On(signDoubt) + s.Muted.On(" unclear")
	}
	parts := []string{text, s.Muted.On("evenly spaced"), signs}
	out := parts[:1]
	for _, more := range parts[1:] {
		if last := out[len(out)-1] + "   " + more; ansi.StringWidth(last) <= w {
			out[len(out)-1] = last
		} else {
			out = append(out, more)
		}
	}
	return out
}

// byWhat says in brackets that a backlog made levels too much, whose points may be below every limit; "" where none did.
func byWhat(r *find.Result) string {
	backlog, limit := false, false
	for _, step := range r.Steps {
		switch {
		case step.Held || step.Doubtful:
		case step.Backlogged():
			backlog = true
		default:
			limit = true
		}
	}
	switch {
	case !backlog:
		return ""
	case limit:
		return " (limit or backlog)"
	}
	return " (backlog)"
}

// lowest returns the smallest value above 0; infinity if there is none.
func lowest(values []float64) float64 {
	low := math.Inf(1)
	for _, v := range values {
		if v > 0 {
			low = min(low, v)
		}
	}
	return low
}

// add adds a level with a time; what too few calls support is a gap.
func (c *Curve) add(level float64, ns int64) {
	c.At, c.Values = append(c.At, level), append(c.Values, shownTime(ns))
}

// shownTime is a time as a value of a chart, NaN if there is none.
func shownTime(ns int64) float64 {
	if ns == measure.Hidden || ns <= 0 {
		return math.NaN()
	}
	return float64(ns)
}

// Steps returns the table of the levels that a search has tried, the one that was tried last first, with
// the number of the try that its row has, in at most n lines of w cells. chosen is the level that gets a mark
// and is seen in any case. What no condition says, such as that the backlog grew, is in the row of a level that was too
// much, if there is room, or stands there alone; where there is little, the words have the sign's word alone.
func Steps(s *widget.Styles, r *find.Result, w, n int, chosen float64) []string {
	list := r.Newest()
	if n < 2 || len(list) == 0 {
		return nil
	}
	from := max(slices.Index(list, chosen)-(n-2), 0)
	list = list[from:min(from+n-1, len(list))]
	var t *tried
	for _, words := range []func(find.Row) string{
		inShort,
		func(row find.Row) string { return cmp.Or(briefly(row), row.Short) },
		func(row find.Row) string { return row.Short },
		find.Row.State,
	} {
		t = newTried(s, r, true)
		for _, level := range list {
			row := r.Rows(level)[0]
			t.add(row, words(row), level == chosen)
		}
		if t.Shows(0, w) {
			break
		}
	}
	return t.lines(w)
}

// inShort is how a level came out in a few words, with why it was too much.
func inShort(row find.Row) string {
	if why := briefly(row); why != "" {
		return row.Short + " · " + why
	}
	return row.Short
}

// briefly is why a level was too much in a few words, without figures: what was measured rather than the store, or
// that the backlog grew. It is empty if the store did not meet a condition, which has a column.
func briefly(row find.Row) string {
	if instead := row.Measured(); !row.Held && instead != "" {
		return instead
	}
	if row.Held || row.Condition() != "" {
		return ""
	}
	why, _, _ := strings.Cut(row.Why, ": ")
	return strings.TrimPrefix(why, "the ")
}

// LevelTable returns the table of the levels that a search has tried, ordered by level, in lines of w
// cells. Why a level did not hold is in its row where there is room in all rows, else below the table; then the row has it in a few words if that leaves room for what was done.
func LevelTable(s *widget.Styles, r *find.Result, w int) []string {
	var rows []find.Row
	for _, level := range ordered(r) {
		rows = append(rows, r.Rows(level)...)
	}
	if len(rows) == 0 {
		return nil
	}
	table := func(words func(find.Row) string) *tried {
		t := newTried(s, r, false)
		for _, row := range rows {
			t.add(row, words(row), false)
		}
		return t
	}
	t := table(func(row find.Row) string { return row.Words })
	if t.Wide() <= w || s.Spoken {
		return t.lines(w)
	}
	if t = table(inShort); !t.Shows(1, w) {
		t = table(func(row find.Row) string { return row.Short })
	}
	var below []string
	told := 0.0 // the last level whose reason is below
	for _, row := range rows {
		why := row.Why
		if why == "" {
			continue
		}
		if len(r.Rows(row.Level)) > 1 {
			why = fmt.Sprintf("with %s: %s", widget.Plural(int64(row.Threads), "thread"), why)
		}
		for i, l := range widget.Wrap(why, max(w-levelWidth-2, leastReason)) {
			head := ""
			if i == 0 && row.Level != told {
				head, told = units.Number(row.Level), row.Level
			}
			below = append(below, widget.FitRight(head, levelWidth)+"  "+s.Muted.On(l))
		}
	}
	if len(below) > 0 {
		below = append([]string{s.Muted.On("Why")}, below...)
	}
	return append(t.lines(w), below...)
}

// levelWidth is that of a level before its reason, leastReason the least that a reason gets.
const levelWidth, leastReason = 6, 20

// tried is a table of the levels of a search.
type tried struct {
	widget.Grid
	s      *widget.Styles
	r      *find.Result
	judged []find.Shown
	// numbered means that there is a column with the number of the try and none with the p50 in the store, threads one
	// with theirs.
	numbered, threads bool
	inks              []widget.Ink
}

// newTried returns a table without a level.
func newTried(s *widget.Styles, r *find.Result, numbered bool) *tried {
	t := &tried{s: s, r: r, judged: r.Judged(), numbered: numbered, threads: r.Over != find.OverThreads} // else the column of levels has them
	if numbered {
		t.Cols = append(t.Cols, widget.Column{Head: "try", Right: true, Spare: 1})
	}
	done, p99 := 2, 0 // how soon they give way
	if len(t.judged) > 0 {
		done, p99 = 3, 2
	}
	t.Cols = append(t.Cols,
		widget.Column{Head: r.Over, Right: true}, widget.Column{Head: r.Unit + "/s", Right: true, Spare: done},
		widget.Column{Head: "p50", Right: true, Spare: 4}, widget.Column{Head: "p99", Right: true, Spare: p99})
	for _, f := range t.judged {
		t.Cols = append(t.Cols, widget.Column{Head: f.Name, Right: true})
	}
	if !numbered {
		t.Cols = append(t.Cols, widget.Column{Head: "service p50", Right: true, Spare: 5})
	}
	if t.threads {
		t.Cols = append(t.Cols, widget.Column{Head: "threads", Right: true, Spare: 3})
	}
	t.Cols = append(t.Cols, widget.Column{}, widget.Column{Head: "came out"})
	return t
}

// add adds how a level came out, in words.
func (t *tried) add(shown find.Row, words string, chosen bool) {
	sign, ink := signBad, t.s.Bad
	switch {
	case shown.Doubtful:
		sign, ink = signDoubt, t.s.Warn
	case shown.Held && t.r.Waited(shown.Level) > 0:
		sign, ink = "✓", t.s.Warn
	case shown.Held:
		sign, ink = "✓", t.s.OK
	}
	t.inks = append(t.inks, ink)
	var row []string
	if t.numbered {
		number := strconv.Itoa(t.r.Try(shown.Step))
		if chosen {
			number = "▸" + number
		}
		row = append(row, number)
	}
	row = append(row, units.Number(shown.Level), units.Number(shown.Done), widget.Nanos(shown.Response.P50), widget.Nanos(shown.Response.P99))
	for _, f := range t.judged {
		row = append(row, widget.Nanos(f.Of(shown.Step)))
	}
	if !t.numbered {
		row = append(row, widget.Nanos(shown.Service.P50))
	}
	if t.threads {
		row = append(row, strconv.Itoa(shown.Threads))
	}
	t.Add(append(row, sign, words)...)
}

// lines draws the table.
func (t *tried) lines(w int) []string {
	t.Ink = func(row, col int) widget.Ink {
		if col < len(t.Cols)-2 {
			return t.s.Plain
		}
		return t.inks[row]
	}
	head, rows := t.Lines(t.s, w)
	if head == "" { // spoken
		return rows
	}
	return append([]string{head}, rows...)
}
