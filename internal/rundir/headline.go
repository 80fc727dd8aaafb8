package rundir

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
)

// Headline sums up a run in one line. It covers the operations that count in its unit,
// without their parts and what was measured beside them.
type Headline struct {
	// Count is in units, Rate in units per second while any of the operations ran and the run was
	// not paused; NaN if there is no rate. Unstarted is the units that were due and never began.
	Count, Unstarted int64
	Rate             float64
	// Timed are the operations that count and were called.
	Timed []Operation
	// Response has the response times of all their calls, as shown.
	Response Latency
}

// Headline returns the headline of the run.
func (r *Run) Headline() Headline {
	h, known := headlineOf(r, r.Operations, r.Response)
	if known && !r.Failed() {
		h.Rate = measure.Rate(h.Count, r.Active(0, math.Inf(1)))
	}
	return h
}

// UnitBytes returns how many bytes the values of a unit that counts had on average, by the payload of
// each segment; 0 if that is not known.
func (r *Run) UnitBytes() float64 {
	if !r.Sized {
		return 0
	}
	return r.payloads(func(o Operation) bool { return r.Counts(o) })
}

// Payload returns how many bytes the values of a track had on average, by the payload of each segment;
// 0 if that is not known.
func (r *Run) Payload(track string) float64 {
	return r.payloads(func(o Operation) bool { return o.Track == track })
}

// payloads is the mean payload of the units of some operations; 0 if there were none.
func (r *Run) payloads(of func(Operation) bool) float64 {
	segments := r.Segments
	if len(segments) == 0 {
		segments = []Segment{{Settings: r.Settings, Operations: r.Operations}}
	}
	count, bytes := 0.0, 0.0
	for _, s := range segments {
		for _, o := range s.Operations {
			if !of(o) {
				continue
			}
			count += float64(o.Count)
			bytes += float64(o.Count) * (payload(s.Settings, o.Track) + payload(s.end(), o.Track)) / 2
		}
	}
	if count == 0 {
		return 0
	}
	return bytes / count
}

// end are the settings that a segment came to.
func (s *Segment) end() map[string]float64 {
	if s.SettingsEnd != nil {
		return s.SettingsEnd
	}
	return s.Settings
}

// payload is that of a track, by the settings of all.
func payload(settings map[string]float64, track string) float64 {
	if v, ok := settings[track+".payload"]; ok {
		return v
	}
	return settings["payload"]
}

// headlineOf returns the headline of operations without a rate, and whether any of them has one. all
// has the times of all calls that count; nil: it is not known.
func headlineOf(r *Run, ops []Operation, all *Latency) (h Headline, known bool) {
	calls := int64(0)
	h.Rate = math.NaN()
	for _, o := range ops {
		if !r.Counts(o) {
			continue
		}
		h.Count += o.Count
		h.Unstarted += o.Unstarted
		known = known || o.Throughput != nil
		if o.Calls > 0 {
			h.Timed = append(h.Timed, o)
			calls += o.Calls
		}
	}
	if len(h.Timed) == 1 {
		all = &h.Timed[0].Response
	}
	h.Response = unknown
	if all != nil {
		h.Response = all.Shown(calls)
	}
	return h, known
}

// BeforeFault returns the headline of the segment before the first fault, whatever the run lost by
// it; that of the run if it had no fault.
func (r *Run) BeforeFault() Headline {
	if len(r.Faults) == 0 {
		return r.Headline()
	}
	for _, s := range slices.Backward(r.Segments) {
		if s.To <= r.Faults[0].From {
			h, _ := headlineOf(r, s.Operations, s.Response)
			h.Rate = measure.Rate(h.Count, r.Active(s.From, s.To))
			return h
		}
	}
	return Headline{Rate: math.NaN(), Response: unknown}
}

// Covered names what the headline is of: all calls, or the counted operations where others were called besides.
func (r *Run) Covered() string {
	counted, called := 0, 0
	for _, o := range r.Operations {
		if r.ended(&o) == 0 {
			continue
		}
		if called++; r.Counts(o) {
			counted++
		}
	}
	return measure.CallsOf(counted, called)
}

// Of names what Response is of, where that is not all that was called: the only operation that counts, those
// that do, "all calls of N operations", or "answered calls" where calls failed, which have no time unless
// they timed out: then, these are named, too. It is empty if there is but one operation, of which no call failed.
func (h *Headline) Of(r *Run) string {
	called, calls, untimed, timedOut := 0, "", false, false
	for _, o := range r.Operations {
		if o.Calls > 0 {
			called++
		}
		if r.Counts(o) {
			untimed, timedOut = untimed || r.ended(&o) > o.Calls, timedOut || r.TimedOut(&o) > 0
		}
	}
	switch {
	case untimed && timedOut:
		calls = "calls answered or timed out"
	case untimed:
		calls = "answered calls"
	}
	switch {
	case len(h.Timed) > 1 && called > len(h.Timed):
		return strings.TrimPrefix(calls+" of "+measure.CallsOf(len(h.Timed), called), " of ")
	case len(h.Timed) > 1:
		return fmt.Sprintf("%s of %d operations", cmp.Or(calls, measure.AllCalls), len(h.Timed))
	case len(h.Timed) == 1 && called > 1:
		return strings.TrimSuffix(h.Timed[0].Op+", "+calls, ", ")
	case len(h.Timed) == 0:
		return ""
	}
	return calls
}

// unknown is a latency of which nothing can be told.
var unknown = LatencyOf(measure.Summary{}.Shown())

// Active returns for how many seconds of from..to operations ran that count in the
// run's unit, and the run was not paused. If the run's phases are not known, that is all of
// its measured part.
func (r *Run) Active(from, to float64) float64 {
	active := r.going(from, to)
	for i := range r.Segments {
		if s := &r.Segments[i]; s.Paused() && s.From < to && s.To > from {
			active -= r.going(max(from, s.From), min(to, s.To))
		}
	}
	return max(active, 0)
}

// going is Active with pauses.
func (r *Run) going(from, to float64) float64 {
	from, to = max(from, 0), min(to, r.MeasuredS)
	if len(r.Phases) == 0 {
		return max(to-from, 0)
	}
	return r.covered(func(track string) bool {
		return slices.ContainsFunc(r.Operations, func(o Operation) bool { return o.Track == track && r.Counts(o) })
	}, from, to)
}

// Paused reports whether the run was paused for all of the segment.
func (s *Segment) Paused() bool { return s.Settings["paused"] != 0 }

// paused is for how many seconds the run was paused while operations ran that count.
func (r *Run) paused() (sum float64) {
	for i := range r.Segments {
		if s := &r.Segments[i]; s.Paused() {
			sum += r.going(s.From, s.To)
		}
	}
	return sum
}

// MeasuredText says for how long a run was measured, and for how long it was suspended beside that.
func (r *Run) MeasuredText() string {
	text := "measured for " + units.Length(seconds(r.MeasuredS))
	if more := r.SuspendedText(); more != "" {
		text += " (and " + more + ")"
	}
	return text
}

// SuspendedText says for how long a run was suspended beside its measured time, "suspended for 2 s more"; ""
// if it never was.
func (r *Run) SuspendedText() string {
	s := r.Observed.Suspended()
	if s <= 0 {
		return ""
	}
	return "suspended for " + units.Duration(seconds(s)) + " more"
}

// PausedText says for how long the run was paused, "paused 12 s"; "" if it never was. It stands beside
// the rate, which is that of the rest of the time.
func (r *Run) PausedText() string {
	s := r.paused()
	if s <= 0 {
		return ""
	}
	return "paused " + units.Duration(seconds(s).Round(100*time.Millisecond))
}

// covered returns how many seconds of from..to lie within a phase that has a track for
// which is is true.
func (r *Run) covered(is func(track string) bool, from, to float64) float64 {
	phases := make([]measure.Phase, len(r.Phases))
	for i, p := range r.Phases {
		phases[i] = measure.Phase{Tracks: p.Tracks, From: seconds(p.From), To: seconds(p.To)}
	}
	return measure.Covered(phases, is, seconds(from), seconds(to)).Seconds()
}

// ActiveIn is Active for one second of the series.
func (r *Run) ActiveIn(second int) float64 { return r.Active(float64(second), r.ends(second)) }
