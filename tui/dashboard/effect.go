package dashboard

import (
	"math"
	"slices"
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

// withReason is how long an effect with what it lacks may be in the panel of changes, on several lines:
// there is no room for ranges.
const withReason = 110

// leastChange is how wide the column of what was changed is at least.
const leastChange = 16

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

// nth returns a line, or "" beyond the last.
func nth(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// changeRows lists what was changed, the newest first, with what each did, each in as many lines as the
// least of that takes, and the marks among that. While a moment is read, what came after it is left out.
func (low *lower) changeRows(s *widget.Styles, w int) (string, []string) {
	return low.changeLines(s, w, false)
}

// changeLines is changeRows; brief gives each a single line.
func (low *lower) changeLines(s *widget.Styles, w int, brief bool) (string, []string) {
	wrap := widget.Wrap
	if brief {
		wrap = func(text string, w int) []string { return []string{ansi.Truncate(text, w, "…")} }
	}
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
	by, segment, lead := 12, 9, 10
	for i := range list {
		lead = max(lead, ansi.StringWidth(list[i].When())+4)
	}
	if w < 110 {
		by = 0 // no room for who changed it
	}
	if w < 96 {
		segment = 0
	}
	change := min(max((w-lead-by-segment)/3, leastChange), 40)
	room := max(w-lead-by-segment-change-2, 10)
	if brief { // the numbers of an effect are not cut: other columns give way to them, that of the change last
		need := 0
		for i := range list {
			if e := &list[i]; e.Missing() == "" {
				need = max(need, ansi.StringWidth(e.Outcome(0)))
			}
		}
		for _, other := range []*int{&by, &segment} {
			if room < need {
				room, *other = room+*other, 0
			}
		}
		give := min(max(need-room, 0), max(change-leastChange, 0))
		change, room = change-give, room+give
	}
	var out []string
	noted := func(since time.Duration) { // the marks from then on that are not listed yet
		for len(marks) > 0 && marks[len(marks)-1].At >= since {
			m := marks[len(marks)-1]
			marks = marks[:len(marks)-1]
			for i, l := range wrap("◆ "+m.Note, max(w-lead, 10)) {
				at := ""
				if i == 0 {
					at = "  " + widget.Clock(m.At)
				}
				out = append(out, widget.Fit(at, lead)+l)
			}
		}
	}
	for _, e := range slices.Backward(list) {
		noted(e.At)
		who := e.By
		if e.Ramp > 0 {
			who = "ramp"
		}
		most := room
		if e.Lacks() != "" && !brief {
			most = max(room, min(3*room, withReason))
		}
		did := e.Told(most)
		if brief && ansi.StringWidth(did) > room { // what it was done with is told in full
			did = e.Brief(room)
		}
		text, told := wrap(e.Text(), change), wrap(did, room)
		for i := range max(len(text), len(told), 1) {
			at, who, segments := "  "+e.When(), "  "+who, e.Segments()
			if i > 0 {
				at, who, segments = "", "", ""
			}
			line := widget.Fit(at, lead) + widget.Fit(nth(text, i), change) + "  " + widget.Fit(nth(told, i), room)
			out = append(out, line+s.Muted.On(widget.Fit(who, by))+widget.FitRight(segments, segment))
		}
	}
	noted(math.MinInt64)
	return widget.Fit("  at", lead) + widget.Fit("change", change) + "  " + widget.Fit("effect", room) + widget.Fit("  by", by) + widget.FitRight("segment", segment), out
}
