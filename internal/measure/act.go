package measure

import (
	"maps"
	"slices"
	"time"
)

// Act is what somebody did at once: a change of a knob, in one track or in several, by one
// press of a key or by quick ones; of all knobs by a reset; or a ramp of the timetable. Its
// At is when it began, its Segment the one that this opened.
type Act struct {
	Change
	// Until is when it was over, Last the segment then; those of At and Segment if it was
	// one moment.
	Until time.Duration
	Last  int

	others []Change // of other tracks, or of other knobs by a reset
}

// quickly is the longest time between two presses of a key that are one act.
const quickly = 2 * time.Second

// Acts returns what was done, in order.
func Acts(changes []Change) (out []Act) {
	for _, c := range changes {
		if n := len(out); n > 0 && out[n-1].goesOn(c) {
			out[n-1].add(c)
			continue
		}
		// A ramp of the timetable may go on while something else is done.
		if i := slices.IndexFunc(out, func(a Act) bool { return c.Ramp > 0 && a.Ramp == c.Ramp }); i >= 0 {
			out[i].add(c)
			continue
		}
		out = append(out, Act{Change: c, Until: c.At, Last: c.Segment})
	}
	return out
}

// goesOn reports whether the next change is part of the act.
func (a *Act) goesOn(next Change) bool {
	switch {
	case a.Ramp != 0 || next.Ramp != 0:
		return a.Ramp == next.Ramp
	case a.By != next.By, a.Knob() == "paused", next.Knob() == "paused":
		return false
	case a.By == ByTimetable || a.By == BySearch: // each change is meant by itself, but for the tracks of one moment
		return a.Knob() == next.Knob() && a.Last == next.Segment
	case next.At-a.Until > quickly:
		return false
	}
	return a.By == ByReset || a.Knob() == next.Knob()
}

// add takes a further change into the act.
func (a *Act) add(c Change) {
	first := c.Ramp > 0 && a.Until == a.At
	a.Until, a.Last = c.At, c.Segment
	if a.Name == c.Name {
		if first {
			a.From = a.To // a ramp begins at the value that its first step came to
		}
		a.To = c.To
		return
	}
	for i := range a.others {
		if a.others[i].Name == c.Name {
			a.others[i].To = c.To
			return
		}
	}
	a.others = append(a.others, c)
}

// Parts returns the changes that it is, each setting once.
func (a *Act) Parts() []Change { return append([]Change{a.Change}, a.others...) }

// Resets reports whether it turned several knobs back.
func (a *Act) Resets() bool {
	return slices.ContainsFunc(a.others, func(c Change) bool { return c.Knob() != a.Knob() })
}

// Pauses reports whether it is a pause, or the end of one, rather than a turn of a knob.
func (a *Act) Pauses() bool { return a.Knob() == "paused" }

// Passed returns how many segments the acts of a run passed through on their way beyond the first of each:
// people are shown these as one.
func Passed(acts []Act) (n int) {
	for _, a := range acts {
		n += max(a.Last-a.Segment-1, 0)
	}
	return n
}

// SettingsAt returns the settings that were in force at a moment, under the names that users type; nil
// without segments. Changes are those of the run.
func SettingsAt(segments []Segment, changes []Change, at time.Duration) map[string]float64 {
	if len(segments) == 0 {
		return nil
	}
	n := 0
	for i, seg := range segments {
		if seg.From <= at {
			n = i
		}
	}
	set := segments[n].Settings
	for _, c := range changes { // the steps of a ramp are in one segment
		if c.Ramp > 0 && c.Segment == n && c.At <= at {
			if _, is := set[c.Name]; is {
				set = maps.Clone(set)
				set[c.Name] = c.To
			}
		}
	}
	return set
}
