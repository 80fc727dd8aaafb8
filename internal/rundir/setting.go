package rundir

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// TrackOf splits the name of a setting into its track, which may be empty, and the
// setting itself.
func TrackOf(name string) (track, base string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

// SettingText formats a live setting for people, by its name. A value with a fraction,
// such as a step of a ramp, gets four digits, or all those before the point.
func SettingText(name string, v float64) string {
	if kind, ok := workload.FaultSetting(name); ok {
		return workload.FaultKinds()[kind].Format(v)
	}
	switch base := name[strings.LastIndexByte(name, '.')+1:]; {
	case (base == "payload" || base == "principal") && v == 0:
		return workload.AsPlanned
	case base == "payload", base == "principal":
		return units.Size(int64(v))
	case base == "think":
		return workload.Think().Format(v)
	case base == "rate" && v == 0:
		return units.Unlimited
	case base == workload.ComingKnob:
		return workload.Coming(v).String()
	case base == "paused":
		return map[bool]string{true: "yes", false: "no"}[v != 0]
	}
	if v != math.Trunc(v) && !math.IsInf(v, 0) {
		unit := math.Pow(10, max(3-math.Floor(math.Log10(math.Abs(v))), 0))
		v = math.Round(v*unit) / unit
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// ShortText is SettingText with a rate in short, 300k, where that is all of it.
func ShortText(name string, v float64) string {
	if _, base := TrackOf(name); base == "rate" && v > 0 {
		short := units.Number(v)
		if all, err := units.ParseNumber(short); err == nil && all == v {
			return short
		}
	}
	return SettingText(name, v)
}

// SpanText formats from what to what a setting went, "8–60", with room around the dash where a value is more than
// a number: "2k – unlimited". Of two that are the same there is one.
func SpanText(name string, from, to float64) string {
	a, b := ShortText(name, from), ShortText(name, to)
	switch {
	case a == b:
		return a
	case a == units.Unlimited || b == units.Unlimited || strings.Contains(a+b, " "):
		return a + " – " + b
	}
	return a + "–" + b
}

// Given names the values that the run began with: its settings, and then its parameters without those
// that set a knob, whose value is a setting.
func (r *Run) Given() []string {
	knobs := map[string]string{} // by the parameter
	for knob, param := range r.SetBy {
		knobs[param] = knob
	}
	out := slices.Sorted(maps.Keys(r.Settings))
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		track, param := TrackOf(name)
		_, set := r.Settings[name]
		if knob, sets := knobs[param]; sets { // the only track has its setting under the name of the knob alone
			_, set = r.Origins[strings.TrimPrefix(track+"."+knob, ".")]
		}
		if !set {
			out = append(out, name)
		}
	}
	return out
}

// Varied names the settings that are not the same in all segments. With several tracks
// it names the total or common value if all segments have one and it says all there is
// to say, and otherwise the tracks' own settings.
func Varied(list []Segment) []string {
	names := map[string]bool{}
	for _, seg := range list {
		for k, v := range seg.Settings {
			if w, ok := list[0].Settings[k]; !ok || w != v {
				names[k] = true
			}
		}
	}
	tracks := map[string][]string{} // by setting
	for k := range names {
		if track, base := TrackOf(k); track != "" {
			tracks[base] = append(tracks[base], k)
		}
	}
	for base, of := range tracks {
		if names[base] && tells(list, base, of) {
			for _, k := range of {
				delete(names, k)
			}
		} else {
			delete(names, base)
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// tells reports whether segments with the same value of a setting also have the same
// values on its tracks.
func tells(list []Segment, base string, tracks []string) bool {
	seen := map[float64]map[string]float64{}
	for _, seg := range list {
		v, ok := seg.Settings[base]
		if !ok {
			return false
		}
		if seen[v] == nil {
			seen[v] = seg.Settings
		}
		for _, k := range tracks {
			if seg.Settings[k] != seen[v][k] {
				return false
			}
		}
	}
	return true
}
