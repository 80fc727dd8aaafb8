package kept

import (
	"maps"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

// Told are the settings that a list tells its runs apart by.
var Told = [...]string{"threads", "rate", "payload"}

// Settings are those of Told in which the runs of a list differ, and what a filter asks for.
type Settings struct {
	differ [len(Told)]bool
	asked  string
	sought Sought
}

// SettingsOf returns those in which the runs among some items differ, and what a filter asks for, which they
// may all have alike.
func SettingsOf(items []*Item, sought Sought) (s Settings) {
	s.asked, s.sought = sought.Asked(), sought
	for n, name := range Told {
		first := ""
		for _, i := range items {
			if text := settingOf(i.Run, name); first == "" {
				first = text
			} else if text != "" && text != first {
				s.differ[n] = true
			}
		}
		if s.differ[n] && name == s.asked {
			s.asked = "" // it has a column
		}
	}
	return s
}

// Heads returns the names of Told, with "" for those in which no runs differ, and then what was asked for.
func (s Settings) Heads() []string {
	out := append(make([]string, len(Told)), s.asked)
	for n, name := range Told {
		if s.differ[n] {
			out[n] = name
		}
	}
	return out
}

// Of returns what an item began with or has, and what it came to later that the filter finds it by, for each
// of Heads; "" where there is nothing to say.
func (s Settings) Of(i *Item) []string {
	out := append(make([]string, len(Told)), i.valueOf(s.asked)+i.foundLater(s.sought, s.asked))
	for n, name := range Told {
		if s.differ[n] {
			out[n] = settingOf(i.Run, name) + i.foundLater(s.sought, name)
		}
	}
	return out
}

// settingOf returns what a run began with: of all tracks together, else of each, where they differ;
// "" if it has no such setting, or looked for the best value of it.
func settingOf(r *rundir.Run, name string) string {
	if r == nil || r.Sought != nil && r.Sought.Over == name {
		return ""
	}
	if v, is := r.Settings[name]; is {
		return rundir.SettingText(name, v)
	}
	var each []string
	for _, k := range slices.Sorted(maps.Keys(r.Settings)) {
		if _, base := rundir.TrackOf(k); base == name {
			if text := rundir.SettingText(k, r.Settings[k]); !slices.Contains(each, text) {
				each = append(each, text)
			}
		}
	}
	return strings.Join(each, ", ")
}
