package engine

import (
	"cmp"
	"slices"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// settings owns what is asked for of each track of a run, within the ranges of the knobs, and
// how totals are spread over them; guarded by Run.mu.
type settings struct {
	knobs []workload.Knob
	specs []*workload.Track
	want  []workload.Settings // of each track
	// weights are the proportions of the tracks' threads, by which totals are spread.
	weights []int
	// began is the kind of arrivals with which the run began.
	began workload.Coming
}

func newSettings(p *workload.Plan, how workload.Arrivals) *settings {
	s := &settings{knobs: p.Knobs, specs: p.Tracks(), began: how.Kind()}
	for _, t := range s.specs {
		s.want = append(s.want, t.Start)
	}
	s.weigh()
	return s
}

// of returns the settings of one track, or the totals of all tracks.
func (s *settings) of(track int) workload.Settings {
	if track == workload.AllTracks {
		return workload.Totals(s.knobs, s.specs, func(i int) workload.Settings { return s.want[i] })
	}
	return s.want[track]
}

// byName lists them under the names that users type.
func (s *settings) byName() map[string]float64 {
	out := workload.ByName(s.knobs, s.specs, func(i int) workload.Settings { return s.want[i] })
	if slices.ContainsFunc(s.want, func(w workload.Settings) bool { return w.Paused }) {
		out["paused"] = 1
	}
	for i, v := range s.want[0].Faults {
		if v != 0 {
			out[workload.FaultKinds()[i].Setting()] = v
		}
	}
	if c := s.want[0].Coming; c != workload.AsBegun {
		out[workload.ComingKnob] = float64(c)
	}
	return out
}

// change is Run.Change: it returns what changed, for the log.
func (s *settings) change(by string, track, ramp int, f func(workload.Settings) workload.Settings) (log []measure.Change) {
	prefix := ""
	before := s.of(track)
	if track != workload.AllTracks && len(s.specs) > 1 {
		prefix = s.specs[track].Name + "."
	}
	after := f(before)
	note := func(name string, from, to float64) {
		log = append(log, measure.Change{Name: prefix + name, From: from, To: to, By: by, Ramp: ramp})
	}
	for _, k := range s.knobs {
		from, to := k.Get(before), k.Get(after)
		if k.Fixed != "" {
			continue
		}
		if track == workload.AllTracks && s.differs(k) {
			// A function that leaves the first track as it is may mean to set all to that.
			for _, c := range s.even(k, before, f) {
				note(c.Name, c.From, c.To)
			}
			continue
		}
		if from == to {
			continue
		}
		to = k.Clamp(to)
		if track == workload.AllTracks {
			s.spread(k, to)
			to = k.Get(s.of(workload.AllTracks))
		} else {
			if !s.specs[track].Turns(k) {
				continue
			}
			s.want[track] = k.Set(s.want[track], to)
			s.weigh()
		}
		if from != to {
			note(k.Name, from, to)
		}
	}
	if from, to := cmp.Or(before.Coming, s.began), cmp.Or(after.Coming, s.began); from != to {
		for i := range s.want {
			s.want[i].Coming = to
			if to == s.began {
				s.want[i].Coming = workload.AsBegun
			}
		}
		log = append(log, measure.Change{Name: workload.ComingKnob, From: float64(from), To: float64(to), By: by, Ramp: ramp})
	}
	log = append(log, s.breaks(by, before.Faults, after.Faults)...)
	if before.Paused != after.Paused {
		for i := range s.want {
			if track == workload.AllTracks || track == i {
				s.want[i].Paused = after.Paused
			}
		}
		note("paused", number(before.Paused), number(after.Paused))
	}
	return log
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// differs reports whether tracks that have a knob which does not add up differ in its
// value.
func (s *settings) differs(k workload.Knob) bool {
	if k.Sum {
		return false
	}
	first, known := 0.0, false
	for i, spec := range s.specs {
		if !spec.Turns(k) {
			continue
		}
		if known && k.Get(s.want[i]) != first {
			return true
		}
		first, known = k.Get(s.want[i]), true
	}
	return false
}

// even sets a knob in which tracks differ to one value on all of them, if f does that or
// changes it, and returns what changed on each.
func (s *settings) even(k workload.Knob, before workload.Settings, f func(workload.Settings) workload.Settings) (log []measure.Change) {
	to := k.Get(f(before))
	touched := to != k.Get(before)
	for i, spec := range s.specs {
		own := k.Get(s.want[i])
		touched = touched || spec.Turns(k) && k.Get(f(k.Set(before, own))) != own
	}
	if !touched {
		return nil
	}
	to = k.Clamp(to)
	for i, spec := range s.specs {
		if from := k.Get(s.want[i]); spec.Turns(k) && from != to {
			s.want[i] = k.Set(s.want[i], to)
			log = append(log, measure.Change{Name: spec.Name + "." + k.Name, From: from, To: to})
		}
	}
	return log
}

// breaks is change for the faults, which are of all tracks.
func (s *settings) breaks(by string, before, after workload.Faults) (log []measure.Change) {
	for i, to := range after {
		if before[i] != to {
			log = append(log, measure.Change{Name: workload.FaultKinds()[i].Setting(), From: before[i], To: to, By: by})
		}
	}
	for i := range s.want {
		s.want[i].Faults = after
	}
	return log
}

// spread sets a knob over all tracks: a value that adds up is divided in the
// current proportions, any other is set on every track.
func (s *settings) spread(k workload.Knob, to float64) {
	s.want = workload.Turned(s.specs, s.want, workload.AllTracks, k, to)
	if k.Name != "threads" {
		return
	}
	share := workload.Spread(s.weights, int(to))
	for i, spec := range s.specs {
		if spec.Adds(k) {
			s.want[i], share = k.Set(s.want[i], float64(share[0])), share[1:]
		}
	}
}

// weigh notes the proportions of the tracks' threads: those at the start or after the last
// change aimed at one track.
func (s *settings) weigh() {
	s.weights = s.weights[:0]
	for i, spec := range s.specs {
		if !spec.Apart {
			s.weights = append(s.weights, s.want[i].Threads)
		}
	}
}
