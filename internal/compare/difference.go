package compare

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Difference is something other than their figures in which two runs differ, in words
// for people.
type Difference struct{ Name, A, B string }

// Differences lists how the conditions of two runs differ: what was requested, from
// which store, and on which machine.
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
	turned := map[string]bool{}  // knobs that differ, as track and values
	whole := map[string]string{} // those of them that belong to no track, with their values
	for _, k := range slices.Sorted(maps.Keys(names)) {
		x, y := mapped(a.Settings, k), mapped(b.Settings, k)
		if track, base := rundir.TrackOf(k); x != y {
			how := plain(a.Settings, k) + "\x00" + plain(b.Settings, k)
			if turned[track+"\x00"+how] = true; track == "" {
				whole[base] = how
			}
			if track == "" && slices.ContainsFunc(slices.Collect(maps.Keys(names)), func(n string) bool {
				return strings.HasSuffix(n, "."+base) && mapped(a.Settings, n) != mapped(b.Settings, n)
			}) {
				continue // the total of tracks that are listed themselves
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
		if k == workload.ComingKnob {
			if x, y = arrivals(a), arrivals(b); x == "" || y == "" {
				continue // the rate is the difference
			}
		}
		track, base := rundir.TrackOf(k)
		how := bare(x) + "\x00" + bare(y)
		if params[k] && !turned[track+"\x00"+how] && !saysOf(base, how, whole) { // a file's name for a knob adds nothing
			add(k, x, y)
		}
	}
	add("seed", fmt.Sprint(a.Seed), fmt.Sprint(b.Seed))
	add("searched under", units.Listed(a.Under), units.Listed(b.Under))
	if a.Sought == "" || b.Sought == "" { // a search makes as many as it needs
		add("live changes", fmt.Sprint(a.Changes), fmt.Sprint(b.Changes))
	}
	for _, k := range machineFacts {
		if x, y := a.Machine[k], b.Machine[k]; x != "" && y != "" {
			add(k, x, y)
		}
	}
	return out
}

// saysOf reports whether a parameter with a file's own name, such as threadCount,
// changed in the same way as the knob that it is an alias of, such as threads.
func saysOf(word, how string, knobs map[string]string) bool {
	for knob, turned := range knobs {
		if turned == how && strings.HasPrefix(word, strings.TrimSuffix(knob, "s")) {
			return true
		}
	}
	return false
}

// plain is the number of a setting as a parameter has it; empty: there is none.
func plain(m map[string]float64, k string) string {
	v, ok := m[k]
	if !ok {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// bare is a value without its format: a size, however it was written, is its number of bytes.
func bare(text string) string {
	text = strings.Join(strings.Fields(text), "")
	if n, err := units.ParseSize(text); err == nil {
		return strconv.FormatInt(n, 10)
	}
	return text
}

// causes names what differs, with a setting of several tracks only once.
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
		return rundir.ShortText(k, v)
	}
	return ""
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
