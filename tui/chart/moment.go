package chart

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/widget"
)

// Crosshair is the moment at which the charts of a page are read, the same in all of them; the zero
// value reads none. It belongs to the event loop.
type Crosshair struct {
	On bool
	// At is when the moment begins, since measurement began.
	At time.Duration
	// Marker is which marker it was sent to, in words; empty if to none.
	Marker string
	// Width is how long the point is that was read when it was put there.
	Width time.Duration
}

// Readings are the points of a chart over time, one of which is read.
type Readings struct {
	// First is the number of the first point, counted from when measurement began. N is how many
	// there are, Width how long each is.
	First, N int
	Width    time.Duration
}

// Index returns which point a moment is in, from 0; it may lie outside of them.
func (s Readings) Index(at time.Duration) int {
	n := at / s.Width
	if at%s.Width < 0 {
		n--
	}
	return int(n) - s.First
}

// inside is Index of the nearest point that there is.
func (s Readings) inside(at time.Duration) int { return s.within(s.Index(at)) }

func (s Readings) within(n int) int { return min(max(n, 0), s.N-1) }

// at returns when a point begins.
func (s Readings) at(n int) time.Duration { return time.Duration(s.First+n) * s.Width }

// Step moves the crosshair by so many points; from none it begins at the newest one.
func (c *Crosshair) Step(s Readings, by int) {
	if s.N == 0 {
		return
	}
	n := s.N - 1
	if c.On {
		n = s.Index(c.At) + by
	}
	*c = Crosshair{On: true, At: s.at(s.within(n)), Width: s.Width}
}

// Point puts the crosshair on a moment; false if there is no point.
func (c *Crosshair) Point(s Readings, at time.Duration) bool {
	n := s.Index(at)
	if n < 0 || n >= s.N {
		return false
	}
	*c = Crosshair{On: true, At: s.at(n), Width: s.Width}
	return true
}

// Leap moves the crosshair to the next of some moments in a direction: from none to the newest, or
// forwards to the first. Those without a name are left out, and those that have not come yet.
func (c *Crosshair) Leap(s Readings, moments []Moment, by int) {
	list := Named(moments)
	at := s.N
	if by > 0 {
		at = -1
	}
	if c.On {
		at = s.inside(c.At)
	}
	for i := range list {
		if by < 0 {
			i = len(list) - 1 - i
		}
		if n := s.inside(list[i].At); s.N > 0 && (n-at)*by > 0 {
			m := &list[i]
			*c = Crosshair{true, s.at(n), fmt.Sprintf("%s (marker %d of %d)", m, i+1, len(list)), s.Width}
			return
		}
	}
	if c.On {
		c.Marker = "no further marker"
	}
}

// Press carries out a key that reads a moment, or ends reading; false if it is none. What the charts
// have is asked for only then.
func (c *Crosshair) Press(msg tea.KeyPressMsg, k *widget.Bindings, readings func() Readings, moments func() []Moment) bool {
	switch {
	case key.Matches(msg, k.Left):
		c.Step(readings(), -1)
	case key.Matches(msg, k.Right):
		c.Step(readings(), 1)
	case key.Matches(msg, k.LeftTen):
		c.Step(readings(), -10)
	case key.Matches(msg, k.RightTen):
		c.Step(readings(), 10)
	case key.Matches(msg, k.LastMark):
		c.Leap(readings(), moments(), -1)
	case key.Matches(msg, k.NextMark):
		c.Leap(readings(), moments(), 1)
	case key.Matches(msg, k.FirstMoment) && c.On:
		r := readings()
		c.Step(r, -r.N)
	case key.Matches(msg, k.NewestMoment) && c.On:
		r := readings()
		c.Step(r, r.N)
	case key.Matches(msg, k.Back) && c.On:
		*c = Crosshair{}
	default:
		return false
	}
	return true
}

// Soon is how far into a moment what began then may have: a timetable is some milliseconds late.
const Soon = 100 * time.Millisecond

// Clock names the moment, and how long it is if that is more than a second; "" if none is read.
func (c *Crosshair) Clock(width time.Duration) string {
	switch {
	case !c.On:
		return ""
	case width > time.Second:
		return widget.Clock(c.At) + " to " + widget.Clock(c.At+width)
	}
	return "at " + widget.Clock(c.At)
}

// Then is what a run did at a moment.
type Then struct {
	// Rate is in units per second, NaN if nothing ran. Of Times, P50, P99 and Max are known; 0: none,
	// measure.Hidden: too few calls.
	Rate  float64
	Unit  string
	Times measure.Summary
	// Errors are the calls that failed, Oldest is the age of the oldest call in flight in nanoseconds,
	// where that says more; else 0.
	Errors, Oldest int64
	// Meanwhile is what went on, such as a fault, More what else is to be said of the figures.
	Meanwhile, More []string
	// Settings are those in force, as NAME VALUE; none where they stand elsewhere.
	Settings []string
}

// Read says in w cells and at most rows lines what a run did at the moment that is read, in points of
// some width, and which of the moments of the run lie in it.
func (c *Crosshair) Read(s *widget.Styles, t *Then, list []Moment, width time.Duration, w, rows int) []string {
	p99 := "p99 " + widget.Nanos(t.Times.P99)
	if t.Times.P99 == measure.Hidden {
		p99 += fmt.Sprintf(" (takes %d calls)", measure.Needs(99))
	}
	parts := []string{
		units.Number(t.Rate) + " " + t.Unit + "/s",
		"p50 " + widget.Nanos(t.Times.P50), p99, "max " + widget.Nanos(t.Times.Max),
	}
	if c.Marker != "" {
		parts = slices.Insert(parts, 0, c.Marker)
	}
	for i := range list {
		m := &list[i]
		if m.read() && m.At >= c.At && m.At < c.At+width && !strings.HasPrefix(c.Marker, m.String()) {
			parts = append(parts, m.String())
		}
	}
	for _, what := range t.Meanwhile { // the marker at its beginning says it, too
		name := strings.TrimPrefix(what, faultWord)
		if !slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(p, name) }) {
			parts = append(parts, what)
		}
	}
	parts = append(parts, widget.Plural(t.Errors, "error"))
	if t.Oldest > 0 {
		parts = append(parts, "oldest in flight "+widget.Nanos(t.Oldest))
	}
	parts = append(append(parts, t.More...), t.Settings...)
	return told(s, widget.Clock(c.At), parts, w, rows)
}

// told sets parts after a clock, in w cells and at most rows lines.
func told(s *widget.Styles, clock string, parts []string, w, rows int) []string {
	lead := ansi.StringWidth(clock) + 2
	out, line, used := []string(nil), s.Accent.On(" "+clock)+" ", lead
	for _, part := range parts {
		n := ansi.StringWidth(part) + 2
		if used+n > w {
			if len(out)+1 >= rows {
				break
			}
			out, line, used = append(out, widget.Fit(line, w)), strings.Repeat(" ", lead), lead
		}
		line, used = line+" "+part+" ", used+n
	}
	return append(out, widget.Fit(line, w))
}

// faultWord is before the name of a fault that is in force.
const faultWord = "fault "

// Meanwhile says which faults were in force by the settings of a moment, and that the run was paused.
func Meanwhile(set map[string]float64, commands []workload.Command) (out []string) {
	for name, v := range widget.SortedSettings(set) {
		_, fault := workload.FaultSetting(name)
		switch {
		case v == 0:
		case fault:
			out = append(out, faultWord+effect.Brief(measure.Change{Name: name, To: v}, commands))
		case name == "paused":
			out = append(out, name)
		}
	}
	return out
}

// Moments are those of a run: phases but the first, notes, and what was changed. Their cells are those
// of no chart yet.
func Moments(phases []measure.Phase, marks []measure.Mark, changes []measure.Change, commands []workload.Command) (out []Moment) {
	for i, ph := range phases {
		if i > 0 {
			out = append(out, Moment{Sign: '▸', Name: ph.Name, At: ph.From})
		}
	}
	searched := slices.ContainsFunc(changes, func(c measure.Change) bool { return c.By == measure.BySearch }) // whose notes say how a level went
	for _, m := range marks {
		out = append(out, Moment{Sign: '◆', Name: m.Note, Brief: verdict.BriefNote(m.Note), At: m.At, Level: searched, Searched: searched && levelNote.MatchString(m.Note)})
	}
	for _, act := range measure.Acts(changes) {
		m := Moment{Sign: '▾', Name: nameOf(&act, commands), At: act.At, Searched: act.By == measure.BySearch}
		_, fault := workload.FaultSetting(act.Name)
		switch {
		case fault && act.To == 0:
			m.Brief = "healed"
		case fault:
			m.Brief = strings.TrimPrefix(act.Knob(), "fault-")
		case len(act.Parts()) > 1:
			m.Brief = act.Knob()
		}
		if act.By == measure.ByUndo || act.By == measure.ByWatcher {
			m.Whole = effect.Done(&act, commands)
		}
		out = append(out, m)
	}
	return out
}

// levelNote is how a search notes how a level went.
var levelNote = regexp.MustCompile(`^(` + find.OverRate + `|` + find.OverThreads + `) [^ ]+: `)

// Named returns those moments that can be read, in order of time.
func Named(moments []Moment) []Moment {
	out := slices.DeleteFunc(slices.Clone(moments), func(m Moment) bool { return !m.read() })
	slices.SortStableFunc(out, func(x, y Moment) int { return cmp.Compare(x.At, y.At) })
	return out
}

// nameOf names an act in the lane of markers, which is narrow.
func nameOf(a *measure.Act, commands []workload.Command) string {
	switch {
	case a.By == measure.ByUndo, a.By == measure.ByReset:
		return a.By
	}
	return effect.BriefAct(a, commands)
}
