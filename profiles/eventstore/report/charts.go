package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
)

// picture is a chart with the name of its file, without the extension.
type picture struct {
	file string
	plot.Chart
}

// charts are the pictures of a run for which there are values, with its steps marked.
type charts struct {
	marks []plot.Mark
	list  []picture
}

// add keeps a chart if there is anything to draw.
func (c *charts) add(file, title string, at []float64, format func(float64) string, lines ...plot.Line) {
	p := picture{"th2-" + file, plot.Chart{Title: title, At: at, Format: format, Lines: lines, Marks: c.marks}}
	if !p.Empty() {
		c.list = append(c.list, p)
	}
}

// drawCharts makes every chart for which there are values.
func drawCharts(f *Facts) []picture {
	if len(f.Series) == 0 {
		return nil
	}
	c := &charts{}
	for i := range f.Steps {
		c.marks = append(c.marks, plot.Mark{At: float64(f.Steps[i].FromNs) / 1e9, Note: fmt.Sprintf("step %d", i+1)})
	}
	c.ofRun(f)
	for i := range f.Processes {
		if p := &f.Processes[i]; len(p.Points) > 0 {
			c.ofProcess(p, &f.Machine)
		}
	}
	return c.list
}

// ofRun makes the charts of the whole run.
func (c *charts) ofRun(f *Facts) {
	var at []float64
	for i := range f.Series {
		at = append(at, float64(f.Series[i].AtNs)/1e9)
	}
	line := func(name string, of func(*SeriesPoint) float64) plot.Line {
		l := plot.Line{Name: name}
		for _, t := range f.Values(of) {
			l.Values = append(l.Values, t.Value)
		}
		return l
	}
	add := func(file, title string, format func(float64) string, lines ...plot.Line) {
		c.add(file, title, at, format, lines...)
	}
	positive := func(v float64) float64 {
		if v <= 0 {
			return math.NaN()
		}
		return v
	}
	mib := func(v float64) string { return three(v/(1<<20)) + " MiB/s" }
	add("event-rate", "event rate, K item/s", func(v float64) string { return three(v / 1000) },
		line("received", func(p *SeriesPoint) float64 { return p.Received }), line("sent", func(p *SeriesPoint) float64 { return p.Sent }),
		line("stored", func(p *SeriesPoint) float64 { return p.Stored }))
	add("batch-events", "in batch size, events", three, line("events in a batch", func(p *SeriesPoint) float64 { return positive(p.BatchEvents) }))
	add("batch-bytes", "in batch size, KiB of protobuf", func(v float64) string { return three(v / 1024) }, line("batch", func(p *SeriesPoint) float64 { return positive(p.BatchBytes) }))
	add("event-bytes", "in event size, KiB of protobuf", func(v float64) string { return three(v / 1024) }, line("event", func(p *SeriesPoint) float64 { return positive(p.EventBytes) }))
	space := f.Book + ":" + f.Scope
	add("content", "event batch content size", mib, line(space+" raw", func(p *SeriesPoint) float64 { return p.Raw }), line(space+" compressed", func(p *SeriesPoint) float64 { return p.Compressed }))
	add("backlog", "backlog, events due and not durable", three, line("backlog", func(p *SeriesPoint) float64 { return known(p.BacklogEvents) }))
	add("queue", "batches in the transport", three, line("ready", func(p *SeriesPoint) float64 { return known(p.Ready) }), line("delivered, not acknowledged", func(p *SeriesPoint) float64 { return known(p.Unacked) }))
	add("lag", "lag, seconds by which the oldest event that is not durable is late", three, line("lag", func(p *SeriesPoint) float64 { return float64(p.LagNs) / 1e9 }))
	add("tasks", "batches within the store stage", three, line("tasks", func(p *SeriesPoint) float64 { return known(p.Tasks) }))
}

// throttledMuch is the level at which the original draws a line.
const throttledMuch = 0.25

func muchThrottled(v *float64) *float64 {
	if v == nil {
		return nil
	}
	much := throttledMuch
	return &much
}

// ofProcess makes the charts of one that was watched.
func (c *charts) ofProcess(p *Process, machine *Machine) {
	short := map[string]string{"perfbench": "estore", "rabbitmq": "rabbitmq"}[p.Role]
	if short == "" {
		short = "store"
	}
	var at []float64
	for j := range p.Points {
		at = append(at, float64(p.Points[j].AtNs)/1e9)
	}
	plain := func(name string, all []Timed) plot.Line {
		l := plot.Line{Name: name}
		for _, t := range all {
			l.Values = append(l.Values, t.Value)
		}
		return l
	}
	line := func(name string, of func(*ResourcePoint) *float64) plot.Line { return plain(name, p.Values(of)) }
	counts := func(name string, of func(*ResourcePoint) *int64) plot.Line {
		return plain(name, p.PerMinute(of))
	}
	add := func(file, title string, format func(float64) string, lines ...plot.Line) {
		c.add(short+"-"+file, p.Role+": "+title, at, format, lines...)
	}
	mbps := func(v float64) string { return three(v*8/1e6) + " Mbps" }
	add("cpu", "CPU, cores", three, line("CPU", func(x *ResourcePoint) *float64 { return x.CPU }))
	add("throttling", "CPU throttling", func(v float64) string { return three(v*100) + " %" }, line("throttled", func(x *ResourcePoint) *float64 { return x.Throttled }),
		line("25 %", func(x *ResourcePoint) *float64 { return muchThrottled(x.Throttled) }))
	add("memory", "resident memory", memory, line("RSS", func(x *ResourcePoint) *float64 { return Whole(x.RSS) }))
	add("network", "network", mbps, line("in", func(x *ResourcePoint) *float64 { return x.NetIn }), line("out", func(x *ResourcePoint) *float64 { return x.NetOut }))
	add("heap", "heap", memory, line("used", func(x *ResourcePoint) *float64 { return Whole(x.Heap) }), line("limit", func(x *ResourcePoint) *float64 { return Whole(x.HeapMax) }),
		line("old", func(x *ResourcePoint) *float64 { return Whole(x.Old) }), line("young", func(x *ResourcePoint) *float64 { return Whole(x.Young) }))
	add("gc", "collections a minute", three, counts("old", func(x *ResourcePoint) *int64 { return x.OldGCs }), counts("young", func(x *ResourcePoint) *int64 { return x.YoungGCs }))
	add("gc-time", "time in collections", func(v float64) string { return three(v/6e10*100) + " %" }, counts("both", func(x *ResourcePoint) *int64 { return x.GCTimeNs }))
	add("load", "load of the machine per core", three, line("1 min", func(x *ResourcePoint) *float64 { return x.LoadPerCPU }),
		line("5 min", func(x *ResourcePoint) *float64 { return x.Load5PerCPU }), line("15 min", func(x *ResourcePoint) *float64 { return x.Load15PerCPU }))
	total := func(x *ResourcePoint) *float64 {
		if x.MachineUsed == nil || machine.Memory == 0 {
			return nil
		}
		return Whole(&machine.Memory)
	}
	add("machine-memory", "memory of the machine", memory, line("used", func(x *ResourcePoint) *float64 { return Whole(x.MachineUsed) }), line("total", total))
}

// csv returns every series as a table.
func csv(list []picture) []byte {
	var b strings.Builder
	b.WriteString("t_s,series,line,value\n")
	for i := range list {
		c := &list[i]
		for _, l := range c.Lines {
			name := rundir.Cells(l.Name)
			for j, v := range l.Values {
				if !math.IsNaN(v) {
					fmt.Fprintf(&b, "%.3f,%s,%s,%g\n", c.At[j], strings.TrimPrefix(c.file, "th2-"), name, v)
				}
			}
		}
	}
	return []byte(b.String())
}
