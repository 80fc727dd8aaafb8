package workload

import "slices"

// Totals combines the settings of all tracks into one. Values that add up are
// summed; for other knobs it takes the value of the first track on which the knob
// has an effect. Settings that are not knobs are taken from the first track. of
// returns the settings of a track by its index in tracks.
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

// Turned returns the settings of the tracks, now before the change, after setting
// knob k on one track or, if track is negative, on all. A total is distributed in
// the current proportions, to within a fraction; in equal parts if there is none yet.
func Turned(tracks []*Track, now []Settings, track int, k Knob, to float64) []Settings {
	to = k.Clamp(to)
	total, parts := 0.0, 0
	for i, t := range tracks {
		if t.Adds(k) {
			total, parts = total+k.Get(now[i]), parts+1
		}
	}
	out := slices.Clone(now)
	for i, t := range tracks {
		v := to
		switch {
		case track >= 0 && track != i, !t.Turns(k), track < 0 && k.Sum && !t.Adds(k):
			continue
		case track < 0 && k.Sum && total > 0:
			v = k.Get(now[i]) * to / total
		case track < 0 && k.Sum:
			v = to / float64(parts)
		}
		out[i] = k.Set(now[i], v)
	}
	return out
}

// ByName lists settings under the names that users type: totals, or the common
// value, under the knob's name and, with several tracks, each track's under
// TRACK.KNOB. Knobs that have no effect are left out.
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

// firstTurned returns the first track on which a knob has an effect, or -1 if
// there is none.
func firstTurned(k Knob, tracks []*Track) int {
	for i, t := range tracks {
		if t.Turns(k) {
			return i
		}
	}
	return -1
}

// Starts returns a function that gives the initial settings of tracks, for Totals
// and ByName.
func Starts(tracks []*Track) func(track int) Settings {
	return func(i int) Settings { return tracks[i].Start }
}
