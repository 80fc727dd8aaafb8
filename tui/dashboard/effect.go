package dashboard

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/widget"
)

// fresh is for how long a change is news. settled is after how long what it did is known as
// well as it ever will be.
const fresh, settled = 10 * time.Second, time.Minute

// leastChange is how wide the column of what was changed is at least, and leastEffect how much room an effect in
// words has beside it: where there is less, effects stand below their changes.
const leastChange, leastEffect = 16, 40

// effects returns what each change did so far, and what of that was told as sure a moment ago and is not.
func (r *reading) effects() []effect.Effect {
	if r.didAt == r.snap {
		return r.did
	}
	list := effect.Effects(r.passed())
	for i := range list {
		e := &list[i]
		k := slices.IndexFunc(r.did, func(was effect.Effect) bool { return was.Until == e.Until && was.Name == e.Name })
		switch {
		case k < 0:
		case r.snap.Bucket > time.Second && e.Until < r.snap.At-settled: // of what is long ago there were finer seconds
			*e = r.did[k]
		default:
			e.Since(&r.did[k])
		}
	}
	r.did, r.didAt = list, r.snap
	return list
}

// passed returns the finished seconds so far as effects are reckoned from them.
func (r *reading) passed() *effect.Course {
	if r.ranAt != r.snap {
		r.ran, r.ranAt = effect.Live(r.snap, r.verdict, r.commands()), r.snap
	}
	return r.ran
}

// lastEffect returns what the last change did, and false if nothing was changed.
func (r *reading) lastEffect() (e effect.Effect, ok bool) {
	list := r.effects()
	if len(list) == 0 {
		return e, false
	}
	return list[len(list)-1], true
}

// commands returns those that faults of the run may be.
func (r *reading) commands() []workload.Command {
	if r.plan == nil {
		return nil
	}
	return r.plan.Commands.All()
}

// changeRows lists what was changed, the newest first, with what each did in columns, and the marks among that.
// While a moment is read, what came after it is left out.
func (low *lower) changeRows(s *widget.Styles, w int) (string, []string) {
	return low.changeLines(s, w, false)
}

// changeLines is changeRows; brief gives each a single line.
func (low *lower) changeLines(s *widget.Styles, w int, brief bool) (string, []string) {
	list, marks, none := low.now.effects(), low.now.snap.Marks, "Nothing has been changed yet."
	if low.charts != nil && low.charts.cross.On {
		end := low.charts.cross.At + low.charts.cross.Width
		list = slices.DeleteFunc(slices.Clone(list), func(e effect.Effect) bool { return e.At >= end })
		marks = slices.DeleteFunc(slices.Clone(marks), func(m measure.Mark) bool { return m.At >= end })
		none = "Nothing had been changed by then."
	}
	if len(list) == 0 && len(marks) == 0 {
		return none, nil
	}
	acts := widget.Grid{Cols: []widget.Column{{Head: "at"}, {Head: "segment", Right: true, Spare: 6}, {Head: "by", Spare: 8}, {Head: "change", Most: 40, Least: leastChange}}}
	change := leastChange
	for i := range list {
		e := &list[i]
		change = max(change, ansi.StringWidth(e.Text()))
		by := e.By
		if e.Ramp > 0 {
			by = "ramp"
		}
		acts.Add(e.When(), e.Segments(), by, e.Text())
	}
	acts.Ink = func(_, col int) widget.Ink { return []widget.Ink{s.Plain, s.Muted, s.Muted, s.Plain}[col] }
	figures := figuresOf(s, list, brief)
	w -= 2
	room := max(figures.Wide(), leastEffect)
	beside := brief || acts.Least()+2+room <= w
	wide, whole := w, acts.Least()
	if brief { // a change is cut before its effect is
		whole -= change - leastChange
	}
	if beside {
		wide = max(w-2-room, whole)
	}
	head, left := acts.Lines(s, wide)
	room = w - 2
	if beside {
		room -= ansi.StringWidth(head)
	}
	effects, right := figures.Lines(s, room)
	if beside {
		head += "  " + effects
	}
	var out []string
	noted := func(since time.Duration) { // the marks from then on that are not listed yet
		for len(marks) > 0 && marks[len(marks)-1].At >= since {
			m := marks[len(marks)-1]
			marks = marks[:len(marks)-1]
			at := widget.Clock(m.At) + "  "
			for i, l := range widget.Wrap("◆ "+m.Note, max(w-len(at), 10)) {
				if i > 0 {
					at = widget.Fit("", len(at))
				}
				if out = append(out, "  "+at+l); brief {
					break
				}
			}
		}
	}
	for i := len(list) - 1; i >= 0; i-- {
		e := &list[i]
		noted(e.At)
		if s.Spoken {
			out = append(out, fmt.Sprintf("%s %s, by %s: %s", e.When(), e.Text(), e.By, e.Told(math.MaxInt)))
			continue
		}
		lines := told(s, e, right[i], room, brief)
		if !beside {
			lines = append([]string{""}, widget.Wrap(e.Told(2*room), room)...)
		}
		if !brief && strings.Contains(ansi.Strip(left[i]), "…") { // too long for its column
			lines = slices.Insert(lines, 1, widget.MutedLines(s, e.Text(), room)...)
		}
		out = append(out, strings.TrimRight("  "+left[i]+"  "+lines[0], " "))
		for _, l := range lines[1:] {
			out = append(out, widget.Fit("", w+2-room)+l)
		}
	}
	noted(math.MinInt64)
	return "  " + head, out
}

// figuresOf are the figures of effects in columns, a row for each effect: throughput and a response time before and
// after it, and what was found out about each; brief leaves out that it is so far.
func figuresOf(s *widget.Styles, list []effect.Effect, brief bool) *widget.Grid {
	g := &widget.Grid{Cols: []widget.Column{{Head: "throughput"}, {Spare: 4}, {Head: "latency"}, {}, {Spare: 9, Most: 20}}}
	inks := make([][]widget.Ink, len(list))
	for i := range list {
		e := &list[i]
		cells := make([]string, len(g.Cols))
		inks[i] = slices.Repeat([]widget.Ink{s.Plain}, len(g.Cols))
		figure := func(f effect.Figure, at int) {
			cells[at], cells[at+1], inks[i][at+1] = f.Numbers(), f.Judged(), s.Muted
			if f.Is != effect.Better && f.Is != effect.Worse {
				return
			}
			cells[at+1] = f.Change()
			switch {
			case e.SoFar() && brief: // the line of the last change says so
			case e.SoFar():
				cells[at+1] = "so far " + f.Change()
			case f.Is == effect.Better:
				inks[i][at+1] = s.OK
			default:
				inks[i][at+1] = s.Bad
			}
		}
		if !e.Pauses() && e.Missing() == "" {
			figure(e.Throughput(), 0)
			if f := e.Latency(); f.Is != "" {
				figure(f, 2)
				cells[2] = f.Name() + " " + cells[2]
				if f.Of() != "" {
					cells[4], inks[i][4] = "of "+f.Of(), s.Muted
				}
			}
		}
		g.Add(cells...)
	}
	g.Ink = func(row, col int) widget.Ink { return inks[row][col] }
	return g
}

// told is what an effect did, in its columns or in words where it has none, with what there is to say of it below;
// brief leaves that out.
func told(s *widget.Styles, e *effect.Effect, columns string, w int, brief bool) []string {
	out := []string{columns}
	if why := e.Missing(); why != "" {
		out = widget.MutedLines(s, why, w)
		if brief {
			out = []string{s.Muted.On(ansi.Truncate(why, w, "…"))}
		}
	}
	if brief || e.Pauses() {
		return out[:1]
	}
	if short := e.Short(); short != "" {
		out = append(out, s.Warn.On(short))
	}
	below := []string{e.Company(w)}
	if e.Missing() == "" {
		below = append(below, e.Lacks(), e.Counts(), e.Slow())
	}
	for _, text := range below {
		if text != "" {
			out = append(out, widget.MutedLines(s, text, w)...)
		}
	}
	return out
}
