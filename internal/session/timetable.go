package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Paused is the name under which a run is paused and resumed by the timetable.
const Paused = "paused"

const atExample = "write it like 10s:threads=32,payload=4KiB, or 10s..40s:rate=1000..20000 for a ramp"

// ParseTimetable parses the entries of a timetable for a plan, such as
// "10s:threads=32,profile.payload=4KiB", "5s:paused=on" or, for ramps,
// "10s..40s:rate=1000..20000". It returns them in order of time, with each ramp
// expanded into its steps. Errors have the code of bad input, all of them joined;
// warnings name what will never happen within the duration (0: unknown). It touches
// nothing and may be called from any goroutine.
func ParseTimetable(entries []string, plan *workload.Plan, duration time.Duration) ([]engine.At, []string, error) {
	var problems workload.Problems
	var list []tableEntry
	var warnings []string
	for _, text := range entries {
		from, to, what, err := parseTimes(text)
		if err != nil {
			problems.Add(err)
			continue
		}
		if duration > 0 && from >= duration {
			warnings = append(warnings, fmt.Sprintf("at %s: the run ends after %s, so this will not happen", text, duration))
		} else if duration > 0 && to > duration {
			lasts := "ramp"
			if strings.HasPrefix(what, faultWord) {
				lasts = "fault"
			}
			warnings = append(warnings, fmt.Sprintf("at %s: the run ends after %s, so the %s will not reach its end", text, duration, lasts))
		}
		parts := changesOf(what)
		for i, one := range parts {
			if strings.HasPrefix(one, healWord) && i > 0 && strings.HasPrefix(parts[i-1], faultWord) {
				continue // it was read with the fault
			}
			if word, ok := strings.CutPrefix(one, faultWord); ok {
				broken, err := parseFault(word, parts[i+1:], from, to, plan)
				if err != nil {
					problems.Add(fault.Hint(fmt.Errorf("at %q: %w", text, err), fault.HintOf(err)))
					continue
				}
				for _, e := range broken {
					e.text = text
					list = append(list, e)
				}
				continue
			}
			e, err := parseChange(one, plan, to > from)
			if err != nil {
				problems.Add(fmt.Errorf("at %q: %w", text, err))
				continue
			}
			e.text, e.from, e.to = text, from, to
			list = append(list, e)
		}
	}
	problems.Add(overlapping(list))
	problems.Add(brokenTwice(list))
	if err := tooMany(list); err != nil {
		problems.Add(err)
		return nil, warnings, problems.Err()
	}
	out := inOrder(list)
	warnings = append(warnings, keeping(out, duration)...)
	if w := crowded(out, duration); w != "" {
		warnings = append(warnings, w)
	}
	return out, warnings, problems.Err()
}

// keeping says of each knob that leaves something as it was when it is turned first, in a run of a
// length (0: unknown).
func keeping(table []engine.At, length time.Duration) (out []string) {
	var said []string
	for _, a := range table {
		if k := a.Knob.Keeps; k != "" && (length == 0 || a.After < length) && !slices.Contains(said, k) {
			said = append(said, k)
			out = append(out, "at "+plot.At(a.After.Seconds())+": "+k)
		}
	}
	return out
}

// parseTimes reads the moment of an entry, or the two of a ramp, and returns what is to
// change then; without a ramp both are the same.
func parseTimes(entry string) (from, to time.Duration, what string, err error) {
	bad := func(format string, args ...any) (time.Duration, time.Duration, string, error) {
		return 0, 0, "", fault.Input(fmt.Errorf("at %q: %s", entry, fmt.Sprintf(format, args...)), atExample)
	}
	when, what, ok := strings.Cut(entry, ":")
	if !ok || strings.TrimSpace(what) == "" {
		return bad("has no time and change")
	}
	first, last, ramp := strings.Cut(when, "..")
	if !ramp {
		last = first
	}
	if from, err = time.ParseDuration(strings.TrimSpace(first)); err != nil || from < 0 {
		return bad("%q is not a time since the start of measurement", first)
	}
	if to, err = time.ParseDuration(strings.TrimSpace(last)); err != nil || to < 0 {
		return bad("%q is not a time since the start of measurement", last)
	}
	if ramp && to <= from {
		return bad("it ends at %s, which is not after its beginning", to)
	}
	return from, to, what, nil
}

// maxChanges is how many changes a timetable may have, since each appears in the change
// log of every report.
const maxChanges = 20_000

func tooMany(list []tableEntry) error {
	n := 0
	for _, e := range list {
		n += e.steps() + 1
	}
	if n <= maxChanges {
		return nil
	}
	return fault.Input(fmt.Errorf("at: the timetable has %d changes, more than the %d that it may have", n, maxChanges),
		fmt.Sprintf("changes less than %s apart share a segment; leave out what comes closer, and make ramps shorter", units.Duration(engine.Together)))
}

// crowded returns a warning if the changes of a timetable, in order of time, are too
// close together, or too many, for each to have its own segment.
func crowded(table []engine.At, duration time.Duration) string {
	moments, opened := 0, 0
	last := -engine.Together
	for i, at := range table {
		if i > 0 && at.After == last || at.Ramp > 0 && !at.First && !at.Last || duration > 0 && at.After >= duration {
			continue // at the same moment, within the segment of a ramp, or never
		}
		moments++
		if i == 0 || at.After-last >= engine.Together {
			opened++
		}
		last = at.After
	}
	switch {
	case opened >= engine.MaxSegments:
		return fmt.Sprintf("at: a run has at most %d segments; the last %d moments of the timetable share one", engine.MaxSegments, moments-engine.MaxSegments+1)
	case moments > opened:
		return fmt.Sprintf("at: %d of the %d moments of the timetable come less than %s after the one before and share its segment: it opens %d",
			moments-opened, moments, units.Duration(engine.Together), opened)
	}
	return ""
}

// parseChange parses "threads=32" or "profile.threads=8" and, for ramps,
// "rate=1000..20000".
func parseChange(s string, plan *workload.Plan, ramp bool) (tableEntry, error) {
	name, text, ok := strings.Cut(s, "=")
	name, text = strings.TrimSpace(name), strings.TrimSpace(text)
	if !ok || name == "" {
		return tableEntry{}, fault.Input(fmt.Errorf("%q is not NAME=VALUE", s), atExample)
	}
	e := tableEntry{name: name, At: engine.At{Track: workload.AllTracks}}
	knob := name
	if i := strings.LastIndex(name, "."); i >= 0 {
		knob = name[i+1:]
		e.Track = slices.IndexFunc(plan.Tracks(), func(t *workload.Track) bool { return t.Name == name[:i] })
		if e.Track < 0 {
			return e, noKnob(name, plan)
		}
	}
	if knob == Paused || knob == "pause" {
		if ramp {
			return e, fault.Input(fmt.Errorf("%s is on or off and has no ramp", name), atExample)
		}
		v, err := workload.Value{Name: name, Text: text, Origin: workload.OriginFlag, Where: "--at"}.Bool()
		e.Knob = workload.Knob{Name: Paused}
		if v {
			e.Value = 1
		}
		return e, err
	}
	if knob == workload.ComingKnob && plan.Replays {
		return e, fault.Input(fmt.Errorf("%s: calls of a replay come when they were made", s), "for example 10s:speed=2")
	}
	if knob == workload.ComingKnob {
		if ramp || e.Track >= 0 {
			return e, fault.Input(fmt.Errorf("%s: how calls come is one of three kinds, of all tracks, and has no ramp", s), "for example 10s:arrivals=even")
		}
		c, err := workload.ParseComing(text)
		e.Knob, e.Value = workload.Knob{Name: knob}, float64(c)
		return e, fault.Input(err, "bursts are as --arrivals says, or bursts=10x,1s,9s")
	}
	if e.Knob, ok = plan.Knob(knob); !ok {
		return e, noKnob(name, plan)
	}
	if why := plan.Idle(e.Track, e.Knob); why != "" {
		return e, fault.Input(fmt.Errorf("%s has no effect in this run: %s", name, why), "leave it out")
	}
	return e, e.values(text, ramp)
}

func noKnob(name string, plan *workload.Plan) error {
	var all []string
	for _, k := range plan.Live() {
		all = append(all, k.Name)
	}
	all = append(all, Paused, workload.ComingKnob, strings.TrimSuffix(faultWord, "="))
	for _, t := range plan.Tracks() {
		for _, k := range plan.Live() {
			if t.Turns(k) {
				all = append(all, t.Name+"."+k.Name)
			}
		}
	}
	return fault.Input(fmt.Errorf("there is no live knob %q", name), fault.Suggest(name, all, fault.SeeKnobs))
}
