package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

func (r *results) segments(s *styles, w int) []string {
	run := &r.loaded.folder.Run
	varying := varied(run.Segments)
	g := grid{cols: []column{
		{head: "#", right: true},
		{head: "from", right: true},
		{head: "to", right: true, drop: 5},
		{head: "settings", most: max(w/3, 16)},
		{head: "operation", drop: 3, most: 24},
		{head: run.Unit + "/s", right: true},
		{head: "p50", right: true, drop: 4},
		{head: "p99", right: true},
		{head: "max", right: true, drop: 6},
		{head: "errors", right: true, drop: 2},
		{head: "unstarted", right: true, drop: 7},
	}}
	for i, seg := range run.Segments {
		var set []string
		for _, name := range varying {
			set = append(set, name+" "+settingText(name, seg.Settings[name]))
		}
		words := strings.Join(set, " · ")
		n, from, to := fmt.Sprint(i+1), secondsText(seg.From), secondsText(seg.To)
		for _, o := range seg.Operations {
			if o.Calls == 0 && o.Count == 0 && o.Errors == 0 {
				continue
			}
			l := o.Response.Shown(o.Calls)
			g.add(n, from, to, words, opName(run, o), rateText(o.Throughput), nanos(l.P50), nanos(l.P99), nanos(l.Max), whole(o.Errors), whole(o.Unstarted))
			n, from, to, words = "", "", "", ""
		}
		if n != "" {
			g.add(n, from, to, words, "nothing ran")
		}
	}
	head, rows := g.lines(s, w)
	out := append(append([]string{head}, rows...), "")
	return append(out, mutedLines(s, "A change opens a segment; a call belongs to the one it started in.", w)...)
}

// varied names the settings that are not the same in all segments; where the total
// of several tracks tells it, not theirs.
func varied(list []rundir.Segment) []string {
	names := map[string]bool{}
	for _, seg := range list {
		for k, v := range seg.Settings {
			if w, ok := list[0].Settings[k]; !ok || w != v {
				names[k] = true
			}
		}
	}
	for k := range names {
		if track, base := trackOf(k); track != "" && names[base] {
			delete(names, k)
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// settingText writes a live setting by its name as people read it.
func settingText(name string, v float64) string {
	switch base := name[strings.LastIndexByte(name, '.')+1:]; {
	case base == "payload":
		return units.Size(int64(v))
	case base == "rate" && v == 0:
		return "max"
	case base == "paused":
		return map[bool]string{true: "yes", false: "no"}[v != 0]
	}
	return numberText(v)
}

func rateText(v *float64) string {
	if v == nil {
		return "–"
	}
	return units.Number(*v)
}

func (r *results) changes(s *styles, w int) []string {
	run := &r.loaded.folder.Run
	type event struct {
		at   float64
		row  []string
		mark bool
	}
	var list []event
	for _, c := range run.Changes {
		list = append(list, event{at: c.At, row: []string{secondsText(c.At), c.Name, settingText(c.Name, c.From) + " → " + settingText(c.Name, c.To), c.By, fmt.Sprint(c.Segment + 1)}})
	}
	for _, m := range run.Marks {
		list = append(list, event{at: m.At, mark: true, row: []string{secondsText(m.At), "mark", m.Note, "", ""}})
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
	g := grid{cols: []column{{head: "at", right: true}, {head: "setting"}, {head: "change", most: max(w-40, 20)}, {head: "by", drop: 2}, {head: "segment", right: true, drop: 1}}}
	for _, ev := range list {
		g.add(ev.row...)
	}
	g.ink = func(row, _ int) ink {
		if list[row].mark {
			return s.accent
		}
		return s.plain
	}
	head, rows := g.lines(s, w)
	return append([]string{head}, rows...)
}

func (r *results) failures(s *styles, w int) []string {
	run := &r.loaded.folder.Run
	var out []string
	for _, e := range run.Errors {
		out = append(out, s.bad.on(e.Class)+"  "+s.bold.on(whole(e.Count))+s.muted.on(" of "+opName(run, rundir.Operation{Track: e.Track, Op: e.Op})))
		for _, m := range e.Messages {
			for i, l := range wrap(m, w-4) {
				lead := "    "
				if i == 0 {
					lead = s.muted.on("  · ")
				}
				out = append(out, lead+l)
			}
		}
		out = append(out, "")
	}
	return append(out, mutedLines(s, "Failed calls are counted, never part of throughput; the first ten messages are kept.", w)...)
}

func (r *results) checks(s *styles, w int) []string {
	v := r.loaded.folder.Run.Verification
	out := append(wrap(v.Summary, w), "")
	g := grid{cols: []column{{head: "check", most: max(w/3, 20)}, {head: "result"}, {head: "looked at", right: true, drop: 2}, {head: "expected", right: true}, {head: "found", right: true}, {head: "examples", drop: 1, most: max(w/3, 16)}}}
	counted := slices.ContainsFunc(v.Checks, func(c workload.Check) bool { return c.Of > 0 })
	if !counted {
		g.cols = slices.Delete(g.cols, 2, 3)
	}
	for _, c := range v.Checks {
		result := "✓ passed"
		if !c.OK {
			result = "✗ FAILED"
		}
		cells := []string{c.Name, result}
		switch {
		case counted && c.Of > 0:
			cells = append(cells, whole(c.Of))
		case counted:
			cells = append(cells, "")
		}
		g.add(append(cells, c.Want, c.Got, strings.Join(c.Examples, ", "))...)
	}
	g.ink = func(row, col int) ink {
		switch {
		case col == 1 && v.Checks[row].OK:
			return s.ok
		case col == 1:
			return s.bad
		}
		return s.plain
	}
	head, rows := g.lines(s, w)
	return append(append(out, head), rows...)
}

func (r *results) values(s *styles, w int) []string {
	run := &r.loaded.folder.Run
	g := grid{cols: []column{{head: "name", most: 34}, {head: "value", most: max(w/2, 20)}, {head: "from", drop: 1}}}
	for _, k := range slices.Sorted(maps.Keys(run.Settings)) {
		g.add(k, settingText(k, run.Settings[k]), run.Origins[k])
	}
	for _, k := range slices.Sorted(maps.Keys(run.Parameters)) {
		if _, ok := run.Settings[k]; !ok {
			g.add(k, run.Parameters[k], run.Origins[k])
		}
	}
	g.add("", "", "")
	g.add("seed", fmt.Sprint(run.Seed), "")
	for _, k := range slices.Sorted(maps.Keys(run.Store.Details)) {
		g.add("store "+k, run.Store.Details[k], "")
	}
	for _, k := range slices.Sorted(maps.Keys(run.Environment)) {
		text := fmt.Sprint(run.Environment[k])
		if f, ok := run.Environment[k].(float64); ok {
			text = numberText(f)
		}
		g.add(k, text, "")
	}
	g.ink = func(_, col int) ink {
		if col == 2 {
			return s.muted
		}
		return s.plain
	}
	head, rows := g.lines(s, w)
	return append([]string{head}, rows...)
}
