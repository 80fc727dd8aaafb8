package workload

import "slices"

// Totals views all tracks as one: sums of what adds up, and otherwise what the first
// track has on which the knob turns something. of returns the settings of a track by
// its index in tracks. Whatever is no knob is as on the first track.
func Totals(knobs []Knob, tracks []*Track, of func(track int) Settings) Settings {
	total := of(0)
	for _, k := range knobs {
		if !k.Sum {
			if first := firstTurned(k, tracks); first >= 0 {
				total = k.Set(total, k.Get(of(first)))
			}
			continue
		}
		sum := 0.0
		for i, t := range tracks {
			if t.Adds(k) {
				sum += k.Get(of(i))
			}
		}
		total = k.Set(total, sum)
	}
	return total
}

// Turned are the settings of tracks, which now has, once a knob has been set on one of
// them or, with a negative track, on all: a total is shared out as it is now, to within a
// fraction.
func Turned(tracks []*Track, now []Settings, track int, k Knob, to float64) []Settings {
	to = k.Clamp(to)
	total := k.Get(Totals([]Knob{k}, tracks, func(i int) Settings { return now[i] }))
	out := slices.Clone(now)
	for i, t := range tracks {
		v := to
		switch {
		case track >= 0 && track != i, !t.Turns(k), track < 0 && k.Sum && (!t.Adds(k) || total <= 0):
			continue
		case track < 0 && k.Sum:
			v = k.Get(now[i]) * to / total
		}
		out[i] = k.Set(now[i], v)
	}
	return out
}

// ByName lists settings by the names that a user types: totals, or the common value,
// under the knob's name and, with several tracks, each track's under TRACK.KNOB. A knob
// is left out where it turns nothing.
func ByName(knobs []Knob, tracks []*Track, of func(track int) Settings) map[string]float64 {
	out := map[string]float64{}
	if len(tracks) == 0 {
		return out
	}
	totals := Totals(knobs, tracks, of)
	for _, k := range knobs {
		first := firstTurned(k, tracks)
		if first < 0 {
			continue
		}
		same := true
		for i, t := range tracks {
			if !t.Turns(k) {
				continue
			}
			v := k.Get(of(i))
			same = same && v == k.Get(of(first))
			if len(tracks) > 1 {
				out[t.Name+"."+k.Name] = v
			}
		}
		if k.Sum || same {
			out[k.Name] = k.Get(totals)
		}
	}
	return out
}

// firstTurned is the first track on which a knob turns something, -1 when there is
// none.
func firstTurned(k Knob, tracks []*Track) int {
	for i, t := range tracks {
		if t.Turns(k) {
			return i
		}
	}
	return -1
}

// Starts returns the settings that tracks begin with, for Totals and ByName.
func Starts(tracks []*Track) func(track int) Settings {
	return func(i int) Settings { return tracks[i].Start }
}
