// Package sides puts what perfbench and the store use beside each other, as of the last
// second of a run, and says whether it is perfbench that holds the run back. It is pure.
package sides

import (
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/tui/widget"
)

// Ours are the reasons of a verdict for which perfbench, and not the store, is what a run
// is held back by; empty when there is none.
func Ours(v rundir.Verdict) (causes []string, reason string) {
	for i, c := range v.Causes {
		if !verdict.Cause(c).Ours() {
			continue
		}
		if causes = append(causes, c); reason == "" && i < len(v.Reasons) {
			reason = v.Reasons[i]
		}
	}
	return causes, reason
}

// figure is a line of the table: a name and the samples that it is of, by who they are of.
type figure struct {
	title, name string
	text        func(float64) string
}

func cores(v float64) string { return units.Number(v) + " cores" }
func bytes(v float64) string { return units.Size(int64(v)) }
func perS(v float64) string  { return units.Size(int64(v)) + "/s" }

var figures = []figure{
	{"CPU", "cpu_cores", cores},
	{"memory", "memory_bytes", bytes},
	{"received", "net_in_bytes_per_s", perS},
	{"sent", "net_out_bytes_per_s", perS},
	{"connections", "clients", units.Number},
	{"waits for a connection", "pool_waits_per_s", func(v float64) string { return units.Number(v) + "/s" }},
	{"time of these waits", "pool_wait_ms_per_s", func(v float64) string { return units.Number(v) + " ms/s" }},
	{"waiting for a CPU", "run_queue_cores", cores},
}

// sides are the columns: what each is called, and who tells of it, the first that does.
func sides(store string) []struct {
	title   string
	sources []string
} {
	return []struct {
		title   string
		sources []string
	}{
		{"perfbench", []string{rundir.OfClient}},
		{store, []string{rundir.OfProcess, rundir.OfStore}},
		{"machine", []string{rundir.OfMachine}},
	}
}

// told adds up what a source tells under a name, over its nodes.
func told(samples []rundir.Sample, source, name string) (sum float64, ok bool) {
	for _, s := range samples {
		if s.Source == source && s.Name == name {
			sum, ok = sum+s.Value, true
		}
	}
	return sum, ok
}

const column = 14

// Table is what was sampled in the last second: a head and lines of w cells.
func Table(s *widget.Styles, samples []rundir.Sample, store string, v rundir.Verdict, w int) (head string, lines []string) {
	if _, reason := Ours(v); reason != "" {
		for _, l := range widget.Wrap("perfbench is the bottleneck: "+reason, max(w-2, 20)) {
			lines = append(lines, s.Alarm.On(" "+l+" "))
		}
	}
	if len(samples) == 0 {
		return "Nothing has been sampled yet.", lines
	}
	name := min(max(w-3*column, 12), 26)
	head = widget.Fit("  the last second", name)
	shown := map[string]bool{}
	for _, c := range sides(store) {
		head += widget.FitRight(c.title, column)
	}
	for _, f := range figures {
		line, some := widget.Fit("  "+f.title, name), false
		for _, c := range sides(store) {
			text := "–"
			for _, source := range c.sources {
				if v, ok := told(samples, source, f.name); ok {
					text, some = f.text(v), true
					break
				}
			}
			line += widget.FitRight(text, column)
		}
		if shown[f.name] = true; some {
			lines = append(lines, line)
		}
	}
	return head, append(lines, counters(s, samples, shown, w)...)
}

// counters are what else the store told of its last second, two or more in a line.
func counters(s *widget.Styles, samples []rundir.Sample, shown map[string]bool, w int) []string {
	var names []string
	for _, x := range samples {
		if x.Source == rundir.OfStore && !shown[x.Name] && !slices.Contains(names, x.Name) {
			names = append(names, x.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	const wide = 38
	each := max(w/wide, 1)
	out := []string{"", s.Muted.On("  the store's own counters")}
	for part := range slices.Chunk(names, each) {
		line := ""
		for _, n := range part {
			v, _ := told(samples, rundir.OfStore, n)
			title, text := n, units.Number(v)
			if base, ok := strings.CutSuffix(n, "bytes_per_s"); ok {
				title, text = base+"bytes", perS(v)
			} else if base, ok := strings.CutSuffix(n, "_per_s"); ok {
				title, text = base, units.Number(v)+"/s"
			} else if strings.HasSuffix(n, "bytes") {
				text = bytes(v)
			}
			line += "  " + widget.Fit(strings.ReplaceAll(title, "_", " "), wide-14) + widget.FitRight(text, 11) + " "
		}
		out = append(out, line)
	}
	return out
}
