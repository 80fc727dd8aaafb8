package dashboard

import (
	"cmp"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

func (d *Dashboard) selection() look {
	return look{tuning: d.aside(), lower: d.folded || d.chooser.Open, rows: max(len(d.snap.Ops), 2), tall: d.lower.tall() || d.chooser.Open}
}

// View draws the page.
func (d *Dashboard) View(e screen.Env) string {
	d.narrow, d.small = e.W < 80, widget.SizeOf(e.W, e.H) == widget.Small
	if d.progress.Stage == screen.Preparing {
		return d.preparing(e)
	}
	p := layout(e.W, e.H, d.selection())
	lines := []string{d.status(e)}
	switch {
	case d.aside() && p.size == widget.Small:
		lines = append(lines, d.throughput(e, p)...)
		lines = append(lines, d.sidePanel(e, p.tune)...)
		lines = append(lines, d.bottomLine(e))
	case d.aside():
		left := append([]string{}, d.throughput(e, p)...)
		if !p.latency.Empty() {
			left = append(left, d.latency(e, p)...)
		}
		left = append(left, d.lowerPanel(e, p.ops)...)
		lines = append(lines, widget.Beside(left, d.sidePanel(e, p.tune))...)
		lines = append(lines, d.bottomLine(e))
	default:
		left := append([]string{}, d.throughput(e, p)...)
		if !p.latency.Empty() {
			left = append(left, d.latency(e, p)...)
		}
		if !p.ops.Empty() {
			left = append(left, d.lowerPanel(e, p.ops)...)
		}
		if !p.wall.Empty() {
			left = widget.Beside(left, d.wall(e, p.wall))
		}
		lines = append(lines, left...)
		knobs, _ := d.knobs(e)
		lines = append(lines, widget.Fit(knobs, e.W), widget.Fit(" "+d.state(e, e.W < 80), e.W))
		lines = append(lines, d.event(e, max(e.H-1-len(lines), 1))...)
	}
	for len(lines) < e.H-1 {
		lines = append(lines, strings.Repeat(" ", e.W))
	}
	return widget.Page(e.W, e.H, append(lines, widget.Footer(e.Styles, e.W, d.Keys().Short)))
}

// preparing draws what is shown until the first worker runs.
func (d *Dashboard) preparing(e screen.Env) string {
	s, pr := e.Styles, d.progress
	step := pr.Step
	if step == "" {
		step = "getting ready"
	}
	lines := []string{"", "  " + s.Bold.On(step)}
	if pr.Total > 0 {
		part := min(float64(pr.Done)/float64(pr.Total), 1)
		lines = append(lines, "", "  "+widget.Bar(s, part, min(e.W-20, 60))+fmt.Sprintf(" %3.0f %%", part*100),
			"  "+s.Muted.On(widget.Whole(pr.Done)+" of "+widget.Whole(pr.Total)))
	} else if pr.Done > 0 {
		lines = append(lines, "", "  "+s.Muted.On(widget.Whole(pr.Done)))
	}
	if pr.Note != "" {
		lines = append(lines, "")
		for _, l := range widget.Wrap(pr.Note, e.W-8) {
			lines = append(lines, "  "+l)
		}
	}
	for _, w := range d.plan.Warnings {
		for i, l := range widget.Wrap(w, e.W-8) {
			if i == 0 {
				lines = append(lines, "", "  "+s.Warn.On("! "+l))
			} else {
				lines = append(lines, "    "+l)
			}
		}
	}
	out := append([]string{d.status(e)}, widget.Panel{Title: "Preparing", Focused: true}.Draw(s, e.W, e.H-2, lines)...)
	return widget.Page(e.W, e.H, append(out, widget.Footer(e.Styles, e.W, d.Keys().Short)))
}

// status draws the first line: what runs, where, and its progress.
func (d *Dashboard) status(e screen.Env) string {
	s := e.Styles
	sign := "▶"
	if d.fig.paused {
		sign = "‖"
	}
	what := []string{d.info.Title, d.info.Store}
	if len(d.snap.Phases) > 0 && d.progress.Stage == screen.Measuring && len(d.plan.Phases) > 1 {
		what = append(what, strings.Join(d.snap.Phases, ", "))
	}
	left := " " + s.Accent.On(sign) + " " + s.Bold.On(strings.Join(what, " · "))
	if w := d.stageWord(); w != "" {
		left += " " + s.Warn.On("· "+w)
	}
	right := d.time()
	part, known := d.part()
	if known && e.W >= 80 {
		right += "  " + widget.Bar(s, part, min(24, e.W/5)) + s.Bold.On(fmt.Sprintf(" %3.0f %%", part*100))
	}
	return widget.Spread(left, right+" ", e.W)
}

func (d *Dashboard) stageWord() string {
	switch {
	case d.progress.Stage != screen.Measuring:
		return d.progress.Stage.String()
	case d.searching():
		return "searching"
	case d.fig.paused:
		return "paused"
	case d.snap.At < 0:
		return "warm-up"
	}
	return ""
}

// time formats how long the run has been going and how long it will take.
func (d *Dashboard) time() string {
	if d.progress.Stage == screen.Preparing {
		return ""
	}
	now := widget.Clock(d.snap.At)
	if d.snap.At < 0 && d.info.Settles { // its length is not known
		return widget.Clock(d.snap.At - d.snap.Began)
	}
	end := d.info.Duration
	about := ""
	if d.snap.Total > 0 && d.snap.Done > 0 && d.snap.At > 0 {
		est := time.Duration(float64(d.snap.At) / float64(d.snap.Done) * float64(d.snap.Total))
		if end == 0 || est < end {
			end, about = est, "~"
		}
	}
	if end == 0 {
		return now
	}
	return now + " / " + about + widget.Clock(end)
}

func (d *Dashboard) rateText(v float64) string { return units.Number(v) + " " + d.unit() + "/s" }

// unit returns what the figures count: those of the selected operation, or of all.
func (d *Dashboard) unit() string {
	if d.op >= 0 && d.op < len(d.snap.Ops) {
		return cmp.Or(d.otherUnit(d.snap.Ops[d.op].Operation), d.info.Unit)
	}
	return d.info.Unit
}

// otherUnit returns the unit of an operation if it differs from that of the run; else
// "".
func (d *Dashboard) otherUnit(o measure.Operation) string { return d.info.Units[o.Track+"."+o.Op] }

// opLabel names an operation in a table, with its unit if that differs from the head of
// the table.
func (d *Dashboard) opLabel(o measure.Operation) string {
	if unit := d.otherUnit(o); unit != "" {
		return d.opName(o) + " (" + unit + ")"
	}
	return d.opName(o)
}

// zone is a part of the knobs line that turns a knob when clicked.
type zone struct {
	from, to int
	knob     workload.Knob
	up       bool
}

// knobs draws the line of live settings, and returns where it can be clicked.
func (d *Dashboard) knobs(e screen.Env) (string, []zone) {
	s := e.Styles
	prefix := " "
	if t := d.tuner.track; t != screen.All {
		prefix += d.tracks[t].Name + ": "
	}
	// Wide, with spaces around the arrows, or else compact.
	knobs := slices.DeleteFunc(slices.Clone(d.plan.Knobs), func(k workload.Knob) bool { return !d.turns(k) })
	values := make([]string, len(knobs))
	roomy := ansi.StringWidth(prefix)
	for i, k := range knobs {
		values[i] = d.knobValue(k)
		if d.tuner.track == screen.All {
			values[i] = each(d.plan, k, values[i])
		}
		roomy += ansi.StringWidth(k.Name+values[i]) + 8
	}
	pad, gap, space := " ", "   ", " "
	if roomy -= len(gap); roomy > e.W {
		pad, gap = "", "  "
		roomy -= 3*len(knobs) - 1
	}
	if roomy > e.W {
		gap, space = " ", ""
	}
	line, x := s.Muted.On(prefix), ansi.StringWidth(prefix)
	var zones []zone
	for i, k := range knobs {
		at := x + ansi.StringWidth(k.Name+space) // of the left arrow
		to := at + 1 + 2*len(pad) + ansi.StringWidth(values[i])
		if to >= e.W {
			break
		}
		zones = append(zones, zone{at - 1, at + 1 + len(pad), k, false}, zone{to - len(pad), to + 2, k, true})
		line += s.Muted.On(k.Name) + space + s.Accent.On("◂") + pad + s.Bold.On(values[i]) + pad + s.Accent.On("▸") + gap
		x = to + 1 + len(gap)
	}
	return strings.TrimRight(line, " "), zones
}

// knobValue returns the requested value; if tracks differ in a value that does not add
// up, from the lowest to the highest.
func (d *Dashboard) knobValue(k workload.Knob) string {
	t := d.tuner.track
	switch {
	case t != screen.All && !d.tracks[t].Turns(k):
		return "–"
	case t != screen.All || k.Sum || len(d.tracks) < 2:
		return widget.KnobText(k, k.Get(d.run.Settings(t)))
	}
	lo, hi := d.span(k)
	return widget.RangeText(k, lo, hi)
}

// state describes the run at this moment: in flight, behind, errors.
func (d *Dashboard) state(e screen.Env, short bool) string {
	s, f := e.Styles, d.fig
	parts := []string{fmt.Sprintf("in flight %d", f.inFlight)}
	if f.stalls() {
		parts = append(parts, s.Warn.On("oldest "+age(f.oldest)))
	} else if !short {
		parts = append(parts, "oldest "+age(f.oldest))
	}
	switch {
	case f.backlog > 0:
		parts = append(parts, s.Warn.On(units.Number(float64(f.backlog))+" behind schedule"))
	case f.open:
		parts = append(parts, "on schedule")
	}
	if f.errors > 0 {
		text := "errors " + widget.Whole(f.errors)
		if classes := errorsInWords(d.snap.Errors); classes != "" && !short {
			text += " (" + classes + ")"
		}
		parts = append(parts, s.Bad.On(text))
	} else {
		parts = append(parts, "errors 0")
	}
	line := strings.Join(parts, " · ")
	if d.snap.At <= 0 || d.verdict.State == "" {
		return line
	}
	_, k := widget.Worth(s, d.verdict)
	word := d.verdict.State
	if causes := word + ": " + strings.Join(d.verdict.Causes, ", "); len(d.verdict.Causes) > 0 && ansi.StringWidth(line+causes)+5 <= e.W {
		word = causes
	}
	if ansi.StringWidth(line+word)+5 > e.W {
		return line // the tab shows it
	}
	return line + " · " + k.On(word)
}

// age formats how long something has been in progress; coarsely below a second, so that
// it does not flicker.
func age(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Millisecond:
		return "< 1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	default:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
}

// rects returns the current panes, for hit tests.
func (d *Dashboard) rects(e screen.Env) panes { return layout(e.W, e.H, d.selection()) }

func in(r image.Rectangle, x, y int) bool { return image.Pt(x, y).In(r) }
