package kept

import (
	"cmp"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// Told are the settings that a list tells its runs apart by.
var Told = [...]string{"threads", "rate", "payload"}

// Settings are those of Told in which the runs of a profile in a list differ, and what a filter asks for.
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
		first := map[[2]string]string{} // of each profile and mode
		for _, i := range items {
			text := i.settingOf(name)
			if text == "" {
				continue
			}
			of := [2]string{i.Run.Profile, i.Run.Mode}
			if _, known := first[of]; !known {
				first[of] = text
			}
			s.differ[n] = s.differ[n] || text != first[of]
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

// Of returns what an item has, for each of Heads: from the lowest to the highest value, or what it began with
// and what it came to later that the filter finds it by; "" where there is nothing to say, as of a run without a rate.
func (s Settings) Of(i *Item) []string {
	out := append(make([]string, len(Told)), i.valueOf(s.asked)+i.foundLater(s.sought, s.asked))
	for n, name := range Told {
		if s.differ[n] {
			if out[n] = i.settingOf(name); out[n] != "" {
				if later := i.foundLater(s.sought, name); later != "" {
					out[n] = i.valueOf(name) + later
				}
				if out[n] == units.Unlimited && !s.sought.names(name) {
					out[n] = ""
				}
			}
		}
	}
	return out
}

// settingOf returns what a run had of a setting: of all tracks together, else of each, where they differ, and
// from the lowest to the highest value, where it was turned; "" if it has no such setting, or looked for the
// best value of it.
func (i *Item) settingOf(name string) string {
	if i.Run == nil || i.Run.Sought != nil && i.Run.Sought.Over == name {
		return ""
	}
	var each []string
	for _, k := range slices.Sorted(slices.Values(i.settings(name))) {
		had := append(i.later(k), i.Run.Settings[k])
		slices.SortFunc(had, func(a, b float64) int { return cmp.Compare(height(k, a), height(k, b)) })
		text := rundir.SpanText(k, had[0], had[len(had)-1])
		if !slices.Contains(each, text) {
			each = append(each, text)
		}
	}
	return strings.Join(each, ", ")
}
