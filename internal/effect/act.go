package effect

import (
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// words name what was done, given the settings that it led to, under the names that users type,
// and the commands that faults may be.
type words struct {
	settings map[string]float64
	commands []workload.Command
}

// Turned formats a change of one setting, named as users type it: "rate 2 500 → 2 000",
// "feed payload back to 1 KiB", "delay:20ms".
func Turned(name string, from, to float64, commands []workload.Command) string {
	track, knob := rundir.TrackOf(name)
	lead := strings.TrimLeft(track+" "+knob, " ")
	switch kind, fault := workload.FaultSetting(name); {
	case fault:
		return faultText(kind, to, commands)
	case knob == "paused":
		return strings.TrimSuffix(lead, "paused") + map[bool]string{true: "paused", false: "resumed"}[to != 0]
	}
	return lead + arrow(value(knob, from), value(knob, to))
}

// Done names an act by itself: "undo: payload 2 KiB → 1 KiB".
func Done(a *measure.Act, commands []workload.Command) string {
	return words{commands: commands}.text(a)
}

// Brief formats what a setting was turned to, for narrow space: "threads 32".
func Brief(c measure.Change, commands []workload.Command) string {
	if _, fault := workload.FaultSetting(c.Name); fault || c.Knob() == "paused" {
		return Turned(c.Name, c.From, c.To, commands)
	}
	track, knob := rundir.TrackOf(c.Name)
	return strings.TrimLeft(track+" "+knob, " ") + " " + value(knob, c.To)
}

// BriefAct is Brief of an act: of several tracks, of their sum if the knob is one that adds up, and else from the lowest
// to the highest value.
func BriefAct(a *measure.Act, commands []workload.Command) string {
	knob, parts := a.Knob(), a.Parts()
	if i := slices.IndexFunc(parts, func(c measure.Change) bool { return c.Name == knob }); i >= 0 {
		return Brief(parts[i], commands)
	}
	if _, fault := workload.FaultSetting(knob); fault || knob == "paused" || len(parts) == 1 {
		return Brief(parts[0], commands)
	}
	to, sum := span{math.Inf(1), math.Inf(-1)}, 0.0
	for _, c := range parts {
		to, sum = to.with(c.To), sum+c.To
	}
	if (knob == "rate" || knob == "threads") && to[0] > 0 {
		return Brief(measure.Change{Name: knob, To: sum}, commands)
	}
	return knob + " " + to.text(knob)
}

// faultText says that a fault begins, as --at has it, or that it ends.
func faultText(kind int, to float64, commands []workload.Command) string {
	k := &workload.FaultKinds()[kind]
	if to == 0 {
		return k.Name + " healed"
	}
	if size := workload.FaultSize(k, to, commands); size != "on" {
		return k.Name + ":" + size
	}
	return k.Name
}

// arrow formats the change of a value, which may be back where it was.
func arrow(from, to string) string {
	if from == to {
		return " back to " + to
	}
	return " " + from + " → " + to
}

// text names an act as everybody reads it: one of several tracks by their total if the knob
// adds up, else from the lowest to the highest value: "payload 1 KiB–10 KiB → 2 KiB–20 KiB".
func (w words) text(a *measure.Act) string {
	text := w.turned(a)
	if a.By == measure.ByUndo || a.By == measure.ByWatcher {
		text = a.By + ": " + text
	}
	return text
}

func (w words) turned(a *measure.Act) string {
	if a.Resets() {
		return "every knob reset"
	}
	knob, parts := a.Knob(), a.Parts()
	if i := slices.IndexFunc(parts, func(c measure.Change) bool { return c.Name == knob }); i >= 0 { // of all tracks together
		return Turned(knob, parts[i].From, parts[i].To, w.commands) + w.each(knob)
	}
	if len(parts) == 1 {
		return Turned(a.Name, a.From, a.To, w.commands)
	}
	var tracks []string
	from, to := span{math.Inf(1), math.Inf(-1)}, span{math.Inf(1), math.Inf(-1)}
	sum, none := [2]float64{}, [2]int{} // none counts the tracks without a limit
	for _, c := range parts {
		track, _ := rundir.TrackOf(c.Name)
		tracks = append(tracks, track)
		from, to = from.with(c.From), to.with(c.To)
		sum[0], sum[1] = sum[0]+c.From, sum[1]+c.To
		for i, v := range [2]float64{c.From, c.To} {
			if v <= 0 {
				none[i]++
			}
		}
	}
	alike := func(n int) bool { return n == 0 || n == len(parts) }
	all := len(tracks) == w.tracks(knob)
	if all && alike(none[0]) && alike(none[1]) && w.adds(knob) {
		return Turned(knob, sum[0], sum[1], w.commands)
	}
	text := knob + arrow(from.text(knob), to.text(knob))
	if !all {
		slices.Sort(tracks)
		return strings.Join(tracks, ", ") + " " + text
	}
	return text
}

// own returns the values of a knob on the tracks that have it.
func (w words) own(knob string) (out []float64) {
	for name, v := range w.settings {
		if track, base := rundir.TrackOf(name); track != "" && base == knob {
			out = append(out, v)
		}
	}
	return out
}

// tracks returns how many tracks have a knob of their own.
func (w words) tracks(knob string) int { return len(w.own(knob)) }

// adds reports whether the value of a knob over all tracks is the sum of theirs.
func (w words) adds(knob string) bool {
	total, ok := w.settings[knob]
	for _, v := range w.own(knob) {
		total -= v
	}
	return ok && math.Abs(total) < 1e-6
}

// each says that threads or a rate are those of each track, if they are no total.
func (w words) each(knob string) string {
	if (knob == "threads" || knob == "rate") && w.tracks(knob) > 1 && w.settings[knob] > 0 && !w.adds(knob) {
		return " per track"
	}
	return ""
}

// span is from the lowest to the highest of some values.
type span [2]float64

func (s span) with(v float64) span { return span{min(s[0], v), max(s[1], v)} }

func (s span) text(knob string) string {
	lo, hi := value(knob, s[0]), value(knob, s[1])
	switch {
	case s[0] == s[1]:
		return lo
	case knob == "rate" && s[0] <= 0: // the lowest number is the highest rate
		return hi + "–" + lo
	}
	return lo + "–" + hi
}

// value formats a value of a knob: digits of whole numbers stand in threes.
func value(knob string, v float64) string {
	text := rundir.SettingText(knob, v)
	if strings.Trim(text, "0123456789") != "" {
		return text
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "\u2009" + text[i:]
	}
	return text
}
