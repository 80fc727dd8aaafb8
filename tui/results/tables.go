package results

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/widget"
)

func (l *loadedRun) segments(s *widget.Styles, w int) []string {
	run := &l.folder.Run
	varying, wide, name := rundir.Varied(run.Segments), max(w/3, 16), 4
	if len(run.Operations) > 1 { // rows without a name would be unclear
		name = 1
	}
	if w < 100 {
		wide = 12
	}
	g := widget.Grid{Cols: []widget.Column{
		{Head: "#", Right: true},
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
	ramps := false
	for _, seg := range run.Stretches() {
		words := settings(seg, varying, wide)
		next := func() (first string) {
			if len(words) > 0 {
				first, words = words[0], words[1:]
			}
			return first
		}
		n, from, to := fmt.Sprint(seg.First), plot.Clock(seg.From), plot.Clock(seg.To)
		ramp := seg.Last > seg.First
		if ramp {
			n += fmt.Sprintf("–%d", seg.Last)
			ramps = true
		}
		for _, o := range seg.Operations {
			if o.Calls == 0 && o.Count == 0 && o.Errors == 0 {
				continue
			}
			l := o.Response.Shown(o.Calls)
			if ramp {
				l.Max = o.Response.Max
			}
			g.Add(n, from, to, next(), widget.OpName(run, o), widget.RateText(o.Throughput), widget.Nanos(l.P50), widget.Nanos(l.P99), widget.Nanos(l.Max), widget.Whole(o.Errors), widget.Whole(o.Unstarted))
			n, from, to = "", "", ""
		}
		if n != "" {
			g.Add(n, from, to, next(), "nothing ran")
		}
		for len(words) > 0 {
			g.Add("", "", "", next())
		}
	}
	head, rows := g.Lines(s, w)
	out := append(append([]string{head}, rows...), "")
	note := "A change opens a segment; a call belongs to the one it started in. They are counted from 0, as in the files."
	if ramps {
		note += " An earlier perfbench made a segment of each step of a ramp; together they have no percentiles."
	}
	return append(out, widget.MutedLines(s, note, w)...)
}

// settings returns those of a stretch that differ between stretches, as many per line
// as fit into w cells, at least one.
func settings(seg rundir.Stretch, varying []string, w int) (lines []string) {
	for _, name := range varying {
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

func (l *loadedRun) changes(s *widget.Styles, w int) []string {
	run := &l.folder.Run
	type event struct {
		at   float64
		row  []string
		mark bool
	}
	var list []event
	for _, m := range run.Moves() {
		change := rundir.SettingText(m.Name, m.From) + " → " + rundir.SettingText(m.Name, m.To)
		segment := fmt.Sprint(m.Segment)
		if m.Until > m.At {
			change += ", a ramp until " + plot.Clock(m.Until)
		}
		if m.Last > m.Segment {
			segment += fmt.Sprintf("–%d", m.Last)
		}
		list = append(list, event{at: m.At, row: []string{plot.Clock(m.At), m.Name, change, m.By, segment}})
	}
	for _, m := range run.Marks {
		list = append(list, event{at: m.At, mark: true, row: []string{plot.Clock(m.At), "mark", m.Note, "", ""}})
	}
	slices.SortStableFunc(list, func(a, b event) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	g := widget.Grid{Cols: []widget.Column{{Head: "at", Right: true}, {Head: "setting"}, {Head: "change", Most: max(w-40, 20)}, {Head: "by", Spare: 2}, {Head: "segment", Right: true, Spare: 1}}}
	for _, ev := range list {
		g.Add(ev.row...)
	}
	g.Ink = func(row, _ int) widget.Ink {
		if list[row].mark {
			return s.Accent
		}
		return s.Plain
	}
	head, rows := g.Lines(s, w)
	return append([]string{head}, rows...)
}

func (l *loadedRun) failures(s *widget.Styles, w int) []string {
	run := &l.folder.Run
	var out []string
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
	return append(out, widget.MutedLines(s, "Failed calls are counted, never part of throughput; of each kind, the first five messages that differ are kept.", w)...)
}

func (l *loadedRun) checks(s *widget.Styles, w int) []string {
	v := l.folder.Run.Verification
	out := append(widget.Wrap(v.Summary, w), "")
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
			cells = append(cells, widget.Whole(c.Of))
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
		g.Add(c.Command, widget.Whole(c.Compared), widget.Whole(c.Differ), units.PartOf(c.Differ, c.Compared))
	}
	head, rows := g.Lines(s, w)
	out = append(append(append(out, "", head), rows...), "", s.Muted.On("the first that differ"))
	for _, e := range a.Examples {
		out = append(out, widget.Wrap(e, w)...)
	}
	return out
}

func (l *loadedRun) values(s *widget.Styles, w int) []string {
	run := &l.folder.Run
	g := widget.Grid{Cols: []widget.Column{{Head: "name", Most: 34}, {Head: "value", Most: max(w/2, 20)}, {Head: "from", Spare: 1}}}
	for _, k := range slices.Sorted(maps.Keys(run.Settings)) {
		g.Add(k, rundir.SettingText(k, run.Settings[k]), run.Origins[k])
	}
	for _, k := range slices.Sorted(maps.Keys(run.Parameters)) {
		if _, ok := run.Settings[k]; !ok {
			g.Add(k, run.Parameters[k], run.Origins[k])
		}
	}
	g.Add("", "", "")
	g.Add("seed", fmt.Sprint(run.Seed), "")
	for _, k := range slices.Sorted(maps.Keys(run.Store.Details)) {
		g.Add("store "+k, run.Store.Details[k], "")
	}
	for _, k := range slices.Sorted(maps.Keys(run.Environment)) {
		text := fmt.Sprint(run.Environment[k])
		if f, ok := run.Environment[k].(float64); ok {
			text = widget.NumberText(f)
		}
		g.Add(k, text, "")
	}
	g.Ink = func(_, col int) widget.Ink {
		if col == 2 {
			return s.Muted
		}
		return s.Plain
	}
	head, rows := g.Lines(s, w)
	return append([]string{head}, rows...)
}
