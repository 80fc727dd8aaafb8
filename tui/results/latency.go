package results

import (
	"fmt"
	"slices"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/widget"
)

// Of the page of latency, an operation stands for its number, allOps for all together, and noOp for none.
const (
	allOps = -1
	noOp   = -2
)

// leastSpread is how many lines a distribution has at least, fairSpread how many it has before the table
// above it has more than it must.
const leastSpread, fairSpread = 5, 12

// opName names an operation of the page of latency.
func (l *loadedRun) opName(op int) string {
	run := &l.folder.Run
	if op == allOps {
		return run.Covered()
	}
	return widget.OpName(run, run.Operations[op])
}

// choices lists the operations whose latency can be shown.
func (l *loadedRun) choices() (out []int) {
	if len(l.ops) != 1 {
		out = append(out, allOps)
	}
	for i := range l.ops {
		out = append(out, i)
	}
	return out
}

// latency is the page of latency in w cells and h lines: the percentiles of all operations, and how many calls
// of the chosen one took how long, below or, of many operations, beside. ops has the operation of each line.
func (l *loadedRun) latency(s *widget.Styles, op, w, h int) (lines []string, ops []int) {
	table, ops, notes := l.times(s, op, true, w)
	fits := func() bool { return s.Spoken || len(table)+2+fairSpread <= h }
	switch {
	case fits():
	case wide(s, w, h):
		tw := max(w/2, 100)
		table, ops, notes = l.times(s, op, true, tw)
		return columns(append(table, muted(s, notes)...), tw, l.spread(s, op, w-tw-gutter, h-1)...), ops
	default:
		table, ops, notes = l.times(s, op, false, w)
	}
	if room := h - len(table) - 2 - leastSpread; !s.Spoken {
		notes = notes[:min(len(notes), max(room, 0))]
	}
	table = append(table, muted(s, notes)...)
	return append(append(table, ""), l.spread(s, op, w, max(h-len(table)-1, leastSpread))...), ops
}

// muted returns lines of what is said beside a table.
func muted(s *widget.Styles, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = s.Muted.On(l)
	}
	return out
}

// spread is how many calls of an operation took how long, with a title, in h lines.
func (l *loadedRun) spread(s *widget.Styles, op, w, h int) []string {
	d := l.all
	if op >= 0 {
		d = l.ops[op]
	}
	title := s.Muted.On("Response time of ") + s.Bold.On(l.opName(op)) + s.Muted.On(fmt.Sprintf("  %s calls", units.Whole(d.Total)))
	return append([]string{ansi.Truncate(title, w, "…")}, d.Draw(s, s.Series[0], w, h-1)...)
}

// times is the table of the times of all operations, with what makes them up for each or only for the one
// that is chosen; ops has the operation of each line. The notes, each of a line, say what its words mean.
func (l *loadedRun) times(s *widget.Styles, chosen int, whole bool, w int) (lines []string, ops []int, notes []string) {
	run := &l.folder.Run
	g := widget.Grid{Cols: []widget.Column{
		{Head: "operation", Most: max(min(w*3/8, mostName), 18)},
		{Head: "calls", Right: true, Spare: 7},
		{Head: "mean", Right: true, Spare: 2},
		{Head: "min", Right: true, Spare: 5},
		{Head: "p50", Right: true},
		{Head: "p90", Right: true, Spare: 3},
		{Head: "p95", Right: true, Spare: 4},
		{Head: "p99", Right: true},
		{Head: "p99.9", Right: true, Spare: 1},
		{Head: "p99.99", Right: true, Spare: 6},
		{Head: "max", Right: true},
	}}
	var parts []bool
	var words []string
	hidden := false
	add := func(op int, part bool, cells ...string) {
		g.Add(cells...)
		ops, parts = append(ops, op), append(parts, part)
	}
	say := func(word string) {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	row := func(op int, part bool, name, calls string, t rundir.Latency) {
		if t.P9999 == measure.Hidden {
			hidden = true
		}
		add(op, part, name, calls, widget.Nanos(int64(t.Mean+0.5)), widget.Nanos(t.Min), widget.Nanos(t.P50), widget.Nanos(t.P90), widget.Nanos(t.P95),
			widget.Nanos(t.P99), widget.Nanos(t.P999), widget.Nanos(t.P9999), widget.Nanos(t.Max))
	}
	choices := l.choices()
	for _, op := range choices {
		name := l.opName(op)
		switch {
		case len(choices) == 1 || chosen == noOp:
		case op == chosen && s.Spoken:
			name += ", selected"
		case op == chosen:
			name = "▸ " + name
		default:
			name = "  " + name
		}
		if op == allOps {
			if chosen != noOp {
				row(op, false, name, units.Whole(l.all.Total), run.Headline().Response)
			}
			continue
		}
		o := run.Operations[op]
		row(op, false, name, units.Whole(o.Calls), o.Response.Shown(o.Calls))
		if o.Calls == 0 || !whole && op != chosen {
			continue
		}
		if o.Beyond > 0 {
			add(op, true, "    over one hour", units.Whole(o.Beyond))
		}
		if o.Wait.Max > 0 {
			say("response = wait (until sent) + service (until answered)")
			row(op, true, "    service", "", o.Service.Shown(o.Calls))
			row(op, true, "    wait", "", o.Wait.Shown(o.Calls))
		}
		if o.Late() {
			say("lateness: perfbench's part of the wait")
			row(op, true, "    lateness", "", o.Lateness.Shown(o.Calls))
		}
		for _, several := range measure.SlowestOf(l.folder.Histograms[hlog.Tag(o.Track, o.Op, hlog.Response)]) {
			if several.Calls > 0 {
				say("slowest of 5: of 5 calls at once, computed as if independent")
				add(op, true, fmt.Sprintf("    slowest of %d", several.Calls), "", "", "", widget.Nanos(several.P50), "", "", widget.Nanos(several.P99))
			}
		}
	}
	if calls := report.Batches(run); calls != "" {
		say(calls)
	}
	if hidden {
		say("– too few calls")
	}
	g.Ink = func(row, col int) widget.Ink {
		switch {
		case parts[row]:
			return s.Muted
		case ops[row] == chosen && len(choices) > 1, col == 0:
			return s.Bold
		}
		return s.Plain
	}
	head, rows := g.Lines(s, w)
	for _, word := range words {
		if n := len(notes) - 1; n >= 0 && ansi.StringWidth(notes[n]+" · "+word) <= w {
			notes[n] += " · " + word
			continue
		}
		notes = append(notes, ansi.Truncate(word, w, "…"))
	}
	return append([]string{head}, rows...), append([]int{noOp}, ops...), notes
}
