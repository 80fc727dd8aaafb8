package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/widget"
)

// act is a live change with its effect, or a note, in lines for the page of changes.
type act struct {
	at      float64
	segment int // that it opened, -1 of a note
	lines   []string
}

// in reports whether it belongs to a stretch before the next one, which begins at a time.
func (a *act) in(seg rundir.Stretch, next float64) bool {
	if a.segment >= 0 {
		return a.segment <= seg.Last
	}
	return a.at < next
}

// acts lists what was changed with what that did, and the notes, in order.
func (l *loadedRun) acts(s *widget.Styles, w int) (out []act) {
	add := func(at float64, segment int, sign, lead, text string) {
		a := act{at: at, segment: segment}
		for i, line := range widget.Wrap(text, w-5) {
			head := "     "
			if i == 0 {
				head = "   " + s.Accent.On(sign) + " "
				if rest, ok := strings.CutPrefix(line, lead); ok {
					head, line = head+lead, rest
				}
			}
			a.lines = append(a.lines, head+s.Muted.On(line))
		}
		out = append(out, a)
	}
	figures := l.figures(s, w)
	for i := range l.effects {
		e := &l.effects[i]
		lead := e.When() + " " + e.Named()
		text, by := lead, " ("+e.By+")"
		switch told := e.Told(math.MaxInt); {
		case len(figures[i]) > 0 && len(e.With) > 0:
			text += " together " + e.Company(math.MaxInt) + by
		case len(figures[i]) == 0 && told != "":
			text += by + ": " + told
		default:
			text += by
		}
		add(e.At.Seconds(), e.Last, "→", lead, text)
		last := &out[len(out)-1]
		last.lines = append(last.lines, figures[i]...)
	}
	for _, m := range l.folder.Run.Marks {
		lead := plot.Clock(m.At) + " " + m.Note
		add(m.At, -1, "◆", lead, lead)
	}
	slices.SortStableFunc(out, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	return out
}

// figures are those of each effect in rows whose columns are the same for all: what it is, before and after, what
// was found out, and in which range its seconds were. Whoever has the screen read gets sentences, and none of these.
func (l *loadedRun) figures(s *widget.Styles, w int) [][]string {
	out := make([][]string, len(l.effects))
	if s.Spoken {
		return out
	}
	const indent = 7
	g := widget.Grid{Cols: []widget.Column{{Most: 40}, {}, {}, {Spare: 1}}}
	var inks []widget.Ink
	for i := range l.effects {
		e := &l.effects[i]
		if e.Pauses() || e.Missing() != "" {
			continue
		}
		for _, f := range e.Figures() {
			name, is, k := f.Label(l.folder.Run.Unit), f.Judged(), s.Muted
			if w < 72 && f.Name() != effect.OfThroughput {
				name = "median second's " + f.Name()
			}
			switch f.Is {
			case effect.Better:
				is, k = f.Change(), s.OK
			case effect.Worse:
				is, k = f.Change(), s.Bad
			}
			g.Add(name, f.Numbers(), is, "seconds "+f.Seconds())
			inks = append(inks, k)
		}
	}
	g.Ink = func(row, col int) widget.Ink { return []widget.Ink{s.Plain, s.Plain, inks[row], s.Muted}[col] }
	_, rows := g.Lines(s, w-indent)
	lead := strings.Repeat(" ", indent)
	for i := range l.effects {
		e := &l.effects[i]
		if e.Pauses() || e.Missing() != "" {
			continue
		}
		if short := e.Short(); short != "" {
			out[i] = append(out[i], lead+s.Warn.On(short))
		}
		n := len(e.Figures())
		for _, row := range rows[:n] {
			out[i] = append(out[i], lead+row)
		}
		rows = rows[n:]
		for _, text := range []string{e.Lacks(), e.Counts(), e.Slow()} {
			if text == "" {
				continue
			}
			for _, line := range widget.Wrap(text, w-indent) {
				out[i] = append(out[i], lead+s.Muted.On(line))
			}
		}
	}
	return out
}

// changes lists the segments of the run, each with what was changed and noted in it, and what that did.
func (l *loadedRun) changes(s *widget.Styles, w int) (out []string) {
	run := &l.folder.Run
	acts := l.acts(s, w)
	if len(run.Segments) < 2 {
		for _, a := range acts {
			out = append(out, a.lines...)
		}
		return out
	}
	varying, wide, name := rundir.Varied(run.Segments), max(w/3, 16), 4
	if len(run.Operations) > 1 { // rows without a name would be unclear
		name = 1
	}
	if w < 100 {
		wide = 12
	}
	number := "segment"
	if w < 72 {
		number = "no."
	}
	g := widget.Grid{Cols: []widget.Column{
		{Head: number, Right: true},
		{Head: "from", Right: true, Spare: 2},
		{Head: "to", Right: true, Spare: 6},
		{Head: "settings"},
		{Head: "operation", Spare: name, Most: 24},
		{Head: run.Unit + "/s", Right: true},
		{Head: "p50", Right: true, Spare: 5},
		{Head: "p99", Right: true},
		{Head: "max", Right: true, Spare: 7},
		{Head: "errors", Right: true, Spare: 3},
		{Head: "never sent", Right: true, Spare: 8},
	}}
	joined, count := false, 0
	below := map[int][]string{} // by the row that they stand below
	add := func(cells ...string) {
		g.Add(cells...)
		count++
	}
	stretches := run.Stretches()
	for i, seg := range stretches {
		words := settings(seg, varying, wide)
		next := func() (first string) {
			if len(words) > 0 {
				first, words = words[0], words[1:]
			}
			return first
		}
		n, from, to := fmt.Sprint(seg.First), plot.Clock(seg.From), plot.Clock(seg.To)
		several := seg.Last > seg.First
		if several {
			n += fmt.Sprintf("–%d", seg.Last)
			joined = true
		}
		for _, o := range seg.Operations {
			if o.Calls == 0 && o.Count == 0 && o.Errors == 0 {
				continue
			}
			l := o.Response.Shown(o.Calls)
			if several {
				l.Max = o.Response.Max
			}
			add(n, from, to, next(), widget.OpName(run, o), widget.RateText(o.Throughput), widget.Nanos(l.P50), widget.Nanos(l.P99), widget.Nanos(l.Max), units.Whole(o.Errors), units.Whole(o.Unstarted))
			n, from, to = "", "", ""
		}
		if n != "" {
			add(n, from, to, next(), "nothing ran")
		}
		for len(words) > 0 {
			add("", "", "", next())
		}
		end := math.Inf(1)
		if i < len(stretches)-1 {
			end = stretches[i+1].From
		}
		for len(acts) > 0 && (i == len(stretches)-1 || acts[0].in(seg, end)) {
			below[count] = append(below[count], acts[0].lines...)
			acts = acts[1:]
		}
	}
	head, rows := g.Lines(s, w)
	out = []string{head}
	for i, row := range rows {
		out = append(append(out, row), below[i+1]...)
	}
	out = append(out, "", s.Muted.On(ansi.Truncate(ofSegments, w, "…")))
	if joined {
		note := fmt.Sprintf("Several in a row count as one, %d in all, and have no percentiles.", len(stretches))
		out = append(out, s.Muted.On(ansi.Truncate(note, w, "…")))
	}
	return out
}

// ofSegments says what the figures of the page of changes are of.
const ofSegments = "A row is of its whole segment, → of the seconds nearest to the change."

// settings returns those of a stretch that differ between stretches, as many per line
// as fit into w cells, at least one; that it was paused only where it was.
func settings(seg rundir.Stretch, varying []string, w int) (lines []string) {
	for _, name := range varying {
		if measure.KnobOf(name) == "paused" && seg.Settings[name] == 0 && seg.End[name] == 0 {
			continue
		}
		text := rundir.SettingText(name, seg.Settings[name])
		if end := rundir.SettingText(name, seg.End[name]); end != text {
			text += " → " + end
		}
		text = name + " " + text
		if n := len(lines); n > 0 && ansi.StringWidth(lines[n-1]+" · "+text) <= w {
			lines[n-1] += " · " + text
		} else {
			lines = append(lines, text)
		}
	}
	return lines
}

// failures is how many operations failed in each second, at the moment that is read, and of each kind of errors how
// many there were and what they said; the chart has what is left of h lines.
func (l *loadedRun) failures(s *widget.Styles, m *moment, w, h int) []string {
	run := &l.folder.Run
	var out []string
	if text := report.Parts(run); text != "" {
		out = append(widget.MutedLines(s, text, w), "")
	}
	for _, e := range run.Errors {
		out = append(out, s.Bad.On(e.Class)+"  "+s.Bold.On(widget.Whole(e.Count))+s.Muted.On(" of "+widget.OpName(run, rundir.Operation{Track: e.Track, Op: e.Op})))
		for _, m := range e.Messages {
			for i, l := range widget.Wrap(m, w-4) {
				lead := "    "
				if i == 0 {
					lead = s.Muted.On("  · ")
				}
				out = append(out, lead+l)
			}
		}
		out = append(out, "")
	}
	out = append(out, widget.MutedLines(s, "Failed calls are not in throughput; of each kind, five messages are kept.", w)...)
	return append(l.failing(s, m, w, h-len(out)), out...)
}

// checks are what the verification looked at, with its sentence.
func (l *loadedRun) checks(s *widget.Styles, w int) []string {
	v := l.folder.Run.Verification
	if len(v.Checks) == 0 {
		return nil
	}
	out := append([]string{""}, verified(s, &l.folder.Run, w)...)
	g := widget.Grid{Cols: []widget.Column{{Head: "check", Most: max(w/3, 20)}, {Head: "result"}, {Head: "looked at", Right: true, Spare: 2}, {Head: "expected", Right: true}, {Head: "found", Right: true}, {Spare: 1, Most: max(w/3, 16)}}}
	if slices.ContainsFunc(v.Checks, func(c workload.Check) bool { return len(c.Examples) > 0 }) {
		g.Cols[5].Head = "examples"
	} else {
		g.Cols[0].Most = max(w/2, 20)
	}
	counted := slices.ContainsFunc(v.Checks, func(c workload.Check) bool { return c.Of > 0 })
	if !counted {
		g.Cols = slices.Delete(g.Cols, 2, 3)
	}
	for _, c := range v.Checks {
		result := "✓ passed"
		if !c.OK {
			result = "✗ FAILED"
		}
		cells := []string{c.Name, result}
		switch {
		case counted && c.Of > 0:
			cells = append(cells, units.Whole(c.Of))
		case counted:
			cells = append(cells, "")
		}
		g.Add(append(cells, c.Want, c.Got, strings.Join(c.Examples, ", "))...)
	}
	g.Ink = func(row, col int) widget.Ink {
		switch {
		case col == 1 && v.Checks[row].OK:
			return s.OK
		case col == 1:
			return s.Bad
		}
		return s.Plain
	}
	head, rows := g.Lines(s, w)
	return append(append(out, head), rows...)
}

// answered shows how the answers of a replay compare with earlier ones.
func answered(s *widget.Styles, a *workload.Answers, w int) []string {
	out := widget.Wrap(a.Words(), w)
	for _, d := range a.Details() {
		out = append(out, widget.MutedLines(s, d, w)...)
	}
	if len(a.Commands) == 0 {
		return out
	}
	g := widget.Grid{Cols: []widget.Column{{Head: "command", Most: max(w/3, 20)}, {Head: "compared", Right: true}, {Head: "differ", Right: true}, {Head: "share", Right: true}}}
	for _, c := range a.Commands {
		g.Add(c.Command, units.Whole(c.Compared), units.Whole(c.Differ), units.PartOf(c.Differ, c.Compared))
	}
	head, rows := g.Lines(s, w)
	out = append(append(append(out, "", head), rows...), "", s.Muted.On("the first that differ"))
	for _, e := range a.Examples {
		out = append(out, widget.Wrap(e, w)...)
	}
	return out
}

// turned says of each setting that did not stay as it was what it was at first and at last, "8 → 18", and of one
// that changed more often how often it did.
func turned(run *rundir.Run) map[string]string {
	acts := run.Did()
	slices.SortStableFunc(acts, func(a, b measure.Act) int { return cmp.Compare(a.Until, b.Until) })
	out := map[string]string{}
	for name, first := range run.SettingsAt(0) {
		if _, fault := workload.FaultSetting(name); fault {
			continue
		}
		values := []string{rundir.SettingText(name, first)}
		for i := range acts {
			v, known := run.SettingsAt(acts[i].Until)[name]
			if text := rundir.SettingText(name, v); known && text != values[len(values)-1] {
				values = append(values, text)
			}
		}
		n := len(values) - 1
		switch {
		case n > 2:
			out[name] = fmt.Sprintf("%s → %s (%d changes)", values[0], values[n], n)
		case n > 0:
			out[name] = strings.Join(values, " → ")
		}
	}
	return out
}
