package session

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// tableEntry is one change as written: At holds what it changes, and the initial value.
type tableEntry struct {
	engine.At
	text, name string
	from, to   time.Duration // the same, except for a ramp
	last       float64       // the final value of a ramp
}

// values reads what a knob is set to: one value, or two for a ramp.
func (e *tableEntry) values(text string, ramp bool) error {
	first, last, two := strings.Cut(text, "..")
	switch {
	case ramp && !two:
		return fault.Input(fmt.Errorf("%s: a ramp goes from one value to another, and %q is one", e.name, text), atExample)
	case !ramp && two:
		return fault.Input(fmt.Errorf("%s: %q is a ramp, and its time is a single moment", e.name, text), atExample)
	case !two:
		last = first
	}
	var err error
	if e.Value, err = e.Knob.Parse(first); err != nil {
		return err
	}
	if e.last, err = e.Knob.Parse(last); err != nil {
		return err
	}
	if ramp && e.Knob.Name == "rate" && min(e.Value, e.last) == 0 {
		return fault.Input(fmt.Errorf("%s: 0 means unlimited, so a ramp can neither begin nor end there", e.name), "begin it at 1 or more")
	}
	return nil
}

// steps returns how many steps of engine.Together, or slightly more, a ramp has; 0: not
// a ramp.
func (e *tableEntry) steps() int {
	if e.to == e.from {
		return 0
	}
	return max(int((e.to-e.from)/engine.Together), 1)
}

// expand writes a change as the engine takes it: a ramp becomes steps, each with the
// value at its beginning, and the last with the final value.
func (e *tableEntry) expand(ramp int) []engine.At {
	n := e.steps()
	if n == 0 {
		e.After = e.from
		return []engine.At{e.At}
	}
	out := make([]engine.At, 0, n+1)
	for i := range n + 1 {
		at, part := e.At, float64(i)/float64(n)
		at.After = e.from + time.Duration(part*float64(e.to-e.from))
		at.Value = e.Value + part*(e.last-e.Value)
		if e.Knob.Step == 1 || e.Knob.Unit == "bytes" {
			at.Value = math.Round(at.Value)
		}
		at.Ramp, at.First = ramp, i == 0
		at.Last = i == n || i > 0 && at.Value == e.last // steps of whole numbers may be there before
		out = append(out, at)
	}
	return out
}

// inOrder expands all entries, in order of time: where one ramp ends as another begins,
// the end comes first.
func inOrder(list []tableEntry) []engine.At {
	slices.SortStableFunc(list, func(a, b tableEntry) int { return cmp.Compare(a.from, b.from) })
	var out []engine.At
	ramps := 0
	for _, e := range list {
		if e.steps() > 0 {
			ramps++
		}
		out = append(out, e.expand(ramps)...)
	}
	sort.SliceStable(out, func(i, k int) bool { return out[i].After < out[k].After })
	return out
}

// overlapping rejects a ramp during which something else changes the same knob: the two
// would undo each other step by step.
func overlapping(list []tableEntry) error {
	var problems workload.Problems
	for i, ramp := range list {
		if ramp.steps() == 0 {
			continue
		}
		for j, other := range list {
			switch {
			case i == j || ramp.from >= other.to || other.from >= ramp.to:
			case ramp.Knob.Name != other.Knob.Name || ramp.Track != other.Track && ramp.Track != workload.AllTracks && other.Track != workload.AllTracks:
			case other.steps() == 0:
				problems.Add(fault.Input(fmt.Errorf("at %q: %s is on the ramp %q then", other.text, other.name, ramp.text), "change it before or after"))
			case i < j: // the later one is to blame
				problems.Add(fault.Input(fmt.Errorf("at %q: this ramp of %s overlaps with %q", other.text, other.name, ramp.text), "let one end before the other begins"))
			}
		}
	}
	return problems.Err()
}

// TimetableInWords describes what a timetable, as returned by Parse, will do, with one line per
// ramp.
func TimetableInWords(table []engine.At, plan *workload.Plan) []string {
	var out []string
	for i, at := range table {
		if at.Ramp > 0 && !at.First {
			continue
		}
		name, text := at.Knob.Name, at.Knob.Format(at.Value)
		if at.Track >= 0 {
			name = plan.Tracks()[at.Track].Name + "." + name
		}
		if kind, ok := workload.FaultSetting(name); ok {
			out = append(out, faultInWords(table[i:], kind, plan)...)
			continue
		}
		switch at.Knob.Name {
		case workload.ComingKnob:
			text = workload.Coming(at.Value).String()
		case Paused:
			text = map[bool]string{true: "on", false: "off"}[at.Value != 0]
		}
		if end, ok := RampEnd(table[i:], at.Ramp); ok {
			out = append(out, fmt.Sprintf("from %s to %s: %s = %s to %s", units.Typed(at.After), units.Typed(end.After), name, text, at.Knob.Format(end.Value)))
			continue
		}
		out = append(out, fmt.Sprintf("at %s: %s = %s", units.Typed(at.After), name, text))
	}
	return out
}

// RampEnd returns the last step of the ramp with that number; false if there is no such
// ramp.
func RampEnd(table []engine.At, ramp int) (engine.At, bool) {
	for _, at := range slices.Backward(table) {
		if ramp > 0 && at.Ramp == ramp {
			return at, true
		}
	}
	return engine.At{}, false
}

// Planned returns what the timetable will change, in order of time: of a ramp, its first step and
// its last one.
func (p *Prepared) Planned() (out []measure.Change) {
	for i, at := range p.Timetable {
		if end, ok := RampEnd(p.Timetable[i:], at.Ramp); ok && !at.First && at.After != end.After {
			continue
		}
		name := at.Knob.Name
		if at.Track >= 0 {
			name = p.Plan.Tracks()[at.Track].Name + "." + name
		}
		out = append(out, measure.Change{At: at.After, Name: name, To: at.Value, By: measure.ByTimetable, Ramp: at.Ramp})
	}
	return out
}
