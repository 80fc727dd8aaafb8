package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/widget"
)

// sideFigure is a line of the table: a name and its samples, by whose they are.
type sideFigure struct {
	title, name string
	text        func(float64) string
}

func cores(v float64) string    { return units.Number(v) + " cores" }
func byteText(v float64) string { return units.Size(int64(v)) }
func perS(v float64) string     { return units.Size(int64(v)) + "/s" }

var sideFigures = []sideFigure{
	{"CPU used", "cpu_cores", cores},
	{"memory", "memory_bytes", byteText},
	{"received", "net_in_bytes_per_s", perS},
	{"sent", "net_out_bytes_per_s", perS},
	{"connections", "clients", units.Number},
	{"waits for a connection", "pool_waits_per_s", func(v float64) string { return units.Number(v) + "/s" }},
	{"time of these waits", "pool_wait_ms_per_s", func(v float64) string { return units.Number(v) + " ms/s" }},
	{"waiting for a CPU", "run_queue_cores", cores},
}

// sides returns the columns: the name of each, and its sources, of which the first that
// reports is used.
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

// told adds up what a source reports under a name, over its nodes.
func sumOf(samples []rundir.Sample, source, name string) (sum float64, ok bool) {
	for _, s := range samples {
		if s.Source == source && s.Name == name {
			sum, ok = sum+s.Value, true
		}
	}
	return sum, ok
}

// minute is how many seconds of the store's counters are drawn.
const minute = 60

// Course holds the store's own counters over the last minute, or over a run. The zero value is empty.
type Course struct {
	second int
	of     map[string][]float64
}

// Add adds the samples of a second, once.
func (c *Course) Add(samples []rundir.Sample) {
	if len(samples) == 0 || c.of != nil && samples[0].T == c.second {
		return
	}
	if c.second = samples[0].T; c.of == nil {
		c.of = map[string][]float64{}
	}
	for _, n := range named(samples, nil) {
		v, _ := sumOf(samples, rundir.OfStore, n)
		old := c.of[n]
		c.of[n] = append(old[max(len(old)-minute+1, 0):], v)
	}
}

// LastSecond is when what is shown of a run that goes on was sampled.
const LastSecond = "the last second"

// widest and narrowest are the maximum and minimum width of a column.
const widest, narrowest = 14, 12

// OfRun returns the means of what was sampled in the measured time of a run, and how the store's own
// counters went in it.
func OfRun(f *rundir.Folder) (means []rundir.Sample, course Course) {
	type key struct{ source, node, name string }
	sums, counts := map[key]float64{}, map[key]float64{}
	bySecond := map[string]map[int]float64{}
	first, last := math.MaxInt, 0
	for _, x := range f.Samples {
		if x.T < 0 {
			continue
		}
		k := key{x.Source, x.Node, x.Name}
		if counts[k] == 0 {
			means = append(means, rundir.Sample{Source: x.Source, Node: x.Node, Name: x.Name})
		}
		sums[k], counts[k] = sums[k]+x.Value, counts[k]+1
		if x.Source == rundir.OfStore {
			if bySecond[x.Name] == nil {
				bySecond[x.Name] = map[int]float64{}
			}
			bySecond[x.Name][x.T] += x.Value
			first, last = min(first, x.T), max(last, x.T)
		}
	}
	for i, x := range means {
		k := key{x.Source, x.Node, x.Name}
		means[i].Value = sums[k] / counts[k]
		if v := overall(&f.Run, x); v != nil {
			means[i].Value = *v
		}
	}
	course.of = map[string][]float64{}
	for name, values := range bySecond {
		line := make([]float64, last-first+1)
		for i := range line {
			line[i] = math.NaN()
			if v, ok := values[first+i]; ok {
				line[i] = v
			}
		}
		course.of[name] = plot.Thin(line, minute, true)
	}
	return means, course
}

// overall returns what run.json and the verdict say of the whole run where a mean of its seconds would
// differ in its last digit; nil if they do not.
func overall(r *rundir.Run, x rundir.Sample) *float64 {
	at := slices.Index([]string{rundir.OfClient, rundir.OfProcess}, x.Source)
	if r.Observed == nil || at < 0 || at >= len(r.Observed.Processes) || at > 0 && (len(r.Observed.Processes) > 2 || x.Node != "") {
		return nil
	}
	p := &r.Observed.Processes[at]
	switch x.Name {
	case "cpu_cores":
		return p.CPU
	case "run_queue_cores":
		return p.Queue
	case "net_in_bytes_per_s":
		return p.NetIn
	case "net_out_bytes_per_s":
		return p.NetOut
	}
	return nil
}

// Sides returns what was sampled, in the last second or as when says, and the history of the counters: a
// head and lines of w cells. Brief only names the counters that have stood at 0, and leaves
// out that perfbench is the bottleneck, which the verdict says.
func Sides(s *widget.Styles, when string, samples []rundir.Sample, course *Course, store string, v rundir.Verdict, w int, brief bool) (head string, lines []string) {
	if len(samples) == 0 {
		return "Nothing has been sampled yet.", alarmOf(s, v, w)
	}
	const names = 26
	column := max(min(widest, (w-names)/3), narrowest)
	name := min(max(w-3*column, 12), names)
	head = widget.Fit("  "+when, name)
	shown := map[string]bool{}
	for _, c := range sides(store) {
		head += widget.FitRight(c.title, column)
	}
	for _, f := range sideFigures {
		line, some := widget.Fit("  "+f.title, name), false
		for _, c := range sides(store) {
			text := "–"
			for _, source := range c.sources {
				if v, ok := sumOf(samples, source, f.name); ok {
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
	if !brief {
		lines = append(lines, alarmOf(s, v, w)...) // below the figures that show it
	}
	return head, append(lines, counters(s, when, samples, course, shown, w, brief)...)
}

// alarm reports that perfbench limits the run, if so.
func alarmOf(s *widget.Styles, v rundir.Verdict, w int) (lines []string) {
	if _, reason := widget.Ours(v); reason != "" {
		for _, l := range widget.Wrap("perfbench is the bottleneck: "+reason, max(w-2, 20)) {
			lines = append(lines, s.Alarm.On(" "+l+" "))
		}
	}
	return lines
}

// named returns the names of what the store reports except those already shown, in
// order.
func named(samples []rundir.Sample, shown map[string]bool) (names []string) {
	for _, x := range samples {
		if x.Source == rundir.OfStore && !shown[x.Name] && !slices.Contains(names, x.Name) {
			names = append(names, x.Name)
		}
	}
	slices.Sort(names)
	return names
}

// counters draws what else the store reported, with its course and how high that goes,
// two or more per line. A course shows how a counter changed: one of 0 and 1 is as high as one of thousands.
func counters(s *widget.Styles, when string, samples []rundir.Sample, course *Course, shown map[string]bool, w int, brief bool) []string {
	names := named(samples, shown)
	var still []string
	if brief {
		names = slices.DeleteFunc(names, func(n string) bool {
			is := !slices.ContainsFunc(course.of[n], func(v float64) bool { return v < 0 || v > 0 })
			if is {
				title, _ := counter(n, 0)
				still = append(still, title)
			}
			return is
		})
	}
	if len(names)+len(still) == 0 {
		return nil
	}
	const wide, least, high = 38, 8, 10
	each := max(w/(wide+least+high), 1)
	trend, most := min(w/each-wide-high, minute), high
	if trend < least { // no room for how high
		trend, most = trend+high, 0
	}
	cell := func(title, figure, course, highest string) string {
		line := "  " + widget.Fit(title, wide-15) + widget.FitRight(figure, 11) + " "
		if trend > 1 {
			line += widget.FitRight(course, trend-1) + " " + s.Muted.On(widget.FitRight(highest, most))
		}
		return line
	}
	figure, long := "mean", "over the run"
	if when == LastSecond {
		figure, long = "now", fmt.Sprintf("last %d s", trend-1)
	}
	head := cell("store's own counters", figure, long, "highest")
	for range min(each, len(names)) - 1 {
		head += cell("", figure, long, "highest")
	}
	if len(names) == 0 {
		head = "  store's own counters"
	}
	out := []string{"", s.Muted.On(strings.TrimRight(ansi.Strip(head), " "))}
	for part := range slices.Chunk(names, each) {
		line := ""
		for _, n := range part {
			v, _ := sumOf(samples, rundir.OfStore, n)
			drawn := course.of[n][max(len(course.of[n])-trend+1, 0):]
			if when != LastSecond && trend > 1 { // all of the run, as wide as there is room
				drawn = Spread(course.of[n], trend-1, true)
			}
			title, text := counter(n, v)
			_, highest := counter(n, Peak(drawn))
			line += cell(title, text, s.Accent.On(Trend(drawn, trend-1)), highest)
		}
		out = append(out, line)
	}
	if len(still) > 0 {
		for _, l := range widget.Wrap("0 all along: "+strings.Join(still, ", "), max(w-4, 20)) {
			out = append(out, s.Muted.On("  "+l))
		}
	}
	return out
}

// counter returns what a counter of the store is called, and its value as text.
func counter(name string, v float64) (title, text string) {
	title, text = name, units.Number(v)
	if base, ok := strings.CutSuffix(name, "bytes_per_s"); ok {
		title, text = base+"bytes", perS(v)
	} else if base, ok := strings.CutSuffix(name, "_per_s"); ok {
		title, text = base, units.Number(v)+"/s"
	} else if strings.HasSuffix(name, "bytes") {
		text = byteText(v)
	}
	return strings.ReplaceAll(title, "_", " "), text
}
