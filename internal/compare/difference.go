package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

// Difference is something in which two runs differ beside their figures, as people
// read it.
type Difference struct{ Name, A, B string }

// Differences lists in what the conditions of two runs differ: what was asked for, of
// whom, and on which machine.
func Differences(a, b *Conditions) []Difference {
	var out []Difference
	add := func(name, x, y string) {
		if x != y {
			out = append(out, Difference{name, orDash(x), orDash(y)})
		}
	}
	add("profile", a.Profile, b.Profile)
	add("mode", a.Mode, b.Mode)
	add("store", a.Store.Name, b.Store.Name)
	add("product", a.Store.Product, b.Store.Product)
	add("version", a.Store.Version, b.Store.Version)
	add("topology", a.Store.Topology, b.Store.Topology)
	add("target", a.Target, b.Target)
	names := map[string]bool{}
	for _, m := range []map[string]float64{a.Settings, b.Settings} {
		for k := range m {
			names[k] = true
		}
	}
	turned := map[string]bool{}  // what differs among the knobs, as track and values
	whole := map[string]string{} // the knobs of no track among them, with their values
	for _, k := range slices.Sorted(maps.Keys(names)) {
		x, y := mapped(a.Settings, k), mapped(b.Settings, k)
		if track, base := rundir.TrackOf(k); x != y {
			how := bare(x) + "\x00" + bare(y)
			if turned[track+"\x00"+how] = true; track == "" {
				whole[base] = how
			}
			if track == "" && slices.ContainsFunc(slices.Collect(maps.Keys(names)), func(n string) bool {
				return strings.HasSuffix(n, "."+base) && mapped(a.Settings, n) != mapped(b.Settings, n)
			}) {
				continue // the total of tracks that are listed
			}
		}
		add(k, x, y)
	}
	params := map[string]bool{}
	for _, m := range []map[string]string{a.Parameters, b.Parameters} {
		for k := range m {
			params[k] = !names[k] && k != "mode" && k != "seed"
		}
	}
	for _, k := range slices.Sorted(maps.Keys(params)) {
		x, y := a.Parameters[k], b.Parameters[k]
		track, base := rundir.TrackOf(k)
		how := bare(x) + "\x00" + bare(y)
		if params[k] && !turned[track+"\x00"+how] && !saysOf(base, how, whole) { // a file's word for a knob tells nothing new
			add(k, x, y)
		}
	}
	add("seed", fmt.Sprint(a.Seed), fmt.Sprint(b.Seed))
	add("live changes", fmt.Sprint(a.Changes), fmt.Sprint(b.Changes))
	for _, k := range machineFacts {
		if x, y := a.Machine[k], b.Machine[k]; x != "" && y != "" {
			add(k, x, y)
		}
	}
	return out
}

// saysOf says that a file's word, of one track as that is the only one, changed as a knob
// did that it is called after: threadCount as threads.
func saysOf(word, how string, knobs map[string]string) bool {
	for knob, turned := range knobs {
		if turned == how && strings.HasPrefix(word, strings.TrimSuffix(knob, "s")) {
			return true
		}
	}
	return false
}

// bare takes out what a value is only written with.
func bare(text string) string { return strings.Join(strings.Fields(text), "") }

// causes names what differs, a setting of several tracks once.
func causes(diffs []Difference) []string {
	var out []string
	for _, d := range diffs {
		_, base := rundir.TrackOf(d.Name)
		shared := 0
		for _, o := range diffs {
			if _, b := rundir.TrackOf(o.Name); b == base {
				shared++
			}
		}
		name := d.Name
		if shared > 1 {
			name = base
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func mapped(m map[string]float64, k string) string {
	if v, ok := m[k]; ok {
		return rundir.SettingText(k, v)
	}
	return ""
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// listed writes words as a list: a, b and c.
func listed(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}
