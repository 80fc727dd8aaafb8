package kept

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
)

// Filter selects items; empty fields match any.
type Filter struct {
	// Profile is the profile's name; Target is a part of the URL, or the kind of store.
	Profile, Target string
	// Tags must all be present, with these values; one of the words that have no name is enough.
	Tags map[string]string
	// Since is the earliest start time.
	Since time.Time
	// Kinds are words of Kinds, and Verdicts are words of Words: one of each must be true.
	Kinds, Verdicts []string
	// Sought is what the filter of the workbench takes: all of it must be there.
	Sought Sought
}

// Check refuses words that are not known, as bad input.
func (f Filter) Check() error {
	for _, k := range f.Kinds {
		if !slices.Contains(Kinds, k) {
			return unknown("kind", k, Kinds)
		}
	}
	names := VerdictWords()
	for _, v := range f.Verdicts {
		if !slices.Contains(names, v) {
			return unknown("verdict", v, names)
		}
	}
	return nil
}

// VerdictWords returns the words of Words.
func VerdictWords() (out []string) {
	for _, w := range Words {
		out = append(out, w[0])
	}
	return out
}

func unknown(what, word string, known []string) error {
	hint := "known are " + strings.Join(known, ", ")
	if n := fault.Nearest(word, known); n != "" {
		hint = "did you mean " + n + "? " + hint
	}
	return fault.Input(fmt.Errorf("%s: %q is not known", what, word), hint)
}

// Of returns the matching items of a list.
func (f Filter) Of(list []Item) (out []Item) {
	for i := range list {
		if f.wants(&list[i]) {
			out = append(out, list[i])
		}
	}
	return out
}

// hasWords reports whether the tag of words has each of those that are sought.
func hasWords(got, sought string) bool {
	words, all := rundir.BareWords(got), rundir.BareWords(sought)
	return len(all) > 0 && !slices.ContainsFunc(all, func(w string) bool { return !slices.Contains(words, w) })
}

func (f Filter) wants(i *Item) bool {
	tags := i.Tags()
	for name, value := range f.Tags {
		if got, ok := tags[name]; !ok || got != value && (name != rundir.BareTag || !hasWords(got, value)) {
			return false
		}
	}
	profile, _ := i.Profile()
	return (f.Profile == "" || f.Profile == profile) &&
		(f.Target == "" || i.on(f.Target)) &&
		!i.When().Before(f.Since) &&
		(len(f.Kinds) == 0 || slices.Contains(f.Kinds, i.Kind())) &&
		(len(f.Verdicts) == 0 || slices.ContainsFunc(f.Verdicts, i.Is)) &&
		i.Holds(f.Sought)
}

// on reports whether the item, or a run of it, is on a target.
func (i *Item) on(target string) bool {
	url, store := i.Target()
	return target == store || strings.Contains(url, target) ||
		slices.ContainsFunc(i.Of, func(r *rundir.Run) bool { return target == r.Store.Name || strings.Contains(r.Target, target) })
}

// words returns everything that the item can be found by.
func (i *Item) words(s Sought) []string {
	profile, mode := i.Profile()
	url, store := i.Target()
	out := append(dates(i.When(), s.Now), i.ID(), i.Kind(), profile, mode, profile+" "+mode+" on "+store, url, store, i.Judged())
	if s.Title != nil {
		out = append(out, s.Title(profile))
	}
	for _, w := range Words[3:] {
		if i.Is(w[0]) {
			out = append(out, w[0])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(i.Tags())) {
		out = append(out, k+"="+i.Tags()[k])
		if k == rundir.BareTag {
			for _, w := range rundir.BareWords(i.Tags()[k]) {
				out = append(out, k+"="+w)
			}
		}
	}
	if i.Sweep != nil {
		for _, a := range i.Sweep.Axes {
			out = append(append(out, a.Name), a.Values...)
		}
	}
	if r := i.Run; r != nil {
		if r.Archived {
			out = append(out, "archived")
		}
		out = append(out, r.Store.Version, r.EndedBy, r.Parameters["preset"], r.Name, r.Note)
		for _, m := range r.Marks {
			out = append(out, m.Note)
		}
		for _, e := range r.Errors {
			out = append(out, e.Class)
		}
		out = append(append(out, r.Verdict.Because()), append(r.Verdict.Main(), r.Verdict.Causes...)...)
		if len(r.Outages) > 0 {
			out = append(out, "outage")
		}
	}
	return out
}

// product reports whether a word begins one of the name of the product that the store of a run was: no server that has
// "redis" within its name, such as miniredis, is one.
func (i *Item) product(word string) bool {
	return i.Run != nil && slices.ContainsFunc(strings.Fields(strings.ToLower(i.Run.Store.Product)), func(w string) bool { return strings.HasPrefix(w, word) })
}

// dates returns the ways in which a moment is told: as in lists, and as people write it.
func dates(t, now time.Time) []string {
	if t.IsZero() {
		return nil
	}
	if !now.IsZero() {
		t = t.In(now.Location())
	}
	out := []string{Day(t, now), t.Format("2006-01-02 15:04:05 Monday 2 January")}
	if y, m, d := now.AddDate(0, 0, -1).Date(); t.Year() == y && t.Month() == m && t.Day() == d {
		out = append(out, "yesterday")
	}
	return out
}

// Day formats a moment as people would say it: today 11:40, Mon 17:05, 3 May 11:40, 3 May 2025.
func Day(t, now time.Time) string {
	if t.IsZero() {
		return "–"
	}
	t = t.In(now.Location())
	day := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location()) }
	switch d := day(now).Sub(day(t)); {
	case now.IsZero() || d < 0:
		return t.Format("2 Jan 15:04")
	case d < 23*time.Hour:
		return t.Format("today 15:04")
	case d < 6*24*time.Hour:
		return t.Format("Mon 15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006")
}

// Moments tell items of a list apart by when they began: on a day on which two began in the same minute, all have their
// second, so that the column of a day is even.
type Moments map[string]bool

// MomentsOf returns those of a list.
func MomentsOf(list []Item) Moments {
	out, minutes := Moments{}, map[int64]bool{}
	for i := range list {
		t := list[i].When()
		if minute := t.Unix() / 60; minutes[minute] {
			out[t.Format(time.DateOnly)] = true
		} else {
			minutes[minute] = true
		}
	}
	return out
}

// Of is Day of an item, with its second if the list needs those of that day.
func (m Moments) Of(i *Item, now time.Time) string {
	t := i.When()
	text := Day(t, now)
	if m[t.Format(time.DateOnly)] && strings.Contains(text, ":") {
		text += t.Format(":05")
	}
	return text
}
