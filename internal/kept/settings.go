package kept

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

// Told are the settings that a list tells its runs apart by.
var Told = [...]string{"threads", "rate", "payload"}

// Settings are those of Told in which the runs of a list differ.
type Settings struct{ differ [len(Told)]bool }

// SettingsOf returns those in which the runs among some items differ.
func SettingsOf(items []*Item) (s Settings) {
	for n, name := range Told {
		first := ""
		for _, i := range items {
			if text := settingOf(i.Run, name); first == "" {
				first = text
			} else if text != "" && text != first {
				s.differ[n] = true
			}
		}
	}
	return s
}

// Heads returns the names of Told, with "" for those in which no runs differ.
func (s Settings) Heads() []string {
	out := make([]string, len(Told))
	for n, name := range Told {
		if s.differ[n] {
			out[n] = name
		}
	}
	return out
}

// Of returns what an item began with, for each of Heads; "" where there is nothing to say.
func (s Settings) Of(i *Item) []string {
	out := make([]string, len(Told))
	for n, name := range Told {
		if s.differ[n] {
			out[n] = settingOf(i.Run, name)
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

// asked returns how many of the first words name a value that the run began with, or its store, profile
// or verdict, and say the whole of it; a value by its name with or without its track.
func (i *Item) asked(words []string) int {
	if i.Run == nil {
		return 0
	}
	text := strings.Join(words, " ")
	says := func(name, value string) int {
		_, base := rundir.TrackOf(name)
		for _, n := range []string{name, base} {
			rest, is := strings.CutPrefix(text, strings.ToLower(n))
			if !is || !strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, " ") {
				continue
			}
			for _, v := range []string{value, strings.ReplaceAll(value, " ", "")} {
				v = strings.ToLower(v)
				if after, is := strings.CutPrefix(rest[1:], v); is && v != "" && (after == "" || after[0] == ' ') {
					return len(words) - len(strings.Fields(after))
				}
			}
		}
		return 0
	}
	most := 0
	for name, v := range i.Run.Settings {
		most = max(most, says(name, rundir.SettingText(name, v)), says(name, strconv.FormatFloat(v, 'f', -1, 64)))
	}
	for name, v := range i.Run.Parameters {
		most = max(most, says(name, v))
	}
	return max(most, says("store", i.Run.Store.Name), says("profile", i.Run.Profile), says("verdict", i.Run.Verdict.State))
}
