package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// Span is from what to what a setting went in a run; a rate of 0 is none, and the highest.
type Span struct {
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// turned returns the settings of no track that live changes turned, and those of tracks whose run has none.
func turned(r *rundir.Run) map[string]Span {
	out := map[string]Span{}
	add := func(settings map[string]float64) {
		for name, v := range settings {
			track, base := rundir.TrackOf(name)
			if _, whole := settings[base]; base == "paused" || track != "" && whole {
				continue
			}
			s, known := out[name]
			if !known {
				s = Span{v, v}
			}
			out[name] = Span{least(base, s.Least, v), most(base, s.Most, v)}
		}
	}
	for _, s := range r.Segments {
		add(s.Settings)
		add(s.SettingsEnd)
	}
	maps.DeleteFunc(out, func(_ string, s Span) bool { return s.Least == s.Most })
	return out
}

// over reports whether a value of a knob is above another one.
func over(base string, v, than float64) bool {
	if base == "rate" && (v == 0 || than == 0) {
		return v == 0 && than != 0
	}
	return v > than
}

func most(base string, a, b float64) float64 {
	if over(base, a, b) {
		return a
	}
	return b
}

func least(base string, a, b float64) float64 {
	if over(base, a, b) {
		return b
	}
	return a
}

// went says from what to what a setting went in a run: "8–60", or what it was all the time.
func (c *Conditions) went(name string) string {
	s, ok := c.Turned[name]
	if !ok {
		return orDash(mapped(c.Settings, name))
	}
	return rundir.SpanText(name, s.Least, s.Most)
}

// otherLoad says that the load of one side changed as its runs went and that of the other did not, or in other
// settings: what they differ in may then be the load's, so that nothing is judged; "" otherwise.
func otherLoad(a, b Set) string {
	x, y := &a.Runs[0].Conditions, &b.Runs[0].Conditions
	alike := x.Changes == y.Changes && maps.EqualFunc(x.Turned, y.Turned, func(Span, Span) bool { return true })
	if alike || sameTimetable(a, b) || len(x.Turned)+len(y.Turned) == 0 {
		return ""
	}
	var names, said []string
	for _, c := range []*Conditions{x, y} {
		for name := range c.Turned {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if v, w := x.went(name), y.went(name); v != w {
			said = append(said, name+" "+v+" / "+w)
		}
	}
	who, again := "both", "both again without the changes"
	switch {
	case len(y.Turned) == 0:
		who, again = "A", "A again without its changes"
	case len(x.Turned) == 0:
		who, again = "B", "B again without its changes"
	}
	text := "Not the same load"
	if len(said) > 0 {
		text += ": " + strings.Join(shortened(said), ", ")
	}
	return fmt.Sprintf("%s (%s changed live), so no figure is judged: run %s.", text, who, again)
}

// described says how B differs from A in what decides a comparison, without a judgement; "" if nothing is known.
func (p Pair) described(unit string) string {
	var said []string
	for _, f := range p.Findings {
		if f.Figure != Throughput && f.Figure != P50 && f.Figure != P99 {
			continue
		}
		if change := f.ChangeText(); change != "" {
			said = append(said, f.Label(unit)+" "+change)
		}
	}
	if len(said) == 0 {
		return ""
	}
	return " B beside A: " + units.Listed(said) + "."
}

// loadKnobs are the knobs that say how much is asked of a store.
var loadKnobs = []string{"threads", "rate", "batch"}

// apartBy says in which knobs of the load two runs differ all the time: "Not the same load: threads 8 / 32. "; ""
// in none, and for searches, which turn them. A rate is left out where it is told.
func apartBy(x, y *Conditions, told bool) string {
	if x.Sought != "" || y.Sought != "" {
		return ""
	}
	var said []string
	for _, name := range slices.Sorted(maps.Keys(x.Settings)) {
		track, base := rundir.TrackOf(name)
		if _, whole := x.Settings[base]; !slices.Contains(loadKnobs, base) || track != "" && whole || told && base == "rate" {
			continue
		}
		if v, w := mapped(x.Settings, name), mapped(y.Settings, name); w != "" && v != w {
			said = append(said, name+" "+v+" / "+w)
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "Not the same load: " + strings.Join(shortened(said), ", ") + ". "
}
