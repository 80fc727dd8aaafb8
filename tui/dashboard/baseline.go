package dashboard

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Past are the earlier runs.
type Past interface {
	screen.Archive
	// Load reads one finished run by its id.
	Load(id string) (*rundir.Folder, error)
}

// comparison is the earlier run that this one is held against, and the choice of it.
type comparison struct {
	sel     *selection
	says    *messages
	past    Past
	earlier *Run // nil for none
	chooser Chooser
}

// Run is an earlier run.
type Run struct {
	ID     string
	run    *rundir.Run
	course rundir.Timeline
	ops    map[measure.Operation]rundir.Operation
	// sign is that of figures of all of it, rated of its throughput.
	sign, rated string
}

// Of returns a finished run as one to compare with.
func Of(f *rundir.Folder) *Run {
	r := &Run{ID: f.Run.ID, run: &f.Run, sign: f.Run.Sign(), rated: f.Run.RateSign(), course: rundir.OfCalls(f), ops: map[measure.Operation]rundir.Operation{}}
	for _, o := range f.Run.Operations {
		r.ops[measure.Operation{Track: o.Track, Op: o.Op}] = o
	}
	return r
}

// Rates and P99 return the throughput and the p99 of all calls at the given seconds of the run; NaN
// where it has none, for example after its end.
func (r *Run) Rates(at []float64) []float64 { return r.pick(r.course.Rates, at) }

// P99 is documented with Rates.
func (r *Run) P99(at []float64) []float64 { return r.pick(r.course.P99, at) }

func (r *Run) pick(vals, at []float64) []float64 {
	out := make([]float64, len(at))
	for i, t := range at {
		out[i] = math.NaN()
		if n := int(math.Floor(t)) - r.course.First; n >= 0 && n < len(vals) {
			out[i] = vals[n]
		}
	}
	return out
}

// Against returns how much throughput and p99 of an operation differ from those of the
// run: "+12 %", with the signs of those; empty if the run did not have that operation, or too few calls of it.
func (r *Run) Against(op measure.Operation, rate float64, p99 int64) (throughput, latency string) {
	o, ok := r.ops[op]
	if !ok {
		return "", ""
	}
	if o.Throughput != nil {
		throughput = r.rated + units.Percent(*o.Throughput, rate)
	}
	if p99 > 0 && measure.Enough(99, o.Calls) {
		latency = r.sign + units.Percent(float64(o.Response.P99), float64(p99))
	}
	return throughput, latency
}

// Chooser lists the runs to compare with. The zero value is closed.
type Chooser struct {
	Open  bool
	runs  []rundir.Run
	at    int
	known bool
}

// Ask opens the list before its contents are known.
func (c *Chooser) Ask() { *c = Chooser{Open: true} }

// Offer fills it with the runs of a profile that have ended: the one that is shown has its
// folder, too. Those on the same store come first, as they are the most likely choice.
func (c *Chooser) Offer(runs []rundir.Run, profile, store string) {
	c.known, c.runs, c.at = true, nil, 0
	for _, same := range []bool{true, false} {
		for _, r := range runs {
			if r.Profile == profile && r.EndedBy != rundir.StillRunning && (r.Store.Name == store) == same {
				c.runs = append(c.runs, r)
			}
		}
	}
}

// Press handles a key and returns the id of the run that was chosen.
func (c *Chooser) Press(msg tea.KeyPressMsg) string {
	k := widget.AllKeys
	switch {
	case key.Matches(msg, k.Back), key.Matches(msg, k.SideB), key.Matches(msg, k.Compare): // the keys that opened it, too
		c.Open = false
	case key.Matches(msg, k.Up):
		c.at = max(c.at-1, 0)
	case key.Matches(msg, k.Down):
		c.at = min(c.at+1, max(len(c.runs)-1, 0))
	case key.Matches(msg, k.Choose):
		c.Open = false
		if c.at < len(c.runs) {
			return c.runs[c.at].ID
		}
	}
	return ""
}

// Keys returns the keys that work while it is open.
func (c *Chooser) Keys() widget.KeyMap {
	list := []key.Binding{widget.Bind("↑↓", "run", "up", "down"), widget.Bind("enter", "compare", "enter"), widget.Bind("esc", "cancel", "esc", "b", "c")}
	return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
}

// Draw fills w×h cells with the list.
func (c *Chooser) Draw(s *widget.Styles, w, h int, now time.Time) []string {
	p := widget.Panel{Title: "Compare with an earlier run", Focused: true}
	switch {
	case !c.known:
		return p.Draw(s, w, h, []string{" Reading the runs …"})
	case len(c.runs) == 0:
		return p.Draw(s, w, h, []string{" No earlier run of this profile yet."})
	}
	rows := max(h-3, 1)
	from := min(max(c.at-rows+1, 0), max(len(c.runs)-rows, 0))
	head, lines := c.grid(s, from, min(from+rows, len(c.runs)), now).Lines(s, w-4)
	if lines = widget.Indent(lines); head != "" && h > 3 {
		lines = append([]string{" " + head}, lines...)
	}
	p.Foot = fmt.Sprintf("%d of %d", c.at+1, len(c.runs))
	return p.Draw(s, w, h, lines)
}

// grid is the table of the runs from one up to another, with the settings in which any differ, and what is kept with them.
func (c *Chooser) grid(s *widget.Styles, from, to int, now time.Time) *widget.Grid {
	all, listed := make([]kept.Item, len(c.runs)), make([]*kept.Item, len(c.runs))
	for i := range c.runs {
		all[i].Run, listed[i] = &c.runs[i], &all[i]
	}
	moments, settings := kept.MomentsOf(all), kept.SettingsOf(listed, kept.Sought{})
	g := &widget.Grid{Cols: []widget.Column{{Head: "  when"}, {Head: "run", Spare: 5, Most: 24}}}
	for _, name := range settings.Heads() {
		g.Cols = append(g.Cols, widget.Column{Head: name, Right: true, Spare: 2, Most: 14})
	}
	g.Cols = append(g.Cols, widget.Column{Head: "result", Right: true}, widget.Column{Head: "p99", Right: true, Spare: 4}, widget.Column{Head: archive.NotesHead(all), Spare: 3, Most: 60})
	for i := from; i < to; i++ {
		r, lead := &c.runs[i], "  "
		if i == c.at {
			lead = "▸ "
		}
		f := widget.FiguresOf(r)
		when := strings.TrimPrefix(moments.Of(&all[i], now), "today ")
		g.Add(slices.Concat([]string{lead + when, widget.NameOf(r)}, settings.Of(&all[i]), []string{f.RateText(), f.P99Text(), archive.Notes(r)})...)
	}
	g.Ink = func(row, _ int) widget.Ink {
		if from+row == c.at {
			return s.Selected
		}
		return s.Plain
	}
	return g
}

// keys explain in the legend of a chart which line is the earlier run's, the longest first: its name, and how it was
// set where this one is set otherwise now. There are none where it is not drawn.
func (c *comparison) keys() []string {
	if c.earlier == nil || c.sel.op >= 0 {
		return nil
	}
	name, differs := earlierSign+" "+c.earlier.ID, c.differs()
	if len(differs) == 0 {
		return []string{name, earlierSign + " earlier run"}
	}
	out := []string{name + ": " + strings.Join(differs, ", ")}
	for n := len(differs); n > 0; n-- {
		out = append(out, earlierSign+" "+strings.Join(differs[:n], ", "))
	}
	return out
}

// earlierSign is what the line of the earlier run is drawn with.
const earlierSign = "–"

// differs says in what the earlier run differs from what this one does now: "threads 8 (here 16)".
func (c *comparison) differs() (out []string) {
	now, was := c.sel.now, c.earlier.run
	differ := func(name, then, here string) {
		if then != here && then != "" && here != "" {
			out = append(out, strings.TrimSpace(name+" "+then)+" (here "+here+")")
		}
	}
	differ("", was.Store.Name, now.info.Store)
	differ("mode", was.Mode, now.info.Mode)
	set := measure.SettingsAt(now.snap.Segments, now.snap.Changes, now.snap.At)
	for _, k := range now.plan.Knobs {
		differ(k.Name, widget.KnobIn(k, was.SettingsAt(now.snap.At)), widget.KnobIn(k, set))
	}
	return out
}

// legend is that of a chart with the key of the earlier run, beside the names of operations where both have room
// between a title and a note, else alone; "" if there is none, or no room.
func (c *comparison) legend(s *widget.Styles, ops, title, note string, w int) string {
	keys := c.keys()
	for _, before := range []string{ops, ""} {
		for _, key := range keys {
			styled := s.Earlier.On(key)
			if before != "" {
				styled = before + "  " + styled
			}
			if ansi.StringWidth(title)+ansi.StringWidth(styled)+ansi.StringWidth(note)+11 <= w {
				return styled
			}
		}
	}
	return ops
}

// timesLegends are the legends that the chart of times may have, the longest first: the names of operations, and which
// line is the earlier run's.
func (c *comparison) timesLegends(s *widget.Styles, ops string) []string {
	if c.keys() == nil {
		return []string{ops}
	}
	key := s.Earlier.On(earlierSign + " earlier p99")
	return []string{strings.TrimPrefix(ops+"  "+key, "  "), ops, key}
}

// press asks which run to compare this one with, or ends the comparison.
func (c *comparison) press() tea.Cmd {
	if c.earlier != nil {
		c.earlier = nil
		return nil
	}
	c.chooser.Ask()
	return screen.ReadHistory(c.past)
}

// load reads the chosen run in the background.
func (c *comparison) load(id string) tea.Cmd {
	if id == "" {
		return nil
	}
	return func() tea.Msg {
		f, err := c.past.Load(id)
		if err != nil {
			return earlierMsg{err: err}
		}
		return earlierMsg{run: Of(f)}
	}
}

func (c *comparison) hold(e screen.Env, msg earlierMsg) {
	if msg.err != nil {
		c.says.say(e, "the earlier run cannot be read: "+msg.err.Error(), true)
		return
	}
	c.earlier = msg.run
	c.says.say(e, "compared with "+msg.run.ID+", which the charts draw as "+earlierSign+"; b drops it", false)
}

// earlierMsg delivers the run to compare this one with.
type earlierMsg struct {
	run *Run
	err error
}
