package rundir

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Move is a change of one setting as shown to people: what somebody did at once is one for each setting that
// it changed, such as a ramp, or quick presses of a key.
type Move struct {
	Change
	// Until is when its last step was, in seconds of measurement, and Last the segment
	// of that step; of a single step they are those of the change.
	Until float64
	Last  int
}

// Moves lists the changes of the run in order, with those that were one act as one; the beginning and the end of a
// fault are two, however soon it ended.
func (r *Run) Moves() (out []Move) {
	knobs := make([]measure.Change, 0, len(r.Changes))
	for i, c := range r.Turned() {
		if _, fault := workload.FaultSetting(c.Name); fault {
			out = append(out, Move{Change: r.Changes[i], Until: r.Changes[i].At, Last: c.Segment})
		} else {
			knobs = append(knobs, c)
		}
	}
	for _, a := range measure.Acts(knobs) {
		for _, c := range a.Parts() {
			out = append(out, Move{
				Change: Change{At: a.At.Seconds(), Name: c.Name, From: c.From, To: c.To, By: c.By, Segment: c.Segment, Ramp: c.Ramp},
				Until:  a.Until.Seconds(), Last: a.Last,
			})
		}
	}
	slices.SortStableFunc(out, func(a, b Move) int { return cmp.Compare(a.At, b.At) })
	return out
}

// Changed says what live changes were made: "4 changes mid-run, paused 12 s, 1 fault", with when, the
// words after the changes of settings. Those are as many as the list of changes has. It is empty for a run
// without any.
func (r *Run) Changed(when string) string {
	changes, faults := int64(0), int64(0)
	for _, c := range r.Did() {
		if _, fault := workload.FaultSetting(c.Name); !fault && measure.KnobOf(c.Name) != "paused" {
			changes++
		}
	}
	for _, c := range r.Changes { // one that ends soon is one act
		if _, fault := workload.FaultSetting(c.Name); fault && c.To != 0 {
			faults++
		}
	}
	var parts []string
	switch {
	case changes == 1:
		parts = append(parts, "1 setting changed "+when)
	case changes > 1:
		parts = append(parts, units.Plural(changes, "change")+" "+when)
	}
	if text := r.PausedText(); text != "" {
		parts = append(parts, text)
	}
	if faults > 0 {
		parts = append(parts, units.Plural(faults, "fault"))
	}
	return strings.Join(parts, ", ")
}

// Origin says where a value came from, for people: what was typed into the form of the workbench names
// no flag.
func (r *Run) Origin(name string) string {
	if from := r.Origins[name]; from != "flag" {
		return from
	}
	return "form"
}

// Did returns what was done to the run, in order: what somebody changed at once is one act.
func (r *Run) Did() []measure.Act { return measure.Acts(r.Turned()) }

// Turned returns the live changes with the times that a run has while it goes.
func (r *Run) Turned() []measure.Change {
	out := make([]measure.Change, len(r.Changes))
	for i, c := range r.Changes {
		out[i] = measure.Change{At: time.Duration(math.Round(c.At * float64(time.Second))), Name: c.Name, From: c.From, To: c.To, By: c.By, Segment: c.Segment, Ramp: c.Ramp}
	}
	return out
}

// SettingsAt returns the settings that were in force at a moment, since measurement began, under the names
// that users type; nil for a run without segments.
func (r *Run) SettingsAt(at time.Duration) map[string]float64 {
	list := make([]measure.Segment, len(r.Segments))
	for i := range r.Segments {
		list[i] = measure.Segment{From: time.Duration(math.Round(r.Segments[i].From * float64(time.Second))), Settings: r.Segments[i].Settings}
	}
	return measure.SettingsAt(list, r.Turned(), at)
}

// Stretch is a segment as shown to people. A ramp is one segment, and what it came to is
// the next. What quick presses of a key passed through is one stretch, and what they came to the
// next; so are the steps of a ramp in runs of earlier versions, where each is a segment.
type Stretch struct {
	Segment
	// First and Last are the numbers of its segments, from 0; mostly the same.
	First, Last int
	// End holds the settings at its end, which those of a ramp or of quick presses have come to.
	End map[string]float64
}

// Stretches lists the segments of the run, with those that one act passed through as one. The
// percentiles of several are unknown, as they cannot be derived from those of each: they are 0,
// and so is Calls.
func (r *Run) Stretches() []Stretch {
	ends := map[int]int{} // the first segment of an act and the last before its end
	for _, a := range r.Did() {
		if a.Last > a.Segment {
			ends[a.Segment] = max(ends[a.Segment], a.Last-1)
		}
	}
	var out []Stretch
	for i := 0; i < len(r.Segments); i++ {
		s := Stretch{Segment: r.Segments[i], First: i, Last: i, End: r.Segments[i].Settings}
		if s.Ramp() {
			s.End = s.SettingsEnd
		}
		for last := ends[i]; i < min(last, len(r.Segments)-1); {
			i++
			last = max(last, ends[i])
			s.join(r.Segments[i])
			s.Last, s.End = i, r.Segments[i].Settings
		}
		out = append(out, s)
	}
	return out
}

// Signs of a figure that mixes segments, where there is no room for more: one before it, and
// one that says what that means.
const (
	MixedSign = "~"
	MixedNote = MixedSign + " mixes segments between live changes"
	// IdleNote says what the sign means of a throughput.
	IdleNote = "includes an outage"
)

// SignNote says what the signs before figures of some runs mean, in words that fit a line; "" if none has a sign.
func SignNote(runs ...*Run) string {
	mixes := slices.ContainsFunc(runs, func(r *Run) bool { return r.Mixes() > 0 })
	idle := slices.ContainsFunc(runs, (*Run).Idle)
	switch {
	case mixes && idle:
		return MixedNote + ", or " + IdleNote
	case mixes:
		return MixedNote
	case idle:
		return MixedSign + " " + IdleNote
	}
	return ""
}

// Idle reports whether nothing was done for a part of the run, which its throughput is the mean of, too.
func (r *Run) Idle() bool { return len(r.Outages)+len(r.Emptied) > 0 }

// RateSign is Sign of the throughput of the whole run, which has one also with an outage.
func (r *Run) RateSign() string {
	if r.Idle() {
		return MixedSign
	}
	return r.Sign()
}

// MixedSegments names those that the figures of the whole run mix by their numbers, "segments 0 to 7"; "" if live changes
// made none.
func (r *Run) MixedSegments() string {
	if r.Mixes() == 0 {
		return ""
	}
	numbers := make([]int, len(r.Segments))
	for i := range numbers {
		numbers[i] = i
	}
	return units.Numbered("segment", numbers)
}

// Sign returns what is put before a figure of the whole run: MixedSign if it mixes segments.
func (r *Run) Sign() string {
	if r.Mixes() > 0 {
		return MixedSign
	}
	return ""
}

// Mixes returns how many segments the figures of the whole run mix; 0 if live changes made
// none.
func (r *Run) Mixes() int {
	if n := len(r.Stretches()); n > 1 {
		return n
	}
	return 0
}

// join adds the next segment of the same act.
func (s *Stretch) join(next Segment) {
	sum := make([]Operation, len(s.Operations))
	for i, o := range s.Operations {
		if i < len(next.Operations) {
			n := next.Operations[i]
			o.Count, o.Errors, o.Unstarted, o.Beyond, o.Retries = o.Count+n.Count, o.Errors+n.Errors, o.Unstarted+n.Unstarted, o.Beyond+n.Beyond, o.Retries+n.Retries
			if o.InTime != nil && n.InTime != nil {
				o.InTime = new(*o.InTime + *n.InTime)
			}
			o.ActiveS += n.ActiveS
			o.Response.Max = max(o.Response.Max, n.Response.Max)
			o.Throughput = nil
			if n.Throughput != nil && o.ActiveS > 0 {
				v := float64(o.Count) / o.ActiveS
				o.Throughput = &v
			}
		}
		o.Calls = 0
		o.Response = Latency{Max: o.Response.Max}
		o.Service, o.Wait, o.Lateness = Latency{}, Latency{}, Latency{}
		sum[i] = o
	}
	s.To, s.Operations = next.To, sum
}
